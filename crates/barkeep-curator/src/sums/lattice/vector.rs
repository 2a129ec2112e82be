//! Adds clipped gradients as integer vectors, each of Euclidean norm at most 2^30.

use super::ROUNDER;
use super::gradients::{CHUNK, Gradients};
use super::unit::RECORD;
use crate::Clip;
use barkeep_num::vector::dispatch;

/// The most parameters a model may have: up to here the clip is proved.
pub(crate) const MOST_DIMENSIONS: usize = 1 << 12;

/// R = 2^30 − 1 − ⌈√d/2⌉, where a scaled gradient of d entries is clipped: below 2^30 by more than rounding may add.
fn bound(dimension: usize) -> f64 {
    RECORD as f64 - 1.0 - (0.5 * (dimension as f64).sqrt()).ceil()
}

/// Adds the contributions of some records to `partials`, from which [`total`] takes their sums.
///
/// `chunk` is working memory; it and `partials` have [`CHUNK`] entries per coordinate. In f64, with s = fl(2^30/B) and S = fl(s²): N = Σ_j g_j², each
/// addition fused, in the order of the coordinates; x = fl(N·S); f = min(fl(R·s)·[`reciprocal_root`](x/2), s); z_j is
/// g_j·f rounded to the nearest integer once (ties to even), or 0 for all j where x is infinite or not a number. The same
/// IEEE operations on every machine, written without branches.
///
/// **Privacy.** ‖z‖₂ ≤ 2^30 for any f64 gradient in up to [`MOST_DIMENSIONS`] dimensions. Proof, u = 2^-53. Where x is not
/// finite z = 0. Else every g_j is finite and, each coordinate being rounded by at most ½, ‖z‖ ≤ f‖g‖ + √d/2, and f ≤ s.
/// Each of the d additions of non-negative numbers loses a factor of at most 1−u, and
/// underflow at most d·2^-1074 in all; S and x lose a factor of 1−u each where x ≥ 1. So, if x ≥ 1,
/// s‖g‖ ≤ √x·(1−u)^-(d+2)/2 + 2^-400 (s ≤ 2^70), and f ≤ R·s(1+u)²(1+8u)/√x, hence
/// f‖g‖ ≤ R(1+u)²(1+8u)(1−u)^-(d+2)/2 + 2^-399, which for d ≤ 2^12 is below R(1 + 2^-41) + 2^-399 < R + 1 = 2^30 − ⌈√d/2⌉.
/// If x < 1, then s‖g‖ < 2 and f‖g‖ < 3. Either way ‖z‖ ≤ 2^30. ∎
pub(crate) fn add_clipped(gradients: &impl Gradients, chunk: &mut [f64], partials: &mut [i64], clip: Clip) {
    let ((chunk, _), (partials, _)) = (chunk.as_chunks_mut(), partials.as_chunks_mut());
    dispatch(
        #[inline(always)]
        || AddClipped { gradients, chunk, partials, steps: clip.steps_per_one() }.run(),
    );
}

/// Adds what at most 2^17 records left in `partials` to `sums`, exactly.
///
/// A contribution z lies there as the bits of 1.5·2^52 + z or, where it does not count, as 0. Either way the low 48 bits are
/// those of z, and so the low 48 bits of a sum modulo 2^64 are those of the sum of the z, which lies within 2^47.
pub(crate) fn total(partials: &[i64], sums: &mut [i64]) {
    for (sum, workers) in sums.iter_mut().zip(partials.chunks_exact(CHUNK)) {
        let bits = workers.iter().fold(0_i64, |bits, worker| bits.wrapping_add(*worker));
        *sum += (bits << 16) >> 16;
    }
}

/// The loop of [`add_clipped`], compiled once per instruction set.
struct AddClipped<'a, G> {
    gradients: &'a G,
    chunk: &'a mut [[f64; CHUNK]],
    partials: &'a mut [[i64; CHUNK]],
    steps: f64,
}

impl<G: Gradients> AddClipped<'_, G> {
    #[inline(always)]
    fn run(self) {
        let Self { gradients, chunk, partials, steps } = self;
        let (records, shrink) = (gradients.records(), Shrink::new(steps, gradients.dimension()));
        let whole = records - records % CHUNK;
        for start in (0..whole).step_by(CHUNK) {
            add_chunk::<true>(gradients, start, chunk, partials, &shrink);
        }
        if whole < records {
            add_chunk::<false>(gradients, whole, chunk, partials, &shrink);
        }
    }
}

/// Writes the coordinates of a few records and adds their squares up, finds the factors, and adds the products: what is
/// written is still in the first cache when it is read again.
#[inline(always)]
fn add_chunk<const WHOLE: bool>(
    gradients: &impl Gradients,
    start: usize,
    chunk: &mut [[f64; CHUNK]],
    partials: &mut [[i64; CHUNK]],
    shrink: &Shrink,
) {
    let mut squares = [0.0; CHUNK];
    for (j, coordinate) in chunk.iter_mut().enumerate() {
        let terms = gradients.coordinate::<WHOLE>(j, start);
        squares = each(
            #[inline(always)]
            |i| terms[i].mul_add(terms[i], squares[i]),
        );
        *coordinate = terms;
    }
    let (factors, halves) = shrink.of(&squares);
    for (coordinate, partial) in chunk.iter().zip(partials) {
        add_products(coordinate, &factors, &halves, partial);
    }
}

/// One entry for each of the records of a chunk.
#[inline(always)]
pub(super) fn each(entry: impl Fn(usize) -> f64) -> [f64; CHUNK] {
    let mut entries = [0.0; CHUNK];
    for (i, slot) in entries.iter_mut().enumerate() {
        *slot = entry(i);
    }
    entries
}

/// Adds the bits of round(term·factor), rounded once, or 0 for a record that does not count.
#[inline(always)]
fn add_products(
    terms: &[f64; CHUNK],
    factors: &[f64; CHUNK],
    halves: &[f64; CHUNK],
    partial: &mut [i64; CHUNK],
) {
    let mut sums = *partial;
    for i in 0..CHUNK {
        let bits = terms[i].mul_add(factors[i], ROUNDER).to_bits() as i64;
        sums[i] = sums[i].wrapping_add(if halves[i] <= 0.5 * f64::MAX { bits } else { 0 });
    }
    *partial = sums;
}

/// What records are multiplied by, given their squared norms.
struct Shrink {
    /// s.
    steps: f64,
    /// S/2, exact since 2^-20 ≤ S ≤ 2^140.
    half_square: f64,
    /// fl(R·s).
    reach: f64,
}

impl Shrink {
    #[inline(always)]
    fn new(steps: f64, dimension: usize) -> Self {
        Self { steps, half_square: 0.5 * (steps * steps), reach: bound(dimension) * steps }
    }

    /// The factors of records with these squared norms, and x/2, at most half the largest f64 where a record counts.
    ///
    /// x/2 is formed at once: it is half of x exactly unless x < 2^-1021, where any root above 1 does, and at most half the
    /// largest f64 just where x is finite, since both are rounded alike.
    #[inline(always)]
    fn of(&self, squares: &[f64; CHUNK]) -> ([f64; CHUNK], [f64; CHUNK]) {
        let halves = each(
            #[inline(always)]
            |i| squares[i] * self.half_square,
        );
        let roots = reciprocal_roots(&halves);
        let factors = each(
            #[inline(always)]
            |i| {
                let factor = self.reach * roots[i];
                if factor < self.steps { factor } else { self.steps }
            },
        );
        (factors, halves)
    }
}

/// About 1/√x from below, given x/2, for 1 ≤ x < ∞: at most (1 + 8·2^-53)/√x and at least (1 − 2^-19)/√x. Above 0.9 for
/// 0 ≤ x < 1.
///
/// Halving the exponent in the bits gives a start with relative error below 3.5 %. A step y(a − xy²/2), the bits' offset and a
/// chosen together for the smallest largest error, leaves less than 0.09 %, one of Newton's, y(3 − xy²)/2, which
/// makes 3e²/2 of an error e and less, less than 2^-19. Much
/// faster than a square root and a division, and as good here: a gradient at the clip is shortened by a millionth too
/// much. Each step is taken for all records before the next: none waits for the last.
///
/// **Precision.** In real numbers Newton's step never exceeds 1/√x, whatever it starts from: t(3 − t²)/2 ≤ 1 for
/// t = y√x > 0. In f64, with h = x/2 exact and t within 1 % of 1, fl(h·y) errs by u of at most 0.51, the fused
/// difference from 1.5 rounds by u, the product by u: together less than 8u. Nothing under- or overflows, since √x lies
/// within [1, 2^512]. Below 1 the same holds while x/2 is normal; where it is not, its bits stand for a number above it, so
/// the start is smaller than it should be or right, about 2^511, and no step takes more than 4 % off.
#[inline(always)]
fn reciprocal_roots(halves: &[f64; CHUNK]) -> [f64; CHUNK] {
    // That of the bits of x, less what halving x takes off the exponent.
    const START: u64 = 0x5fe6_ed21_0000_0000 - (1 << 51);
    let roots = each(
        #[inline(always)]
        |i| f64::from_bits(START.wrapping_sub(halves[i].to_bits() >> 1)),
    );
    polish(&polish(&roots, halves, 1.500_879), halves, 1.5)
}

/// y(a − hy²); Newton's step for a = 1.5.
#[inline(always)]
fn polish(roots: &[f64; CHUNK], halves: &[f64; CHUNK], a: f64) -> [f64; CHUNK] {
    each(
        #[inline(always)]
        |i| roots[i] * (-(halves[i] * roots[i])).mul_add(roots[i], a),
    )
}

#[cfg(test)]
mod tests;
