//! Checks the prices of diffusions and the premises of published calibrations.

use super::{
    Passes, fisher_ratio, fisher_sigma, langevin_ratio, underdamped_ratio, update_ratio, update_variance,
};
use crate::{Delta, Epsilon, Error, GaussianRun, Steps};

#[test]
fn langevin_costs_by_time_alone() {
    let cost = |steps: u64| {
        let ratio = langevin_ratio(0.02, 10.0 / steps as f64, 0.5).unwrap();
        GaussianRun::new(ratio, Steps(steps)).unwrap().mu().upper
    };
    let expected = 0.5 * 0.02 * 10_f64.sqrt();
    for steps in [1, 7, 1000, 1_000_000] {
        assert!((cost(steps) / expected - 1.0).abs() < 1e-14);
    }
}

#[test]
fn strong_friction_is_overdamped() {
    // v' ≈ h·G/2 + N(0, I) and θ moves by h·v': Langevin of time h².
    let underdamped = underdamped_ratio(0.3, 0.01, 1e6, 1.0).unwrap().get();
    let overdamped = langevin_ratio(0.3, 1e-4, 1.0).unwrap().get();
    assert!((underdamped / overdamped - 1.0).abs() < 1e-12);
}

#[test]
fn published_calibration_needs_its_premise() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let short = Passes::new(100_000, 100, 1.0).unwrap();
    assert!(matches!(short.published_ratio(epsilon, delta), Err(Error::Mismatch(_))));
    let long = Passes::new(100_000, 100, 10.0).unwrap();
    assert_eq!(long.steps(), Steps(10_000));
    // 128·NT/(τε²)·ln(2.5NT/(τδ))·ln(2/δ) = 1.28e6·ln(2.5e10)·ln(2e6), by hand; ratio √·τ/(2N).
    let by_hand = (1.28e6_f64 * 23.942_141_661_8 * 14.508_657_738_5).sqrt() / 2000.0;
    let ratio = long.published_ratio(epsilon, delta).unwrap().get();
    assert!((ratio / by_hand - 1.0).abs() < 1e-10, "{ratio} {by_hand}");
}

#[test]
fn variances_and_ratios_are_inverse_on_the_safe_side() {
    let ratio = langevin_ratio(0.7, 0.3, 1.0).unwrap();
    let variance = update_variance(ratio, 0.01, 70.0, 1e-3, 0.0);
    let back = update_ratio(variance, 0.01, 70.0, 1e-3).unwrap();
    assert!((back.get() / ratio.get() - 1.0).abs() < 1e-14);
    assert_eq!(update_variance(ratio, 0.01, 70.0, 1e-3, 1e30), 1e30);
    let sigma = fisher_sigma(ratio, 50);
    assert!((fisher_ratio(sigma, 50).unwrap().get() / ratio.get() - 1.0).abs() < 1e-14);
}
