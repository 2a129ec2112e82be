//! Checks privacy-loss distributions against every reference row they apply to: the truth inside the bracket, the bracket
//! narrower than 1e-5, numbers of steps exact.
//!
//! The values were computed by contour integrals in long double, exact sums in mpmath, and exact convolutions in arb; see
//! `reference/README.md`.

use crate::pld::{Accuracy, Composition, DominatingPair};
use crate::{Bracket, Delta, Epsilon, Neighbours, Probability, Rate, Ratio, Sampling, Steps, Variance};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().expect("a number").parse().expect("a number"))
}

fn parameter(row: &Value, name: &str) -> f64 {
    number(&row["params"][name])
}

fn rows(kind: &str, belongs: impl Fn(&Value) -> bool) -> Vec<Value> {
    let all: Vec<Value> =
        serde_json::from_str(include_str!("../../../../tests/reference/accounting.json")).unwrap();
    all.into_iter().filter(|row| row["kind"] == kind && belongs(row)).collect()
}

fn is_mechanism(row: &Value, name: &str) -> bool {
    row["params"]["mech"].as_str().is_some_and(|mechanism| mechanism.starts_with(name))
}

fn is_pair(row: &Value) -> bool {
    row["params"]["pair"].is_string()
}

/// The curve of a subsampled pair, by the letter it goes by in the reference.
fn curve(row: &Value) -> DominatingPair {
    let (sigma, rate) = (parameter(row, "sigma"), parameter(row, "q"));
    let name = row["params"]["pair"].as_str().unwrap();
    let letter = name.split([':', ' ']).next().unwrap();
    let gaussian = |sensitivity: f64, sampling: Sampling, neighbours: Neighbours| {
        DominatingPair::subsampled_gaussian(Ratio::new(sigma / sensitivity).unwrap(), sampling, neighbours)
            .unwrap()
    };
    let poisson = Sampling::Poisson { rate: Rate::new(rate).unwrap() };
    let batch = Sampling::WithoutReplacement { batch: (rate * 1e6).round() as u64, records: 1_000_000 };
    match letter {
        "R" => gaussian(1.0, poisson, Neighbours::AddRemove),
        "R2" => gaussian(2.0, poisson, Neighbours::AddRemove),
        "A" => gaussian(1.0, poisson, Neighbours::AddRemove).backward(),
        "S" => gaussian(2.0, poisson, Neighbours::Substitute),
        "Z1" => gaussian(1.0, batch, Neighbours::Substitute),
        "Z2" => gaussian(2.0, batch, Neighbours::Substitute),
        other => panic!("unknown pair {other}"),
    }
}

fn check(row: &Value, truth: f64, bracket: Bracket) {
    let (lower, upper) = (bracket.lower.unwrap(), bracket.upper);
    // The reference has 16 or 17 digits, rounded.
    let slack = 1e-15 * truth;
    assert!(lower <= truth + slack && truth <= upper + slack, "{row}: {bracket:?}");
    assert!(upper - lower <= 1e-5 * truth, "{row}: {bracket:?}");
}

fn delta(row: &Value) -> Delta {
    Delta::new(parameter(row, "delta")).unwrap()
}

fn epsilon(row: &Value) -> Epsilon {
    Epsilon::new(parameter(row, "eps")).unwrap()
}

fn steps(row: &Value) -> Steps {
    Steps(parameter(row, "k") as u64)
}

#[test]
fn epsilon_of_subsampled_gaussians() {
    let rows = rows("eps", is_pair);
    assert_eq!(rows.len(), 36);
    for row in &rows {
        let run = Composition::new().and(&curve(row), steps(row));
        check(row, number(&row["value"]), run.epsilon(delta(row), Accuracy::default()).unwrap());
    }
}

/// The same rows the other way round: δ at the ε that was computed for it.
#[test]
fn delta_of_subsampled_gaussians() {
    for row in &rows("eps", is_pair) {
        let run = Composition::new().and(&curve(row), steps(row));
        let epsilon = Epsilon::new(number(&row["value"])).unwrap();
        let bracket = run.delta(epsilon, Accuracy::default()).unwrap();
        let truth = parameter(row, "delta");
        // ε is known to 1e-12 (4.6e-12 in the deepest row), and δ falls by at most e^(500 dε).
        let known = 1.0 + 1e-9;
        assert!(
            bracket.lower.unwrap() <= truth * known && truth <= bracket.upper * known,
            "{row}: {bracket:?}"
        );
        // For the smallest of them ln δ to 1e-5 must do.
        let width = (bracket.upper / bracket.lower.unwrap()).ln();
        assert!(width <= if truth >= 1e-20 { 1.1e-5 } else { -1e-5 * truth.ln() }, "{row}: {bracket:?}");
    }
}

#[test]
fn largest_steps_of_subsampled_gaussians() {
    let rows = rows("max_k", is_pair);
    assert_eq!(rows.len(), 8);
    for row in &rows {
        let once = Composition::new().and(&curve(row), Steps(1));
        let most = once.largest_repetitions(epsilon(row), delta(row), Accuracy::default()).unwrap();
        assert_eq!(most.0 as f64, number(&row["value"]), "{row}");
    }
}

#[test]
fn coins_in_both_directions() {
    let rows = rows("delta", |row| is_mechanism(row, "Bern"));
    assert_eq!(rows.len(), 8);
    for row in &rows {
        let probability = |name: &str| Probability::new(parameter(row, name)).unwrap();
        let coin = DominatingPair::bernoulli(probability("p"), probability("p_prime"));
        for (direction, truth) in
            [coin.forward(), coin.backward()].iter().zip(row["value"].as_array().unwrap())
        {
            let run = Composition::new().and(direction, steps(row));
            check(row, number(truth), run.delta(epsilon(row), Accuracy::default()).unwrap());
        }
        let worse = row["value"].as_array().unwrap().iter().map(number).fold(0.0, f64::max);
        let run = Composition::new().and(&coin, steps(row));
        check(row, worse, run.delta(epsilon(row), Accuracy::default()).unwrap());
    }
}

#[test]
fn discrete_gaussians() {
    let rows = rows("delta", |row| is_mechanism(row, "discrete gaussian"));
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let variance = Variance::new(parameter(row, "sigma2")).unwrap();
        let noise =
            DominatingPair::discrete_gaussian(variance, parameter(row, "sensitivity") as u64).unwrap();
        let run = Composition::new().and(&noise, steps(row));
        check(row, number(&row["value"]), run.delta(epsilon(row), Accuracy::default()).unwrap());
    }
}

/// Gaussian mechanisms have a closed form elsewhere; here they test the lattice.
#[test]
fn gaussians_on_the_lattice() {
    let is_gaussian = |row: &Value| is_mechanism(row, "gaussian") || is_mechanism(row, "continuous gaussian");
    let rows = rows("delta", is_gaussian);
    assert_eq!(rows.len(), 25);
    for row in &rows {
        let ratio = if row["params"]["sigma"].is_null() {
            parameter(row, "sigma2").sqrt() / parameter(row, "sensitivity")
        } else {
            parameter(row, "sigma")
        };
        let curve = DominatingPair::gaussian(Ratio::new(ratio).unwrap()).unwrap();
        let run = Composition::new().and(&curve, steps(row));
        check(row, number(&row["value"]), run.delta(epsilon(row), Accuracy::default()).unwrap());
    }
}
