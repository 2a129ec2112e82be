//! Clips and adds up gradients of a slope times columns some records at a time, whose norms and factors stay in registers.

use super::ROUNDER;
use super::vector::{FIRST, START, Shrink, signed};
use barkeep_model::Sloped;
use barkeep_num::vector::fearless_simd::{Simd, f64x8, i64x8, prelude::*, u64x8};
use barkeep_num::vector::{InVectors, in_vectors};

/// The most columns that gradients are computed from.
pub(crate) const MANY: usize = 32;
/// Numbers of a vector.
const LANES: usize = 8;

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
pub(super) fn add_together(products: Products<'_>, shrink: &Shrink, sums: &mut [i64]) -> usize {
    let records = products.slopes.len();
    let whole = records - records % (4 * LANES);
    let mut lanes = [[0; LANES]; MANY + 2];
    let lanes = &mut lanes[..sums.len().min(MANY + 2)];
    if !in_vectors(Loop { products, whole, shrink, lanes }) {
        return 0;
    }
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += signed(lanes.iter().fold(0_i64, |sum, lane| sum.wrapping_add(*lane)));
    }
    whole
}

impl Products<'_> {
    /// Shows each coordinate of the records from `start` on once and in order, with its place, given their slopes.
    #[inline(always)]
    fn each<S: Simd, const V: usize>(
        &self,
        simd: S,
        start: usize,
        slopes: Vectors<S, V>,
        mut look: impl FnMut(usize, Vectors<S, V>),
    ) {
        let mut place = 0;
        if self.sloped.intercept {
            look(place, slopes);
            place += 1;
        }
        for column in self.columns {
            let mut terms = read::<S, V>(simd, column, start);
            for v in 0..V {
                terms[v] = slopes[v] * terms[v];
            }
            look(place, terms);
            place += 1;
        }
        if self.sloped.nuisance {
            look(place, read(simd, self.others, start));
        }
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

/// The loop over the first `whole` records.
struct Loop<'a> {
    products: Products<'a>,
    whole: usize,
    shrink: &'a Shrink,
    /// Of each coordinate, sums of bits as in [`Sums`](super::vector), one for each place in a vector.
    lanes: &'a mut [[i64; LANES]],
}

impl InVectors for Loop<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { products, whole, shrink, lanes } = self;
        for start in (0..whole).step_by(V * LANES) {
            let slopes = read::<S, V>(simd, products.slopes, start);
            let mut squares = [f64x8::splat(simd, 0.0); V];
            products.each::<S, V>(
                simd,
                start,
                slopes,
                #[inline(always)]
                |_, terms| {
                    for v in 0..V {
                        squares[v] = terms[v].mul_add_precise(terms[v], squares[v]);
                    }
                },
            );
            let (marks, factors) = shrunk(simd, shrink, squares);
            let rounder = f64x8::splat(simd, ROUNDER);
            products.each::<S, V>(
                simd,
                start,
                slopes,
                #[inline(always)]
                |place, terms| {
                    let Some(lanes) = lanes.get_mut(place) else { return };
                    let mut sum = i64x8::from_slice(simd, lanes);
                    for v in 0..V {
                        let rounded: i64x8<S> = terms[v].mul_add_precise(factors[v], rounder).bitcast();
                        sum += rounded & marks[v];
                    }
                    sum.store_slice(lanes);
                },
            );
        }
    }
}

/// Marks and factors of records with these squared norms, as [`Shrink::write`] finds them.
#[inline(always)]
fn shrunk<S: Simd, const V: usize>(
    simd: S,
    shrink: &Shrink,
    squares: Vectors<S, V>,
) -> ([i64x8<S>; V], Vectors<S, V>) {
    let splat = |x: f64| f64x8::splat(simd, x);
    let (reach, steps) = (splat(shrink.reach), splat(shrink.steps));
    let (none, all) = (i64x8::splat(simd, 0), i64x8::splat(simd, -1));
    let (mut marks, mut factors) = ([none; V], squares);
    for v in 0..V {
        let half = squares[v] * splat(shrink.half_square);
        let bits: u64x8<S> = half.bitcast();
        let start: f64x8<S> = (u64x8::splat(simd, START) - (bits >> 1)).bitcast();
        let first = start * (-(half * start)).mul_add_precise(start, splat(FIRST));
        let root = first * (-(half * first)).mul_add_precise(first, splat(1.5));
        let factor = reach * root;
        factors[v] = factor.simd_lt(steps).select(factor, steps);
        marks[v] = half.simd_le(splat(0.5 * f64::MAX)).select(all, none);
    }
    (marks, factors)
}
