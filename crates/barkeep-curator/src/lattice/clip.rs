//! Clips what a program wrote for a tile of records, rounds it to integers and adds those: one loop for every term.

use super::{ROUNDER, number_or_zero, rounded_bits, rounder_bits};
use crate::Clip;
use barkeep_machine::{Share, TILE};
use barkeep_num::vector::dispatch;

/// The most entries that a record's term may have other than 0: up to here the clip is proved.
pub(crate) const MOST_DIMENSIONS: usize = 1 << 12;

/// Working memory of the clip.
///
/// **Privacy.** Holds values computed from records; no `Debug`.
pub(crate) struct TileRoom {
    marks: [f64; TILE],
    factors: [f64; TILE],
    products: [i64; TILE],
    /// Sums by entry, all 0 between two tiles.
    buckets: [[i64; TABLES]; BUCKETS],
}

impl Default for TileRoom {
    fn default() -> Self {
        Self {
            marks: [0.0; TILE],
            factors: [0.0; TILE],
            products: [0; TILE],
            buckets: [[0; TABLES]; BUCKETS],
        }
    }
}

/// Adds the contributions of at most [`TILE`] records, `count` outputs each as `share` shows them, to `sums`: entries of each output one after
/// the other.
///
/// In f64, with s = fl(2^30/B): N = 2^-900 + Σ_j g_j², each addition fused, in the order of the outputs; f = `factor`(N), see [`factor`]; z_j is
/// g_j·f rounded to the nearest integer once (ties to even), or 0 for all j where N is infinite or not a number. An output by level
/// has one entry that may differ from 0, or none. If `POSITIVE`, whatever is not above 0 is replaced by 0 first.
/// The same IEEE operations on every machine, written without branches on what records say.
///
/// **Privacy.** ‖z‖₂ ≤ 2^30 for any outputs of which at most d ≤ [`MOST_DIMENSIONS`] differ from 0 in a record. Proof, u = 2^-53. Where N is not
/// finite z = 0. Else every g_j is finite and, each entry being rounded by at most ½, ‖z‖ ≤ f‖g‖ + √d/2, and 0 < f ≤ s ≤ 2^70. Entries of 0
/// change neither N nor z. Each of the d other additions of non-negative numbers loses a factor of at most 1−u, and underflow at most d·2^-1074 in all: so
/// ‖g‖ ≤ √N·(1−u)^-(d/2) + 2^-530. By [`factor`], f√N ≤ 2^30 − 39, hence f‖g‖ ≤ (2^30 − 39)(1−u)^-(d/2) + 2^-460, which
/// for d ≤ 2^12 is below 2^30 − 38, and √d/2 ≤ 32. If `POSITIVE` every z_j ≥ 0, since f > 0 and rounding is
/// monotone. An output that is not as long as the tile counts as 0 in both passes. ∎
pub(crate) fn add_tile<'a, const POSITIVE: bool>(
    (count, records): (usize, usize),
    share: impl Fn(usize) -> Share<'a>,
    clip: Clip,
    room: &mut TileRoom,
    sums: &mut [i64],
) {
    dispatch(
        #[inline(always)]
        || run::<POSITIVE>((count, records.min(TILE)), &share, clip.steps_per_one(), room, sums),
    );
}

#[inline(always)]
fn run<'a, const POSITIVE: bool>(
    (count, records): (usize, usize),
    share: &impl Fn(usize) -> Share<'a>,
    steps: f64,
    room: &mut TileRoom,
    sums: &mut [i64],
) {
    let TileRoom { marks, factors, products, buckets } = room;
    let (marks, factors) = (&mut marks[..records], &mut factors[..records]);
    marks.fill(LEAST);
    each_group(
        count,
        share,
        #[inline(always)]
        |_, group| match group {
            Group::Dense(columns, 4) => add_squares::<4, POSITIVE>(columns, marks),
            Group::Dense(columns, 3) => add_squares::<3, POSITIVE>(columns, marks),
            Group::Dense(columns, 2) => add_squares::<2, POSITIVE>(columns, marks),
            Group::Dense(columns, _) => add_squares::<1, POSITIVE>(columns, marks),
            Group::Indexed(indexed) => indexed.add_squares::<POSITIVE>(marks),
        },
    );
    write_factors(marks, factors, steps);
    each_group(
        count,
        share,
        #[inline(always)]
        |first, group| {
            let sums = sums.get_mut(first..).unwrap_or_default();
            match group {
                Group::Dense(columns, 4) => add_products::<4, POSITIVE>(columns, factors, marks, sums),
                Group::Dense(columns, 3) => add_products::<3, POSITIVE>(columns, factors, marks, sums),
                Group::Dense(columns, 2) => add_products::<2, POSITIVE>(columns, factors, marks, sums),
                Group::Dense(columns, _) => add_products::<1, POSITIVE>(columns, factors, marks, sums),
                Group::Indexed(indexed) => {
                    let products = &mut products[..records];
                    indexed.write_products::<POSITIVE>(factors, marks, products);
                    indexed.add_products(products, buckets, sums);
                }
            }
        },
    );
}

/// Outputs that are added in one pass.
enum Group<'a> {
    /// As many entries of every record.
    Dense([&'a [f64]; FEW], usize),
    Indexed(Indexed<'a>),
}

/// The most entries that are added in one pass: as many as registers allow.
const FEW: usize = 4;

/// Shows outputs in order, neighbouring entries together, each with the place of its first entry.
#[inline(always)]
fn each_group<'a>(count: usize, share: &impl Fn(usize) -> Share<'a>, mut look: impl FnMut(usize, Group<'a>)) {
    let (mut k, mut entry) = (0, 0);
    while k < count {
        match share(k) {
            Share::Dense(first) => {
                let (mut columns, mut length) = ([first; FEW], 1);
                while length < FEW
                    && k + length < count
                    && let Share::Dense(next) = share(k + length)
                {
                    columns[length] = next;
                    length += 1;
                }
                look(entry, Group::Dense(columns, length));
                (k, entry) = (k + length, entry + length);
            }
            Share::Indexed { values, index, code, count } => {
                look(entry, Group::Indexed(Indexed { values, index, code, count }));
                (k, entry) = (k + 1, entry + count);
            }
        }
    }
}

/// What counts of a value.
#[inline(always)]
fn kept<const POSITIVE: bool>(value: f64) -> f64 {
    if !POSITIVE || value > 0.0 { value } else { 0.0 }
}

#[inline(always)]
fn add_squares<const K: usize, const POSITIVE: bool>(columns: [&[f64]; FEW], squares: &mut [f64]) {
    let length = squares.len();
    if columns.iter().any(|column| column.len() < length) {
        return;
    }
    let columns: [&[f64]; K] = std::array::from_fn(|k| &columns[k][..length]);
    for (i, square) in squares.iter_mut().enumerate() {
        let mut sum = *square;
        for column in &columns {
            let term = kept::<POSITIVE>(column[i]);
            sum = term.mul_add(term, sum);
        }
        *square = sum;
    }
}

/// Adds up rounded products of entries and factors, over all records that count.
///
/// A contribution z is taken as the bits of 1.5·2^52 + z or, where it does not count, as 0. Either way the low 48 bits are
/// those of z, and so the low 48 bits of a sum modulo 2^64 are those of the sum of the z, which lies within 2^38.
#[inline(always)]
fn add_products<const K: usize, const POSITIVE: bool>(
    columns: [&[f64]; FEW],
    factors: &[f64],
    marks: &[f64],
    sums: &mut [i64],
) {
    let length = factors.len().min(marks.len());
    if columns.iter().any(|column| column.len() < length) {
        return;
    }
    let (factors, marks) = (&factors[..length], &marks[..length]);
    let columns: [&[f64]; K] = std::array::from_fn(|k| &columns[k][..length]);
    let mut added = [0_i64; K];
    for i in 0..length {
        for (sum, column) in added.iter_mut().zip(&columns) {
            let rounded = kept::<POSITIVE>(column[i]).mul_add(factors[i], ROUNDER);
            *sum = sum.wrapping_add(counted(rounded, marks[i]));
        }
    }
    sums.iter_mut().zip(added).for_each(|(sum, bits)| *sum += signed(bits));
}

/// An output by level.
#[derive(Clone, Copy)]
struct Indexed<'a> {
    values: &'a [f64],
    index: &'a [u32],
    code: u32,
    count: usize,
}

/// The most levels that are compared with one after the other.
const COMPARED: usize = 8;
/// Levels that are compared with at a time.
const GROUP: usize = 4;
/// The most levels with sums of their own for a tile: beyond, neighbours seldom share one.
const BUCKETS: usize = 64;
/// Neighbouring records use different tables, so that a sum that many share is not waited for.
const TABLES: usize = 4;

impl Indexed<'_> {
    /// The value of record i, or 0 where it belongs to no entry.
    #[inline(always)]
    fn value<const POSITIVE: bool>(&self, i: usize) -> f64 {
        let is_here = (self.index[i].wrapping_sub(self.code) as usize) < self.count;
        if is_here { kept::<POSITIVE>(self.values[i]) } else { 0.0 }
    }

    /// The entry of record i, or the first where it belongs to none.
    #[inline(always)]
    fn place(&self, i: usize) -> usize {
        let place = self.index[i].wrapping_sub(self.code) as usize;
        if place < self.count { place } else { 0 }
    }

    /// The same of as many records as there are values and entries for.
    #[inline(always)]
    fn cut(self, length: usize) -> Option<Self> {
        let (values, index) = (self.values.get(..length)?, self.index.get(..length)?);
        Some(Self { values, index, ..self })
    }

    #[inline(always)]
    fn add_squares<const POSITIVE: bool>(self, squares: &mut [f64]) {
        let Some(own) = self.cut(squares.len()) else { return };
        for (i, square) in squares.iter_mut().enumerate() {
            let term = own.value::<POSITIVE>(i);
            *square = term.mul_add(term, *square);
        }
    }

    /// Writes the integer of each record.
    #[inline(always)]
    fn write_products<const POSITIVE: bool>(self, factors: &[f64], marks: &[f64], products: &mut [i64]) {
        products.fill(0);
        let length = products.len();
        let Some(own) = self.cut(length) else { return };
        let (factors, marks) = (&factors[..length], &marks[..length]);
        for (i, product) in products.iter_mut().enumerate() {
            let rounded = own.value::<POSITIVE>(i).mul_add(factors[i], ROUNDER);
            *product = signed(counted(rounded, marks[i]));
        }
    }

    /// Adds each record's integer to the sum of its entry; that of a record without one is 0.
    ///
    /// Few levels are compared with one after the other; of more a record's product goes to the place of its own. Every record adds one
    /// number to each sum, or to one of them, whatever it says.
    #[inline(always)]
    fn add_products(self, products: &[i64], buckets: &mut [[i64; TABLES]; BUCKETS], sums: &mut [i64]) {
        let Some(own) = self.cut(products.len()) else { return };
        let sums = match sums.get_mut(..self.count) {
            Some(sums) if !sums.is_empty() => sums,
            Some(_) | None => return,
        };
        if self.count <= COMPARED {
            for (sums, group) in sums.chunks_mut(GROUP).zip(0_u32..) {
                let first = self.code.wrapping_add(group * GROUP as u32);
                let added = add_compared(products, own.index, first);
                sums.iter_mut().zip(added).for_each(|(sum, share)| *sum += share);
            }
        } else if self.count <= BUCKETS {
            for (i, product) in products.iter().enumerate() {
                buckets[own.place(i) % BUCKETS][i % TABLES] += product;
            }
            for (sum, bucket) in sums.iter_mut().zip(buckets) {
                *sum += std::mem::take(bucket).iter().sum::<i64>();
            }
        } else {
            for (i, product) in products.iter().enumerate() {
                sums[own.place(i)] += product;
            }
        }
    }
}

/// The products of the records whose index is `first`, one more and so on, added up for each.
#[inline(always)]
fn add_compared(products: &[i64], index: &[u32], first: u32) -> [i64; GROUP] {
    let mut sums = [0_i64; GROUP];
    for (product, code) in products.iter().zip(index) {
        let from_first = code.wrapping_sub(first);
        for (sum, own) in sums.iter_mut().zip(0_u32..) {
            *sum += if from_first == own { *product } else { 0 };
        }
    }
    sums
}

/// What squared norms start from: without effect on a factor, and above what underflow could lose.
const LEAST: f64 = f64::from_bits((1023 - 900) << 52);

/// Replaces squared norms by marks, all bits set where a record counts and none where it does not, and writes the records'
/// factors.
#[inline(always)]
fn write_factors(squares: &mut [f64], factors: &mut [f64], steps: f64) {
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
fn factor(square: f64, steps: f64) -> f64 {
    let start = f64::from_bits(START.wrapping_sub(square.to_bits() >> 1));
    let turned = (square * start).mul_add(start, QUADRATIC[0]);
    let root = start * turned.mul_add(turned, QUADRATIC[1]);
    if root < steps { root } else { steps }
}

/// What half the bits of N are taken from.
const START: u64 = 0x6042_220e_0000_0000;
/// a and b.
const QUADRATIC: [f64; 2] = [-4_614.731_602_988_059, 16_997_945.617_55];

/// The bits of a rounded product, or 0 for a record that does not count: by its mark, without a choice that a compiler could turn
/// into a jump.
#[inline(always)]
fn counted(rounded: f64, mark: f64) -> i64 {
    (rounded.to_bits() & mark.to_bits()) as i64
}

/// The number whose low 48 bits these are.
#[inline(always)]
fn signed(bits: i64) -> i64 {
    (bits << 16) >> 16
}

/// Adds the contribution of one person, given by its entries, each at its place: the operations of [`add_tile`] in their order.
///
/// **Privacy.** As there, for at most [`MOST_DIMENSIONS`] entries; of more none counts.
pub(crate) fn add_one(entries: &[(usize, f64)], positive: bool, clip: Clip, sums: &mut [i64]) {
    let value = |value: f64| if positive { kept::<true>(value) } else { value };
    let square =
        entries.iter().fold(LEAST, |square, (_, entry)| value(*entry).mul_add(value(*entry), square));
    let counts = square <= f64::MAX && entries.len() <= MOST_DIMENSIONS;
    let factor = factor(square, clip.steps_per_one());
    for (place, entry) in entries {
        let rounded = value(*entry).mul_add(factor, ROUNDER);
        if let Some(sum) = sums.get_mut(*place) {
            *sum += if counts { signed(rounded.to_bits() as i64) } else { 0 };
        }
    }
}

/// The integers that a value is cut to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Range {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

/// Adds round(v·s) of each value, cut to the range, to `sum`; not a number counts as 0 before it is cut.
///
/// **Privacy.** A value adds an integer of the range whatever it is: it is cut to two integers within ±2^30 and then rounded, which is
/// monotone.
pub(crate) fn add_cut(values: &[f64], range: Range, clip: Clip, sum: &mut i64) {
    let steps = clip.steps_per_one();
    let (low, high) = (range.low as f64, range.high as f64);
    let bits = dispatch(
        #[inline(always)]
        || {
            values
                .iter()
                .fold(0_i64, |bits, value| bits.wrapping_add(rounded_bits(cut(*value, steps, low, high))))
        },
    );
    *sum += bits.wrapping_sub(rounder_bits().wrapping_mul(values.len() as i64));
}

/// Adds round(v·s) of each value, cut to the range, to the sum of its entry, and hands each integer to `also`.
///
/// **Privacy.** As [`add_cut`]. A record without an entry adds nothing.
pub(crate) fn add_indexed(
    share: Share<'_>,
    range: Range,
    clip: Clip,
    sums: &mut [i64],
    mut also: impl FnMut(i64),
) {
    let Share::Indexed { values, index, code, count } = share else { return };
    let own = Indexed { values, index, code, count };
    let Some(own) = own.cut(values.len()).filter(|_| count > 0 && count <= sums.len()) else { return };
    let (low, high) = (range.low as f64, range.high as f64);
    for (i, value) in values.iter().enumerate() {
        let rounded = rounded_bits(cut(*value, clip.steps_per_one(), low, high)) - rounder_bits();
        let is_here = (index[i].wrapping_sub(code) as usize) < count;
        let rounded = if is_here { rounded } else { 0 };
        sums[own.place(i)] += rounded;
        also(rounded);
    }
}

#[inline(always)]
fn cut(value: f64, steps: f64, low: f64, high: f64) -> f64 {
    let scaled = number_or_zero(value * steps);
    let scaled = if scaled < high { scaled } else { high };
    if scaled > low { scaled } else { low }
}

#[cfg(test)]
mod tests;
