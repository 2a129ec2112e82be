//! Holds the mixture against dual numbers, simulated records and quadrature.

use barkeep_data::Block;
use num_dual::{Dual64, DualNum};

use super::*;
use crate::{Scratch, check};

fn model() -> Mixture {
    Mixture::new(2.0, [10.0, 1.0]).unwrap()
}

fn normal_density(x: f64, mean: Dual64, variance: f64) -> Dual64 {
    ((mean - x) * (mean - x) * (-0.5 / variance)).exp() / (std::f64::consts::TAU * variance).sqrt()
}

#[test]
fn agrees_with_dual_numbers() {
    let density = |x: &[f64], theta: &[Dual64]| {
        let mixed = normal_density(x[0], theta[0], 2.0) + normal_density(x[0], theta[0] + theta[1], 2.0);
        (mixed * 0.5).ln()
    };
    let prior =
        |theta: &[Dual64]| normal_density(0.0, theta[0], 10.0).ln() + normal_density(0.0, theta[1], 1.0).ln();
    check::against_oracle(&model(), &[0.0, 1.0], 3.0, density, prior);
}

#[test]
fn behaves_as_every_model_must() {
    check::one_component_moves(&model(), &[0.0, 1.0]);
    check::scores(&model(), &[0.0, 1.0], true);
    check::scores(&model(), &[1.0, -8.0], true);
    check::any_values(&model(), &[0.0, 1.0]);
    check::prior_draws(&model());
}

#[test]
fn far_records_keep_their_digits() {
    // 1000 standard deviations out both component densities underflow; ln p does not.
    let mut out = [0.0];
    let x = [1000.0 * 2f64.sqrt()];
    model().log_density(Block::over(&x, 1, 1), &[0.0, 1.0], &mut out, &mut Scratch::new());
    let nearer = -0.5 * (x[0] - 1.0).powi(2) / 2.0 - 0.5 * (4.0 * std::f64::consts::PI).ln() - 2f64.ln();
    assert!((out[0] - nearer).abs() < 1e-9);
}

#[test]
fn information_when_components_coincide_or_part() {
    let mut fisher = [0.0; 4];
    // θ₂ = 0: the score is (z, z/2)/σ², the information [[1, ½], [½, ¼]]/σ².
    assert!(model().fisher(&[3.0, 0.0], &mut fisher));
    for (found, expected) in fisher.iter().zip([0.5, 0.25, 0.25, 0.125]) {
        assert!((found - expected).abs() < 1e-12);
    }
    // Far apart every record reveals its component: [[1, ½], [½, ½]]/σ².
    assert!(model().fisher(&[3.0, 500.0], &mut fisher));
    for (found, expected) in fisher.iter().zip([0.5, 0.25, 0.25, 0.25]) {
        assert!((found - expected).abs() < 1e-12);
    }
}

#[test]
fn information_agrees_with_a_plain_integral() {
    // Midpoint rule over [−30, 40] of ∂ᵢp·∂ⱼp/p, the densities as they stand.
    let density =
        |x: f64, mean: f64| (-(x - mean) * (x - mean) / 4.0).exp() / (4.0 * std::f64::consts::PI).sqrt();
    for distance in [0.5, 1.0, -3.0, 9.0] {
        let mut expected = [0.0; 4];
        let step = 70.0 / 200_000.0;
        for k in 0..200_000 {
            let x = -30.0 + (f64::from(k) + 0.5) * step;
            let (one, two) = (0.5 * density(x, 1.0), 0.5 * density(x, 1.0 + distance));
            if one + two > 0.0 {
                let slope =
                    [(one * (x - 1.0) + two * (x - 1.0 - distance)) / 2.0, two * (x - 1.0 - distance) / 2.0];
                for (entry, total) in expected.iter_mut().enumerate() {
                    *total += slope[entry / 2] * slope[entry % 2] / (one + two) * step;
                }
            }
        }
        let mut fisher = [0.0; 4];
        assert!(model().fisher(&[1.0, distance], &mut fisher));
        for (found, expected) in fisher.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-10, "{distance}: {found} {expected}");
        }
    }
}

#[test]
fn nonsense_is_refused() {
    let message = |result: Result<Mixture, Error>| result.err().map(|error| error.to_string());
    assert_eq!(
        message(Mixture::new(0.0, [1.0, 1.0])).as_deref(),
        Some("model.variance must be finite and above 0")
    );
    assert_eq!(
        message(Mixture::new(1.0, [1.0, f64::NAN])).as_deref(),
        Some("model.prior_variances must be finite and above 0")
    );
}
