//! Holds every propose-and-test kernel against posteriors known in closed form, and every rule against detailed
//! balance.
//!
//! Kernels run through the curator's gate on a budget that charges nothing, so that chains can be long.
//! Each comparison allows five standard errors (level 6e-7 a side under the normal law); seeds are fixed.

use crate::accounting::theorems::thesis::VarianceSensitivity;
use crate::accounting::vcor::Fit;
use crate::accounting::{Neighbours, Ratio, Rule, Sampling, Variance};
use crate::curator::{Level, Table, Temper};
use crate::model::{Banana, Bend, GaussianMean, Likelihood, Model};
use crate::samplers::kernels::closed_form::{RECORDS, assert_moments, follow, records};
use crate::samplers::kernels::metropolis::{Acceptance, ClipBound, Judgement, Metropolis};
use crate::samplers::parts::proposal::{Direction, Length, Scale, Walk};
use std::sync::Arc;

const STEPS: usize = 120_000;

fn judgement(acceptance: Acceptance, temper: f64) -> Judgement {
    Judgement {
        // No log-ratio of these records comes near it: clipping is not active.
        clip: ClipBound::Constant(50.0),
        acceptance,
        temper: Temper::new(temper).unwrap(),
        batch: Sampling::Full,
        neighbours: Neighbours::Substitute,
        level: Level::Decision,
    }
}

/// Each parameter's series.
fn run(
    model: Arc<impl Model + Likelihood + 'static>,
    table: Table,
    start: &[f64],
    walk: (Scale, Length, Direction),
    judgement: Judgement,
    seed: u64,
) -> Vec<Vec<f64>> {
    follow(Arc::clone(&model), table, start, STEPS, seed, |rng| {
        Box::new(Metropolis::new(model, Walk::new(walk.0, walk.1, walk.2, rng), judgement))
    })
}

/// The corrected rule, and the most by which its acceptance probability is off.
fn corrected(fit: Fit, variance: f64) -> (Rule, f64) {
    let fitted = fit.correction(Variance::new(variance).unwrap()).unwrap();
    (Rule::Corrected { variance, correction: fitted.correction }, fitted.quality.cdf_error.upper)
}

fn acceptances() -> Vec<(&'static str, Acceptance)> {
    let ratio = Ratio::new(0.008).unwrap();
    vec![
        ("metropolis", Acceptance::Fixed(Rule::Metropolis)),
        ("barker", Acceptance::Fixed(Rule::Barker)),
        ("lazy barker", Acceptance::Fixed(Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Barker) })),
        ("penalty(1)", Acceptance::Fixed(Rule::Penalty { sigma: 1.0 })),
        // Its probabilities are off by 2e-6 at most, far below what these chains can see.
        ("corrected(1)", Acceptance::Fixed(corrected(Fit::Mixture, 1.0).0)),
        ("penalty by ratio", Acceptance::PenaltyRatio { ratio, variance: VarianceSensitivity::Tight }),
    ]
}

#[test]
fn every_rule_samples_a_gaussian_posterior() {
    let model = || GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    for (seed, (name, acceptance)) in acceptances().into_iter().enumerate() {
        let (table, data_mean) = records(&model(), &[1.0, -1.0]);
        let (mean, covariance) = model().posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
        let walk = (Scale::Diagonal(vec![0.2, 0.3]), Length::Gaussian, Direction::Full);
        let series = run(Arc::new(model()), table, &mean, walk, judgement(acceptance, 1.0), 1 + seed as u64);
        assert_moments(name, &series, &mean, &covariance);
    }
}

#[test]
fn every_walk_samples_a_tempered_banana() {
    let model = || Banana::new(Bend { a: 0.7, b: 0.1, m: 0.2 }, &[2.0, 1.0], 25.0).unwrap();
    let diagonal = || Scale::Diagonal(vec![0.4, 0.3]);
    let walks = [
        ("gaussian", (diagonal(), Length::Gaussian, Direction::Full)),
        ("full covariance", (Scale::Cholesky(vec![0.4, 0.0, -0.1, 0.3]), Length::Gaussian, Direction::Full)),
        ("capped", (diagonal(), Length::Capped { cap: 0.5 }, Direction::Full)),
        ("uniform", (diagonal(), Length::Uniform { cap: 0.7 }, Direction::Full)),
        ("one", (diagonal(), Length::Gaussian, Direction::One)),
        ("one, uniform", (diagonal(), Length::Uniform { cap: 0.8 }, Direction::One)),
        ("guided", (diagonal(), Length::Capped { cap: 0.8 }, Direction::Guided)),
    ];
    for (seed, (name, walk)) in walks.into_iter().enumerate() {
        let (table, data_mean) = records(&model(), &[0.4, 1.0]);
        let (mean, covariance) = model().posterior(RECORDS as f64, 0.5, &data_mean).moments();
        let judgement = judgement(Acceptance::Fixed(Rule::Barker), 0.5);
        let series = run(Arc::new(model()), table, &mean, walk, judgement, 40 + seed as u64);
        assert_moments(name, &series, &mean, &covariance);
    }
}

/// π over seven states, and the transition matrix of a uniform proposal judged by a rule.
fn transitions(rule: &Rule) -> (Vec<f64>, Vec<Vec<f64>>) {
    let weights = [0.01, 0.3, 0.05, 0.2, 0.04, 0.25, 0.15];
    let accept = |i: usize, j: usize| {
        let log_ratio = f64::ln(weights[j] / weights[i]);
        rule.coin(log_ratio, 0.0).accept() / (weights.len() - 1) as f64
    };
    let rows = (0..weights.len()).map(|i| {
        let mut row: Vec<f64> = (0..weights.len()).map(|j| if i == j { 0.0 } else { accept(i, j) }).collect();
        row[i] = 1.0 - row.iter().sum::<f64>();
        row
    });
    (weights.to_vec(), rows.collect())
}

#[test]
fn rules_keep_detailed_balance_on_a_small_target() {
    let lazy = |rule| Rule::Lazy { keep: 0.3, rule: Box::new(rule) };
    for rule in [
        Rule::Metropolis,
        Rule::Barker,
        Rule::Penalty { sigma: 0.25 },
        Rule::Penalty { sigma: 1.0 },
        Rule::Penalty { sigma: 4.0 },
        lazy(Rule::Barker),
        lazy(Rule::Penalty { sigma: 2.0 }),
    ] {
        let (target, matrix) = transitions(&rule);
        for i in 0..target.len() {
            for j in 0..i {
                let (there, back) = (target[i] * matrix[i][j], target[j] * matrix[j][i]);
                assert!((there - back).abs() <= 1e-13 * there, "{rule:?}: {there} {back}");
            }
        }
    }
}

/// Total variation distance of the chain's stationary law from the target.
fn stationary_error(rule: &Rule) -> f64 {
    let (target, matrix) = transitions(rule);
    let mut law = target.clone();
    for _ in 0..10_000 {
        law = (0..law.len()).map(|j| law.iter().zip(&matrix).map(|(p, row)| p * row[j]).sum()).collect();
    }
    0.5 * law.iter().zip(&target).map(|(found, exact)| (found - exact).abs()).sum::<f64>()
}

/// Dobrushin's coefficient: how much of a difference between two laws survives a step, at most.
fn survival(matrix: &[Vec<f64>]) -> f64 {
    let distance = |a: &[f64], b: &[f64]| 0.5 * a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>();
    matrix.iter().flat_map(|a| matrix.iter().map(move |b| distance(a, b))).fold(0.0, f64::max)
}

/// An acceptance off by at most e moves every row of the matrix by at most e in total variation, and what is moved
/// survives a step of Barker's chain by at most its coefficient c: the stationary law is off by at most e/(1 − c).
#[test]
fn the_corrected_rule_is_off_by_what_its_fit_allows() {
    assert!(stationary_error(&Rule::Barker) < 1e-13);
    let survival = survival(&transitions(&Rule::Barker).1);
    for (fit, variance) in [
        (Fit::Mixture, 1.0),
        (Fit::Mixture, 2.0),
        (Fit::MixtureDensity, 2.0),
        (Fit::Minimax, 2.0),
        (Fit::Minimax, 2.5),
    ] {
        let (rule, off) = corrected(fit, variance);
        let error = stationary_error(&rule);
        // Shown by `cargo test -p barkeep --lib metropolis -- --nocapture`.
        eprintln!(
            "V_cor {fit:?}, C = {variance}: stationary law off by {error:.2e}, acceptances by at most {off:.2e}"
        );
        assert!(error > 1e-9, "{fit:?} at C = {variance} is exact, against the proof that none is");
        assert!(error <= off / (1.0 - survival), "{fit:?} at C = {variance}: {error}");
    }
}
