//! Evaluates the softplus ln(1 + eᵗ) of one record, in operations that a loop can vectorise.

use barkeep_num::vector::scalar::{exp, ln_1p_difference, log_sigmoid};

/// ln(1 + eᵗ), which neither overflows nor cancels.
#[inline(always)]
pub(crate) fn softplus(t: f64) -> f64 {
    -log_sigmoid(-t)
}

/// ln(1 + eᵗ) − ln(1 + eˢ), with one logarithm for both: exactly 0 if t = s.
///
/// **Precision.** The absolute error is at most 2⁻⁵⁰, and one rounding of max(t, 0) − max(s, 0).
#[inline(always)]
pub(crate) fn softplus_difference(t: f64, s: f64) -> f64 {
    let positive = |x: f64| if x > 0.0 { x } else { 0.0 };
    (positive(t) - positive(s)) + ln_1p_difference(exp(-t.abs()), exp(-s.abs()))
}

#[cfg(test)]
mod tests;
