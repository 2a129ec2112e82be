//! Computes the kernels' functions for one number, by the very operations the vector loops perform.
//!
//! No branch, no table, and no fused multiply-add but in one function that says so: every statement maps to one IEEE operation per lane, so
//! a compiler may put any number of records side by side and the bits stay the same.

use super::coefficients::{EXP, EXP_SHORT, LOG, LOG_WIDE};
use crate::special::coefficients::ERFCX;

/// ln 2 to 32 bits: its product with a binary exponent is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
/// ln 2 − `LN_2_HIGH`.
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5·2⁵²: adding it leaves the nearest whole number in the low bits of a double.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// `eˣ`.
///
/// +∞ above 709.79, 0 below −745.14; NaN gives NaN.
///
/// **Precision.** Worst error found 1.00 ulp, among subnormal results; tested to stay below 1.2.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let bounded = select(x > 710.0, 710.0, select(x < -746.0, -746.0, x));
    let shifted = bounded * std::f64::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = (bounded - n * LN_2_HIGH) - n * LN_2_LOW;
    let mantissa = 1.0 + (r + (r * r) * polynomial(&EXP, r));
    // Two factors, because 2ⁿ itself may be out of range where the result is not. Their biased exponents are the
    // halves of n + 2·1023, taken in the low bits of `shifted`; what stands above them is shifted out.
    let both = shifted.to_bits().wrapping_add(2046);
    let first = both >> 1;
    let second = both.wrapping_sub(first);
    quiet(x, (mantissa * f64::from_bits(first << 52)) * f64::from_bits(second << 52))
}

/// `eˣ − 1`, precise for small x too.
///
/// +∞ above 709.44, where `eˣ` itself is still finite up to 709.78; −1 below −37.5; NaN gives NaN.
///
/// **Precision.** Worst error found 1.91 ulp; tested to stay below 2.2.
#[inline(always)]
pub fn exp_m1(x: f64) -> f64 {
    let bounded = select(x > 710.0, 710.0, select(x < -60.0, -60.0, x));
    let shifted = bounded * std::f64::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = (bounded - n * LN_2_HIGH) - n * LN_2_LOW;
    let tail = r + (r * r) * polynomial(&EXP, r);
    let both = shifted.to_bits().wrapping_add(2046);
    let first = both >> 1;
    let second = both.wrapping_sub(first);
    let (first, second) = (f64::from_bits(first << 52), f64::from_bits(second << 52));
    // 2ⁿ(1 + t) − 1 = 2ⁿt + (2ⁿ − 1): the second term is exact near 0, where the first alone is the result.
    let value = (tail * first) * second + (first * second - 1.0);
    quiet(x, select(x == 0.0, x, value))
}

/// `ln x`.
///
/// −∞ at either zero, +∞ at +∞; NaN and negative numbers give NaN.
///
/// **Precision.** Worst error found 0.74 ulp, subnormal arguments included; tested to stay below 1.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let (exponent, f) = reduce(select(tiny, x * TWO_54, x));
    let value = ln_of_parts(exponent - select(tiny, 54.0, 0.0), f, 0.0);
    let value = select(x == f64::INFINITY, x, value);
    select(x > 0.0, value, select(x == 0.0, f64::NEG_INFINITY, f64::NAN))
}

/// `ln(1 + x)`, precise for small x too.
///
/// −∞ at −1, +∞ at +∞, keeps the sign of zero; NaN and numbers below −1 give NaN.
///
/// **Precision.** Worst error found 0.74 ulp, next to 0 and to −1 too; tested to stay below 1.
#[inline(always)]
pub fn ln_1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    // What rounding 1 + x lost, exactly (Knuth's two-sum), brought back to first order.
    let grown = sum - 1.0;
    let lost = (1.0 - (sum - grown)) + (x - grown);
    let (exponent, f) = reduce(sum);
    let value = ln_of_parts(exponent, f, lost / sum);
    let value = select(x == f64::INFINITY, x, value.copysign(x));
    select(x > -1.0, value, select(x == -1.0, f64::NEG_INFINITY, f64::NAN))
}

/// `1/(1 + e⁻ˣ)`.
///
/// **Precision.** Worst error found 1.89 ulp above −740, where the result becomes subnormal; tested to stay below 2.2.
#[inline(always)]
pub fn sigmoid(x: f64) -> f64 {
    let w = exp(-x.abs());
    quiet(x, select(x < 0.0, w, 1.0) / (1.0 + w))
}

/// [`sigmoid`] by fused operations and a shorter polynomial, for slopes that are rounded to 2⁻³⁰ of a bound afterwards; below −708 it stays at
/// 3·10⁻³⁰⁸ instead of falling to 0, so that 2ⁿ is never out of range.
///
/// **Precision.** Worst relative error found 2.2·10⁻¹⁰ above −708; tested to stay below 2.3·10⁻¹⁰, a quarter of what slopes are rounded
/// to.
#[inline(always)]
pub fn short_sigmoid(x: f64) -> f64 {
    let size = x.abs();
    let bounded = -select(size < 708.0, size, 708.0);
    let shifted = bounded.mul_add(std::f64::consts::LOG2_E, SHIFT);
    let n = shifted - SHIFT;
    let r = n.mul_add(-std::f64::consts::LN_2, bounded);
    let square = r * r;
    let [c0, c1, c2, c3, c4, c5] = EXP_SHORT;
    let odd = c5.mul_add(square, c3).mul_add(square, c1);
    let even = c4.mul_add(square, c2).mul_add(square, c0);
    let mantissa = 1.0 + square.mul_add(odd.mul_add(r, even), r);
    let w = mantissa * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    quiet(x, select(x < 0.0, w, 1.0) / (1.0 + w))
}

/// The standard normal distribution function, as [`normal_cdf`](crate::normal_cdf): ½·erfcx(|x|/√2)·e^(−x²/2), or its complement.
///
/// Keeps its relative precision in the lower tail down to the smallest normal number (x ≈ −37.5). NaN gives NaN.
///
/// **Precision.** Worst error found 3.22 ulp; tested to stay below 3.5.
#[inline(always)]
pub fn normal_cdf(x: f64) -> f64 {
    let size = select(x.abs() < 40.0, x.abs(), 40.0);
    let scaled = size * std::f64::consts::FRAC_1_SQRT_2;
    let erfcx = polynomial(&ERFCX, (scaled - 4.0) / (scaled + 4.0)) / (scaled + 0.5);
    // x² as a sum of two: rounded it would cost x² units.
    let (high, low) = crate::special::square(size);
    let decay = exp(-0.5 * high);
    let tail = 0.25 * erfcx * (decay - decay * (0.5 * low));
    quiet(x, select(x < 0.0, tail, 1.0 - tail))
}

/// `e^(x²)·erfc(x)` for x ≥ 0, as [`erfcx`](crate::erfcx): decays like 1/(x√π).
///
/// **Precision.** Worst error found 3 ulp; tested to stay below 4.
#[inline(always)]
pub fn erfcx_positive(x: f64) -> f64 {
    // Beyond, the polynomial's argument would round to 1 and infinity divide infinity.
    let bounded = select(x < 1e16, x, 1e16);
    let value = 0.5 * polynomial(&ERFCX, (bounded - 4.0) / (bounded + 4.0)) / (bounded + 0.5);
    quiet(x, select(x < 1e16, value, 0.5 * std::f64::consts::FRAC_2_SQRT_PI / x))
}

/// `ln(1/(1 + e⁻ˣ)) = min(x, 0) − ln(1 + e^(−|x|))`, precise on both sides.
///
/// **Precision.** Worst error found 1.40 ulp; tested to stay below 1.6.
#[inline(always)]
pub fn log_sigmoid(x: f64) -> f64 {
    let w = exp(-x.abs());
    // ln(1+w) = 2·artanh(w/(2+w)), w in [0, 1]: needs neither a binary exponent nor the rounding of 1 + w.
    let s = w / (2.0 + w);
    let z = s * s;
    let half_square = 0.5 * w * w;
    let tail = half_square - s * (half_square + z * polynomial(&LOG_WIDE, z));
    quiet(x, select(x < 0.0, x, 0.0) - (w - tail))
}

/// `ln((1 + w)/(1 + v))` for w and v in [0, 1]: exactly 0 if w = v, and one division for both.
///
/// 2·artanh((w − v)/(2 + w + v)), whose argument lies in [−⅓, ⅓].
///
/// **Precision.** Worst error found 1.73 ulp; tested to stay below 2.
#[inline(always)]
pub fn ln_1p_difference(w: f64, v: f64) -> f64 {
    let s = (w - v) / (2.0 + (w + v));
    let z = s * s;
    2.0 * s + s * (z * polynomial(&LOG_WIDE, z))
}

/// 2⁵⁴ lifts every subnormal into the normal range.
const TWO_54: f64 = 18_014_398_509_481_984.0;

/// Splits a positive normal x into 2ᵉ·(1 + f) with 1 + f in [√½, √2); any other x into harmless rubbish.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    /// The bits of √½: subtracting them rounds the exponent at √2 rather than at 2.
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    /// The bits of 2⁵²: a whole number below 2⁵² or-ed into them is 2⁵² plus that number.
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF).wrapping_add(1023 << 52);
    let exponent = f64::from_bits((shifted >> 52) | TWO_52) - (4_503_599_627_370_496.0 + 1023.0);
    let mantissa = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(SQRT_HALF));
    (exponent, mantissa - 1.0)
}

/// `exponent·ln 2 + ln(1+f) + correction`.
///
/// With s = f/(2+f), ln(1+f) = f − f²/2 + s·(f²/2 + R(s²)): the leading f is exact, the rest is small beside it.
#[inline(always)]
fn ln_of_parts(exponent: f64, f: f64, correction: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let half_square = 0.5 * f * f;
    let tail = s * (half_square + z * polynomial(&LOG, z)) + (exponent * LN_2_LOW + correction);
    exponent * LN_2_HIGH - ((half_square - tail) - f)
}

/// Horner's rule on the even and the odd powers apart: two short chains of dependent operations instead of a long one.
#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let square = x * x;
    let (mut upper, mut lower) = (coefficients[N - 1], coefficients[N - 2]);
    let mut j = N - 2;
    while j >= 2 {
        (upper, lower) = (upper * square + coefficients[j - 1], lower * square + coefficients[j - 2]);
        j -= 2;
    }
    let sum = upper * x + lower;
    if j == 1 { sum * x + coefficients[0] } else { sum }
}

/// `value`, or the one canonical NaN if x is NaN: payloads may differ between instruction sets.
#[inline(always)]
fn quiet(x: f64, value: f64) -> f64 {
    select(x.is_nan(), f64::NAN, value)
}

#[inline(always)]
fn select(condition: bool, yes: f64, no: f64) -> f64 {
    if condition { yes } else { no }
}
