//! Adds clipped gradients as integer vectors, each of Euclidean norm at most 2^30.

use super::unit::RECORD;
use super::{rounded_product_bits, rounder_bits};
use crate::Clip;

/// The most parameters a model may have: up to here the clip is proved.
pub const MOST_DIMENSIONS: usize = 1 << 12;

/// R = 2^30 − 1 − ⌈√d/2⌉, where a scaled gradient of d entries is clipped: below 2^30 by more than rounding may add.
fn bound(dimension: usize) -> f64 {
    RECORD as f64 - 1.0 - (0.5 * (dimension as f64).sqrt()).ceil()
}

/// How many coordinates one pass over the records squares or adds up: enough to spare the factors most of their
/// traffic, few enough for the registers.
const FUSED: usize = 4;

/// Adds the contributions of some records to `sums`, one entry per coordinate.
///
/// `terms` holds the gradients, coordinate-major; `factors` and `kept` are working memory of one entry per record. In
/// f64, with s = fl(2^30/B) and S = fl(s²): N = Σ_j g_j², each addition fused, in the order of the coordinates;
/// x = fl(N·S); q = R·[`reciprocal_root`](x); f = min(q, 1)·s; z_j is g_j·f rounded to the nearest integer once
/// (ties to even), or 0 for all j where x is infinite or not a number. The same IEEE operations on every machine; no
/// branch depends on a record.
///
/// **Privacy.** ‖z‖₂ ≤ 2^30 for any f64 gradient in up to [`MOST_DIMENSIONS`] dimensions. Proof, u = 2^-53. Where x is not
/// finite z = 0. Else every g_j is finite and, each coordinate being rounded by at most ½, ‖z‖ ≤ f‖g‖ + √d/2, and
/// f ≤ (1+u)·s·min(q, 1). Each of the d additions of non-negative numbers loses a factor of at most 1−u, and
/// underflow at most d·2^-1074 in all; S and x lose a factor of 1−u each where x ≥ 1. So, if x ≥ 1,
/// s‖g‖ ≤ √x·(1−u)^-(d+2)/2 + 2^-400 (s ≤ 2^70), and q ≤ R(1+u)(1+8u)/√x, hence
/// f‖g‖ ≤ R(1+u)²(1+8u)(1−u)^-(d+2)/2 + 2^-399, which for d ≤ 2^12 is below R(1 + 2^-41) + 2^-399 < R + 1 = 2^30 − ⌈√d/2⌉.
/// If x < 1, then s‖g‖ < 2 and f‖g‖ < 3. Either way ‖z‖ ≤ 2^30. ∎
pub(crate) fn add_clipped(
    terms: &[f64],
    factors: &mut [f64],
    kept: &mut [i64],
    sums: &mut [i64],
    clip: Clip,
) {
    pulp::Arch::new().dispatch(AddClipped { terms, factors, kept, sums, steps: clip.steps_per_one() });
}

/// The loop of [`add_clipped`], compiled once per instruction set.
struct AddClipped<'a> {
    terms: &'a [f64],
    factors: &'a mut [f64],
    kept: &'a mut [i64],
    sums: &'a mut [i64],
    steps: f64,
}

impl pulp::WithSimd for AddClipped<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _instructions: S) {
        let Self { terms, factors, kept, sums, steps } = self;
        let records = factors.len().max(1);
        match terms.len() / records {
            1 => add_few::<1>(terms, records, sums, steps),
            2 => add_few::<2>(terms, records, sums, steps),
            3 => add_few::<3>(terms, records, sums, steps),
            4 => add_few::<4>(terms, records, sums, steps),
            _ => add_many(terms, factors, kept, sums, steps),
        }
    }
}

/// Up to four coordinates stay in registers: one pass does it all.
#[inline(always)]
fn add_few<const K: usize>(terms: &[f64], records: usize, sums: &mut [i64], steps: f64) {
    let coordinates = coordinates::<K>(terms, records);
    let (shrink, mut bits, mut zeros) = (Shrink::new(steps, K), [0_i64; K], 0_i64);
    for i in 0..records {
        let terms = coordinates.map(|coordinate| coordinate[i]);
        let square = terms.iter().fold(0.0, |sum: f64, term| term.mul_add(*term, sum));
        let (factor, kept) = shrink.of(square);
        zeros = zeros.wrapping_sub(kept);
        for k in 0..K {
            bits[k] = bits[k].wrapping_add(rounded_product_bits(terms[k], factor) & kept);
        }
    }
    add_integers(bits, zeros, sums);
}

/// More coordinates than registers: squares first, factors then, sums last.
#[inline(always)]
fn add_many(terms: &[f64], factors: &mut [f64], kept: &mut [i64], sums: &mut [i64], steps: f64) {
    let records = factors.len().max(1);
    factors.fill(0.0);
    for group in terms.chunks(records * FUSED) {
        match group.len() / records {
            1 => add_squares::<1>(group, factors),
            2 => add_squares::<2>(group, factors),
            3 => add_squares::<3>(group, factors),
            _ => add_squares::<FUSED>(group, factors),
        }
    }
    let (shrink, mut zeros) = (Shrink::new(steps, terms.len() / records), 0_i64);
    for (square, kept) in factors.iter_mut().zip(kept.iter_mut()) {
        (*square, *kept) = shrink.of(*square);
        zeros = zeros.wrapping_sub(*kept);
    }
    for (group, sums) in terms.chunks(records * FUSED).zip(sums.chunks_mut(FUSED)) {
        match group.len() / records {
            1 => add_rounded::<1>(group, factors, kept, zeros, sums),
            2 => add_rounded::<2>(group, factors, kept, zeros, sums),
            3 => add_rounded::<3>(group, factors, kept, zeros, sums),
            _ => add_rounded::<FUSED>(group, factors, kept, zeros, sums),
        }
    }
}

/// `K` coordinates of as many records as `records`.
#[inline(always)]
fn coordinates<const K: usize>(terms: &[f64], records: usize) -> [&[f64]; K] {
    std::array::from_fn(|k| &terms[k * records..(k + 1) * records])
}

/// Adds each record's squared terms, coordinate after coordinate.
#[inline(always)]
fn add_squares<const K: usize>(terms: &[f64], squares: &mut [f64]) {
    let coordinates = coordinates::<K>(terms, squares.len());
    for (i, square) in squares.iter_mut().enumerate() {
        // Folded before it is stored: the compiler must fear that the store changes a coordinate.
        *square = coordinates.iter().fold(*square, |sum, terms| terms[i].mul_add(terms[i], sum));
    }
}

/// Adds the sum over records of round(term·factor) to each of `K` coordinates, exactly. Where `kept` is 0 a record's
/// bits become 0, whatever they were.
#[inline(always)]
fn add_rounded<const K: usize>(terms: &[f64], factors: &[f64], kept: &[i64], zeros: i64, sums: &mut [i64]) {
    let coordinates = coordinates::<K>(terms, factors.len());
    let kept = &kept[..factors.len()];
    let mut bits = [0_i64; K];
    for (i, factor) in factors.iter().enumerate() {
        for k in 0..K {
            bits[k] = bits[k].wrapping_add(rounded_product_bits(coordinates[k][i], *factor) & kept[i]);
        }
    }
    add_integers(bits, zeros, sums);
}

/// Takes what the bits of `zeros` records hold beside their integers off, and adds the rest.
///
/// Wrapping sums agree with the true ones modulo 2^64, and the true ones fit.
#[inline(always)]
fn add_integers<const K: usize>(bits: [i64; K], zeros: i64, sums: &mut [i64]) {
    for (sum, bits) in sums.iter_mut().zip(bits) {
        *sum += bits.wrapping_sub(rounder_bits().wrapping_mul(zeros));
    }
}

/// What records are multiplied by, given their squared norms.
struct Shrink {
    /// s.
    steps: f64,
    /// s².
    square_steps: f64,
    /// R.
    bound: f64,
}

impl Shrink {
    #[inline(always)]
    fn new(steps: f64, dimension: usize) -> Self {
        Self { steps, square_steps: steps * steps, bound: bound(dimension) }
    }

    /// The factor of a record with this squared norm, and whether it counts: all bits or none.
    #[inline(always)]
    fn of(&self, square: f64) -> (f64, i64) {
        let x = square * self.square_steps;
        let root = self.bound * reciprocal_root(x);
        let factor = if root < 1.0 { root } else { 1.0 } * self.steps;
        (factor, if x < f64::INFINITY { -1 } else { 0 })
    }
}

/// About 1/√x from below, for 1 ≤ x < ∞: at most (1 + 8·2^-53)/√x and at least (1 − 2^-38)/√x. Above 0.9 for 0 ≤ x < 1.
///
/// Halving the exponent in the bits gives a start with relative error below 3.5 %. A step y(a − b·xy²) with a and b
/// chosen for the smallest largest error leaves less than 0.09 %, two of Newton's, y(3 − xy²)/2, less than 2^-38. Much faster
/// than a square root and a division.
///
/// **Precision.** In real numbers Newton's step never exceeds 1/√x, whatever it starts from: t(3 − t²)/2 ≤ 1 for
/// t = y√x > 0. In f64, with h = x/2 exact and t within 1 % of 1, fl(h·y) errs by u of at most 0.51, the fused
/// difference from 1.5 rounds by u, the product by u: together less than 8u. Nothing under- or overflows, since √x lies
/// within [1, 2^512]. Below 1 the same holds while x is normal; where it is not, y√x < 1 and the steps only enlarge y, which
/// is about 2^512.
#[inline(always)]
fn reciprocal_root(x: f64) -> f64 {
    const START: u64 = 0x5fe6_eb50_c7b5_37a9;
    let half = 0.5 * x;
    let start = f64::from_bits(START.wrapping_sub(x.to_bits() >> 1));
    let root = start * (-(half * start)).mul_add(1.000_876_3 * start, 1.501_314_5);
    let root = root * (-(half * root)).mul_add(root, 1.5);
    root * (-(half * root)).mul_add(root, 1.5)
}
