//! Holds samplers that see batches to the exact tempered posterior of a normal mean: where a chain ends up, and how wide it is.
//!
//! Levels: seeds are fixed. A mean may be off by a fifth of a posterior standard deviation and a standard deviation by a tenth of itself; with more
//! than a thousand effective draws both are beyond four standard errors, and a forgotten factor of two in a temperature is 41 %.

use barkeep::data::Records;
use barkeep::insecure::Insecure;
use barkeep::{Fact, Plan, Simulation, Spec};
use std::path::Path;

const RECORDS: u64 = 1600;
/// The likelihood counts as that of as many records.
const TEMPERED: f64 = 100.0;
const BATCH: u64 = 400;

fn spec(folder: &Path, sampler: &str) -> Spec {
    let text = format!(
        "[data]\npath = 'r.csv'\nrecords = {RECORDS}\n[data.columns]\nx1 = {{ min = -20, max = 20, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\ncovariance = [[1]]\nprior_variance = 100\nn0 = {TEMPERED}\n\
         [privacy]\nepsilon = 60\ndelta = 1e-5\n[sampler]\nstart = [1.0]\nseed = 3\nbatch = {BATCH}\n{sampler}\n"
    );
    Spec::parse(&text, folder).unwrap()
}

/// The mean's error in posterior standard deviations, and the standard deviation over the exact one.
fn against_exact(sampler: &str, steps: u64) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.csv");
    let spec = spec(folder.path(), &format!("{sampler}\nsteps = {steps}"));
    Simulation::of_spec(&spec).write_csv(&path, b',', &[1.0], Records(RECORDS), 8).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let values: Vec<f64> = text.lines().skip(1).map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(values.len() as u64, RECORDS);
    let precision = TEMPERED + 1.0 / 100.0;
    let centre = TEMPERED * values.iter().sum::<f64>() / RECORDS as f64 / precision;
    let plan = Plan::new(spec).unwrap();
    assert_eq!(plan.steps().0, steps, "{sampler}");
    let table = plan.read_records(&mut |_| {}).unwrap();
    let run = plan.runner().insecure(Insecure::seed(2)).run(table).unwrap();
    let draws = run.draws.pooled(usize::try_from(steps / 20).unwrap());
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    ((mean - centre) * precision.sqrt(), (variance * precision).sqrt())
}

fn holds(sampler: &str, steps: u64) {
    let (off, ratio) = against_exact(sampler, steps);
    assert!(off.abs() < 0.2, "{sampler}: the mean is off by {off} posterior standard deviations");
    assert!((ratio - 1.0).abs() < 0.1, "{sampler}: {ratio} times the exact standard deviation");
}

#[test]
fn minibatch_barker_samples_the_posterior() {
    holds("name = 'barker-minibatch'\nproposal_sd = 0.1", 40_000);
}

#[test]
fn minibatch_penalty_samples_the_posterior() {
    holds(
        "name = 'penalty-minibatch'\nproposal_sd = 0.15\nproposal = 'gaussian'\nclip = 4\ntau = 100",
        40_000,
    );
}

#[test]
fn fisher_scoring_samples_the_posterior() {
    holds("name = 'sgfs'\nstep_size = 0.01\nclip = 4", 10_000);
}

/// Noise that a budget adds is met by a thermostat that knows of it.
#[test]
fn the_thermostat_samples_the_posterior() {
    holds("name = 'sgnht'\nstep_size = 0.005\nclip = 4", 40_000);
}

/// The comparison can fail: a clip that cuts most log-ratios flattens the posterior.
#[test]
fn a_flattened_posterior_is_noticed() {
    let (_, ratio) = against_exact("name = 'barker-minibatch'\nproposal_sd = 0.1\nclip = 0.05", 20_000);
    assert!(ratio > 1.1, "{ratio}");
}

/// What a small batch may do to a test, and which premise the price rests on, stands in the plan; a large batch warns of nothing.
#[test]
fn a_plan_states_the_error_of_a_batch_and_its_premise() {
    let folder = tempfile::tempdir().unwrap();
    let planned = |batch: u64| {
        let text = "name = 'barker-minibatch'\nproposal_sd = 0.1\nsteps = 10";
        let spec = spec(folder.path(), text)
            .text()
            .replace(&format!("batch = {BATCH}"), &format!("batch = {batch}"));
        Plan::new(Spec::parse(&spec, folder.path()).unwrap()).unwrap()
    };
    let warned = |plan: &Plan| plan.warnings().iter().any(|warning| warning.contains("is not normal enough"));
    let error = |plan: &Plan| plan.fact("batch_error").and_then(Fact::as_number).unwrap();
    let (small, large) = (planned(20), planned(1200));
    assert!(warned(&small) && error(&small) > 0.01, "{}", error(&small));
    assert!(!warned(&large) && error(&large) < error(&small), "{}", error(&large));
    assert!(small.fact("premise").unwrap().words.contains("condition (12)"));
}
