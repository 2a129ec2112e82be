//! Holds Hamiltonian kernels against posteriors known in closed form, with exact and with very noisy gradients.

use crate::accounting::theorems::thesis::VarianceSensitivity;
use crate::accounting::{Neighbours, Ratio, Rule, Sampling};
use crate::curator::{Clip, Level, Temper};
use crate::model::{Banana, Bend, GaussianMean};
use crate::samplers::kernels::closed_form::{RECORDS, assert_moments, follow, records};
use crate::samplers::kernels::leapfrog::{Hamiltonian, Mass, Path};
use crate::samplers::kernels::metropolis::{Acceptance, ClipBound, Judgement};
use std::sync::Arc;

const STEPS: usize = 40_000;

/// A path whose gradients have noise `sigma` on a sum of about 6 per posterior standard deviation.
fn path(mass: &[f64], step: f64, leapfrog: u64, sigma: f64, reuse: bool) -> Path {
    Path {
        mass: Mass::new(mass, 2).unwrap(),
        step,
        leapfrog,
        temper: Temper::NONE,
        clip: Clip::new(50.0).unwrap(),
        sigma,
        reuse,
        batch: Sampling::Full,
        friction: false,
    }
}

fn judgement(acceptance: Acceptance, temper: Temper) -> Judgement {
    Judgement {
        // No log-ratio of these records comes near it: clipping is not active.
        clip: ClipBound::Constant(50.0),
        acceptance,
        temper,
        batch: Sampling::Full,
        neighbours: Neighbours::Substitute,
        level: Level::Decision,
    }
}

#[test]
fn a_gaussian_posterior_is_sampled_whatever_mass_noise_rule_or_reuse() {
    let model = || GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let identity = [1.0, 0.0, 0.0, 1.0];
    let (light, dense) = ([30.0, 0.0, 0.0, 20.0], [49.0, -15.0, -15.0, 25.0]);
    let fixed = Acceptance::Fixed;
    let lazy = Rule::Lazy { keep: 0.7, rule: Box::new(Rule::Barker) };
    let by_ratio =
        Acceptance::PenaltyRatio { ratio: Ratio::new(0.008).unwrap(), variance: VarianceSensitivity::Tight };
    let cases = [
        ("exact gradients", path(&identity, 0.05, 5, 0.0, false), fixed(Rule::Metropolis)),
        ("exact gradients, kept", path(&identity, 0.05, 5, 0.0, true), fixed(Rule::Metropolis)),
        ("diagonal mass", path(&light, 0.4, 3, 0.0, true), fixed(Rule::Metropolis)),
        ("dense mass", path(&dense, 0.5, 3, 0.0, true), fixed(Rule::Metropolis)),
        ("noisy gradients", path(&identity, 0.06, 4, 4.0, false), fixed(Rule::Barker)),
        ("noisy gradients, dense mass", path(&dense, 0.4, 3, 3.0, false), by_ratio),
        ("very noisy gradients", path(&light, 0.3, 1, 10.0, false), fixed(lazy)),
        ("noisy gradients, kept", path(&identity, 0.06, 3, 4.0, true), fixed(Rule::Barker)),
        (
            "noisy gradients, one leap, kept",
            path(&identity, 0.15, 1, 8.0, true),
            fixed(Rule::Penalty { sigma: 1.0 }),
        ),
    ];
    for (seed, (name, path, acceptance)) in cases.into_iter().enumerate() {
        let (table, data_mean) = records(&model(), &[1.0, -1.0]);
        let (mean, covariance) = model().posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
        let model = Arc::new(model());
        let judgement = judgement(acceptance, Temper::NONE);
        // Much noise makes short steps: it takes more of them to tell as much.
        let steps = if name == "very noisy gradients" { 3 * STEPS } else { STEPS };
        let series = follow(Arc::clone(&model), table, &mean, steps, 1 + seed as u64, |_| {
            Box::new(Hamiltonian::new(model, path, judgement))
        });
        assert_moments(name, &series, &mean, &covariance);
    }
}

#[test]
fn clipped_and_noisy_gradients_leave_a_tempered_banana_in_place() {
    let temper = Temper::new(0.5).unwrap();
    for (seed, (clip, sigma, reuse)) in
        [(50.0, 0.0, false), (0.4, 2.0, false), (0.4, 2.0, true)].into_iter().enumerate()
    {
        let model = Banana::new(Bend { a: 0.7, b: 0.1, m: 0.2 }, &[2.0, 1.0], 25.0).unwrap();
        let (table, data_mean) = records(&model, &[0.4, 1.0]);
        let (mean, covariance) = model.posterior(RECORDS as f64, 0.5, &data_mean).moments();
        let path = Path {
            temper,
            clip: Clip::new(clip).unwrap(),
            ..path(&[1.0, 0.0, 0.0, 1.0], 0.15, 4, sigma, reuse)
        };
        let model = Arc::new(model);
        let judgement = judgement(Acceptance::Fixed(Rule::Barker), temper);
        let series = follow(Arc::clone(&model), table, &mean, STEPS, 70 + seed as u64, |_| {
            Box::new(Hamiltonian::new(model, path, judgement))
        });
        assert_moments(&format!("clip {clip}, noise {sigma}, reuse {reuse}"), &series, &mean, &covariance);
    }
}

/// On a batch a gradient is off by far more than a posterior standard deviation; with friction noise is met that accepts nothing otherwise.
#[test]
fn batches_and_friction_leave_a_gaussian_posterior_in_place() {
    let model = || GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let (identity, light) = ([1.0, 0.0, 0.0, 1.0], [30.0, 0.0, 0.0, 20.0]);
    let batch = |batch: u64| Sampling::WithoutReplacement { batch, records: RECORDS as u64 };
    let cases = [
        ("batches", Path { batch: batch(10), ..path(&identity, 0.06, 3, 1.0, false) }),
        ("batches, kept", Path { batch: batch(10), ..path(&identity, 0.06, 3, 1.0, true) }),
        ("friction", Path { friction: true, ..path(&identity, 0.12, 4, 12.0, false) }),
        ("friction, one leap", Path { friction: true, ..path(&light, 0.8, 1, 12.0, false) }),
    ];
    for (seed, (name, path)) in cases.into_iter().enumerate() {
        let (table, data_mean) = records(&model(), &[1.0, -1.0]);
        let (mean, covariance) = model().posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
        let model = Arc::new(model());
        let judgement = judgement(Acceptance::Fixed(Rule::Barker), Temper::NONE);
        let series = follow(Arc::clone(&model), table, &mean, STEPS / 2, 90 + seed as u64, |_| {
            Box::new(Hamiltonian::new(model, path, judgement))
        });
        assert_moments(name, &series, &mean, &covariance);
    }
}

/// The same of a bent, tempered posterior, with gradients clipped or not: what is taken off in the test is what the path was made of.
#[test]
fn friction_leaves_a_tempered_banana_in_place() {
    let temper = Temper::new(0.5).unwrap();
    for (seed, (clip, step)) in [(50.0, 0.3), (0.4, 0.3)].into_iter().enumerate() {
        let model = Banana::new(Bend { a: 0.7, b: 0.1, m: 0.2 }, &[2.0, 1.0], 25.0).unwrap();
        let (table, data_mean) = records(&model, &[0.4, 1.0]);
        let (mean, covariance) = model.posterior(RECORDS as f64, 0.5, &data_mean).moments();
        let path = Path {
            temper,
            clip: Clip::new(clip).unwrap(),
            friction: true,
            ..path(&[1.0, 0.0, 0.0, 1.0], step, 3, 4.0, false)
        };
        let model = Arc::new(model);
        let judgement = judgement(Acceptance::Fixed(Rule::Barker), temper);
        let series = follow(Arc::clone(&model), table, &mean, STEPS / 2, 80 + seed as u64, |_| {
            Box::new(Hamiltonian::new(model, path, judgement))
        });
        assert_moments(&format!("friction, clip {clip}"), &series, &mean, &covariance);
    }
}

/// Friction meets the noise it is made for: with gradients this noisy few proposals pass without it.
#[test]
fn friction_lets_proposals_pass() {
    let accepted = |friction: bool| {
        let model = GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
        let (table, data_mean) = records(&model, &[1.0, -1.0]);
        let (mean, _) = model.posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
        let model = Arc::new(model);
        let path = Path { friction, ..path(&[1.0, 0.0, 0.0, 1.0], 0.1, 4, 8.0, false) };
        let judgement = judgement(Acceptance::Fixed(Rule::Metropolis), Temper::NONE);
        let series = follow(Arc::clone(&model), table, &mean, 8000, 7, |_| {
            Box::new(Hamiltonian::new(model, path, judgement))
        });
        series[0].windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    let (with, without) = (accepted(true), accepted(false));
    assert!(with > 6000 && with > 2 * without, "{with} with friction, {without} without");
}
