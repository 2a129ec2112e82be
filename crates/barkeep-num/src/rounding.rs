//! Moves a result outward by whole units in the last place, so that an upper bound stays one after rounding.

/// The smallest f64 greater than `x`; +∞ and NaN stay.
///
/// After −∞ comes −`f64::MAX`; after either zero, the smallest subnormal.
pub fn up(x: f64) -> f64 {
    x.next_up()
}

/// The largest f64 less than `x`; −∞ and NaN stay.
pub fn down(x: f64) -> f64 {
    x.next_down()
}

/// `up` applied `ulps` times, in constant time; stops at +∞.
///
/// A result known to be within `ulps` units of the truth becomes a bound on it.
pub fn up_by(x: f64, ulps: u32) -> f64 {
    if x.is_nan() || ulps == 0 {
        return x;
    }
    at_position(position(x).saturating_add(i64::from(ulps)))
}

/// `down` applied `ulps` times, in constant time; stops at −∞.
pub fn down_by(x: f64, ulps: u32) -> f64 {
    -up_by(-x, ulps)
}

/// The place of `x` on the line of all f64: zeros at 0, neighbours one apart. The caller excludes NaN.
pub(crate) fn position(x: f64) -> i64 {
    let magnitude = (x.to_bits() & (u64::MAX >> 1)) as i64;
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

/// The f64 at a place; places beyond the infinities mean the infinities.
pub(crate) fn at_position(position: i64) -> f64 {
    let magnitude = f64::from_bits(position.unsigned_abs().min(f64::INFINITY.to_bits()));
    if position < 0 { -magnitude } else { magnitude }
}
