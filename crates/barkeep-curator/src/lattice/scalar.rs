//! Adds clipped log-ratios as integers, and carries the sum to the number a coin is flipped for.

use super::unit::RECORD;
use super::{number_or_zero, rounded_bits, rounder_bits};
use crate::{Clip, Secret};
use barkeep_accounting::CLAMP;
use barkeep_num::vector::dispatch;

/// Σu and Σu² over the contributions u of some records, integers within ±2^30.
///
/// Those of disjoint sets of records add up, in any order, on any number of threads or machines.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moments {
    /// Σu: within 2^62 for 2^32 records.
    sum: i64,
    /// Σu²: at most 2^92.
    squares: u128,
}

impl Moments {
    /// Adds the contributions u = round(clip₁(r/B)·2^30) of records with log-ratios `terms`.
    ///
    /// In f64, per record: y = r·fl(2^30/B); not-a-number becomes 0; y is cut to ±2^30 and rounded to the nearest
    /// integer, ties to even. The same IEEE operations on every machine, written without branches.
    pub(crate) fn add(&mut self, terms: &[f64], clip: Clip) {
        self.sum += dispatch(
            #[inline(always)]
            || Contributions { terms, steps: clip.steps_per_one() }.sum(),
        );
    }

    /// As [`Moments::add`], and the squares as well.
    pub(crate) fn add_with_squares(&mut self, terms: &[f64], clip: Clip) {
        // 2^20 records a time keep the halves of the squares, below 2^32 each, within a u64.
        for terms in terms.chunks(1 << 20) {
            let steps = clip.steps_per_one();
            let (sum, squares) = dispatch(
                #[inline(always)]
                || Contributions { terms, steps }.sum_with_squares(),
            );
            self.sum += sum;
            self.squares += squares;
        }
    }

    /// The moments of records that are known by their sum alone: all records, whose squares nobody asks for.
    pub(crate) fn of_sum(sum: i64) -> Self {
        Self { sum, squares: 0 }
    }

    /// The moments of both sets of records.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, squares: self.squares + other.squares }
    }

    /// Σu.
    pub(crate) fn sum(&self) -> i64 {
        self.sum
    }

    /// Σu², for tests.
    #[cfg(test)]
    pub(crate) fn squares(&self) -> u128 {
        self.squares
    }

    /// V = bΣu² − (Σu)², b² times the batch's variance: non-negative by Cauchy–Schwarz, at most 2^124.
    fn variance(&self, batch: u64) -> u128 {
        (u128::from(batch) * self.squares)
            .saturating_sub(self.sum.unsigned_abs() as u128 * self.sum.unsigned_abs() as u128)
    }
}

/// The loops of [`Moments::add`] and [`Moments::add_with_squares`], compiled once per instruction set.
struct Contributions<'a> {
    terms: &'a [f64],
    steps: f64,
}

impl Contributions<'_> {
    #[inline(always)]
    fn sum(self) -> i64 {
        let mut bits = 0_i64;
        for &term in self.terms {
            bits = bits.wrapping_add(rounded_bits(contribution(term, self.steps)));
        }
        // Wrapping sums agree with the true one modulo 2^64, and the true one fits.
        bits.wrapping_sub(rounder_bits().wrapping_mul(self.terms.len() as i64))
    }

    #[inline(always)]
    fn sum_with_squares(self) -> (i64, u128) {
        let (mut sum, mut low, mut high) = (0_i64, 0_u64, 0_u64);
        for &term in self.terms {
            let integer = rounded_bits(contribution(term, self.steps)).wrapping_sub(rounder_bits());
            let square = integer.unsigned_abs() * integer.unsigned_abs();
            sum += integer;
            low += square & u64::from(u32::MAX);
            high += square >> 32;
        }
        (sum, u128::from(low) + (u128::from(high) << 32))
    }
}

/// The most that a record adds to a sum, or takes off.
const MOST: f64 = RECORD as f64;

/// A record's share of the sum, before rounding: within ±2^30 whatever the term is.
#[inline(always)]
fn contribution(term: f64, steps: f64) -> f64 {
    // Comparisons rather than f64::min and max: they are single instructions, and not-a-number is gone already.
    let scaled = number_or_zero(term * steps);
    let scaled = if scaled < MOST { scaled } else { MOST };
    if scaled > -MOST { scaled } else { -MOST }
}

/// What the variance of a batch does to the decision.
#[derive(Clone, Copy)]
pub(crate) enum BatchVariance {
    /// All records are there: nothing.
    None,
    /// The penalty sampler decides on λ* − ½σ_b².
    Subtracted {
        /// Records in the batch.
        batch: u64,
    },
    /// The subsampled Barker test adds less noise: s² goes to the rule.
    Handed {
        /// Records in the batch.
        batch: u64,
    },
}

/// What the coin is flipped for.
#[derive(Clone, Copy)]
pub(crate) struct CoinInput {
    /// λ̂, within ±64.
    pub(crate) log_ratio: f64,
    /// s², zero unless the rule asks for it.
    pub(crate) batch_variance: f64,
}

/// λ̂ = c·K from K = Σu + round(offset/c) − round(½cV/b), clamped to ±64.
///
/// **Privacy.** [`decide_sensitivity`](crate::decide_sensitivity) proves how far a neighbouring change moves λ̂.
/// For [`BatchVariance::Handed`], λ̂ moves by at most c·2^31 + 2η and s² = min(1, c²V/b), four f64 roundings, by
/// at most 4e²(1 − 1/b) + 2^-50, e = c·2^30.
///
/// **Precision.** Odd in all arguments but the variance, so the reverse move has exactly the negated λ̂ if the
/// program's log-ratios and the offset change sign exactly.
pub(crate) fn coin_input(
    moments: Secret<Moments>,
    unit: f64,
    offset: f64,
    variance: BatchVariance,
) -> Secret<CoinInput> {
    let (steps, batch_variance) = lattice_steps(&moments.open(), unit, offset, variance);
    let most = (CLAMP / unit) as i128;
    let log_ratio = (unit * steps.clamp(-most, most) as f64).clamp(-CLAMP, CLAMP);
    Secret::seal(CoinInput { log_ratio, batch_variance })
}

/// λ̃ = c·(K + Z) for K as in [`coin_input`] and a noise Z drawn for it alone.
///
/// **Privacy.** K is an integer that a neighbouring change moves by at most [`decide_sensitivity`](crate::decide_sensitivity)
/// over c, and Z a normal rounded to the integers: K + Z is a post-processing of the Gaussian mechanism, and so is
/// all that follows, whatever its rounding. It may be opened, but is not published.
pub(crate) fn noisy_log_ratio(
    moments: Secret<Moments>,
    unit: f64,
    offset: f64,
    variance: BatchVariance,
    noise: i128,
) -> f64 {
    let (steps, _) = lattice_steps(&moments.open(), unit, offset, variance);
    unit * steps.saturating_add(noise) as f64
}

/// K, and s² where the rule takes it.
fn lattice_steps(moments: &Moments, unit: f64, offset: f64, variance: BatchVariance) -> (i128, f64) {
    // Public, hence the same integer on neighbouring data sets; cut so that no sum below can overflow.
    let most_offset = 2_f64.powi(120);
    let offset = (offset / unit).round_ties_even().clamp(-most_offset, most_offset) as i128;
    let steps = i128::from(moments.sum) + offset;
    match variance {
        BatchVariance::None => (steps, 0.0),
        BatchVariance::Subtracted { batch } => {
            let penalty = moments.variance(batch) as f64 * (unit / (2.0 * batch as f64));
            (steps.saturating_sub(penalty.round_ties_even() as i128), 0.0)
        }
        BatchVariance::Handed { batch } => {
            let variance = unit * unit * moments.variance(batch) as f64 / batch as f64;
            (steps, variance.min(1.0))
        }
    }
}
