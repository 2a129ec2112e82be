//! Lattices dominate what they stand for, and compositions of them do.

use super::*;
use crate::curves::gaussian;

const FINENESS: Fineness = Fineness { spread: 1e-4, cut: 1e-12 };

fn gaussians(mu: f64, steps: u64) -> Losses {
    let curve: Curve = Box::new(move |l| gaussian(mu, l).hi);
    lattice([&curve, &curve], steps, FINENESS, &mut |_, _| true).unwrap()
}

#[test]
fn gaussians_compose_to_a_gaussian() {
    for (mu, steps) in [(0.5, 1), (0.1, 37), (0.02, 2500)] {
        let losses = gaussians(mu, steps);
        for epsilon in [0.0, 0.5, 2.0, 4.0] {
            let exact = gaussian(mu * (steps as f64).sqrt(), epsilon).lo;
            let found = losses.delta(epsilon);
            assert!(found >= exact, "{mu} {steps} {epsilon}: {found} below {exact}");
            assert!(found <= 1.02 * exact + 1e-11, "{mu} {steps} {epsilon}: {found} far above {exact}");
        }
    }
}

#[test]
fn dots_lie_on_or_above_the_curve_even_where_values_are_not_convex() {
    let step = 0.125;
    // A bump that no convex curve has.
    let mut values: Vec<f64> = (-40..=40).map(|k| gaussian(0.7, step * f64::from(k)).hi).collect();
    values[50] *= 1.3;
    let losses = Losses::below(step, -40, values.clone());
    for (k, value) in (-40..=40).zip(&values) {
        let l = step * f64::from(k);
        assert!(losses.delta(l) >= value * (1.0 - 1e-13), "{l}: {} below {value}", losses.delta(l));
        assert!(losses.delta(l + 0.3 * step) >= gaussian(0.7, l + 0.3 * step).lo);
    }
}

#[test]
fn a_coarser_lattice_is_above_a_finer_one() {
    let fine = gaussians(0.5, 1);
    let coarse = fine.coarser().coarser();
    for k in 0..40 {
        let epsilon = 0.07 * f64::from(k);
        assert!(coarse.delta(epsilon) >= fine.delta(epsilon) * (1.0 - 1e-13));
    }
    let total = |losses: &Losses| losses.mass.iter().sum::<f64>();
    assert!((total(&coarse) / total(&fine) - 1.0).abs() < 1e-12);
    // Σp·e^(−l), the mass under Q, is kept.
    let other = |losses: &Losses| {
        (losses.first..).zip(&losses.mass).map(|(k, p)| p * (-losses.step * k as f64).exp()).sum::<f64>()
    };
    assert!((other(&coarse) / other(&fine) - 1.0).abs() < 1e-12);
}

#[test]
fn a_check_that_is_told_to_stop_stops() {
    let curve: Curve = Box::new(|l| gaussian(0.01, l).hi);
    let stopped = lattice([&curve, &curve], 1000, FINENESS, &mut |_, _| false);
    assert_eq!(stopped, Err(STOPPED));
}
