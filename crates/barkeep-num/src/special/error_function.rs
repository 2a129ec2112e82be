//! Evaluates the complementary error function, its scaled form and its logarithm.

use super::coefficients::ERFCX;
use super::{polynomial, square};

/// The complementary error function, `erfc(x) = 2/√π · ∫ₓ^∞ e^(−t²) dt`.
///
/// Goes to 0 from x ≈ 26.6 on; use [`ln_erfc`] or [`erfcx`] there. NaN gives NaN.
pub fn erfc(x: f64) -> f64 {
    libm::erfc(x)
}

/// The scaled complementary error function, `erfcx(x) = e^(x²)·erfc(x)`.
///
/// Decays only like 1/(x√π), so quotients of far normal tails stay in range. +∞ from x ≈ −26.6 downwards;
/// 0 at +∞; NaN gives NaN.
pub fn erfcx(x: f64) -> f64 {
    if x < 0.0 {
        let (high, low) = square(x);
        if high > 710.0 {
            return f64::INFINITY;
        }
        let growth = libm::exp(high);
        return 2.0 * (growth + growth * low) - erfcx_positive(-x);
    }
    erfcx_positive(x)
}

/// erfcx for x ≥ 0: one polynomial for (1 + 2x)·erfcx(x), which stays between 1 and 1.3, in q = (x − 4)/(x + 4).
fn erfcx_positive(x: f64) -> f64 {
    if x > 1e16 {
        // q would round to 1 and x + 4 to x; the limit is exact to the last place.
        return 0.5 * std::f64::consts::FRAC_2_SQRT_PI / x;
    }
    0.5 * polynomial(&ERFCX, (x - 4.0) / (x + 4.0)) / (x + 0.5)
}

/// `ln erfc(x)`, for any x.
///
/// About −x² for large x (−∞ once x² overflows), and ln 2 at −∞. NaN gives NaN.
pub fn ln_erfc(x: f64) -> f64 {
    if x < 0.5 {
        // erfc is near 1 around zero: keep what is left of 1.
        libm::log1p(-libm::erf(x))
    } else if x < f64::INFINITY {
        // Both terms are negative: nothing cancels.
        libm::log(erfcx_positive(x)) - x * x
    } else {
        -x
    }
}
