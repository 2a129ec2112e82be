//! Holds the steps a spec buys against the thesis' table at release level, and against release level at decision level.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::curator::Level;
use barkeep::{Plan, Spec};
use std::path::Path;

/// The thesis' settings and the iterations its exact accountant allows.
const ROWS: &str = include_str!("../../barkeep-accounting/tests/reference/thesis_iterations.csv");

fn plan(records: u64, epsilon: f64, delta: f64, sampler: &str) -> Plan {
    let text = format!(
        "[data]\npath = 'nowhere'\nrecords = {records}\n[data.columns]\nx = {{ min = -9, max = 9, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\n[privacy]\nepsilon = {epsilon}\ndelta = {delta:e}\n[sampler]\nstart = [0]\n{sampler}"
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap()
}

#[test]
fn the_thesis_table_at_release_level() {
    let mut rows = 0;
    for line in ROWS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let (sampler, records, tau) = (cells[1], cells[2].parse::<u64>().unwrap(), cells[3]);
        let (epsilon, published) = (cells[6].parse().unwrap(), cells[7].parse::<u64>().unwrap());
        let walk = match sampler {
            "dpps" => "full",
            "dppa" => "guided",
            _ => continue,
        };
        let keys = format!(
            "name = 'penalty'\nlevel = 'release'\nmove = '{walk}'\ntau = {tau}\nclip = 2\nproposal_sd = 0.01\n\
             proposal = 'gaussian'"
        );
        let steps = plan(records, epsilon, 0.1 / records as f64, &keys).steps().0;
        assert_eq!(steps, published, "{line}");
        rows += 1;
    }
    assert_eq!(rows, 64);
}

/// The same chain at both levels: the longest step has sensitivity 2·clip·cap and noise σ = τ√n times that.
fn gain(sigma: f64, epsilon: f64) -> f64 {
    let (records, ratio, cap) = (100_000_u64, 31.622_776_601_683_79_f64, 0.01);
    let (tau, clip) = (ratio / (records as f64).sqrt(), sigma / ratio / (2.0 * cap));
    let keys =
        format!("name = 'penalty'\ntau = {tau}\nclip = {clip}\nproposal_sd = {cap}\nproposal_cap = {cap}");
    let plan = plan(records, epsilon, 1e-6, &keys);
    let plan = plan.compare_levels().unwrap();
    let affordable = plan.affordable();
    let steps = |level| affordable.iter().find(|entry| entry.level == level).unwrap().steps.0 as f64;
    steps(Level::Decision) / steps(Level::Release)
}

fn assert_gain(sigma: f64, epsilon: f64, least: f64) {
    let found = gain(sigma, epsilon);
    assert!(found >= least, "sigma {sigma} at epsilon {epsilon}: {found}");
}

/// A million steps are compared in a moment, and shown as the estimate they are.
#[test]
fn many_decisions_are_estimated() {
    let keys = "name = 'penalty'\nlevel = 'release'\ntau = 3\nclip = 0.1\nproposal_sd = 0.01";
    let plan = plan(100_000, 2.0, 1e-6, keys);
    let plan = plan.compare_levels().unwrap();
    let [release, decision] = plan.affordable()[..] else { panic!("{:?}", plan.affordable()) };
    assert!(!release.estimated && release.steps.0 > 100_000);
    assert!(decision.estimated && decision.steps.0 as f64 > 1.5 * release.steps.0 as f64, "{decision:?}");
}

#[test]
fn decisions_are_cheaper_than_releases() {
    assert_gain(1.0, 2.0, 2.0);
    assert_gain(2.0, 2.0, 1.75);
    assert_gain(8.0, 2.0, 1.5);
    assert_gain(0.25, 1.0, 1.5);
    assert_gain(16.0, 6.0, 1.5);
}

#[test]
#[ignore = "slow: cargo test --release -p barkeep --test affordable_steps -- --ignored"]
fn decisions_are_cheaper_than_releases_everywhere() {
    for epsilon in [1.0, 2.0, 4.0, 6.0] {
        assert_gain(1.0, epsilon, 2.0);
        assert_gain(2.0, epsilon, 1.75);
        for sigma in [0.25, 0.5, 0.75, 1.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0] {
            assert_gain(sigma, epsilon, 1.5);
        }
    }
}
