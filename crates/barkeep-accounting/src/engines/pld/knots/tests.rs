//! Checks that the knots enclose the functions they stand for.

use super::*;

/// H_x of a list of atoms.
fn curve(atoms: &Atoms, epsilon: f64) -> f64 {
    let infinite = atoms.infinite.exp();
    atoms
        .atoms
        .iter()
        .filter(|atom| atom.loss > epsilon)
        .map(|atom| atom.log_mass.exp() * (1.0 - (epsilon - atom.loss).exp()))
        .sum::<f64>()
        + infinite
}

/// The Gaussian curve with ratio 1 by its textbook formula.
fn gaussian(epsilon: f64) -> f64 {
    let upper = |x: f64| 0.5 * libm::erfc(x / 2.0_f64.sqrt());
    upper(epsilon - 0.5) - epsilon.exp() * upper(epsilon + 0.5)
}

#[test]
fn gaussian_curve_lies_between_and_close() {
    let grid: Vec<f64> = (-400..=300).map(|index| f64::from(index) * 0.02).collect();
    let above: Vec<_> = grid.iter().map(|e| (*e, gaussian(*e) * (1.0 + 1e-12))).collect();
    let below: Vec<_> =
        grid.iter().map(|e| (*e, gaussian(*e) * (1.0 - 1e-12), gaussian(*e) * (1.0 + 1e-12))).collect();
    let (above, below) = (dominating(&above).unwrap(), dominated(&below).unwrap());
    for index in -300..300 {
        let epsilon = f64::from(index) * 0.019;
        let (low, truth, high) = (curve(&below, epsilon), gaussian(epsilon), curve(&above, epsilon));
        assert!(low <= truth + 1e-14 && truth <= high + 1e-14, "{epsilon}: {low} {truth} {high}");
        // Chords are wrong by h²/8 times the density (at most 0.4) above, and by about four times that below.
        assert!(high - low < 1e-4, "{epsilon}: {low} {truth} {high}");
    }
}

/// A curve that is already piecewise linear comes back as its own atoms.
#[test]
fn dots_on_the_corners_give_the_atoms_back() {
    // P = (0.7, 0.3), Q = (0.2, 0.8).
    let (high, low) = ((0.7_f64 / 0.2).ln(), (0.3_f64 / 0.8).ln());
    let value = |e: f64| (0.7 - e.exp() * 0.2).max(0.0) + (0.3 - e.exp() * 0.8).max(0.0);
    let dots: Vec<_> = [low - 1.0, low, 0.0, high].iter().map(|e| (*e, value(*e))).collect();
    let atoms = dominating(&dots).unwrap().atoms;
    let heavy: Vec<_> = atoms.iter().filter(|atom| atom.log_mass > -20.0).collect();
    assert_eq!(heavy.len(), 2);
    assert!((heavy[0].log_mass.exp() - 0.3).abs() < 1e-14 && (heavy[0].loss - low).abs() < 1e-14);
    assert!((heavy[1].log_mass.exp() - 0.7).abs() < 1e-14 && (heavy[1].loss - high).abs() < 1e-14);
}

#[test]
fn values_out_of_order_or_not_numbers_are_refused() {
    assert!(dominating(&[(0.0, f64::NAN)]).is_none());
    assert!(dominating(&[(1.0, 0.1), (0.0, 0.2)]).is_none());
    assert!(dominating(&[(f64::INFINITY, 0.1)]).is_none());
    assert!(dominated(&[(0.0, 0.3, 0.2)]).is_none());
}
