//! Tests of `proportion`.

use super::*;

/// P(Bin(n, p) ≥ k), added up.
fn upper_tail(n: u64, k: u64, p: f64) -> f64 {
    let term =
        |i: u64| (ln_binomial(n as f64, i as f64) + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p()).exp();
    (k..=n).map(term).sum()
}

#[test]
fn the_bounds_are_where_the_binomial_tails_say() {
    for (k, n) in [(1, 10), (3, 10), (10, 10), (17, 1000), (500, 1000), (999, 1000), (40, 20_000)] {
        for alpha in [1e-6, 1e-3, 0.05] {
            let low = at_least(k, n, alpha);
            assert!((upper_tail(n, k, low) / alpha - 1.0).abs() < 1e-5, "{k} of {n} at {alpha}: {low}");
            if k < n {
                let high = at_most(k, n, alpha);
                let lower_tail = 1.0 - upper_tail(n, k + 1, high);
                // The tail is a difference here; at 10⁻⁶ it keeps nine digits.
                assert!((lower_tail / alpha - 1.0).abs() < 1e-5, "{k} of {n} at {alpha}: {high}");
            }
        }
    }
}

#[test]
fn nothing_seen_is_bounded_by_the_exact_power() {
    assert_eq!(at_least(0, 50, 0.01), 0.0);
    assert_eq!(at_most(50, 50, 0.01), 1.0);
    let high = at_most(0, 50, 0.01);
    assert!(((1.0 - high).powi(50) / 0.01 - 1.0).abs() < 1e-6);
}

#[test]
fn millions_of_trials_agree_with_the_normal_limit() {
    // Skewness is corrected by (z² − 1)/(6n)·(1 − 2p): what is left is far below the tolerance.
    let (n, p, z) = (10_000_000_u64, 0.3, 3.090_232_306_167_814);
    let error = (p * (1.0 - p) / n as f64).sqrt();
    let k = (p * n as f64) as u64;
    assert!(((p - at_least(k, n, 1e-3)) / (z * error) - 1.0).abs() < 2e-3);
    assert!(((at_most(k, n, 1e-3) - p) / (z * error) - 1.0).abs() < 2e-3);
}
