//! Adds clipped gradients as integer vectors, each of Euclidean norm at most 2^30.

use super::unit::RECORD;
use super::{number_or_zero, rounded_bits, rounder_bits};
use crate::Clip;

/// The most parameters a model may have: up to here the clip is proved.
pub const MOST_DIMENSIONS: usize = 1 << 12;

/// R, where a scaled gradient is clipped: a hair below 2^30.
const BOUND: f64 = RECORD as f64 * (1.0 - 1.0 / (1_u64 << 40) as f64);

/// Adds the contributions of some records to `sums`, one entry per coordinate.
///
/// `terms` holds the gradients, coordinate-major; `factors` is working memory of one entry per record. In f64,
/// with s = fl(2^30/B): N = Σ_j fl(g_j·s)², in the order of the coordinates; q = R·[`reciprocal_root`](max(N, 1));
/// f = min(q, 1)·s, or 0 if N is infinite or not a number; z_j = trunc(g_j·f), not-a-number being 0. The same
/// IEEE operations on every machine; no branch depends on a record.
///
/// **Privacy.** ‖z‖₂ ≤ 2^30 for any f64 gradient in up to [`MOST_DIMENSIONS`] dimensions. Proof, u = 2^-53. Where
/// N is not finite z = 0. Else ‖z‖ ≤ (1+u)·f·‖g‖ (truncation shortens; what underflows is truncated to 0) and
/// f ≤ (1+u)·s·min(q, 1). A product fl(g_j·s) loses a factor of at most 1−u, its square another, the d − 1 additions
/// of non-negative numbers at most (1−u)^(d−1), and underflow less than 2^-500 in all, so
/// s‖g‖ ≤ (√N + 2^-500)(1−u)^-(d+2)/2. If N < 1, then ‖z‖ ≤ (1+u)²·s‖g‖ < 2. If N ≥ 1, then
/// q ≤ R(1+u)(1+8u)/√N and ‖z‖ ≤ R(1+u)³(1+8u)(1−u)^-(d+2)/2·(1 + 2^-500), which for d ≤ 2^12 is below
/// R(1 + 2^-41) < 2^30. ∎
pub(crate) fn add_clipped(terms: &[f64], factors: &mut [f64], sums: &mut [i64], clip: Clip) {
    pulp::Arch::new().dispatch(AddClipped { terms, factors, sums, steps: clip.steps_per_one() });
}

/// The loop of [`add_clipped`], compiled once per instruction set.
struct AddClipped<'a> {
    terms: &'a [f64],
    factors: &'a mut [f64],
    sums: &'a mut [i64],
    steps: f64,
}

impl pulp::WithSimd for AddClipped<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _instructions: S) {
        let Self { terms, factors, sums, steps } = self;
        let records = factors.len();
        match sums.len() {
            1 => add_few::<1>(terms, records, sums, steps),
            2 => add_few::<2>(terms, records, sums, steps),
            3 => add_few::<3>(terms, records, sums, steps),
            _ => add_many(terms, factors, sums, steps),
        }
    }
}

/// The loop in one pass, for so few coordinates that all of a record's are held in registers.
#[inline(always)]
fn add_few<const D: usize>(terms: &[f64], records: usize, sums: &mut [i64], steps: f64) {
    // Equal lengths, visible to the compiler: no bounds check survives in the loop.
    let coordinates: [&[f64]; D] = std::array::from_fn(|j| &terms[j * records..][..records]);
    let mut bits = [0_i64; D];
    for i in 0..records {
        let mut square = 0.0;
        for coordinate in coordinates {
            let scaled = coordinate[i] * steps;
            square += scaled * scaled;
        }
        let factor = shrink(square) * steps;
        for (bits, coordinate) in bits.iter_mut().zip(coordinates) {
            *bits = bits.wrapping_add(truncated_bits(coordinate[i], factor));
        }
    }
    for (sum, bits) in sums.iter_mut().zip(bits) {
        *sum += sum_of_bits(bits, records);
    }
}

/// How many records are added at a time: with a few dozen coordinates they stay in the first cache.
const TILE: usize = 128;

/// The loop in two passes over a tile of records, norms and then sums.
#[inline(always)]
fn add_many(terms: &[f64], factors: &mut [f64], sums: &mut [i64], steps: f64) {
    let records = factors.len().max(1);
    for (start, factors) in (0..).step_by(TILE).zip(factors.chunks_mut(TILE)) {
        let tile = start..start + factors.len();
        factors.fill(0.0);
        for coordinate in terms.chunks_exact(records) {
            add_squares(&coordinate[tile.clone()], steps, factors);
        }
        for factor in factors.iter_mut() {
            *factor = shrink(*factor) * steps;
        }
        for (coordinate, sum) in terms.chunks_exact(records).zip(sums.iter_mut()) {
            *sum += truncated_sum(&coordinate[tile.clone()], factors);
        }
    }
}

/// Adds each term's square, in lattice steps.
#[inline(always)]
fn add_squares(terms: &[f64], steps: f64, squares: &mut [f64]) {
    for (square, &term) in squares.iter_mut().zip(terms) {
        let scaled = term * steps;
        *square += scaled * scaled;
    }
}

/// Σ trunc(term·factor), exactly.
#[inline(always)]
fn truncated_sum(terms: &[f64], factors: &[f64]) -> i64 {
    let mut bits = 0_i64;
    for (&term, &factor) in terms.iter().zip(factors) {
        bits = bits.wrapping_add(truncated_bits(term, factor));
    }
    sum_of_bits(bits, terms.len())
}

/// trunc(term·factor), as [`rounded_bits`] gives it.
#[inline(always)]
fn truncated_bits(term: f64, factor: f64) -> i64 {
    rounded_bits(number_or_zero(term * factor).trunc())
}

/// The sum of integers whose bits were added up.
#[inline(always)]
fn sum_of_bits(bits: i64, count: usize) -> i64 {
    // Wrapping sums agree with the true one modulo 2^64, and the true one fits.
    bits.wrapping_sub(rounder_bits().wrapping_mul(count as i64))
}

/// What a vector of squared norm `square`, in lattice steps, is multiplied by to be no longer than [`BOUND`].
#[inline(always)]
fn shrink(square: f64) -> f64 {
    let root = BOUND * reciprocal_root(if square > 1.0 { square } else { 1.0 });
    let factor = if root < 1.0 { root } else { 1.0 };
    if square < f64::INFINITY { factor } else { 0.0 }
}

/// About 1/√x from below, for 1 ≤ x < ∞: at most (1 + 8·2^-53)/√x and at least (1 − 2^-34)/√x.
///
/// Halving the exponent in the bits gives a start with relative error below 3.5 %; three of Newton's steps
/// y(3 − xy²)/2 square it each time. Twice as fast as a square root and a division, which vectors hardly speed up.
///
/// **Precision.** In real numbers Newton's step never exceeds 1/√x: t(3 − t²)/2 ≤ 1 for t = y√x > 0. In f64, with
/// h = x/2 exact and t within 4 % of 1, fl((h·y)·y) errs by 2u of at most 0.55, the difference from 1.5 rounds by u,
/// the product by u: together less than 8u. Nothing under- or overflows, since √x lies within [1, 2^512].
#[inline(always)]
fn reciprocal_root(x: f64) -> f64 {
    const START: u64 = 0x5fe6_eb50_c7b5_37a9;
    let half = 0.5 * x;
    let mut root = f64::from_bits(START - (x.to_bits() >> 1));
    for _ in 0..3 {
        root *= 1.5 - half * root * root;
    }
    root
}
