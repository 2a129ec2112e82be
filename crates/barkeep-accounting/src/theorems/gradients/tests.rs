//! Checks the prices of diffusions and the premises of published calibrations.

use super::{Passes, langevin_ratio};
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
