//! Checks which affine gradients fit a table.

use super::*;

#[test]
fn only_what_has_its_coordinates_and_columns_fits() {
    let affine =
        |length: usize, lean| Affine { weights: vec![1.0; length], centres: vec![0.0; length], lean };
    assert!(affine(2, 0.5).fits(2, 2) && affine(1, 0.0).fits(1, 1) && affine(2, 0.0).fits(2, 3));
    // Too few or too many coordinates, too few columns, nothing to lean on.
    assert!(!affine(1, 0.0).fits(2, 2) && !affine(3, 0.0).fits(2, 3));
    assert!(!affine(3, 0.0).fits(3, 2) && !affine(1, 0.5).fits(1, 2));
    assert!(!Affine { centres: vec![0.0], ..affine(2, 0.0) }.fits(2, 2));
}
