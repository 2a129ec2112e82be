//! Adds clipped gradients as integer vectors, each of Euclidean norm at most 2^30.

use super::ROUNDER;
use super::gradients::{Coordinate, Gradients, Look, TILE};
use super::together::{MANY, add_together};
use super::unit::RECORD;
use crate::Clip;
use crate::sums::passes::Buffer;
use barkeep_data::Levels;
use barkeep_num::vector::dispatch;

/// The most parameters a model may have: up to here the clip is proved.
pub(crate) const MOST_DIMENSIONS: usize = 1 << 12;

/// R = 2^30 − 1 − ⌈√d/2⌉, where a scaled gradient of d entries is clipped: below 2^30 by more than rounding may add.
fn bound(dimension: usize) -> f64 {
    RECORD as f64 - 1.0 - (0.5 * (dimension as f64).sqrt()).ceil()
}

/// Adds the contributions of some records, at most 2^17, to `sums`.
///
/// In f64, with s = fl(2^30/B) and S = fl(s²): N = Σ_j g_j², each
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
    room: &mut ClipRoom,
    sums: &mut [i64],
    clip: Clip,
) {
    let shrink = Shrink::new(clip.steps_per_one(), dimension);
    let mut columns: [&[f64]; MANY] = [&[]; MANY];
    let together = gradients.together(&mut columns);
    let done = together.map_or(0, |products| add_together(products, &shrink, sums));
    room.buckets.resize(256, [0; TABLES]);
    let (numbers, buckets) = (room.numbers.sized(3 * TILE), &mut room.buckets[..]);
    dispatch(
        #[inline(always)]
        || run(gradients, done, &shrink, numbers, buckets, sums),
    );
}

/// Working memory of [`add_clipped`].
///
/// **Privacy.** Holds values computed from records; no `Debug`.
#[derive(Default)]
pub(crate) struct ClipRoom {
    /// Norms, factors and products of a tile.
    numbers: Buffer<f64>,
    /// Sums by an index, all 0 between two of them.
    buckets: Vec<[i64; TABLES]>,
}

/// Neighbouring records use different tables, so that a bucket that many share is not waited for.
const TABLES: usize = 4;

/// The loop of [`add_clipped`] from the record `done` on, compiled once per instruction set.
///
/// Few coordinates are clipped and added up while they are in the registers. Of many, first the squared norms of some records are
/// added up, then their factors are found, then products are added up: what is read twice is still in a near cache.
#[inline(always)]
fn run(
    gradients: &impl Gradients,
    done: usize,
    shrink: &Shrink,
    room: &mut [f64],
    buckets: &mut [[i64; TABLES]],
    sums: &mut [i64],
) {
    let records = gradients.records();
    let whole = if gradients.are_few() { records - records % CHUNK } else { done };
    if whole > done {
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
        gradients.show(start, length, &mut Sums { marks, factors, products, known: false, buckets, sums });
    }
}

/// How many records are clipped in registers: four of the widest.
const CHUNK: usize = 32;
/// Numbers of the widest register.
const LANES: usize = 8;

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
    fn levels(&mut self, _first: usize, _slopes: &[f64], _levels: Levels<'_>) {}
}

#[inline(always)]
fn add_chunks<const K: usize, C: Coordinate>(coordinates: [C; K], shrink: &Shrink) -> [i64; K] {
    // Added up across lanes once, at the end.
    let mut sums = [[0_i64; LANES]; K];
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
        for (sums, terms) in sums.iter_mut().zip(&terms) {
            for first in (0..CHUNK).step_by(LANES) {
                for (sum, i) in sums.iter_mut().zip(first..) {
                    *sum = sum.wrapping_add(counted(terms[i].mul_add(factors[i], ROUNDER), squares[i]));
                }
            }
        }
    }
    sums.map(|lanes| lanes.iter().fold(0_i64, |sum, lane| sum.wrapping_add(*lane)))
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
    fn levels(&mut self, _first: usize, slopes: &[f64], levels: Levels<'_>) {
        let count = levels.count.to_le_bytes()[0];
        for ((square, slope), own) in self.0.iter_mut().zip(slopes).zip(levels.index) {
            let term = if own.wrapping_sub(levels.code) < count { *slope } else { 0.0 };
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
    /// Rounded products of the slopes, where they are known.
    products: &'a mut [f64],
    known: bool,
    buckets: &'a mut [[i64; TABLES]],
    sums: &'a mut [i64],
}

impl Look for Sums<'_> {
    #[inline(always)]
    fn coordinates<const K: usize, C: Coordinate>(&mut self, first: usize, coordinates: [C; K]) {
        let added = add_products(coordinates, self.factors, self.marks);
        self.sums.iter_mut().skip(first).zip(added).for_each(|(sum, bits)| *sum += signed(bits));
    }

    /// Few levels are compared with one after the other, of many a record's product goes to the bucket of its own. Every record adds one
    /// number to each sum, or to one bucket, whatever it says.
    #[inline(always)]
    fn levels(&mut self, first: usize, slopes: &[f64], levels: Levels<'_>) {
        if !self.known {
            write_products(slopes, self.factors, self.marks, self.products);
            self.known = true;
        }
        let last = self.sums.len().min(first + levels.count);
        let sums = &mut self.sums[first.min(last)..last];
        if levels.count <= COMPARED {
            for (sums, group) in sums.chunks_mut(GROUP).zip(0_u8..) {
                let added =
                    add_compared(self.products, levels.index, levels.code.wrapping_add(group * GROUP as u8));
                sums.iter_mut().zip(added).for_each(|(sum, bits)| *sum += signed(bits));
            }
        } else {
            add_buckets(self.products, levels, self.buckets);
            for (sum, bucket) in sums.iter_mut().zip(self.buckets.iter_mut()) {
                *sum += signed(std::mem::take(bucket).iter().fold(0, |sum, share| sum.wrapping_add(*share)));
            }
            if let Some(none) = self.buckets.get_mut(levels.count) {
                *none = [0; TABLES];
            }
        }
    }
}

/// The most levels that are compared with: two groups.
const COMPARED: usize = 2 * GROUP;
/// Levels that are compared with at a time.
const GROUP: usize = 4;

/// The number whose low 48 bits these are.
#[inline(always)]
pub(super) fn signed(bits: i64) -> i64 {
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

/// Writes the bits of round(slope·factor), rounded once, or 0 for records that do not count.
#[inline(always)]
fn write_products(slopes: &[f64], factors: &[f64], marks: &[f64], products: &mut [f64]) {
    let length = products.len();
    let (slopes, factors, marks) = (&slopes[..length], &factors[..length], &marks[..length]);
    for (i, product) in products.iter_mut().enumerate() {
        let rounded = slopes[i].mul_add(factors[i], ROUNDER);
        *product = f64::from_bits(counted(rounded, marks[i]) as u64);
    }
}

/// The products of the records whose index is `first`, one more and so on, added up for each.
#[inline(always)]
fn add_compared(products: &[f64], index: &[u8], first: u8) -> [i64; GROUP] {
    let mut sums = [0_i64; GROUP];
    for (product, code) in products.iter().zip(index) {
        let from_first = code.wrapping_sub(first);
        for (sum, own) in sums.iter_mut().zip(0_u8..) {
            let share = if from_first == own { product.to_bits() as i64 } else { 0 };
            *sum = sum.wrapping_add(share);
        }
    }
    sums
}

/// Adds each record's product to the bucket of its level, or to the one after the last level's.
#[inline(always)]
fn add_buckets(products: &[f64], levels: Levels<'_>, buckets: &mut [[i64; TABLES]]) {
    let Some(buckets) = buckets.first_chunk_mut::<256>() else { return };
    let mut places = [0_u8; TILE];
    let none = levels.count.to_le_bytes()[0];
    for (place, own) in places.iter_mut().zip(levels.index) {
        let from_first = own.wrapping_sub(levels.code);
        *place = if from_first < none { from_first } else { none };
    }
    let (chunks, rest) = products.as_chunks::<TABLES>();
    let (own, others) = places.as_chunks::<TABLES>().0.split_at(chunks.len().min(TILE / TABLES));
    for (products, places) in chunks.iter().zip(own) {
        for table in 0..TABLES {
            let bucket = &mut buckets[usize::from(places[table])][table];
            *bucket = bucket.wrapping_add(products[table].to_bits() as i64);
        }
    }
    for (product, place) in rest.iter().zip(others.as_flattened()) {
        let bucket = &mut buckets[usize::from(*place)][0];
        *bucket = bucket.wrapping_add(product.to_bits() as i64);
    }
}

/// What records are multiplied by, given their squared norms.
pub(super) struct Shrink {
    /// s.
    pub(super) steps: f64,
    /// S/2, exact since 2^-20 ≤ S ≤ 2^140.
    pub(super) half_square: f64,
    /// fl(R·s).
    pub(super) reach: f64,
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
    let start = f64::from_bits(START.wrapping_sub(half.to_bits() >> 1));
    polish(polish(start, half, FIRST), half, 1.5)
}

/// What half the bits of x/2 are taken from for the start: that of the bits of x, less what halving x takes off the exponent.
pub(super) const START: u64 = 0x5fe6_ed21_0000_0000 - (1 << 51);
/// a of the first step.
pub(super) const FIRST: f64 = 1.500_879;

/// y(a − hy²); Newton's step for a = 1.5.
#[inline(always)]
fn polish(root: f64, half: f64, a: f64) -> f64 {
    root * (-(half * root)).mul_add(root, a)
}

#[cfg(test)]
mod tests;
