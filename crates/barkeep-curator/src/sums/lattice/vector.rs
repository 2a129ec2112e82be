//! Adds clipped gradients as integer vectors, each of Euclidean norm at most 2^30.

use super::ROUNDER;
use super::gradients::{Coordinate, Gradients, Look, Part, Plain, Slope, TILE};
use super::together::add_few;
use crate::Clip;
use crate::sums::passes::Buffer;
use barkeep_data::Levels;
use barkeep_num::vector::dispatch;

/// The most parameters a model may have: up to here the clip is proved.
pub(crate) const MOST_DIMENSIONS: usize = 1 << 12;

/// Adds the contributions of some records, at most 2^17, to `sums`.
///
/// In f64, with s = fl(2^30/B): N = 2^-900 + Σ_j g_j², each addition fused, in the order of the coordinates; f = [`factor`](N);
/// z_j is g_j·f rounded to the nearest integer once (ties to even), or 0 for all j where N is infinite or not a number. Where
/// gradients are a slope r times columns x_j, and perhaps a number o of their own beside them: X = 2^-900 + Σ_j x_j², fused in order,
/// N = fl(X·r)·r + fl(o²), fused, f as before, q = fl(r·f), and z_j is x_j·q rounded once, the last o·f. The same
/// IEEE operations on every machine, written without branches. What is computed on the spot is computed twice, for N
/// and for z, by the same operations: both see the same bits. Columns of a category's levels that are 0 change neither: they are
/// passed over, and q goes to the bucket of its level.
///
/// **Privacy.** ‖z‖₂ ≤ 2^30 for any f64 gradient in up to [`MOST_DIMENSIONS`] dimensions. Proof, u = 2^-53. Where N is not
/// finite z = 0. Else every g_j is finite and, each coordinate being rounded by at most ½, ‖z‖ ≤ f‖g‖ + √d/2, and 0 < f ≤ s ≤ 2^70.
/// Each of the d additions of non-negative numbers loses a factor of at most 1−u, and underflow at most d·2^-1074 in all: so
/// ‖g‖ ≤ √N·(1−u)^-(d/2) + 2^-530. By [`factor`], f√N ≤ 2^30 − 39, hence f‖g‖ ≤ (2^30 − 39)(1−u)^-(d/2) + 2^-460, which
/// for d ≤ 2^12 is below 2^30 − 38, and √d/2 ≤ 32. For slopes g = (r·x, o) in real numbers: ‖z‖ ≤ (1+u)·f‖g‖ + √d/2, since q alone
/// is rounded. fl(X·r)·r + fl(o²) loses three roundings more. X ≥ 2^-900 keeps fl(X·r) from losing more than 2^-1074, which times |r| is
/// more than 2^-1074 only where |r| > 1, and then X·|r| ≥ 2^-900 is normal. So the bound is that above with d + 4 for d. ∎
pub(crate) fn add_clipped(gradients: &impl Gradients, room: &mut ClipRoom, sums: &mut [i64], clip: Clip) {
    let (records, steps) = (gradients.records(), clip.steps_per_one());
    let mut done = 0;
    if gradients.are_few() {
        gradients.show(0, records, &mut AtOnce { records, steps, sums, done: &mut done });
    }
    if done == records {
        return;
    }
    let (numbers, buckets) = (room.numbers.sized(3 * TILE), &mut room.buckets);
    dispatch(
        #[inline(always)]
        || run(gradients, done, steps, numbers, buckets, sums),
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
/// First the squared norms of some records are added up, then their factors are found, then products are added up: what is read twice is
/// still in a near cache.
#[inline(always)]
fn run(
    gradients: &impl Gradients,
    done: usize,
    steps: f64,
    room: &mut [f64],
    buckets: &mut Vec<[i64; TABLES]>,
    sums: &mut [i64],
) {
    let records = gradients.records();
    for start in (done..records).step_by(TILE) {
        let length = TILE.min(records - start);
        let (marks, rest) = room.split_at_mut(TILE);
        let (factors, products) = rest.split_at_mut(TILE);
        let (marks, factors, products) =
            (&mut marks[..length], &mut factors[..length], &mut products[..length]);
        marks.fill(LEAST);
        gradients.show(start, length, &mut Squares(marks));
        match gradients.slopes(start, length) {
            None => write_factors(marks, factors, steps),
            Some(Slope { slopes, others }) => {
                lengthen(marks, slopes, others);
                write_factors(marks, factors, steps);
                if let (false, Some(last)) = (others.is_empty(), sums.last_mut()) {
                    let [added] = add_products([Plain(others)], factors, marks);
                    *last += signed(added);
                }
                factors.iter_mut().zip(slopes).for_each(|(factor, slope)| *factor *= slope);
            }
        }
        gradients.show(start, length, &mut Sums { marks, factors, products, known: false, buckets, sums });
    }
}

/// Clips and adds up few coordinates while they are in registers, of all records but the last few.
struct AtOnce<'a> {
    records: usize,
    steps: f64,
    sums: &'a mut [i64],
    /// Of how many records.
    done: &'a mut usize,
}

impl Look for AtOnce<'_> {
    fn coordinates<const K: usize, C: Coordinate>(&mut self, first: usize, coordinates: [C; K]) {
        let sums = self.sums.get_mut(first..).unwrap_or_default();
        *self.done = add_few(coordinates, self.records, self.steps, sums);
    }

    /// Levels are never few.
    fn levels(&mut self, _first: usize, _levels: Levels<'_>) {}
}

/// The bits of a rounded product, or 0 for a record that does not count: by its mark, without a choice that a compiler could turn
/// into a jump.
#[inline(always)]
pub(super) fn counted(rounded: f64, mark: f64) -> i64 {
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
    fn levels(&mut self, _first: usize, levels: Levels<'_>) {
        let count = levels.count as u32;
        for (square, own) in self.0.iter_mut().zip(levels.index) {
            *square += if own.wrapping_sub(levels.code) < count { 1.0 } else { 0.0 };
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
    /// The factors rounded, where they are known.
    products: &'a mut [f64],
    known: bool,
    buckets: &'a mut Vec<[i64; TABLES]>,
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
    fn levels(&mut self, first: usize, levels: Levels<'_>) {
        if !self.known {
            write_rounded(self.factors, self.marks, self.products);
            self.known = true;
        }
        let last = self.sums.len().min(first + levels.count);
        let sums = &mut self.sums[first.min(last)..last];
        if levels.count <= COMPARED {
            for (sums, group) in sums.chunks_mut(GROUP).zip(0_u32..) {
                let added =
                    add_compared(self.products, levels.index, levels.code.wrapping_add(group * GROUP as u32));
                sums.iter_mut().zip(added).for_each(|(sum, bits)| *sum += signed(bits));
            }
        } else {
            if self.buckets.len() <= levels.count {
                self.buckets.resize(levels.count + 1, [0; TABLES]);
            }
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

/// Writes the bits of round(factor), or 0 for records that do not count.
#[inline(always)]
fn write_rounded(factors: &[f64], marks: &[f64], products: &mut [f64]) {
    let length = products.len();
    let (factors, marks) = (&factors[..length], &marks[..length]);
    for (i, product) in products.iter_mut().enumerate() {
        *product = f64::from_bits(counted(factors[i] + ROUNDER, marks[i]) as u64);
    }
}

/// The products of the records whose index is `first`, one more and so on, added up for each.
#[inline(always)]
fn add_compared(products: &[f64], index: &[u32], first: u32) -> [i64; GROUP] {
    let mut sums = [0_i64; GROUP];
    for (product, code) in products.iter().zip(index) {
        let from_first = code.wrapping_sub(first);
        for (sum, own) in sums.iter_mut().zip(0_u32..) {
            let share = if from_first == own { product.to_bits() as i64 } else { 0 };
            *sum = sum.wrapping_add(share);
        }
    }
    sums
}

/// Adds each record's product to the bucket of its level, or to the one after the last level's.
#[inline(always)]
fn add_buckets(products: &[f64], levels: Levels<'_>, buckets: &mut [[i64; TABLES]]) {
    let mut places = [0_u32; TILE];
    let none = levels.count as u32;
    for (place, own) in places.iter_mut().zip(levels.index) {
        let from_first = own.wrapping_sub(levels.code);
        *place = if from_first < none { from_first } else { none };
    }
    let (chunks, rest) = products.as_chunks::<TABLES>();
    let (own, others) = places.as_chunks::<TABLES>().0.split_at(chunks.len().min(TILE / TABLES));
    for (products, places) in chunks.iter().zip(own) {
        for table in 0..TABLES {
            let bucket = &mut buckets[places[table] as usize][table];
            *bucket = bucket.wrapping_add(products[table].to_bits() as i64);
        }
    }
    for (product, place) in rest.iter().zip(others.as_flattened()) {
        let bucket = &mut buckets[*place as usize][0];
        *bucket = bucket.wrapping_add(product.to_bits() as i64);
    }
}

/// What squared norms start from: without effect on a factor, and above what underflow could lose.
pub(super) const LEAST: f64 = f64::from_bits((1023 - 900) << 52);

/// Replaces X by N = X·r² + o²; `others` is empty where there is no o.
#[inline(always)]
fn lengthen(squares: &mut [f64], slopes: &[f64], others: &[f64]) {
    let length = squares.len();
    let slopes = &slopes[..length];
    if others.is_empty() {
        for (i, square) in squares.iter_mut().enumerate() {
            *square = (*square * slopes[i]).mul_add(slopes[i], 0.0);
        }
    } else {
        let others = &others[..length];
        for (i, square) in squares.iter_mut().enumerate() {
            *square = (*square * slopes[i]).mul_add(slopes[i], others[i] * others[i]);
        }
    }
}

/// Replaces squared norms by marks, all bits set where a record counts and none where it does not, and writes the records'
/// factors.
#[inline(always)]
pub(super) fn write_factors(squares: &mut [f64], factors: &mut [f64], steps: f64) {
    for (square, out) in squares.iter_mut().zip(factors) {
        *out = factor(*square, steps);
        let counts = -i64::from(*square <= f64::MAX);
        *square = f64::from_bits(counts as u64);
    }
}

/// What a record with this squared norm N is multiplied by: s, or about 2^30/√N from below if that is less. In f64:
///
/// y is the number whose bits are [`START`] less half those of N; w = N·y·y + a, its sum fused; f = min(y·(w² + b), s), that sum fused.
///
/// Halving the exponent in the bits makes y about λ/√N, 50.93 < λ < 54.28. A polynomial of λ² takes that error off. Its
/// coefficients and the bits' offset were chosen together for the smallest largest error among quadratics whose leading coefficient is 1:
/// those take one product less than others. Much faster than a square root and a division.
///
/// **Privacy.** 0 < f√N ≤ 2^30 − 39 for 0 ≤ N < ∞. Proof. With t = N·y², in real numbers f√N ≤ G(t) = √t·((t + a)² + b), which is 0 at 0 and
/// positive beyond. Its derivative has the sign of 5t² + 6at + a² + b, a quadratic with the roots 2680.9155… and 2856.7623…, where G
/// is 2^30 − 40.00… and 2^30 − 43100.17…: G grows up to the first, falls up to the second and grows from there, to 2^30 − 44.3… at 2945.7143. So
/// 0 < G ≤ 2^30 − 39.9 for 0 < t ≤ 2945.7143, and no N has a larger t. For if N is normal, y√N has two octaves for its period: with k =
/// [`START`]/2^52 − 1539.5 = 0.633…, N = 1 + 2x for 0 ≤ x < ½ and N = 4x for ½ ≤ x < 1 give y = 32·(1 + k − x), or half of 32·(2 + k − x)
/// where x > k. √(1 + 2x) times the first is largest at x = k/3, 32·(1 + ⅔k)^(3/2) = 54.27443…, and √(4x) times either is less than 52.7. That is t ≤
/// 2945.71422, at which the bit that the halving drops adds less than 2^-40. If N is subnormal, its bits stand for a number
/// at least as large, and t is less; N = 0 gives t = 0. In f64 nothing under- or overflows that matters, since y lies within 2^±520 and N·y is 0, or
/// within a factor of 55 of √N, unless N is subnormal, where any t < 2945 would do. w, above 1600 in size, is then off by at most 4u·4700, the
/// sum w² + b by relative 8u and the product by u: less than 2^-45 of 2^30 in all. ∎
///
/// **Precision.** f√N ≥ 2^30 − 43101 where f < s: below 2^30/√N by at most 4.02·10^-5 of it. A gradient beyond the clip loses that share of
/// its length at most, as if the clip were smaller by less than a twenty-thousandth: little next to what clipping takes off. It
/// keeps its direction. Gradients shorter than the clip by that share keep their length.
#[inline(always)]
pub(super) fn factor(square: f64, steps: f64) -> f64 {
    let start = f64::from_bits(START.wrapping_sub(square.to_bits() >> 1));
    let turned = (square * start).mul_add(start, QUADRATIC[0]);
    let root = start * turned.mul_add(turned, QUADRATIC[1]);
    if root < steps { root } else { steps }
}

/// What half the bits of N are taken from.
pub(super) const START: u64 = 0x6042_220e_0000_0000;
/// a and b.
pub(super) const QUADRATIC: [f64; 2] = [-4_614.731_602_988_059, 16_997_945.617_55];

#[cfg(test)]
mod tests;
