//! Evaluates functions that the vector kernels lack, for one number, without branches: ln Γ and its derivatives, softplus, normal and
//! Cauchy tails.

use barkeep_num::vector::scalar::{exp, ln, ln_1p, ln_1p_difference, log_sigmoid, normal_cdf};
use std::f64::consts::{FRAC_1_PI, FRAC_1_SQRT_2, FRAC_PI_2};

#[inline(always)]
pub(crate) fn select(condition: bool, yes: f64, no: f64) -> f64 {
    if condition { yes } else { no }
}

/// ½ ln 2π.
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// Above this the eight factors may overflow and the series needs no lifting.
const LARGE: f64 = 1e30;

/// ln Γ(x) for x > 0. Arguments are lifted by eight, Γ(x+8) = Γ(x)·x(x+1)…(x+7), to where Stirling's series has converged.
///
/// **Precision.** The worst error found is 2⁻⁴⁷·max(1, |x ln x|), absolute: near 1 and 2, where ln Γ vanishes, the
/// relative error is larger.
#[inline(always)]
#[must_use]
pub fn ln_gamma(x: f64) -> f64 {
    let large = x > LARGE;
    let product = select(large, 1.0, product(x));
    let y = select(large, x, x + 8.0);
    let w = 1.0 / (y * y);
    // B₂ₖ/(2k(2k−1)): the first term left out is below 3·10⁻¹⁷ at y = 8.
    let series = (1.0 / 12.0
        - w * (1.0 / 360.0
            - w * (1.0 / 1260.0
                - w * (1.0 / 1680.0
                    - w * (1.0 / 1188.0
                        - w * (691.0 / 360_360.0 - w * (1.0 / 156.0 - w * (3617.0 / 122_400.0))))))))
        / y;
    ((y - 0.5) * ln(y) - y) + (HALF_LN_TAU + series) - ln(product)
}

/// ψ(x) = d ln Γ(x)/dx for x > 0.
///
/// **Precision.** The absolute error is at most 2⁻⁴⁸·max(1, 1/x).
#[inline(always)]
#[must_use]
pub fn digamma(x: f64) -> f64 {
    let y = x + 8.0;
    let w = 1.0 / (y * y);
    let series = w
        * (1.0 / 12.0
            - w * (1.0 / 120.0
                - w * (1.0 / 252.0
                    - w * (1.0 / 240.0
                        - w * (1.0 / 132.0
                            - w * (691.0 / 32_760.0 - w * (1.0 / 12.0 - w * 3617.0 / 8160.0)))))));
    ln(y) - 0.5 / y - series - lifted(x, |x| 1.0 / x)
}

/// ψ'(x) for x > 0, to 2⁻⁴⁵ relative.
#[inline(always)]
#[must_use]
pub fn trigamma(x: f64) -> f64 {
    let y = x + 8.0;
    let w = 1.0 / (y * y);
    let series = w
        * (1.0 / 6.0
            - w * (1.0 / 30.0 - w * (1.0 / 42.0 - w * (1.0 / 30.0 - w * (5.0 / 66.0 - w * 691.0 / 2730.0)))));
    (1.0 + 0.5 / y + series) / y + lifted(x, |x| 1.0 / (x * x))
}

#[inline(always)]
fn product(x: f64) -> f64 {
    ((x * (x + 1.0)) * ((x + 2.0) * (x + 3.0))) * (((x + 4.0) * (x + 5.0)) * ((x + 6.0) * (x + 7.0)))
}

/// Σ term(x + k) for k from 0 to 7.
#[inline(always)]
fn lifted(x: f64, term: impl Fn(f64) -> f64) -> f64 {
    let pair = |k: f64| term(x + k) + term(x + k + 1.0);
    (pair(6.0) + pair(4.0)) + (pair(2.0) + pair(0.0))
}

/// ln(1 + eᵗ), which neither overflows nor cancels.
#[inline(always)]
#[must_use]
pub fn softplus(t: f64) -> f64 {
    -log_sigmoid(-t)
}

/// ln(1 + eᵗ) − ln(1 + eˢ), with one logarithm for both: exactly 0 if t = s.
///
/// **Precision.** The absolute error is at most 2⁻⁵⁰, and one rounding of max(t, 0) − max(s, 0).
#[inline(always)]
#[must_use]
pub fn softplus_difference(t: f64, s: f64) -> f64 {
    let positive = |x: f64| select(x > 0.0, x, 0.0);
    (positive(t) - positive(s)) + ln_1p_difference(exp(-t.abs()), exp(-s.abs()))
}

/// √(2/π).
const SCALE: f64 = 0.797_884_560_802_865_4;

/// e^(s²)·erfc(s) for s = |x|/√2.
#[inline(always)]
fn scaled_tail(x: f64) -> f64 {
    barkeep_num::vector::scalar::erfcx_positive(x.abs() * FRAC_1_SQRT_2)
}

/// ln Φ(x): in the lower half the scaled tail and −½x², both negative, so that nothing cancels; in the upper half what is left of 1.
#[inline(always)]
pub(crate) fn ln_normal_cdf(x: f64) -> f64 {
    let lower = ln(0.5 * scaled_tail(x)) - 0.5 * x * x;
    let upper = ln_1p(-normal_cdf(-x.abs()));
    let bounded = select(x < 0.0, lower, upper);
    select(x == f64::NEG_INFINITY, x, bounded)
}

/// φ(x)/Φ(x), about −x far below.
#[inline(always)]
pub(crate) fn mills(x: f64) -> f64 {
    let lower = SCALE / scaled_tail(x);
    let upper = 0.5 * SCALE * exp(-0.5 * x * x) / normal_cdf(x);
    select(x < 0.0, lower, upper)
}

/// atan(t) for t in [0, 1]: two half-angle steps, then the series.
///
/// **Precision.** After the steps t is below 0.2 and the first term left out, t²³/23, below 4·10⁻¹⁸.
#[inline(always)]
fn atan_unit(t: f64) -> f64 {
    let half = |t: f64| t / (1.0 + (1.0 + t * t).sqrt());
    let t = half(half(t));
    let z = t * t;
    let mut sum = 1.0 / 21.0;
    let mut k = 19.0;
    while k > 0.0 {
        sum = 1.0 / k - z * sum;
        k -= 2.0;
    }
    4.0 * t * sum
}

/// ln(½ + atan(x)/π), precise in the lower tail.
#[inline(always)]
pub(crate) fn ln_cauchy_cdf(x: f64) -> f64 {
    let size = x.abs();
    let far = size > 1.0;
    let angle = atan_unit(select(far, 1.0 / size, size));
    // What is left to the right angle, atan(1/|x|): the tail's share of π.
    let tail = select(far, angle, FRAC_PI_2 - angle) * FRAC_1_PI;
    select(x < 0.0, ln(tail), ln_1p(-tail))
}

#[cfg(test)]
mod tests;
