//! Holds ln Γ and its derivatives against a table computed by mpmath.

use super::*;

/// x, ln Γ(x), ψ(x), ψ'(x) by mpmath at 40 digits (tests/tables/make_gamma.py).
const TABLE: &str = include_str!("../../tests/tables/gamma.csv");

#[test]
fn agrees_with_the_table() {
    let mut rows = 0;
    for line in TABLE.lines().skip(1) {
        let row: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let x = row[0];
        assert!((ln_gamma(x) - row[1]).abs() <= (-46.5f64).exp2() * (x * x.ln()).abs().max(1.0), "{x}");
        assert!((digamma(x) - row[2]).abs() <= (-48f64).exp2() * (1.0 / x).max(row[2].abs()).max(1.0), "{x}");
        assert!((trigamma(x) - row[3]).abs() <= (-45f64).exp2() * row[3], "{x}");
        rows += 1;
    }
    assert!(rows > 40);
}

#[test]
fn far_away_it_is_stirling() {
    // ln Γ(x) ≈ x ln x − x.
    let x = 1e40f64;
    assert!((ln_gamma(x) / (x * x.ln() - x) - 1.0).abs() < 1e-15);
}
