//! Clips and adds up gradients some records at a time, whose norms and factors stay in registers.

use super::ROUNDER;
use super::gradients::Coordinate;
use super::vector::{CUBIC, LEAST, START, signed};
use barkeep_model::Sloped;
use barkeep_num::vector::fearless_simd::{Simd, f64x8, i64x8, mask64x8, prelude::*, u64x8};
use barkeep_num::vector::{InVectors, in_vectors};

/// The most columns that gradients are computed from.
pub(crate) const MANY: usize = 32;
/// Numbers of a vector.
pub(crate) const LANES: usize = 8;
/// Whole vectors are of this many records on every machine.
const CHUNK: usize = 4 * LANES;

/// Some vectors, of consecutive records.
type Vectors<S, const V: usize> = [f64x8<S>; V];

/// Gradients of some records: the slope r, r·x for each column, and a number of their own, as `sloped` says.
#[derive(Clone, Copy)]
pub(crate) struct Products<'a> {
    pub(crate) sloped: Sloped,
    pub(crate) slopes: &'a [f64],
    pub(crate) columns: &'a [&'a [f64]],
    pub(crate) others: &'a [f64],
}

/// Adds the contributions of all records but the last few, and says of how many: none where the machine has no wide vectors.
///
/// The operations on a record are those of [`add_clipped`](super::add_clipped), in the same order, on vectors of records.
pub(super) fn add_together(products: Products<'_>, steps: f64, sums: &mut [i64]) -> usize {
    let records = products.slopes.len();
    let whole = records - records % CHUNK;
    let mut lanes = [[0; LANES]; MANY + 2];
    let lanes = &mut lanes[..sums.len().min(MANY + 2)];
    if !in_vectors(Loop { products, whole, steps, lanes }) {
        return 0;
    }
    add_lanes(lanes, sums);
    whole
}

/// As [`add_together`], of few coordinates, all there are.
pub(super) fn add_few<const K: usize, C: Coordinate>(
    coordinates: [C; K],
    steps: f64,
    sums: &mut [i64],
) -> usize {
    let records = coordinates[0].len();
    let whole = records - records % CHUNK;
    let mut lanes = [[0; LANES]; K];
    if !in_vectors(Few { coordinates, whole, steps, lanes: &mut lanes }) {
        return 0;
    }
    add_lanes(&lanes, sums);
    whole
}

/// Adds sums of bits as in [`Sums`](super::vector), one for each place in a vector.
fn add_lanes(lanes: &[[i64; LANES]], sums: &mut [i64]) {
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += signed(lanes.iter().fold(0_i64, |sum, lane| sum.wrapping_add(*lane)));
    }
}

#[inline(always)]
fn read<S: Simd, const V: usize>(simd: S, values: &[f64], start: usize) -> Vectors<S, V> {
    let values = &values[start..][..V * LANES];
    let mut vectors = [f64x8::splat(simd, 0.0); V];
    for v in 0..V {
        vectors[v] = f64x8::from_slice(simd, &values[v * LANES..][..LANES]);
    }
    vectors
}

/// The loop of [`add_few`] over the first `whole` records.
struct Few<'a, const K: usize, C> {
    coordinates: [C; K],
    whole: usize,
    steps: f64,
    lanes: &'a mut [[i64; LANES]; K],
}

impl<const K: usize, C: Coordinate> InVectors for Few<'_, K, C> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { coordinates, whole, steps, lanes } = self;
        let coordinates = coordinates.map(
            #[inline(always)]
            |coordinate| coordinate.part(0, whole),
        );
        let mut sums = [i64x8::splat(simd, 0); K];
        let nothing = f64x8::splat(simd, 0.0);
        for start in (0..whole).step_by(V * LANES) {
            let mut terms = [[nothing; V]; K];
            let mut squares = [f64x8::splat(simd, LEAST); V];
            for k in 0..K {
                for v in 0..V {
                    terms[k][v] = coordinates[k].vector(simd, start + v * LANES);
                    squares[v] = terms[k][v].mul_add_precise(terms[k][v], squares[v]);
                }
            }
            let (counts, factors) = shrunk(simd, steps, squares);
            for k in 0..K {
                sums[k] = add_rounded(simd, sums[k], terms[k], factors, counts);
            }
        }
        for k in 0..K {
            sums[k].store_slice(&mut lanes[k]);
        }
    }
}

/// The loop of [`add_together`] over the first `whole` records.
struct Loop<'a> {
    products: Products<'a>,
    whole: usize,
    steps: f64,
    /// Of each coordinate, a sum for each place in a vector.
    lanes: &'a mut [[i64; LANES]],
}

impl InVectors for Loop<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { products: Products { sloped, slopes, columns, others }, whole, steps, lanes } = self;
        let first = usize::from(sloped.intercept);
        let least = if sloped.intercept { 1.0 } else { LEAST };
        for start in (0..whole).step_by(V * LANES) {
            let mut squares = [f64x8::splat(simd, least); V];
            for column in columns {
                let terms = read::<S, V>(simd, column, start);
                for v in 0..V {
                    squares[v] = terms[v].mul_add_precise(terms[v], squares[v]);
                }
            }
            let slopes = read::<S, V>(simd, slopes, start);
            let mut own = [f64x8::splat(simd, 0.0); V];
            if sloped.nuisance {
                own = read(simd, others, start);
            }
            for v in 0..V {
                squares[v] = (squares[v] * slopes[v]).mul_add_precise(slopes[v], own[v] * own[v]);
            }
            let (counts, mut factors) = shrunk(simd, steps, squares);
            if sloped.nuisance {
                keep_rounded(simd, lanes.last_mut(), own, factors, counts);
            }
            for v in 0..V {
                factors[v] = slopes[v] * factors[v];
            }
            if sloped.intercept {
                keep_rounded(simd, lanes.first_mut(), [f64x8::splat(simd, 1.0); V], factors, counts);
            }
            for (column, lanes) in columns.iter().zip(lanes.iter_mut().skip(first)) {
                keep_rounded(simd, Some(lanes), read(simd, column, start), factors, counts);
            }
        }
    }
}

/// `sum` and the bits of terms times factors, rounded once, of the records that count.
#[inline(always)]
fn add_rounded<S: Simd, const V: usize>(
    simd: S,
    mut sum: i64x8<S>,
    terms: Vectors<S, V>,
    factors: Vectors<S, V>,
    counts: [mask64x8<S>; V],
) -> i64x8<S> {
    let (rounder, none) = (f64x8::splat(simd, ROUNDER), i64x8::splat(simd, 0));
    for v in 0..V {
        let rounded: i64x8<S> = terms[v].mul_add_precise(factors[v], rounder).bitcast();
        sum += counts[v].select(rounded, none);
    }
    sum
}

/// [`add_rounded`] to a sum in memory.
#[inline(always)]
fn keep_rounded<S: Simd, const V: usize>(
    simd: S,
    lanes: Option<&mut [i64; LANES]>,
    terms: Vectors<S, V>,
    factors: Vectors<S, V>,
    counts: [mask64x8<S>; V],
) {
    let Some(lanes) = lanes else { return };
    let sum = i64x8::from_slice(simd, lanes);
    add_rounded(simd, sum, terms, factors, counts).store_slice(lanes);
}

/// Which records with these squared norms count, and their [`factor`](super::vector)s.
#[inline(always)]
fn shrunk<S: Simd, const V: usize>(
    simd: S,
    steps: f64,
    squares: Vectors<S, V>,
) -> ([mask64x8<S>; V], Vectors<S, V>) {
    let splat = |x: f64| f64x8::splat(simd, x);
    let ([a, b, c], steps) = (CUBIC.map(splat), splat(steps));
    let (mut counts, mut factors) = ([steps.simd_lt(steps); V], squares);
    for v in 0..V {
        let bits: u64x8<S> = squares[v].bitcast();
        let start: f64x8<S> = (u64x8::splat(simd, START) - (bits >> 1)).bitcast();
        let turned = (squares[v] * start).mul_add_precise(start, a);
        let root = (start * (c - turned)) * turned.mul_add_precise(turned, b);
        // Where it is not a number the record does not count.
        factors[v] = root.min(steps);
        counts[v] = squares[v].simd_le(splat(f64::MAX));
    }
    (counts, factors)
}
