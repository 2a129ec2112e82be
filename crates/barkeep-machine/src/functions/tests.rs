//! Holds ln Γ and its derivatives against a table computed by mpmath, and the softplus against known values.

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

#[test]
fn limits_and_known_values() {
    // ln 2; ln(1+e) = 1.3132616875182228…; ln(1+1/e) = 0.3132616875182228…; e^(−40) to one part in 2^53.
    let cases = [
        (0.0, std::f64::consts::LN_2),
        (1.0, 1.313_261_687_518_222_8),
        (-1.0, 0.313_261_687_518_222_86),
        (800.0, 800.0),
        (-800.0, 0.0),
        (-40.0, (-40f64).exp()),
        (f64::INFINITY, f64::INFINITY),
    ];
    for (t, expected) in cases {
        let found = softplus(t);
        assert!(found == expected || (found - expected).abs() <= 4e-16 * expected);
    }
    assert!(softplus(f64::NAN).is_nan());
}

#[test]
fn differences_are_those_of_the_softplus() {
    let from = [0.0, -3.0, 5.0, 700.0, -700.0, 1e300, 2.0, -1.0];
    let to = [0.25, 4.0, -6.0, 700.5, 3.0, -1e300, 2.0, -1.0];
    for (s, t) in from.into_iter().zip(to) {
        let expected = softplus(t) - softplus(s);
        let allowed = 4.5e-16 * (1.0 + softplus(t) + softplus(s));
        assert!((softplus_difference(t, s) - expected).abs() <= allowed);
    }
    assert_eq!(softplus_difference(2.0, 2.0), 0.0);
    assert_eq!(softplus_difference(-1.0, -1.0), 0.0);
    assert!(softplus_difference(f64::NAN, 0.0).is_nan() && softplus_difference(0.0, f64::NAN).is_nan());
}
