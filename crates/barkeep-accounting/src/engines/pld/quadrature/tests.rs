//! Checks the degree of each rule and its error on the widest panels.

use super::*;

/// An n-point rule is exact for polynomials up to degree 2n−1, and for no higher even degree.
#[test]
fn rules_have_their_degree() {
    for size in [1e-4, 5e-3, 0.05, WIDEST] {
        let rule = rule(size);
        let error = |degree: usize| {
            let sum: f64 = rule.iter().map(|(node, weight)| weight * node.powi(degree as i32)).sum();
            (sum - if degree.is_multiple_of(2) { 2.0 / (degree + 1) as f64 } else { 0.0 }).abs()
        };
        assert!((0..2 * rule.len()).all(|degree| error(degree) < 4e-16));
        assert!(error(2 * rule.len()) > 1e-6);
    }
}

/// The widest panel each rule is used for, against the error function: the claimed 2⁻⁵⁴ and the rounding of the sum.
#[test]
fn widest_panels_are_integrated_to_rounding() {
    for (size, distance) in
        [(9e-4, 0.0_f64), (9e-4, 30.0), (0.01, 3.0), (0.09, 8.0), (0.28, 0.0), (0.28, 20.0)]
    {
        let half = size / (distance + 1.0);
        let sum: f64 = rule(size)
            .iter()
            // Relative to the density in the middle.
            .map(|(node, weight)| {
                weight * half * (-(half * node) * (2.0 * distance + half * node) / 2.0).exp()
            })
            .sum();
        // ∫ e^(−ay−y²/2) dy = 2r·Σ over even powers; by series in r for the exact value.
        let mut exact = 0.0;
        let panels = 64;
        for panel in 0..panels {
            let (width, middle) =
                (2.0 * half / f64::from(panels), half * (f64::from(2 * panel + 1) / f64::from(panels) - 1.0));
            for (node, weight) in EIGHT {
                let y = middle + 0.5 * width * node;
                exact += 0.5 * width * weight * (-y * (2.0 * distance + y) / 2.0).exp();
            }
        }
        assert!((sum / exact - 1.0).abs() < 2e-15, "{size} {distance}: {sum} {exact}");
    }
}
