//! Checks the noise that papers publish against what the accountant asks for.

use super::fits_within;
use crate::mechanisms::Gaussian;
use crate::theorems::gradients::Passes;
use crate::{Cost, Delta, Epsilon, Neighbours, Ratio};

/// The published noise keeps its promise, and half of it would: by monotonicity the smallest is below half.
#[test]
fn tight_gradient_noise_is_far_below_the_published() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let run = Passes::new(100_000, 1000, 10.0).unwrap();
    let published = run.published_ratio(epsilon, delta).unwrap().get();
    for ratio in [published, 0.5 * published] {
        let gradient = Gaussian { ratio: Ratio::new(ratio).unwrap() };
        let cost = Cost::new(gradient, run.sampling(), Neighbours::Substitute).unwrap();
        assert!(fits_within(cost, run.steps(), epsilon, delta).unwrap(), "{ratio}");
    }
}
