//! Holds transforms and beliefs against dual numbers.

use num_dual::{DualNum, second_derivative};

use super::*;

fn oracle<D: DualNum<Primitive = f64> + Copy>(transform: &Transform, u: D) -> D {
    match *transform {
        Transform::Identity => u,
        Transform::Positive => u.exp(),
    }
}

const ALL: [Transform; 2] = [Transform::Identity, Transform::Positive];

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * (1.0 + expected.abs())
}

#[test]
fn derivatives_and_log_jacobians_agree_with_dual_numbers() {
    for transform in ALL {
        for u in [-3.5, -0.4, 0.0, 0.7, 5.25] {
            let mapped = transform.map(u);
            let (value, slope, curvature) = second_derivative(|u| oracle(&transform, u), u);
            assert!(close(mapped.value, value) && close(mapped.slope, slope));
            assert!(close(mapped.curvature, curvature));
            assert!(close(mapped.log_jacobian, slope.ln()));
            assert!(close(mapped.log_jacobian_slope, curvature / slope));
            assert!(close(transform.unmap(mapped.value), u));
        }
    }
}

#[test]
fn a_belief_is_the_prior_pushed_back() {
    let belief = Belief::new(Prior::HalfNormal { scale: 2.0 }, Transform::Positive, "sd_prior").unwrap();
    // ln p(e^u) + u = ln 2 − e^(2u)/8 − ln 2 − ½ ln 2π + u, with second derivative −e^(2u)/2.
    for u in [-4.0f64, -0.5, 0.0, 1.3] {
        let expected = -(2.0 * u).exp() / 8.0 - 0.5 * std::f64::consts::TAU.ln() + u;
        assert!(close(belief.log_density(u), expected));
        assert!(close(belief.derivative(u), 1.0 - (2.0 * u).exp() / 4.0));
        assert!(close(belief.precision(u), (2.0 * u).exp() / 2.0));
    }
    let tail =
        Belief::new(Prior::Cauchy { location: 0.0, scale: 1.0 }, Transform::Identity, "prior").unwrap();
    assert_eq!(tail.precision(5.0), 0.0, "a heavy tail bends the other way");
    assert!(tail.precision(0.0) > 0.0);
    let uniform = &mut crate::check::uniform(3);
    let mean: f64 = (0..4000).map(|_| belief.sample(uniform).unwrap().exp()).sum::<f64>() / 4000.0;
    // E|N(0, 4)| = 2√(2/π) ≈ 1.596, standard error 1.206/√4000 = 0.019.
    assert!((mean - 1.596).abs() < 0.08);
}

#[test]
fn nonsense_is_refused() {
    assert!(Belief::new(Prior::Exponential { rate: 1.0 }, Transform::Identity, "prior").is_err());
}
