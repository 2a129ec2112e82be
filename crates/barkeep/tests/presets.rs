//! Runs every propose-and-test sampler that asks all records, from spec to draws with its budget charged, against
//! posteriors known in closed form.
//!
//! 4000 records are tempered to count as 20: clip bounds that no log-ratio reaches are then cheap enough for long chains.
//! Means and covariances must lie within five standard errors (level 6e-7 a side under the normal law);
//! seeds are fixed.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::curator::{Table, TableBuilder};
use barkeep::data::Schema;
use barkeep::diagnostics::convergence::{ess_mean, mcse_mean};
use barkeep::insecure::Insecure;
use barkeep::model::{Banana, Bend, GaussianMean, Model};
use barkeep::{Plan, PublicRng, Spec};
use std::path::Path;

const RECORDS: usize = 4000;
const COUNTED: f64 = 20.0;

/// Records of a model at θ with their mean, which is public here.
fn records(model: &dyn Model, theta: &[f64]) -> (Table, Vec<f64>) {
    let mut rng = PublicRng::new(99, 0);
    let mut builder = TableBuilder::new(Schema::unbounded(model.column_names()).unwrap(), RECORDS).unwrap();
    let mut mean = vec![0.0; model.columns()];
    let mut row = vec![0.0; model.columns()];
    for _ in 0..RECORDS {
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        mean.iter_mut().zip(&row).for_each(|(mean, x)| *mean += x / RECORDS as f64);
        builder.push_row(&row).unwrap();
    }
    (builder.finish().unwrap(), mean)
}

fn plan(model: &str, sampler: &str, start: &[f64]) -> Plan {
    let privacy = if sampler.contains("rwmh") { "private = false" } else { "epsilon = 30\ndelta = 1e-5" };
    let text = format!(
        "[data]\npath = 'nowhere'\nrecords = {RECORDS}\n[data.columns]\n\
         x1 = {{ min = -99, max = 99, invalid = 0 }}\nx2 = {{ min = -99, max = 99, invalid = 0 }}\n\
         [model]\n{model}\nn0 = {COUNTED}\n[privacy]\n{privacy}\n[sampler]\nstart = {start:?}\nseed = 7\nsteps = 60000\n{sampler}"
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap()
}

fn assert_moments(name: &str, plan: &Plan, table: Table, mean: &[f64], covariance: &[f64]) {
    assert_eq!(plan.steps().0, 60_000, "{name}: the budget was meant to last");
    let draws = plan.runner().insecure(Insecure::seed(5)).run(table).unwrap().draws;
    let series: Vec<Vec<f64>> = (0..2).map(|j| draws.chains()[0].series(j, 500)).collect();
    let within = |what: &str, values: Vec<f64>, exact: f64| {
        let average = values.iter().sum::<f64>() / values.len() as f64;
        let chains = [values];
        let error = mcse_mean(&chains).unwrap();
        assert!(ess_mean(&chains).unwrap() > 200.0, "{name}: too few effective draws of {what} to tell");
        assert!(
            (average - exact).abs() < 5.0 * error,
            "{name}: {what} is {average}, exactly {exact}, standard error {error}"
        );
    };
    for j in 0..2 {
        within(&format!("mean {j}"), series[j].clone(), mean[j]);
        for k in 0..=j {
            let product = series[j].iter().zip(&series[k]).map(|(x, y)| (x - mean[j]) * (y - mean[k]));
            within(&format!("covariance {j},{k}"), product.collect(), covariance[2 * j + k]);
        }
    }
}

/// Each sampler with its keys; steps of about a posterior standard deviation, clip bounds beyond the largest log-ratio.
const SAMPLERS: [(&str, &str); 8] = [
    ("barker", "name = 'barker'\nproposal_sd = 0.2\nclip = 6"),
    ("lazy-barker", "name = 'lazy-barker'\nkeep = 0.7\nproposal_sd = 0.2\nclip = 6"),
    ("penalty, decision", "name = 'penalty'\ntau = 0.9\nproposal_sd = 0.2\nclip = 6"),
    ("penalty, OCU", "name = 'penalty'\nmove = 'one'\ntau = 0.9\nproposal_sd = 0.3\nclip = 6"),
    (
        "penalty, GWMH at release",
        "name = 'penalty'\nmove = 'guided'\nlevel = 'release'\ntau = 0.9\nproposal_sd = 0.3\nclip = 6",
    ),
    ("barker-corrected", "name = 'barker-corrected'\nvariance = 1\nproposal_sd = 0.2\nclip = 6"),
    (
        "barker-corrected at release",
        "name = 'barker-corrected'\nvariance = 1.5\ncorrection = 'minimax'\nlevel = 'release'\nproposal_sd = 0.2\nclip = 6",
    ),
    ("rwmh", "name = 'rwmh'\nproposal_sd = 0.2"),
];

fn assert_gaussian(name: &str, sampler: &str) {
    let model = GaussianMean::new(&[1.0, 0.3, 0.3, 0.8], &[0.0, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let (table, data_mean) = records(&model, &[0.5, -0.5]);
    let (mean, covariance) = model.posterior(RECORDS as f64, COUNTED / RECORDS as f64, &data_mean).unwrap();
    let text = "name = 'gaussian'\ncovariance = [[1.0, 0.3], [0.3, 0.8]]\nprior_variance = 4";
    assert_moments(name, &plan(text, sampler, &mean), table, &mean, &covariance);
}

fn assert_banana(name: &str, sampler: &str) {
    let model = Banana::new(Bend { a: 0.7, b: 0.1, m: 0.2 }, &[1.0, 0.8], 25.0).unwrap();
    let (table, data_mean) = records(&model, &[0.4, 1.0]);
    let (mean, covariance) = model.posterior(RECORDS as f64, COUNTED / RECORDS as f64, &data_mean).moments();
    let text = "name = 'banana'\na = 0.7\nb = 0.1\nm = 0.2\nvariances = [1.0, 0.8]\nprior_variance = 25";
    assert_moments(name, &plan(text, sampler, &mean), table, &mean, &covariance);
}

#[test]
fn a_sampler_samples_its_posterior() {
    let (name, sampler) = SAMPLERS[0];
    assert_gaussian(name, sampler);
    assert_banana(name, sampler);
}

#[test]
#[ignore = "slow: cargo test --release -p barkeep --test presets -- --ignored"]
fn every_sampler_samples_its_posterior() {
    for (name, sampler) in &SAMPLERS[1..] {
        assert_gaussian(name, sampler);
        assert_banana(name, sampler);
    }
}
