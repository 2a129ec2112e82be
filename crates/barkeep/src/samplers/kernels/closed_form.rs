//! Runs kernels through the curator's gate on records whose posterior is known, and compares moments.
//!
//! The budget charges nothing, so that chains can be long. Each comparison allows five standard errors
//! (level 6e-7 a side under the normal law); seeds are fixed.

use crate::accounting::Neighbours;
use crate::curator::{Budget, Curator, Gate, NoiseRng, PrivacyModel, Table, TableBuilder};
use crate::data::Schema;
use crate::diagnostics::convergence::{ess_mean, mcse_mean};
use crate::model::{Likelihood, Model};
use crate::samplers::{Asker, Kernel, State};
use crate::{Outcome, PublicRng};
use std::sync::Arc;

/// How many records a test simulates.
pub(crate) const RECORDS: usize = 40;

/// Effective draws without which a comparison shows nothing.
const EFFECTIVE: f64 = 500.0;

/// Records of a model at θ with their mean, which is public here.
pub(crate) fn records(model: &dyn Model, theta: &[f64]) -> (Table, Vec<f64>) {
    let mut rng = PublicRng::new(99, 0);
    let schema = Schema::unbounded(model.column_names()).unwrap();
    let mut builder = TableBuilder::new(schema, RECORDS).unwrap();
    let mut mean = vec![0.0; model.columns()];
    for _ in 0..RECORDS {
        let mut row = vec![0.0; model.columns()];
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        mean.iter_mut().zip(&row).for_each(|(mean, x)| *mean += x / RECORDS as f64);
        builder.push_row(&row).unwrap();
    }
    (builder.finish().unwrap(), mean)
}

/// Each parameter's series over a number of steps.
pub(crate) fn follow(
    model: Arc<impl Model + Likelihood + 'static>,
    table: Table,
    start: &[f64],
    steps: usize,
    seed: u64,
    kernel: impl FnOnce(&mut PublicRng) -> Box<dyn Kernel>,
) -> Vec<Vec<f64>> {
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let curator = Curator::new(table, privacy_model, Budget::not_private()).unwrap();
    let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(seed)).unwrap();
    let mut rng = PublicRng::new(seed, 0);
    let mut kernel = kernel(&mut rng);
    let mut state = State { theta: start.to_vec(), log_prior: model.log_prior(start) };
    let mut series = vec![Vec::with_capacity(steps); start.len()];
    let mut moved = 0;
    for _ in 0..steps {
        let outcome = kernel.step(&mut state, &mut Asker::plain(&mut gate, &*model), &mut rng).unwrap();
        moved += u32::from(outcome != Outcome::Rejected);
        series.iter_mut().zip(kernel.published(&state)).for_each(|(series, x)| series.push(*x));
    }
    assert!(moved > 1000, "a chain that hardly moves shows nothing");
    series
}

/// An average within five standard errors of what it must be.
pub(crate) fn within(what: &str, values: Vec<f64>, exact: f64) {
    let average = values.iter().sum::<f64>() / values.len() as f64;
    let chains = [values];
    let error = mcse_mean(&chains).unwrap();
    assert!(ess_mean(&chains).unwrap() > EFFECTIVE, "too few effective draws of {what} to tell");
    assert!(
        (average - exact).abs() < 5.0 * error,
        "{what} is {average}, exactly {exact}, standard error {error}"
    );
}

/// Means and all second moments around the exact mean, each within five standard errors.
pub(crate) fn assert_moments(name: &str, series: &[Vec<f64>], mean: &[f64], covariance: &[f64]) {
    let d = mean.len();
    for j in 0..d {
        within(&format!("{name}: mean {j}"), series[j].clone(), mean[j]);
        for k in 0..=j {
            let product =
                series[j].iter().zip(&series[k]).map(|(x, y)| (x - mean[j]) * (y - mean[k])).collect();
            within(&format!("{name}: covariance {j},{k}"), product, covariance[j * d + k]);
        }
    }
}
