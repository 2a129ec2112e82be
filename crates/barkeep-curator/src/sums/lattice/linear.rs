//! Adds clipped log-ratios that are linear in the columns, in one pass over the records.

use super::ROUNDER;
use super::scalar::MOST;
use super::together::{LANES, read};
use super::vector::signed;
use crate::Clip;
use crate::records::rows::Run;
use barkeep_data::BLOCK;
use barkeep_model::Affine;
use barkeep_num::vector::fearless_simd::{Simd, f64x8, i64x8, prelude::*};
use barkeep_num::vector::{InVectors, in_vectors};

/// Columns that are read side by side: of more the machine does not see all coming.
const ABREAST: usize = 12;

/// Σu over the contributions u of records whose log-ratios are Σ_j w_j·(x_j − c_j); `None` where the machine has no wide vectors. There are
/// at most 2^16 records in a run.
///
/// The operations on a record are those of a model's own log-ratio and of [`Moments::add`](super::Moments::add), in the same order, on vectors of
/// records: columns with weight 0 are passed over, each other term is added in one rounding, and what is not a number adds 0.
pub(crate) fn add_linear(run: Run<'_>, ratio: &Affine, clip: Clip) -> Option<i64> {
    let mut lanes = [0; LANES];
    in_vectors(Linear { run, ratio, steps: clip.steps_per_one(), lanes: &mut lanes })
        .then(|| signed(lanes.iter().fold(0_i64, |sum, lane| sum.wrapping_add(*lane))))
}

/// The loop of [`add_linear`].
struct Linear<'a> {
    run: Run<'a>,
    ratio: &'a Affine,
    steps: f64,
    lanes: &'a mut [i64; LANES],
}

impl InVectors for Linear<'_> {
    #[inline(always)]
    fn run<S: Simd, const V: usize>(self, simd: S) {
        let Self { run, ratio, steps, lanes } = self;
        let splat = |x: f64| f64x8::splat(simd, x);
        let mut sum = i64x8::splat(simd, 0);
        let mut partial = [0.0; BLOCK];
        for block in 0..run.blocks() {
            let terms = ratio.weights.iter().zip(&ratio.centres).enumerate();
            let mut terms = terms.filter(|(_, (weight, _))| **weight != 0.0).peekable();
            let mut is_first = true;
            while terms.peek().is_some() {
                let mut group = [(&[][..], 0.0, 0.0); ABREAST];
                let mut count = 0;
                for (slot, (j, (weight, centre))) in group.iter_mut().zip(terms.by_ref()) {
                    *slot = (run.column(j).part(block * BLOCK, BLOCK), *weight, *centre);
                    count += 1;
                }
                let is_last = terms.peek().is_none();
                for start in (0..BLOCK).step_by(V * LANES) {
                    let mut ratios = if is_first { [splat(0.0); V] } else { read(simd, &partial, start) };
                    for (values, weight, centre) in &group[..count] {
                        let values = read::<S, V>(simd, values, start);
                        for v in 0..V {
                            let deviation = values[v] - splat(*centre);
                            ratios[v] = splat(*weight).mul_add_precise(deviation, ratios[v]);
                        }
                    }
                    for (v, ratio) in ratios.into_iter().enumerate() {
                        if is_last {
                            let scaled = ratio * splat(steps);
                            let cut = scaled.min(splat(MOST)).max(splat(-MOST));
                            let rounded: i64x8<S> = (cut + splat(ROUNDER)).bitcast();
                            // Bits add up as those of clipped gradients do.
                            sum = scaled.simd_eq(scaled).select(sum + rounded, sum);
                        } else {
                            ratio.store_slice(&mut partial[start + v * LANES..][..LANES]);
                        }
                    }
                }
                is_first = false;
            }
        }
        sum.store_slice(lanes);
    }
}
