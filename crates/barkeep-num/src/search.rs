//! Finds where a monotone predicate turns, and always returns a point at which it was seen to hold.
//!
//! **Guarantee.** Whatever the predicate does — it need not even be monotone — a returned value is one for which it
//! returned true during this call. An accountant that searches the largest number of steps within a budget
//! therefore errs on the safe side.
//!
//! **Cost.** Integers: at most 2·64 + 1 evaluations, and about 2·log₂ of the answer's distance from `low`.
//! Reals: at most 66, since the bisection walks the line of representable numbers.

use std::convert::Infallible;

use crate::rounding::{at_position, position};

/// The largest integer in [`low`, `high`] at which `holds`, for a predicate that turns from true to false.
///
/// Gallops from `low` with doubling steps, then bisects, so that a predicate whose cost grows with its argument is not
/// asked far beyond the answer. None if it does not hold at `low` or the range is empty.
///
/// ```
/// assert_eq!(barkeep_num::largest_integer(0, u64::MAX, |k| k * k <= 1000), Some(31));
/// ```
pub fn largest_integer(low: u64, high: u64, mut holds: impl FnMut(u64) -> bool) -> Option<u64> {
    let Ok(found) = try_largest_integer(low, high, |k| Ok::<_, Infallible>(holds(k)));
    found
}

/// The largest integer of `inside..outside` with a property, where each evaluation is expensive and also estimates the edge.
///
/// `inside` is taken to have the property. A look says whether its argument has it, and guesses the edge; after a dozen looks the
/// guesses are not trusted, and halving ends the search.
///
/// # Errors
/// The first failure of a look.
///
/// ```
/// let root = |k: u64| Ok::<_, ()>((k * k <= 1_000_000, 0.5 * (k as f64 + 1e6 / k as f64)));
/// assert_eq!(barkeep_num::try_largest_guessed(0, 1 << 32, 900.0, root), Ok(1000));
/// ```
pub fn try_largest_guessed<E>(
    mut inside: u64,
    mut outside: u64,
    mut guess: f64,
    mut look: impl FnMut(u64) -> Result<(bool, f64), E>,
) -> Result<u64, E> {
    let mut looks = 0;
    while outside.saturating_sub(inside) > 1 {
        // A cast saturates.
        let next = if looks < 12 { guess as u64 } else { inside + (outside - inside) / 2 };
        let at = next.clamp(inside + 1, outside - 1);
        let (holds, edge) = look(at)?;
        if holds {
            inside = at;
        } else {
            outside = at;
        }
        guess = edge;
        looks += 1;
    }
    Ok(inside)
}

/// [`largest_integer`] for a predicate that may fail; the first failure is returned.
pub fn try_largest_integer<E>(
    low: u64,
    high: u64,
    mut holds: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    if low > high || !holds(low)? {
        return Ok(None);
    }
    let mut inside = low;
    let mut outside = None;
    let mut stride = 1_u64;
    while inside < high {
        let probe = inside.saturating_add(stride).min(high);
        if !holds(probe)? {
            outside = Some(probe);
            break;
        }
        inside = probe;
        stride = stride.saturating_mul(2);
    }
    if let Some(mut outside) = outside {
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            if holds(middle)? {
                inside = middle;
            } else {
                outside = middle;
            }
        }
    }
    Ok(Some(inside))
}

/// The largest real in [`low`, `high`] at which `holds`, for a predicate that turns from true to false.
///
/// The answer is within `relative_tolerance` of a point at which the predicate did not hold, or is `high` itself; a
/// tolerance that is zero, negative or NaN asks for neighbouring f64. None if it does not hold at `low`, the
/// range is empty, or an end is NaN. Infinite ends are allowed.
pub fn largest_real(
    low: f64,
    high: f64,
    relative_tolerance: f64,
    mut holds: impl FnMut(f64) -> bool,
) -> Option<f64> {
    let Ok(found) = try_largest_real(low, high, relative_tolerance, |x| Ok::<_, Infallible>(holds(x)));
    found
}

/// [`largest_real`] for a predicate that may fail; the first failure is returned.
pub fn try_largest_real<E>(
    low: f64,
    high: f64,
    relative_tolerance: f64,
    holds: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    if low.is_nan() || high.is_nan() || low > high {
        return Ok(None);
    }
    turning_point(low, high, relative_tolerance, holds)
}

/// The smallest real in [`low`, `high`] at which `holds`, for a predicate that turns from false to true.
///
/// Mirrors [`largest_real`]: None if it does not hold at `high`.
pub fn smallest_real(
    low: f64,
    high: f64,
    relative_tolerance: f64,
    mut holds: impl FnMut(f64) -> bool,
) -> Option<f64> {
    let Ok(found) = try_smallest_real(low, high, relative_tolerance, |x| Ok::<_, Infallible>(holds(x)));
    found
}

/// [`smallest_real`] for a predicate that may fail; the first failure is returned.
pub fn try_smallest_real<E>(
    low: f64,
    high: f64,
    relative_tolerance: f64,
    holds: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    if low.is_nan() || high.is_nan() || low > high {
        return Ok(None);
    }
    turning_point(high, low, relative_tolerance, holds)
}

/// Bisects between `near`, where the predicate should hold, and `far`, where it may not.
///
/// The midpoint is taken on the line of representable numbers: at most 64 halvings whatever the ends, and as good as
/// a geometric mean over many orders of magnitude.
fn turning_point<E>(
    near: f64,
    far: f64,
    relative_tolerance: f64,
    mut holds: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Option<f64>, E> {
    if !holds(near)? {
        return Ok(None);
    }
    if position(near) == position(far) {
        return Ok(Some(near));
    }
    if holds(far)? {
        return Ok(Some(far));
    }
    let (mut inside, mut outside) = (near, far);
    loop {
        let (a, b) = (position(inside), position(outside));
        if a.abs_diff(b) <= 1 {
            return Ok(Some(inside));
        }
        let widest = inside.abs().max(outside.abs());
        if widest.is_finite() && (outside - inside).abs() <= relative_tolerance * widest {
            return Ok(Some(inside));
        }
        let middle = at_position(i64::midpoint(a, b));
        if holds(middle)? {
            inside = middle;
        } else {
            outside = middle;
        }
    }
}
