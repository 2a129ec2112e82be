//! Bounds an unknown probability by what was counted, at a stated confidence.

use barkeep_num::{largest_real, ln_binomial};

/// A number the probability is below only with probability at most `alpha` over the counting.
///
/// The p with P(Bin(n, p) ≥ k) = α, from below: had the probability been smaller, k successes would have been rarer
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
mod tests;
