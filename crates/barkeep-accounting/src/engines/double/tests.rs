//! Checks counts beyond 53 bits, and that quotients and roots return to where they came from.

use super::Double;

#[test]
fn counts_beyond_53_bits_are_exact() {
    let count = Double::count(u64::MAX);
    assert_eq!(count, Double { high: 18_446_744_073_709_551_616.0, low: -1.0 });
}

#[test]
fn quotient_and_root_return_to_where_they_came_from() {
    // 1/3 and √2 to 32 digits, from their well-known expansions.
    let third = Double::from(1.0).over(Double::from(3.0));
    assert_eq!(third.high, 1.0 / 3.0);
    assert!((third.low - 1.850_371_707_708_594e-17).abs() < 1e-32);
    let root = Double::from(2.0).root();
    assert!((root.low - -9.667_293_313_452_913e-17).abs() < 1e-31);
    let square = root.times(root);
    assert!((square.high - 2.0 + square.low).abs() < 1e-30);
}
