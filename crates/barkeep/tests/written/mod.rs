//! Plans and runs what a person would write, on records that are public here.

#![allow(dead_code, reason = "each test file uses its own part")]

use barkeep::curator::{Table, TableBuilder};
use barkeep::insecure::Insecure;
use barkeep::{Error, Plan, PublicRng, Run, Spec};

/// Plans a spec.
pub(crate) fn plan(text: &str) -> Result<Plan, Error> {
    Plan::new(Spec::parse(text, std::path::Path::new("."))?)
}

/// Why a spec is refused.
pub(crate) fn refusal(text: &str) -> String {
    plan(text).err().expect("this spec is faulty").to_string()
}

/// Records simulated from a plan's own model, and the mean of each column.
pub(crate) fn simulated(plan: &Plan, theta: &[f64], seed: u64) -> (Table, Vec<f64>) {
    let (model, records) = (&**plan.spec().model(), plan.spec().data().records().as_len());
    let mut rng = PublicRng::new(seed, 7);
    let mut builder = TableBuilder::new(plan.spec().data().schema().clone(), records).unwrap();
    let (mut row, mut mean) = (vec![0.0; model.columns()], vec![0.0; model.columns()]);
    for _ in 0..records {
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        builder.push_row(&row).unwrap();
        mean.iter_mut().zip(&row).for_each(|(mean, x)| *mean += x / records as f64);
    }
    (builder.finish().unwrap(), mean)
}

/// Runs a plan with repeatable noise.
pub(crate) fn run(plan: &Plan, table: Table, seed: u64) -> Run {
    plan.runner().insecure(Insecure::seed(seed)).run(table).unwrap()
}

/// Each parameter's series in one chain.
pub(crate) fn series(run: &Run, chain: usize) -> Vec<Vec<f64>> {
    (0..run.draws.dimension()).map(|j| run.draws.chains()[chain].series(j, 0)).collect()
}

/// Mean and standard deviation.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// Fails unless independent repetitions of an estimate have the expected mean, by five standard errors (level 6e-7 a
/// side under the normal law, somewhat more for few repetitions).
pub(crate) fn assert_unbiased(name: &str, repetitions: &[f64], expected: f64, slack: f64) {
    let (mean, sd) = moments(repetitions);
    let error = sd / (repetitions.len() as f64).sqrt();
    assert!(
        (mean - expected).abs() < 5.0 * error + slack,
        "{name}: {mean} where {expected} is expected, standard error {error}"
    );
}
