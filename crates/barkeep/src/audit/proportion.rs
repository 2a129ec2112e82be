//! Bounds an unknown probability by what was counted, at a stated confidence.

use barkeep_num::{largest_real, ln_binomial};

/// A number the probability is below only with probability at most `alpha` over the counting.
///
/// The p with P(Bin(n, p) ≥ k) = α, from below: had the probability been smaller, so many successes would have been rarer
/// than α. Clopper and Pearson 1934.
#[must_use]
pub fn at_least(successes: u64, trials: u64, alpha: f64) -> f64 {
    if successes == 0 || trials < successes {
        return 0.0;
    }
    let (k, n) = (successes as f64, trials as f64);
    // P(Bin(n, p) ≥ k) = I_p(k, n − k + 1), which increases in p.
    largest_real(0.0, 1.0, 1e-9, |p| incomplete_beta(p, k, n - k + 1.0) <= alpha).unwrap_or(0.0)
}

/// A number the probability is above only with probability at most `alpha` over the counting.
#[must_use]
pub fn at_most(successes: u64, trials: u64, alpha: f64) -> f64 {
    1.0 - at_least(trials.saturating_sub(successes), trials, alpha)
}

/// I_x(a, b), the regularised incomplete beta function, for a, b ≥ 1 up to 10⁹ or so.
///
/// By its continued fraction, on the side of the mean where that converges in O(√max(a, b)) terms.
///
/// **Precision.** Six digits, checked against binomial tails added up term by term: enough for a bound on ε of three.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x <= (a + 1.0) / (a + b + 2.0) { one_side(x, a, b) } else { 1.0 - one_side(1.0 - x, b, a) }
}

/// x^a(1−x)^b/(a·B(a, b)) times the continued fraction, by the method of Lentz.
fn one_side(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    // 1/(a·B(a, b)) = C(a+b−1, a).
    let front = (a * x.ln() + b * (-x).ln_1p() + ln_binomial(a + b - 1.0, a)).exp();
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..1_000_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-13 {
            break;
        }
    }
    (front * fraction).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(Bin(n, p) ≥ k), added up.
    fn upper_tail(n: u64, k: u64, p: f64) -> f64 {
        let term = |i: u64| {
            (ln_binomial(n as f64, i as f64) + i as f64 * p.ln() + (n - i) as f64 * (-p).ln_1p()).exp()
        };
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
}
