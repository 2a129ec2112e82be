//! Holds the banana against dual numbers, simulated records and its posterior in closed form.

use barkeep_data::Block;
use num_dual::Dual64;

use super::*;
use crate::{Scratch, check};

const BEND: Bend = Bend { a: 1.5, b: -0.25, m: 0.5 };
const VARIANCES: [f64; 4] = [20.0, 2.5, 1.0, 0.5];

fn model() -> Banana {
    Banana::new(BEND, &VARIANCES, 9.0).unwrap()
}

fn straightened(theta: &[Dual64]) -> Vec<Dual64> {
    let mut u = theta.to_vec();
    u[1] = u[1] + (theta[0] - BEND.m) * (theta[0] - BEND.m) * BEND.a + BEND.b;
    u
}

fn log_normal(x: f64, mean: Dual64, variance: f64) -> Dual64 {
    (mean - x) * (mean - x) * (-0.5 / variance) - 0.5 * (std::f64::consts::TAU * variance).ln()
}

fn density(x: &[f64], theta: &[Dual64]) -> Dual64 {
    let u = straightened(theta);
    (0..4).map(|j| log_normal(x[j], u[j], VARIANCES[j])).fold(Dual64::new(0.0, 0.0), |a, b| a + b)
}

fn prior(theta: &[Dual64]) -> Dual64 {
    straightened(theta).into_iter().map(|u| log_normal(0.0, u, 9.0)).fold(Dual64::new(0.0, 0.0), |a, b| a + b)
}

#[test]
fn agrees_with_dual_numbers() {
    check::against_oracle(&model(), &[0.0, 3.0, 0.0, 0.0], 2.0, density, prior);
}

#[test]
fn a_ratio_reads_only_columns_whose_mean_moves() {
    let from = [0.1, 3.0, 0.0, 0.5];
    // The first coordinate bends the second.
    for (moved, read) in [(0, &[0, 1][..]), (1, &[1][..]), (2, &[2][..])] {
        let mut to = from;
        to[moved] += 0.25;
        assert_eq!(model().ratio_program(&from, &to).unwrap().columns(), read);
    }
}

#[test]
fn behaves_as_every_model_must() {
    let theta = [1.0, 3.0, 0.0, -1.0];
    check::one_component_moves(&model(), &theta);
    check::scores(&model(), &theta, true);
    check::any_values(&model(), &theta);
    check::prior_draws(&model());
}

#[test]
fn the_prior_precision_is_that_of_the_straightened_parameters() {
    // u = θ + (0, 1.5·(θ₁−½)² − ¼, 0, 0): at θ₁ = 1 the slope is 1.5, so JᵀJ has 1 + 2.25, 1.5 and 1.
    let mut precision = [f64::NAN; 16];
    model().prior_precision(&[1.0, 3.0, 0.0, -1.0], &mut precision);
    let expected =
        [3.25, 1.5, 0.0, 0.0, 1.5, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0].map(|x| x / 9.0);
    for (found, expected) in precision.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15);
    }
}

#[test]
fn the_closed_form_posterior_is_proportional_to_likelihood_times_prior() {
    // ln posterior − T·Σ ln p(x|θ) − ln p(θ) must not depend on θ.
    let model = model();
    let records = 50;
    let values = check::columns(&model, &[0.3, 2.0, 0.0, 1.0], records, 3);
    let means: Vec<f64> =
        values.chunks_exact(records).map(|column| column.iter().sum::<f64>() / records as f64).collect();
    let temper = 0.25;
    let posterior = model.posterior(records as f64, temper, &means);
    let mut terms = vec![0.0; records];
    let scratch = &mut Scratch::new();
    let mut constant = |theta: &[f64]| {
        model.log_density(Block::over(&values, records, records), theta, &mut terms, scratch);
        let u = [theta[0], theta[1] + BEND.a * (theta[0] - BEND.m).powi(2) + BEND.b, theta[2], theta[3]];
        let closed: f64 =
            (0..4).map(|j| -0.5 * (u[j] - posterior.centre[j]).powi(2) / posterior.variances[j]).sum();
        closed - temper * terms.iter().sum::<f64>() - model.log_prior(theta)
    };
    let reference = constant(&[0.0, 0.0, 0.0, 0.0]);
    for theta in [[0.3, 2.0, 0.0, 1.0], [-1.0, 4.0, 2.0, -2.0], [2.5, -6.0, 0.5, 0.1]] {
        assert!((constant(&theta) - reference).abs() < 1e-10 * reference.abs());
    }
}

#[test]
fn posterior_draws_have_the_stated_moments() {
    let posterior = model().posterior(40.0, 1.0, &[1.0, 3.0, 0.0, 1.0]);
    let (mean, covariance) = posterior.moments();
    let draws = 40_000;
    let uniform = &mut check::uniform(5);
    let sample: Vec<[f64; 4]> = (0..draws)
        .map(|_| {
            let mut theta = [0.0; 4];
            posterior.sample(uniform, &mut theta);
            theta
        })
        .collect();
    for j in 0..4 {
        for k in 0..4 {
            let product = |theta: &[f64; 4]| (theta[j] - mean[j]) * (theta[k] - mean[k]);
            let average = sample.iter().map(product).sum::<f64>() / f64::from(draws);
            let variance =
                sample.iter().map(|theta| (product(theta) - average).powi(2)).sum::<f64>() / f64::from(draws);
            // Five standard errors: one failure in a million for each entry.
            assert!((average - covariance[j * 4 + k]).abs() < 5.0 * (variance / f64::from(draws)).sqrt());
        }
        let average = sample.iter().map(|theta| theta[j]).sum::<f64>() / f64::from(draws);
        assert!((average - mean[j]).abs() < 5.0 * (covariance[j * 5] / f64::from(draws)).sqrt());
    }
}

#[test]
fn nonsense_is_refused() {
    let message = |result: Result<Banana, Error>| result.err().map(|error| error.to_string());
    let bent = |a, b, m| Banana::new(Bend { a, b, m }, &[1.0, 1.0], 1.0);
    let cases = [
        (Banana::new(BEND, &[1.0], 1.0), "model.variances must have at least two entries"),
        (Banana::new(BEND, &[1.0, -1.0], 1.0), "model.variances must be finite and above 0"),
        (Banana::new(BEND, &[1.0, 1.0], 0.0), "model.prior_variance must be finite and above 0"),
        (bent(f64::NAN, 0.0, 0.0), "model.a must be finite"),
        (bent(0.0, f64::INFINITY, 0.0), "model.b must be finite"),
        (bent(0.0, 0.0, f64::NAN), "model.m must be finite"),
    ];
    for (result, expected) in cases {
        assert_eq!(message(result).as_deref(), Some(expected));
    }
}
