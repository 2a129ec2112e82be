//! Tests of `contour`.

use super::*;

#[test]
fn the_level_line_of_a_cone_is_a_circle() {
    let grid = Grid::new((-2.0, 2.0), (-2.0, 2.0), 81, |x, y| -x.hypot(y));
    let pieces = contours(&grid, -1.0);
    assert!(pieces.len() > 40);
    let length: f64 = pieces.iter().map(|(a, b)| (a.0 - b.0).hypot(a.1 - b.1)).sum();
    assert!((length - std::f64::consts::TAU).abs() < 0.01, "{length}");
    for ((x, y), _) in pieces {
        assert!((x.hypot(y) - 1.0).abs() < 1e-3);
    }
}

#[test]
fn half_the_mass_of_a_normal_law_lies_within_its_median_radius() {
    let grid = Grid::new((-5.0, 5.0), (-5.0, 5.0), 201, |x, y| -0.5 * (x * x + y * y));
    let level = grid.levels_of_mass(&[0.5])[0];
    // The squared radius is exponential with mean 2, so the median radius is √(2 ln 2).
    assert!((level + std::f64::consts::LN_2).abs() < 0.01, "{level}");
}
