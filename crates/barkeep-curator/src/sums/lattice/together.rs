//! Clips and adds up gradients some records at a time, whose norms and factors stay in registers.

use super::ROUNDER;
use super::gradients::{Coordinate, Part};
use super::vector::{LEAST, QUADRATIC, START, signed};
use crate::Clip;
use barkeep_data::Block;
use barkeep_model::{Line, Sloped};
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

/// The whole columns of f64 of a block that gradients of slopes on a line are computed from.
#[derive(Clone, Copy)]
pub(crate) struct Whole<'a> {
    sloped: Sloped,
    line: &'a Line,
    columns: &'a [&'a [f64]],
    records: usize,
}

impl<'a> Whole<'a> {
    /// The columns of `block`, if all that are read are there and are not too many.
    pub(crate) fn new(
        block: Block<'a>,
        sloped: Sloped,
        line: &'a Line,
        columns: &'a mut [&'a [f64]; MANY],
    ) -> Option<Self> {
        let last = sloped.first + sloped.features;
        let columns = columns.get_mut(..line.weights.len().max(last))?;
        for (j, slot) in columns.iter_mut().enumerate() {
            // Those of a level are empty.
            *slot = Some(block.column(j)).filter(|values| values.len() == block.len())?;
        }
        Some(Self { sloped, line, columns, records: block.len() })
    }

    /// Writes predictors and squared norms X of all records but the last few, and says of how many: none where the machine has no wide
    /// vectors.
    pub(crate) fn predict(&self, predictors: &mut [f64], squares: &mut [f64]) -> usize {
        let whole = self.records - self.records % CHUNK;
        let done = in_vectors(Predict { columns: self, predictors: &mut predictors[..whole], squares });
        if done { whole } else { 0 }
    }

    /// Adds the contributions of records with these slopes, squared norms and, as `sloped` says, numbers of their own.
    ///
    /// The operations on a record are those of [`add_clipped`](super::add_clipped), in the same order, on vectors of records.
    pub(crate) fn add(&self, slopes: &[f64], squares: &[f64], others: &[f64], clip: Clip, lanes: &mut Lanes) {
        let Sloped { intercept, features, nuisance, .. } = self.sloped;
        let dimension = features + usize::from(intercept) + usize::from(nuisance);
        let lanes = &mut lanes.0[..dimension.min(MANY + 2)];
        let steps = clip.steps_per_one();
        in_vectors(Loop { columns: self, slopes, squares, others, steps, lanes });
    }

    fn features(&self) -> &'a [&'a [f64]] {
        &self.columns[self.sloped.first..][..self.sloped.features]
    }
}

/// Of each coordinate, sums of bits as in [`Sums`](super::vector), one for each place in a vector: of at most 2^17 records.
///
/// **Privacy.** Holds sums over records; no `Debug`.
pub(crate) struct Lanes([[i64; LANES]; MANY + 2]);

impl Lanes {
    /// Of no record.
    pub(crate) fn new() -> Self {
        Self([[0; LANES]; MANY + 2])
    }

    /// Adds them up.
    pub(crate) fn add_to(&self, sums: &mut [i64]) {
        add_lanes(&self.0, sums);
    }
}

/// The loop of [`Whole::predict`].
struct Predict<'a> {
    columns: &'a Whole<'a>,
    predictors: &'a mut [f64],
    squares: &'a mut [f64],
}

impl InVectors for Predict<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { columns: Whole { sloped, line, columns, .. }, predictors, squares } = self;
        let least = if sloped.intercept { 1.0 } else { LEAST };
        let (predictors, squares) =
            (predictors.chunks_exact_mut(V * LANES), squares.chunks_exact_mut(V * LANES));
        for (place, (predictors, squares)) in predictors.zip(squares).enumerate() {
            let mut sums = [f64x8::splat(simd, line.start); V];
            let mut norms = [f64x8::splat(simd, least); V];
            for (j, column) in columns.iter().enumerate() {
                let weight = line.weights.get(j).copied().unwrap_or(0.0);
                let is_feature = j.wrapping_sub(sloped.first) < sloped.features;
                if weight == 0.0 && !is_feature {
                    continue;
                }
                let values = read::<S, V>(simd, column, place * V * LANES);
                if weight != 0.0 {
                    for v in 0..V {
                        sums[v] = f64x8::splat(simd, weight).mul_add_precise(values[v], sums[v]);
                    }
                }
                if is_feature {
                    for v in 0..V {
                        norms[v] = values[v].mul_add_precise(values[v], norms[v]);
                    }
                }
            }
            for v in 0..V {
                sums[v].store_slice(&mut predictors[v * LANES..][..LANES]);
                norms[v].store_slice(&mut squares[v * LANES..][..LANES]);
            }
        }
    }
}

/// Adds the contributions of all records but the last few, of few coordinates that are all there are, and says of how many: none where
/// the machine has no wide vectors.
///
/// The operations on a record are those of [`add_clipped`](super::add_clipped), in the same order, on vectors of records.
pub(super) fn add_few<const K: usize, C: Coordinate>(
    coordinates: [C; K],
    records: usize,
    steps: f64,
    sums: &mut [i64],
) -> usize {
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
pub(super) fn read<S: Simd, const V: usize>(simd: S, values: &[f64], start: usize) -> Vectors<S, V> {
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
        let mut sums = [i64x8::splat(simd, 0); K];
        let nothing = f64x8::splat(simd, 0.0);
        for start in (0..whole).step_by(V * LANES) {
            let chunk = coordinates.map(
                #[inline(always)]
                |coordinate| coordinate.part(start, V * LANES),
            );
            let mut terms = [[nothing; V]; K];
            let mut squares = [nothing; V];
            for k in 0..K {
                for v in 0..V {
                    let term = chunk[k].vector(simd, v * LANES);
                    // What norms start from has no effect on a factor: a product is cheaper than a fused one.
                    squares[v] = if k == 0 { term * term } else { term.mul_add_precise(term, squares[v]) };
                    terms[k][v] = term;
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

/// The loop of [`Whole::add`].
struct Loop<'a> {
    columns: &'a Whole<'a>,
    slopes: &'a [f64],
    squares: &'a [f64],
    others: &'a [f64],
    steps: f64,
    /// Of each coordinate, a sum for each place in a vector.
    lanes: &'a mut [[i64; LANES]],
}

impl InVectors for Loop<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { columns, slopes, squares, others, steps, lanes } = self;
        let sloped = columns.sloped;
        let (columns, first) = (columns.features(), usize::from(sloped.intercept));
        for start in (0..slopes.len()).step_by(V * LANES) {
            let slopes = read::<S, V>(simd, slopes, start);
            let mut squares = read::<S, V>(simd, squares, start);
            let (mut own, mut more) = ([f64x8::splat(simd, 0.0); V], [f64x8::splat(simd, 0.0); V]);
            if sloped.nuisance {
                own = read(simd, others, start);
                for v in 0..V {
                    more[v] = own[v] * own[v];
                }
            }
            for v in 0..V {
                squares[v] = (squares[v] * slopes[v]).mul_add_precise(slopes[v], more[v]);
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
    let rounder = f64x8::splat(simd, ROUNDER);
    for v in 0..V {
        let rounded: i64x8<S> = terms[v].mul_add_precise(factors[v], rounder).bitcast();
        sum = counts[v].select(sum + rounded, sum);
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
    let ([a, b], steps) = (QUADRATIC.map(splat), splat(steps));
    let (mut counts, mut factors) = ([steps.simd_lt(steps); V], squares);
    for v in 0..V {
        let bits: u64x8<S> = squares[v].bitcast();
        let start: f64x8<S> = (u64x8::splat(simd, START) - (bits >> 1)).bitcast();
        let turned = (squares[v] * start).mul_add_precise(start, a);
        let root = start * turned.mul_add_precise(turned, b);
        // Where it is not a number the record does not count.
        factors[v] = root.min(steps);
        counts[v] = squares[v].simd_le(splat(f64::MAX));
    }
    (counts, factors)
}
