//! Checks that calibrated numbers fit their budgets, and that the next ones do not.

use super::{GradientNoise, fisher_sigma, gradient_ratio, largest_clip, largest_sensitivity, largest_time};
use crate::theorems::gradients::Passes;
use crate::{Delta, Epsilon, Error, Query, Rule, Sensitivity, Steps};

#[test]
fn tight_gradient_noise_is_far_below_the_published() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let run = Passes::new(100_000, 1000, 10.0).unwrap();
    let [published, tight] = [GradientNoise::Published, GradientNoise::Tight]
        .map(|noise| gradient_ratio(&run, noise, epsilon, delta).unwrap().get());
    assert!(tight < 0.5 * published, "{tight} {published}");
    let [published, tight] = [GradientNoise::Published, GradientNoise::Tight]
        .map(|noise| fisher_sigma(&run, noise, epsilon, delta).unwrap());
    assert!(tight < 0.5 * published, "{tight} {published}");
    let short = Passes::new(100_000, 100, 1.0).unwrap();
    let refused = gradient_ratio(&short, GradientNoise::Published, epsilon, delta);
    assert!(matches!(refused, Err(Error::Mismatch(_))));
}

#[test]
fn largest_sensitivity_fits_and_barely() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let found = largest_sensitivity(&Rule::Barker, Steps(20), epsilon, delta).unwrap().get();
    let spent = |sensitivity: f64| {
        let bit = Query::decision(Rule::Barker, Sensitivity::new(sensitivity).unwrap()).unwrap();
        bit.delta(Steps(20), epsilon).unwrap().bracket.upper
    };
    assert!(spent(found) <= delta.get() && spent(found * 1.001) > delta.get());
}

#[test]
fn langevin_fits_and_barely() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    for (clip, temper) in [(0.01, 1.0), (3.0, 0.2), (1e-6, 1e-3)] {
        let time = largest_time(clip, temper, epsilon, delta).unwrap();
        let spent = |time: f64| {
            let step = Query::langevin(clip, time / 1000.0, temper).unwrap();
            step.epsilon(Steps(1000), delta).unwrap().bracket.upper
        };
        assert!(spent(time) <= 1.0 && spent(time * (1.0 + 1e-12)) > 1.0);
        let back = largest_clip(time, temper, epsilon, delta).unwrap();
        assert!((back / clip - 1.0).abs() < 1e-13);
    }
}
