//! Evaluates the error function, the normal distribution and the gamma function, deep into their tails.

pub(crate) mod coefficients;
mod error_function;
mod gamma;
mod normal;

pub use error_function::{erfc, erfcx, ln_erfc};
pub use gamma::{ln_binomial, ln_gamma};
pub use normal::{ln_normal_cdf, normal_cdf, normal_quantile};

/// Horner's rule, lowest power first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, &c| sum * x + c)
}

/// x² as an unevaluated sum of two f64, exact while neither part over- or underflows (Dekker 1971).
#[inline(always)]
pub(crate) fn square(x: f64) -> (f64, f64) {
    /// 2²⁷ + 1 cuts a 53-bit significand into halves whose products are exact.
    const SPLIT: f64 = 134_217_729.0;
    let scaled = SPLIT * x;
    let head = scaled - (scaled - x);
    let tail = x - head;
    let product = x * x;
    (product, ((head * head - product) + 2.0 * head * tail) + tail * tail)
}
