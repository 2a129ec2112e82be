//! Adds clipped gradients as integer vectors, each of Euclidean norm at most 2^30.

use super::ROUNDER;
use super::gradients::{Coordinate, Gradients, Look, TILE};
use super::unit::RECORD;
use crate::Clip;
use barkeep_num::vector::dispatch;

/// The most parameters a model may have: up to here the clip is proved.
pub(crate) const MOST_DIMENSIONS: usize = 1 << 12;

/// R = 2^30 − 1 − ⌈√d/2⌉, where a scaled gradient of d entries is clipped: below 2^30 by more than rounding may add.
fn bound(dimension: usize) -> f64 {
    RECORD as f64 - 1.0 - (0.5 * (dimension as f64).sqrt()).ceil()
}

/// Adds the contributions of some records, at most 2^17, to `sums`.
///
/// `room` is working memory of [`ROOM`] numbers. In f64, with s = fl(2^30/B) and S = fl(s²): N = Σ_j g_j², each
/// addition fused, in the order of the coordinates; x = fl(N·S); f = min(fl(R·s)·[`reciprocal_root`](x/2), s); z_j is
/// g_j·f rounded to the nearest integer once (ties to even), or 0 for all j where x is infinite or not a number. The same
/// IEEE operations on every machine, written without branches. Gradients that are computed on the spot are computed twice, for N
/// and for z, by the same operations: both see the same bits. Coordinates of a category's levels that are 0 change neither: they are
/// passed over, and the slope goes to the bucket of its level.
///
/// **Privacy.** ‖z‖₂ ≤ 2^30 for any f64 gradient in up to [`MOST_DIMENSIONS`] dimensions. Proof, u = 2^-53. Where x is not
/// finite z = 0. Else every g_j is finite and, each coordinate being rounded by at most ½, ‖z‖ ≤ f‖g‖ + √d/2, and f ≤ s.
/// Each of the d additions of non-negative numbers loses a factor of at most 1−u, and
/// underflow at most d·2^-1074 in all; S and x lose a factor of 1−u each where x ≥ 1. So, if x ≥ 1,
/// s‖g‖ ≤ √x·(1−u)^-(d+2)/2 + 2^-400 (s ≤ 2^70), and f ≤ R·s(1+u)²(1+8u)/√x, hence
/// f‖g‖ ≤ R(1+u)²(1+8u)(1−u)^-(d+2)/2 + 2^-399, which for d ≤ 2^12 is below R(1 + 2^-41) + 2^-399 < R + 1 = 2^30 − ⌈√d/2⌉.
/// If x < 1, then s‖g‖ < 2 and f‖g‖ < 3. Either way ‖z‖ ≤ 2^30. ∎
pub(crate) fn add_clipped(
    gradients: &impl Gradients,
    dimension: usize,
    room: &mut [f64],
    sums: &mut [i64],
    clip: Clip,
) {
    dispatch(
        #[inline(always)]
        || run(gradients, &Shrink::new(clip.steps_per_one(), dimension), room, sums),
    );
}

/// How many numbers [`add_clipped`] needs room for.
pub(crate) const ROOM: usize = 3 * TILE;

/// The loop of [`add_clipped`], compiled once per instruction set.
///
/// Few coordinates are clipped and added up while they are in the registers. Of many, first the squared norms of some records are
/// added up, then their factors are found, then products are added up: what is read twice is still in a near cache.
#[inline(always)]
fn run(gradients: &impl Gradients, shrink: &Shrink, room: &mut [f64], sums: &mut [i64]) {
    let records = gradients.records();
    let whole = if gradients.are_few() { records - records % CHUNK } else { 0 };
    if whole > 0 {
        gradients.show(0, whole, &mut AtOnce { shrink, sums });
    }
    for start in (whole..records).step_by(TILE) {
        let length = TILE.min(records - start);
        let (marks, rest) = room.split_at_mut(TILE);
        let (factors, products) = rest.split_at_mut(TILE);
        let (marks, factors, products) =
            (&mut marks[..length], &mut factors[..length], &mut products[..length]);
        marks.fill(0.0);
        gradients.show(start, length, &mut Squares(marks));
        shrink.write(marks, factors);
        gradients.show(start, length, &mut Sums { marks, factors, products, sums });
    }
}

/// How many records are clipped in registers: eight of the widest. A machine that starts two products a cycle and has each after
/// four is then never idle.
const CHUNK: usize = 64;

/// Clips and adds up few coordinates of whole chunks.
struct AtOnce<'a> {
    shrink: &'a Shrink,
    sums: &'a mut [i64],
}

impl Look for AtOnce<'_> {
    #[inline(always)]
    fn coordinates<const K: usize, C: Coordinate>(&mut self, first: usize, coordinates: [C; K]) {
        let added = add_chunks(coordinates, self.shrink);
        self.sums.iter_mut().skip(first).zip(added).for_each(|(sum, bits)| *sum += signed(bits));
    }

    /// Levels are never few.
    #[inline(always)]
    fn levels(&mut self, _first: usize, _slopes: &[f64], _codes: &[u8], _index: &[u8]) {}
}

#[inline(always)]
fn add_chunks<const K: usize, C: Coordinate>(coordinates: [C; K], shrink: &Shrink) -> [i64; K] {
    let mut sums = [0_i64; K];
    for start in (0..coordinates[0].len()).step_by(CHUNK) {
        let mut terms = [[0.0; CHUNK]; K];
        let mut squares = [0.0; CHUNK];
        for (terms, coordinate) in terms.iter_mut().zip(&coordinates) {
            let coordinate = coordinate.part(start, CHUNK);
            *terms = each(
                #[inline(always)]
                |i| coordinate.at(i),
            );
            squares = each(
                #[inline(always)]
                |i| terms[i].mul_add(terms[i], squares[i]),
            );
        }
        let mut factors = [0.0; CHUNK];
        shrink.write(&mut squares, &mut factors);
        for (sum, terms) in sums.iter_mut().zip(&terms) {
            let mut added = 0_i64;
            for i in 0..CHUNK {
                added = added.wrapping_add(counted(terms[i].mul_add(factors[i], ROUNDER), squares[i]));
            }
            *sum = sum.wrapping_add(added);
        }
    }
    sums
}

/// One entry for each of the records of a chunk.
#[inline(always)]
fn each(entry: impl Fn(usize) -> f64) -> [f64; CHUNK] {
    let mut entries = [0.0; CHUNK];
    for (i, slot) in entries.iter_mut().enumerate() {
        *slot = entry(i);
    }
    entries
}

/// The bits of a rounded product, or 0 for a record that does not count: by its mark, without a choice that a compiler could turn
/// into a jump.
#[inline(always)]
fn counted(rounded: f64, mark: f64) -> i64 {
    (rounded.to_bits() & mark.to_bits()) as i64
}

/// Adds up squares of coordinates, for each record.
struct Squares<'a>(&'a mut [f64]);

impl Look for Squares<'_> {
    #[inline(always)]
    fn coordinates<const K: usize, C: Coordinate>(&mut self, _first: usize, coordinates: [C; K]) {
        add_squares(coordinates, self.0);
    }

    #[inline(always)]
    fn levels(&mut self, _first: usize, slopes: &[f64], codes: &[u8], index: &[u8]) {
        let mut is_level = [false; 256];
        codes.iter().for_each(|code| is_level[usize::from(*code)] = true);
        for ((square, slope), code) in self.0.iter_mut().zip(slopes).zip(index) {
            let term = if is_level[usize::from(*code)] { *slope } else { 0.0 };
            *square = term.mul_add(term, *square);
        }
    }
}

#[inline(always)]
fn add_squares<const K: usize, C: Coordinate>(coordinates: [C; K], squares: &mut [f64]) {
    let length = squares.len();
    let coordinates = coordinates.map(
        #[inline(always)]
        |coordinate| coordinate.part(0, length),
    );
    for (i, square) in squares.iter_mut().enumerate() {
        let mut sum = *square;
        for coordinate in &coordinates {
            let term = coordinate.at(i);
            sum = term.mul_add(term, sum);
        }
        *square = sum;
    }
}

/// Adds up rounded products of coordinates and factors, over all records that count.
///
/// A contribution z is taken as the bits of 1.5·2^52 + z or, where it does not count, as 0. Either way the low 48 bits are
/// those of z, and so the low 48 bits of a sum modulo 2^64 are those of the sum of the z, which lies within 2^47.
struct Sums<'a> {
    /// All bits set where a record counts, else none.
    marks: &'a [f64],
    factors: &'a [f64],
    products: &'a mut [f64],
    sums: &'a mut [i64],
}

impl Look for Sums<'_> {
    #[inline(always)]
    fn coordinates<const K: usize, C: Coordinate>(&mut self, first: usize, coordinates: [C; K]) {
        let added = add_products(coordinates, self.factors, self.marks);
        self.sums.iter_mut().skip(first).zip(added).for_each(|(sum, bits)| *sum += signed(bits));
    }

    #[inline(always)]
    fn levels(&mut self, first: usize, slopes: &[f64], codes: &[u8], index: &[u8]) {
        let buckets = add_buckets(slopes, self.factors, self.marks, index, self.products);
        for (sum, code) in self.sums.iter_mut().skip(first).zip(codes) {
            *sum += signed(buckets[usize::from(*code)]);
        }
    }
}

/// The number whose low 48 bits these are.
#[inline(always)]
fn signed(bits: i64) -> i64 {
    (bits << 16) >> 16
}

/// The bits of round(term·factor), rounded once, added up over the records that count.
#[inline(always)]
fn add_products<const K: usize, C: Coordinate>(
    coordinates: [C; K],
    factors: &[f64],
    marks: &[f64],
) -> [i64; K] {
    let length = factors.len().min(marks.len());
    let (factors, marks) = (&factors[..length], &marks[..length]);
    let coordinates = coordinates.map(
        #[inline(always)]
        |coordinate| coordinate.part(0, length),
    );
    let mut sums = [0_i64; K];
    for i in 0..length {
        for (sum, coordinate) in sums.iter_mut().zip(&coordinates) {
            let rounded = coordinate.at(i).mul_add(factors[i], ROUNDER);
            *sum = sum.wrapping_add(counted(rounded, marks[i]));
        }
    }
    sums
}

/// As [`add_products`] of the slopes, by the index: entry `code` is the sum over the records of that index.
///
/// Every record adds one number to one bucket, whatever it says. Neighbours use different tables, so that a bucket that many share is
/// not waited for.
#[inline(always)]
fn add_buckets(
    slopes: &[f64],
    factors: &[f64],
    marks: &[f64],
    index: &[u8],
    products: &mut [f64],
) -> [i64; 256] {
    const TABLES: usize = 4;
    let length = products.len();
    let (slopes, factors, marks) = (&slopes[..length], &factors[..length], &marks[..length]);
    for (i, product) in products.iter_mut().enumerate() {
        let rounded = slopes[i].mul_add(factors[i], ROUNDER);
        *product = f64::from_bits(counted(rounded, marks[i]) as u64);
    }
    let mut tables = [[0_i64; 256]; TABLES];
    for (products, index) in products.chunks(TABLES).zip(index.chunks(TABLES)) {
        for ((product, code), table) in products.iter().zip(index).zip(&mut tables) {
            let bucket = &mut table[usize::from(*code)];
            *bucket = bucket.wrapping_add(product.to_bits() as i64);
        }
    }
    let [mut total, others @ ..] = tables;
    for other in &others {
        total.iter_mut().zip(other).for_each(|(sum, share)| *sum = sum.wrapping_add(*share));
    }
    total
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

    /// Replaces squared norms by marks, all bits set where a record counts and none where it does not, and writes the records'
    /// factors.
    ///
    /// x/2 is formed at once: it is half of x exactly unless x < 2^-1021, where any root above 1 does, and at most half the
    /// largest f64 just where x is finite, since both are rounded alike.
    #[inline(always)]
    fn write(&self, squares: &mut [f64], factors: &mut [f64]) {
        shrink_each(squares, factors, self.half_square, self.reach, self.steps);
    }
}

#[inline(always)]
fn shrink_each(squares: &mut [f64], factors: &mut [f64], half_square: f64, reach: f64, steps: f64) {
    for (square, out) in squares.iter_mut().zip(factors) {
        let half = *square * half_square;
        let factor = reach * reciprocal_root(half);
        let counts = -i64::from(half <= 0.5 * f64::MAX);
        *square = f64::from_bits(counts as u64);
        *out = if factor < steps { factor } else { steps };
    }
}

/// About 1/√x from below, given x/2, for 1 ≤ x < ∞: at most (1 + 8·2^-53)/√x and at least (1 − 2^-19)/√x. Above 0.9 for
/// 0 ≤ x < 1.
///
/// Halving the exponent in the bits gives a start with relative error below 3.5 %. A step y(a − xy²/2), the bits' offset and a
/// chosen together for the smallest largest error, leaves less than 0.09 %, one of Newton's, y(3 − xy²)/2, which
/// makes 3e²/2 of an error e and less, less than 2^-19. Much
/// faster than a square root and a division, and as good here: a gradient at the clip is shortened by a millionth too
/// much.
///
/// **Precision.** In real numbers Newton's step never exceeds 1/√x, whatever it starts from: t(3 − t²)/2 ≤ 1 for
/// t = y√x > 0. In f64, with h = x/2 exact and t within 1 % of 1, fl(h·y) errs by u of at most 0.51, the fused
/// difference from 1.5 rounds by u, the product by u: together less than 8u. Nothing under- or overflows, since √x lies
/// within [1, 2^512]. Below 1 the same holds while x/2 is normal; where it is not, its bits stand for a number above it, so
/// the start is smaller than it should be or right, about 2^511, and no step takes more than 4 % off.
#[inline(always)]
fn reciprocal_root(half: f64) -> f64 {
    // That of the bits of x, less what halving x takes off the exponent.
    const START: u64 = 0x5fe6_ed21_0000_0000 - (1 << 51);
    let start = f64::from_bits(START.wrapping_sub(half.to_bits() >> 1));
    polish(polish(start, half, 1.500_879), half, 1.5)
}

/// y(a − hy²); Newton's step for a = 1.5.
#[inline(always)]
fn polish(root: f64, half: f64, a: f64) -> f64 {
    root * (-(half * root)).mul_add(root, a)
}

#[cfg(test)]
mod tests;
