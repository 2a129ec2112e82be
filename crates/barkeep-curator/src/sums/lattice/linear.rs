//! Adds clipped log-ratios that are linear in the columns, in one pass over the records.

use super::ROUNDER;
use super::scalar::MOST;
use super::together::{LANES, MANY};
use super::vector::signed;
use crate::Clip;
use crate::records::rows::{Run, Stacked};
use barkeep_data::BLOCK;
use barkeep_model::Affine;
use barkeep_num::vector::fearless_simd::{Simd, f64x8, i64x8, prelude::*};
use barkeep_num::vector::{InVectors, in_vectors};

/// A column, its weight and its centre.
type Term<'a> = (Stacked<'a>, f64, f64);

/// Σu over the contributions u of records whose log-ratios are Σ_j w_j·(x_j − c_j); `None` where the machine has no wide vectors, or
/// too many columns are read. There are at most 2^16 records in a run.
///
/// The operations on a record are those of a model's own log-ratio and of [`Moments::add`](super::Moments::add), in the same order, on vectors of
/// records: columns with weight 0 are passed over, each other term is added in one rounding, and what is not a number adds 0.
pub(crate) fn add_linear(run: Run<'_>, ratio: &Affine, clip: Clip) -> Option<i64> {
    let mut terms: [Term<'_>; MANY] = [(Stacked::default(), 0.0, 0.0); MANY];
    let mut count = 0;
    for (j, (weight, centre)) in ratio.weights.iter().zip(&ratio.centres).enumerate() {
        if *weight != 0.0 {
            *terms.get_mut(count)? = (run.column(j), *weight, *centre);
            count += 1;
        }
    }
    let mut lanes = [0; LANES];
    let (records, steps) = (run.blocks() * BLOCK, clip.steps_per_one());
    in_vectors(Linear { terms: &terms[..count], records, steps, lanes: &mut lanes })
        .then(|| signed(lanes.iter().fold(0_i64, |sum, lane| sum.wrapping_add(*lane))))
}

/// The loop of [`add_linear`].
struct Linear<'a> {
    terms: &'a [Term<'a>],
    records: usize,
    steps: f64,
    lanes: &'a mut [i64; LANES],
}

impl InVectors for Linear<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { terms, records, steps, lanes } = self;
        let splat = |x: f64| f64x8::splat(simd, x);
        let mut sum = i64x8::splat(simd, 0);
        for start in (0..records).step_by(V * LANES) {
            let mut ratios = [splat(0.0); V];
            for (column, weight, centre) in terms {
                let values = column.part(start, V * LANES);
                for v in 0..V {
                    let deviation = f64x8::from_slice(simd, &values[v * LANES..][..LANES]) - splat(*centre);
                    ratios[v] = splat(*weight).mul_add_precise(deviation, ratios[v]);
                }
            }
            for ratio in ratios {
                let scaled = ratio * splat(steps);
                let cut = scaled.min(splat(MOST)).max(splat(-MOST));
                let rounded: i64x8<S> = (cut + splat(ROUNDER)).bitcast();
                // Bits add up as those of clipped gradients do.
                sum = scaled.simd_eq(scaled).select(sum + rounded, sum);
            }
        }
        sum.store_slice(lanes);
    }
}
