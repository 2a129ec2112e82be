//! Holds every model to an independent oracle: densities written in dual numbers, and simulated records.

use barkeep_data::Block;
use barkeep_machine::{Machine, Program};
use num_dual::Dual64;

use crate::settings::Settings;
use crate::{Error, Law, Likelihood, Model, Regression, Scratch};

/// Variates uniform on (0, 1), the same for the same seed (splitmix64).
pub(crate) fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * (-53f64).exp2() + (-54f64).exp2()
    }
}

/// Column-major values of `records` records simulated at `at`.
pub(crate) fn columns(
    model: &(impl Model + Likelihood),
    theta: &[f64],
    records: usize,
    seed: u64,
) -> Vec<f64> {
    let mut values = vec![0.0; model.columns() * records];
    let mut row = vec![0.0; model.columns()];
    let uniform = &mut uniform(seed);
    for i in 0..records {
        model.simulate(theta, uniform, &mut row);
        row.iter().enumerate().for_each(|(j, value)| values[j * records + i] = *value);
    }
    values
}

/// What a program writes for each record, entry by entry.
pub(crate) fn outputs(program: &Program, records: Block<'_>) -> Vec<f64> {
    let mut out = vec![f64::NAN; program.width() * records.len()];
    Machine::default().write_all(program, records, &mut out);
    out
}

/// The same number, or not a number both; zeros may differ in sign.
pub(crate) fn same(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let both = found.is_nan() && expected.is_nan();
        assert!(both || found == expected, "{what} {i}: {found} {expected}");
    }
}

/// Whether two numbers agree to 1e-12 of `size`, the size of what was added up to get them.
fn close(found: f64, expected: f64, size: f64) -> bool {
    (found - expected).abs() <= 1e-12 * (1.0 + size)
}

/// What a gradient may be off by, of its size, beside roundings: slopes of logistic regressions are as good as a
/// [`short_sigmoid`](barkeep_num::vector::scalar::short_sigmoid).
pub(crate) fn slack(model: &impl Likelihood) -> f64 {
    match model.regression().and_then(Regression::law) {
        Some(Law::Logit) => 2.3e-10,
        Some(_) | None => 0.0,
    }
}

fn seeded(theta: &[f64], coordinate: usize) -> Vec<Dual64> {
    let seed = |(k, value): (usize, &f64)| Dual64::new(*value, f64::from(u8::from(k == coordinate)));
    theta.iter().enumerate().map(seed).collect()
}

/// Checks log densities, log ratios, gradients and the prior at random points near `near` against oracles.
///
/// `density(x, θ)` is ln p(x|θ) and `prior(θ)` is ln p(θ), written plainly in dual numbers.
pub(crate) fn against_oracle(
    model: &(impl Model + Likelihood),
    near: &[f64],
    spread: f64,
    density: impl Fn(&[f64], &[Dual64]) -> Dual64,
    prior: impl Fn(&[Dual64]) -> Dual64,
) {
    let d = model.dimension();
    assert_eq!((model.parameter_names().len(), near.len()), (d, d));
    let next = &mut uniform(11);
    let mut scratch = Scratch::new();
    for (round, length) in [1, 3, 8, 29, 1024].into_iter().enumerate() {
        let point = |next: &mut dyn FnMut() -> f64| -> Vec<f64> {
            near.iter().map(|theta| theta + spread * (2.0 * next() - 1.0)).collect()
        };
        let (from, to) = (point(next), point(next));
        let values = columns(model, &point(next), length, round as u64);
        let block = Block::over(&values, length, length);
        let record =
            |i: usize| -> Vec<f64> { (0..model.columns()).map(|j| values[j * length + i]).collect() };

        let (mut at_from, mut at_to) = (vec![f64::NAN; length], vec![f64::NAN; length]);
        let mut ratio = vec![f64::NAN; length];
        let mut gradient = vec![f64::NAN; d * length];
        model.log_density(block, &from, &mut at_from, &mut scratch);
        model.log_density(block, &to, &mut at_to, &mut scratch);
        model.log_ratio(block, &from, &to, &mut ratio, &mut scratch);
        model.gradient(block, &from, &mut gradient, &mut scratch);
        for i in 0..length {
            let size = at_from[i].abs() + at_to[i].abs();
            assert!(close(at_from[i], density(&record(i), &seeded(&from, 0)).re, size), "log density");
            assert!(close(ratio[i], at_to[i] - at_from[i], size), "log ratio");
            for j in 0..d {
                let expected = density(&record(i), &seeded(&from, j)).eps;
                let most = 1e-12 * (1.0 + size) + (1e-12 + slack(model)) * expected.abs();
                assert!((gradient[j * length + i] - expected).abs() <= most, "gradient {j}");
            }
        }
        model.log_ratio(block, &from, &from, &mut ratio, &mut scratch);
        assert!(ratio.iter().all(|ratio| *ratio == 0.0), "no move, no ratio");

        let mut prior_gradient = vec![f64::NAN; d];
        model.prior_gradient(&from, &mut prior_gradient);
        for (j, found) in prior_gradient.iter().enumerate() {
            let expected = prior(&seeded(&from, j));
            assert!(close(model.log_prior(&from), expected.re, expected.re.abs()), "prior");
            assert!(close(*found, expected.eps, expected.eps.abs()), "prior gradient {j}");
        }
    }
}

/// Checks that one coordinate's move gives the same log ratio as the general formula.
pub(crate) fn one_component_moves(model: &(impl Model + Likelihood), near: &[f64]) {
    let values = columns(model, near, 100, 5);
    let block = Block::over(&values, 100, 100);
    let scratch = &mut Scratch::new();
    let (mut ratio, mut before, mut after) = ([0.0; 100], [0.0; 100], [0.0; 100]);
    for j in 0..model.dimension() {
        let mut to = near.to_vec();
        to[j] += 0.125;
        model.log_ratio(block, near, &to, &mut ratio, scratch);
        model.log_density(block, near, &mut before, scratch);
        model.log_density(block, &to, &mut after, scratch);
        for i in 0..100 {
            assert!(close(ratio[i], after[i] - before[i], before[i].abs() + after[i].abs()));
        }
    }
}

/// Checks gradients against central differences of log densities, to 1e-6 of the terms' sizes.
pub(crate) fn slopes(model: &(impl Model + Likelihood), theta: &[f64]) {
    let values = columns(model, theta, 100, 7);
    let block = Block::over(&values, 100, 100);
    let scratch = &mut Scratch::new();
    let mut gradient = vec![f64::NAN; 100 * model.dimension()];
    model.gradient(block, theta, &mut gradient, scratch);
    let step = 1e-5;
    for (j, gradient) in gradient.chunks_exact(100).enumerate() {
        let moved = |by: f64, scratch: &mut Scratch| {
            let (mut to, mut out) = (theta.to_vec(), [0.0; 100]);
            to[j] += by;
            model.log_density(block, &to, &mut out, scratch);
            out
        };
        let (up, down) = (moved(step, scratch), moved(-step, scratch));
        for i in 0..100 {
            let expected = (up[i] - down[i]) / (2.0 * step);
            let size = 1.0 + expected.abs() + up[i].abs();
            assert!(
                (gradient[i] - expected).abs() <= 1e-6 * size,
                "gradient {j}: {} {expected}",
                gradient[i]
            );
        }
    }
}

/// Checks E[∇ℓ] = 0 and E[∇ℓ·∇ℓᵀ] = F on simulated records, each within five standard errors (one failure in
/// a million for each entry).
pub(crate) fn scores(model: &(impl Model + Likelihood), theta: &[f64], information: bool) {
    let records = 40_000;
    let d = model.dimension();
    let values = columns(model, theta, records, 23);
    let mut gradient = vec![0.0; d * records];
    model.gradient(Block::over(&values, records, records), theta, &mut gradient, &mut Scratch::new());
    let within = |terms: &dyn Fn(usize) -> f64, expected: f64, what: &str| {
        let n = records as f64;
        let mean = (0..records).map(terms).sum::<f64>() / n;
        let variance = (0..records).map(|i| (terms(i) - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - expected).abs() <= 5.0 * (variance / n).sqrt() + 1e-12, "{what}: {mean} {expected}");
    };
    let mut fisher = vec![f64::NAN; d * d];
    assert_eq!(model.fisher(theta, &mut fisher), information);
    for j in 0..d {
        within(&|i| gradient[j * records + i], 0.0, "score");
        for k in 0..d {
            if information {
                let product = |i: usize| gradient[j * records + i] * gradient[k * records + i];
                within(&product, fisher[j * d + k], "information");
            }
        }
    }
}

/// Checks that no value makes a model panic, and that it writes every entry of its output.
pub(crate) fn any_values(model: &(impl Model + Likelihood), theta: &[f64]) {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -0.0, 1e308, -1e308, 1.0, 0.0];
    let length = odd.len();
    let values: Vec<f64> =
        (0..model.columns()).flat_map(|j| (0..length).map(move |i| odd[(i + 2 * j) % length])).collect();
    let block = Block::over(&values, length, length);
    let scratch = &mut Scratch::new();
    let written = 12345.678;
    let mut out = vec![written; length];
    let to: Vec<f64> = theta.iter().map(|theta| theta + 0.5).collect();
    model.log_density(block, theta, &mut out, scratch);
    assert!(out.iter().all(|out| *out != written));
    out.fill(written);
    model.log_ratio(block, theta, &to, &mut out, scratch);
    assert!(out.iter().all(|out| *out != written));
    let mut out = vec![written; length * model.dimension()];
    model.gradient(block, theta, &mut out, scratch);
    assert!(out.iter().all(|out| *out != written));
    for value in odd {
        let theta = vec![value; model.dimension()];
        model.log_density(block, &theta, &mut out[..length], scratch);
        model.gradient(block, &theta, &mut out, scratch);
        model.log_prior(&theta);
        model.prior_gradient(&theta, &mut vec![0.0; model.dimension()]);
    }
}

/// Checks that prior draws have E[∇ ln p(θ)] = 0, within five standard errors.
pub(crate) fn prior_draws(model: &(impl Model + Likelihood)) {
    let d = model.dimension();
    let uniform = &mut uniform(31);
    let draws = 20_000;
    let (mut sum, mut squares) = (vec![0.0; d], vec![0.0; d]);
    let (mut theta, mut gradient) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..draws {
        assert!(model.sample_prior(uniform, &mut theta));
        model.prior_gradient(&theta, &mut gradient);
        for j in 0..d {
            sum[j] += gradient[j];
            squares[j] += gradient[j] * gradient[j];
        }
    }
    for j in 0..d {
        assert!(sum[j].abs() <= 5.0 * squares[j].sqrt());
    }
}

/// Every setting at its default.
pub(crate) struct Defaults;

impl Settings for Defaults {
    fn number(&self, _key: &str) -> Result<Option<f64>, Error> {
        Ok(None)
    }

    fn positive(&self, _key: &str) -> Result<Option<f64>, Error> {
        Ok(None)
    }

    fn vector(&self, _key: &str, _length: usize) -> Result<Option<Vec<f64>>, Error> {
        Ok(None)
    }

    fn matrix(&self, _key: &str, _dimension: usize) -> Result<Option<Vec<f64>>, Error> {
        Ok(None)
    }
}
