//! Holds the column loops against plain ones.

use super::*;

/// A value that is not exact in any sum.
fn value(i: usize, j: usize) -> f64 {
    ((i * 7 + j * 13) as f64 * 0.37).sin() * 10.0
}

#[test]
fn maps_and_folds_visit_every_record_once() {
    let column: Vec<f64> = (0..77).map(|i| value(i, 1)).collect();
    let mut out = vec![f64::NAN; 77];
    map_column(&column, &mut out, |x| 2.0 * x);
    fold_column(&column, &mut out, |out, x| out - x);
    fold_columns([&column, &column], &mut out, |out, [x, y]| out + x - y);
    map_in_place(&mut out, |out| out + 1.0);
    for (x, out) in column.iter().zip(out) {
        assert_eq!(out, 2.0 * x - x + x - x + 1.0);
    }
}
