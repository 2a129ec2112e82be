//! Holds the steps a spec buys against the thesis' table at release level, and against release level at decision level.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::accounting::{Mechanism, Rule};
use barkeep::curator::Level;
use barkeep::{Bill, Certificate, Plan, Spec};
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

/// Samplers that are planned in milliseconds: closed forms, filters, gradients.
const QUICK: [&str; 4] = [
    "name = 'penalty'\nlevel = 'release'\ntau = 0.1\nclip = 2\nproposal_sd = 0.01\nproposal = 'gaussian'",
    "name = 'barker'\nproposal_sd = 0.01\nclip = 0.5\nproposal = 'gaussian'\nsteps = 1000",
    "name = 'langevin'\nstep = 0.1\nclip = 1",
    "name = 'dp-hmc'\nlevel = 'release'\ntau = 0.5\ntau_gradient = 1\nstep = 0.001\nclip = 3\nclip_gradient = 3",
];

/// Those whose price takes longer: decisions, schedules and batches.
const SLOW: [&str; 4] = [
    "name = 'barker'\nproposal_sd = 0.01\nclip = 0.5\nclip_scale = 'constant'",
    "name = 'sgld'\nbatch = 100\nstep_size = 0.0001\nclip = 1\nsteps = 50",
    "name = 'penalty-minibatch'\nproposal_sd = 0.01\nbatch = 100\ntau = 4\nclip = 1",
    "name = 'barker-minibatch'\nproposal_sd = 0.1\nbatch = 200",
];

fn assert_within(epsilon: f64, sampler: &str) -> Plan {
    let plan = plan(10_000, epsilon, 1e-6, sampler);
    let paid = plan.epsilon().unwrap().get();
    assert!(paid <= epsilon, "{sampler} at {epsilon}: {paid}");
    // Fixed schedules may cost less; the others use up what there is.
    assert!(paid > 0.5 * epsilon || sampler.contains("sgld"), "{sampler} at {epsilon}: {paid}");
    plan
}

/// ε with many digits, from 4 to 50: none of the 62 plans costs more than was asked for, not by a rounding, nor does a certificate say so.
#[test]
fn no_certificate_exceeds_the_budget() {
    for number in 0..62_usize {
        let epsilon = 4.0 * (50.0_f64 / 4.0).powf(number as f64 / 61.0);
        assert_within(epsilon, QUICK[number % QUICK.len()]);
    }
    for (number, sampler) in QUICK.iter().chain(&SLOW).enumerate() {
        let epsilon = 4.0 + 0.123_456_789 * number as f64;
        let certificate = Certificate::of(&assert_within(epsilon, sampler));
        assert!(certificate.epsilon.unwrap() <= epsilon, "{sampler} at {epsilon}");
        assert!(certificate.meaning.unwrap().advantage > 0.0, "{sampler}");
    }
}

/// What a filter's bill holds is the question that was asked, with its own rule and clip, and no stand-in for it.
#[test]
fn a_filters_bill_shows_what_was_run() {
    for clip in [0.25, 0.5] {
        let keys = format!(
            "name = 'lazy-barker'\nkeep = 0.5\nproposal_sd = 0.01\nclip = {clip}\nproposal = 'gaussian'"
        );
        let plan = plan(10_000, 4.0, 1e-6, &keys);
        let Some(Bill::Filter { decision, .. }) = plan.bill() else { panic!("steps whose price varies") };
        let Mechanism::Decision(asked) = decision.mechanism() else { panic!("a decision") };
        assert_eq!(asked.rule, Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Barker) });
        // A step of length 1 has sensitivity 2·clip, on the lattice a little more.
        let sensitivity = asked.sensitivity.get();
        assert!(sensitivity >= 2.0 * clip && sensitivity < 2.0 * clip * (1.0 + 1e-6), "{sensitivity}");
    }
}
