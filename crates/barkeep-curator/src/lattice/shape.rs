//! Says into which set a unit's contribution is cut, and how far a neighbouring change then moves a sum.
//!
//! A set is all that the price of a sum depends on: what a program writes is cut to it whatever it is.

use super::clip::Range;
use super::gram::{gram_reach, gram_unit};
use super::unit::{RECORD, full_unit, reach};
use crate::error::question;
use crate::{Clip, Refused, Temper};
use barkeep_accounting::{Neighbours, Sampling, Sensitivity};
use barkeep_num::up_by;

/// The set that a record's or a person's contribution is cut to. R = 2^30 lattice steps stand for the clip.
///
/// **Privacy.** Each variant states how far substituting one unit moves the integer sum, and adding or removing one, with its proof. A unit's
/// contribution is its own, so a change moves no other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A vector of Euclidean norm at most the clip.
    ///
    /// Moves by at most 2R (R): the triangle inequality on integer vectors of norm at most R.
    Ball,
    /// One number between two, both within the clip.
    ///
    /// Moves by at most b − a (max(|a|, |b|)) where a and b are the ends rounded to the lattice: every contribution is an integer between them.
    Interval {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// A vector of Euclidean norm at most the clip, of which every entry is cut at 0 from below.
    ///
    /// Moves by at most √2·R (R): for z, z' ≥ 0, ‖z − z'‖² = ‖z‖² + ‖z'‖² − 2z·z' ≤ 2R².
    Positive,
    /// The products of a vector x of norm at most the clip: Σx and Σxxᵀ, as [`gram_sensitivity`](crate::gram_sensitivity) proves.
    Outer,
    /// One number between two, both within the clip, at one place among many; a program's only output is by level.
    ///
    /// Moves by at most max(b − a, √2·c) (c), c = max(|a|, |b|), a and b as for an interval: with the place unchanged one entry moves within
    /// [a, b]; else one entry loses u and another gains u', √(u² + u'²) ≤ √2·c. A unit may be at no place: it counts 0 then. A person
    /// with rows at several places is a vector of several entries: that takes a ball.
    Indexed {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// H = Σ_g h(S_g) − Σ_i u_i², with S_g the sum of the numbers u_i at place g, each within ±clip, h(S) = S² up to |S| = T and 2T|S| − T²
    /// beyond; one number for the spread between groups.
    ///
    /// Moves by at most 4TR (2TR + R²), T in lattice steps, an integer with T ≥ R. Proof. h maps integers to integers, is even and convex, and
    /// |h(S + u) − h(S)| ≤ 2T|u|, its slope being 2·min(|S|, T). Adding a unit u moves H by h(S + u) − h(S) − u². That is at most 2T|u| − u², which grows with |u|
    /// up to T and so is at most 2TR − R², and at least −2T|u| − u² ≥ −2TR − R². Substituting one is to remove one and to add one: at most
    /// (2TR + R²) + (2TR − R²) = 4TR either way, whether the group is the same or another. All in i128: T ≤ 2^50, Σ|u| ≤ 2^62, so |H| < 2^114. At last H is divided by
    /// 2^32 and rounded down, which moves a difference by less than 1: that 1 is charged. ∎
    ByGroup {
        /// T in units of the numbers, at least the clip and at most 2^20 times that.
        threshold: f64,
    },
}

/// What H is divided by, in bits: then it moves by some 2^30 where T is the clip.
const SHIFT: u32 = 32;
/// The largest T in clips.
const MOST_CLIPS: f64 = (1 << 20) as f64;

impl Shape {
    /// What one lattice step is worth.
    ///
    /// # Errors
    /// [`Refused::Question`] for bounds that do not fit the clip.
    pub(crate) fn unit(self, temper: Temper, clip: Clip) -> Result<f64, Refused> {
        match self {
            Self::Ball | Self::Positive => Ok(full_unit(temper, clip)),
            Self::Interval { .. } | Self::Indexed { .. } => self.range(clip).map(|_| full_unit(temper, clip)),
            Self::Outer => gram_unit(clip.get()),
            Self::ByGroup { threshold } => {
                steps(threshold, clip)?;
                let unit = full_unit(Temper::NONE, clip);
                Ok(unit * unit * (1_u64 << SHIFT) as f64)
            }
        }
    }

    /// How far one neighbouring change moves the sum, in lattice steps; rounded up.
    ///
    /// # Errors
    /// As [`Shape::unit`].
    pub(crate) fn reach(self, clip: Clip, neighbours: Neighbours) -> Result<f64, Refused> {
        let root = up_by(std::f64::consts::SQRT_2, 1);
        match (self, neighbours) {
            (Self::Ball, _) | (Self::Positive, Neighbours::AddRemove) => Ok(reach(neighbours)),
            (Self::Positive, Neighbours::Substitute) => Ok(up_by(root * RECORD as f64, 1)),
            (Self::Outer, _) => Ok(gram_reach(neighbours)),
            (Self::Interval { .. }, Neighbours::Substitute) => {
                self.range(clip).map(|Range { low, high }| (high - low) as f64)
            }
            (Self::Interval { .. } | Self::Indexed { .. }, Neighbours::AddRemove) => {
                self.range(clip).map(|Range { low, high }| low.abs().max(high.abs()).max(1) as f64)
            }
            (Self::Indexed { .. }, Neighbours::Substitute) => self.range(clip).map(|Range { low, high }| {
                let size = low.abs().max(high.abs()) as f64;
                ((high - low) as f64).max(up_by(root * size, 1))
            }),
            (Self::ByGroup { threshold }, _) => {
                let (t, r) = (steps(threshold, clip)?, i128::from(RECORD));
                let moved = match neighbours {
                    Neighbours::Substitute => 4 * t * r,
                    Neighbours::AddRemove => 2 * t * r + r * r,
                };
                // Rounded up, and the 1: at most 2^52, so exact.
                Ok((1 - (-moved >> SHIFT)) as f64)
            }
        }
    }

    /// The integers that a number is cut to: all within the clip for shapes without ends of their own.
    ///
    /// # Errors
    /// [`Refused::Question`] unless low < high, both within the clip and apart on the lattice.
    pub(crate) fn range(self, clip: Clip) -> Result<Range, Refused> {
        match self {
            Self::Ball | Self::Positive | Self::Outer | Self::ByGroup { .. } => {
                Ok(Range { low: -RECORD, high: RECORD })
            }
            Self::Interval { low, high } | Self::Indexed { low, high } => {
                let within = |end: f64| end.abs() <= clip.get();
                let [low, high] = [low, high]
                    .map(|end| within(end).then(|| (end * clip.steps_per_one()).round_ties_even() as i64));
                match (low, high) {
                    (Some(low), Some(high)) if low < high => {
                        Ok(Range { low: low.max(-RECORD), high: high.min(RECORD) })
                    }
                    _ => Err(question(
                        "shape",
                        "a range from a lower end to an upper one, both within the clip",
                    )),
                }
            }
        }
    }

    /// Whether it can be had of this batch.
    ///
    /// # Errors
    /// [`Refused::Question`]: all but a ball ask all records, and products and groups with temper 1.
    pub(crate) fn check(self, temper: Temper, batch: Sampling) -> Result<(), Refused> {
        let is_plain = match self {
            Self::Ball => true,
            Self::Interval { .. } | Self::Positive | Self::Indexed { .. } => batch == Sampling::Full,
            Self::Outer | Self::ByGroup { .. } => batch == Sampling::Full && temper == Temper::NONE,
        };
        if is_plain {
            Ok(())
        } else {
            Err(question("batch", "all records, with temper 1, for a shape other than a ball"))
        }
    }

    /// H of the sums by group, followed by those of the low and the high halves of squares.
    ///
    /// **Privacy.** As [`Shape::ByGroup`] says.
    ///
    /// # Errors
    /// As [`Shape::unit`].
    pub(crate) fn between_groups(self, clip: Clip, sums: &[i64]) -> Result<i128, Refused> {
        let (Self::ByGroup { threshold }, Some((groups, [low, high]))) = (self, sums.split_last_chunk())
        else {
            return Ok(0);
        };
        let t = steps(threshold, clip)?;
        let huber = |sum: &i64| {
            let size = i128::from(sum.unsigned_abs());
            if size <= t { size * size } else { 2 * t * size - t * t }
        };
        let squares = i128::from(*low) + (i128::from(*high) << HALF);
        Ok((groups.iter().map(huber).sum::<i128>() - squares) >> SHIFT)
    }
}

/// Bits of the lower half of a square of at most 2^60.
const HALF: u32 = 30;

/// The halves of u², each at most 2^30: 2^32 of them fit an i64.
pub(crate) fn halves(u: i64) -> [i64; 2] {
    let square = u * u;
    [square & ((1 << HALF) - 1), square >> HALF]
}

/// T in lattice steps.
fn steps(threshold: f64, clip: Clip) -> Result<i128, Refused> {
    let clips = threshold / clip.get();
    if (1.0..=MOST_CLIPS).contains(&clips) {
        // Rounded, and not below R: T is at least the clip.
        Ok(((clips * RECORD as f64).round_ties_even() as i128).max(i128::from(RECORD)))
    } else {
        Err(question("shape", "a threshold of at least the clip, and at most a million of it"))
    }
}

/// The Euclidean sensitivity of a sum of this shape, as it is charged; rounded up.
///
/// **Privacy.** [`Shape`] proves how far one neighbouring change moves the integer sum; a step is worth one f64. For H, whose steps
/// are worth the square of the clip's, threshold and clip are in the same units.
///
/// # Errors
/// [`Refused::Question`] for bounds that do not fit the clip.
pub fn shape_sensitivity(
    shape: Shape,
    temper: Temper,
    clip: Clip,
    neighbours: Neighbours,
) -> Result<Sensitivity, Refused> {
    let (unit, reach) = (shape.unit(temper, clip)?, shape.reach(clip, neighbours)?);
    let exact = unit * reach;
    // A power of two times the unit is exact.
    let is_exact = matches!(shape, Shape::Ball);
    Ok(Sensitivity::new(if is_exact { exact } else { up_by(exact, 2) })?)
}

#[cfg(test)]
mod tests;
