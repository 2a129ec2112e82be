//! Holds the Gaussian mean against dual numbers, simulated records and a case worked by hand.

use barkeep_data::Block;
use num_dual::Dual64;

use super::*;
use crate::{Scratch, check};

/// Σ = [[2, 1], [1, 2]], det 3, Σ⁻¹ = [[2, −1], [−1, 2]]/3; the prior N((1, −1), 9·I).
fn correlated() -> GaussianMean {
    GaussianMean::new(&[2.0, 1.0, 1.0, 2.0], &[1.0, -1.0], &[9.0, 0.0, 0.0, 9.0]).unwrap()
}

fn log_normal(x: f64, mean: Dual64, variance: f64) -> Dual64 {
    (mean - x) * (mean - x) * (-0.5 / variance) - 0.5 * (std::f64::consts::TAU * variance).ln()
}

fn correlated_density(x: &[f64], theta: &[Dual64]) -> Dual64 {
    let (u, v) = (theta[0] - x[0], theta[1] - x[1]);
    let form = (u * u * 2.0 - u * v * 2.0 + v * v * 2.0) / 3.0;
    form * -0.5 - 0.5 * (3.0 * std::f64::consts::TAU.powi(2)).ln()
}

#[test]
fn agrees_with_dual_numbers() {
    let prior = |theta: &[Dual64]| log_normal(1.0, theta[0], 9.0) + log_normal(-1.0, theta[1], 9.0);
    check::against_oracle(&correlated(), &[0.5, 2.0], 3.0, correlated_density, prior);
    let variances = [20.0, 2.5, 1.0, 1.0, 0.25, 3.0];
    let independent = GaussianMean::independent(&variances, 7.0).unwrap();
    let sum = |terms: &mut dyn Iterator<Item = Dual64>| terms.fold(Dual64::new(0.0, 0.0), |a, b| a + b);
    let density = |x: &[f64], theta: &[Dual64]| {
        sum(&mut theta.iter().zip(x).zip(variances).map(|((theta, x), v)| log_normal(*x, *theta, v)))
    };
    let prior = |theta: &[Dual64]| sum(&mut theta.iter().map(|theta| log_normal(0.0, *theta, 7.0)));
    check::against_oracle(&independent, &[0.0, 3.0, 0.0, 0.0, 1.0, -1.0], 2.0, density, prior);
}

#[test]
fn statistics_are_whitened_deviations_from_the_middle() {
    let columns = ["a", "b"].map(|name| Column::real(name, -2.0, 5.0, 0.0).unwrap());
    let schema = Schema::new(columns.to_vec()).unwrap();
    let next = &mut check::uniform(19);
    let values: Vec<f64> = (0..600).map(|_| 7.0 * next() - 2.0).collect();
    let model = correlated();
    let program = model.statistics_program(&schema).unwrap();
    let bound = model.statistics(&schema).unwrap().bound();
    let found = check::outputs(&program, Block::over(&values, 300, 300));
    for i in 0..300 {
        // Σ = LLᵀ with L = [[√2, 0], [1/√2, √(3/2)]].
        let (u, v) = (values[i] - 1.5, values[300 + i] - 1.5);
        let first = u / 2f64.sqrt();
        let second = (v - first / 2f64.sqrt()) / 1.5f64.sqrt();
        assert!((found[i] - first).abs() < 1e-14 && (found[300 + i] - second).abs() < 1e-14);
        assert!(first.hypot(second) <= bound);
    }
}

#[test]
fn behaves_as_every_model_must() {
    let model = correlated();
    check::one_component_moves(&model, &[0.5, 2.0]);
    check::scores(&model, &[0.5, 2.0], true);
    check::any_values(&model, &[0.5, 2.0]);
    check::prior_draws(&model);
    let independent = GaussianMean::independent(&[20.0, 2.5, 1.0, 1.0, 1.0], 1000.0).unwrap();
    check::one_component_moves(&independent, &[0.0, 3.0, 0.0, 0.0, 0.0]);
    check::any_values(&independent, &[0.0; 5]);
}

#[test]
fn log_ratio_keeps_its_digits_far_from_the_records() {
    // x = 2²⁶ and steps of 2⁻³⁰: the ratio is exactly 2⁻⁴ − 2⁻³⁰·(θ + 2⁻³¹), the difference of densities,
    // each near 2⁵¹, has no correct digit.
    let model = GaussianMean::independent(&[1.0], 1.0).unwrap();
    let step = (-30f64).exp2();
    let values = [26f64.exp2()];
    let mut out = [0.0];
    let scratch = &mut Scratch::new();
    model.log_ratio(Block::over(&values, 1, 1), &[0.0], &[step], &mut out, scratch);
    assert_eq!(out[0], 0.0625 - step * step / 2.0);
}

#[test]
fn the_posterior_of_a_case_worked_by_hand() {
    // One dimension: variance 4, prior N(1, 2²), n = 10, T = ½, mean 3: precision 10·½/4 + 1/4 = 3/2, mean
    // (15/4 + 1/4)/(3/2) = 8/3.
    let model = GaussianMean::new(&[4.0], &[1.0], &[4.0]).unwrap();
    let (mean, covariance) = model.posterior(10.0, 0.5, &[3.0]).unwrap();
    assert!((mean[0] - 8.0 / 3.0).abs() < 1e-14 && (covariance[0] - 2.0 / 3.0).abs() < 1e-15);
}

#[test]
fn nonsense_is_refused() {
    let unit = [1.0, 0.0, 0.0, 1.0];
    let message = |result: Result<GaussianMean, Error>| result.err().map(|error| error.to_string());
    let cases = [
        (GaussianMean::new(&[], &[], &[]), "model.prior_mean must have at least one entry"),
        (GaussianMean::new(&[1.0], &[0.0, 0.0], &unit), "model.covariance must have 4 entries"),
        (GaussianMean::new(&unit, &[0.0, 0.0], &[1.0]), "model.prior_covariance must have 4 entries"),
        (GaussianMean::new(&unit, &[0.0, f64::NAN], &unit), "model.prior_mean must be finite"),
        (
            GaussianMean::new(&[1.0, 2.0, 2.0, 1.0], &[0.0, 0.0], &unit),
            "model.covariance must be symmetric and positive definite",
        ),
        (GaussianMean::independent(&[], 1.0), "model.variances must have at least one entry"),
        (GaussianMean::independent(&[0.0], 1.0), "model.variances must be finite and above 0"),
        (GaussianMean::independent(&[1.0], f64::NAN), "model.prior_variance must be finite and above 0"),
    ];
    for (result, expected) in cases {
        assert_eq!(message(result).as_deref(), Some(expected));
    }
}
