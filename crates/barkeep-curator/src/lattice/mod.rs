//! Turns per-record terms into integers before they are added, so that sums are exact and one record's share is
//! bounded whatever floating point did inside that record.

mod clip;
pub(crate) mod gram;
mod scalar;
mod shape;
#[cfg(test)]
mod tests;
mod unit;

pub(crate) use clip::{MOST_DIMENSIONS, TileRoom, add_cut, add_indexed, add_one, add_tile};
pub(crate) use gram::OpenProducts;
pub use gram::{gram_sensitivity, gram_width};
pub(crate) use scalar::{BatchVariance, Moments, coin_input, noisy_log_ratio};
pub(crate) use shape::halves;
pub use shape::{Shape, shape_sensitivity};
pub use unit::{
    Clip, MOST_RECORDS, Temper, barker_minibatch_clip, decide_sensitivity, sigma_for, sum_sensitivity,
};
pub(crate) use unit::{
    batch_unit, check_barker_minibatch, check_batch, full_unit, lattice_sensitivity, noise_ratio, reach,
};

/// 1.5·2^52. Between 2^52 and 2^53 neighbouring f64 are 1 apart, so adding this to |y| ≤ 2^51 rounds y to the
/// nearest integer, ties to even, and leaves that integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The bits of `y` rounded to the nearest integer, ties to even, plus those of [`ROUNDER`]: a sum of `count`
/// of them minus `count` times [`rounder_bits`] is the sum of the integers, exactly.
///
/// One addition instead of a rounding instruction and a conversion, which not every machine has for vectors.
#[inline(always)]
fn rounded_bits(y: f64) -> i64 {
    (y + ROUNDER).to_bits() as i64
}

/// The bits of zero, as [`rounded_bits`] gives them.
const fn rounder_bits() -> i64 {
    ROUNDER.to_bits() as i64
}

/// `y`, or 0 if it is not a number.
#[inline(always)]
fn number_or_zero(y: f64) -> f64 {
    if y.is_nan() { 0.0 } else { y }
}
