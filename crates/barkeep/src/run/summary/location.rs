//! Says where draws lie: mean, spread and quantiles of every parameter and quantity, exactly, in passes over draws that are not in memory.

use crate::diagnostics::moments::{Between, MomentPasses};
use crate::diagnostics::selection::{SHIFTS, Selection};
use crate::run::storage::{Source, pass};

/// The probabilities of a summary's quantiles.
const PROBABILITIES: [f64; 5] = [0.05, 0.055, 0.5, 0.945, 0.95];

/// Where the draws of one number lie; `None` without draws or if one is not finite.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Location {
    pub(super) mean: Option<f64>,
    /// `None` also for a single draw.
    pub(super) sd: Option<f64>,
    /// In the order of [`PROBABILITIES`].
    pub(super) quantiles: [Option<f64>; 5],
}

/// Where each parameter and quantity lies, all chains together, without the first `burn_in` of each.
///
/// Four passes for the moments and six for the quantiles; at most ten tables of 2^11 counts a parameter.
///
/// # Errors
/// The draws cannot be read.
pub(super) fn located<S: Source>(draws: &S, burn_in: usize) -> Result<Vec<Location>, S::Error> {
    let width = draws.heading().width();
    let mut moments = vec![MomentPasses::default(); width];
    for step in [MomentPasses::look, MomentPasses::add, MomentPasses::correct, MomentPasses::square] {
        pass(draws, burn_in, &mut |_, piece| {
            for row in piece.values.chunks_exact(width) {
                moments.iter_mut().zip(row).for_each(|(moments, value)| step(moments, *value));
            }
        })?;
    }
    let places = |moments: &MomentPasses| {
        let count = if moments.is_usable() { moments.count() } else { 0 };
        PROBABILITIES.map(|probability| Between::new(count, probability))
    };
    let mut selections: Vec<Selection> = moments
        .iter()
        .map(|moments| Selection::new(places(moments).into_iter().flatten().flat_map(|place| place.ranks)))
        .collect();
    for (number, shift) in SHIFTS.into_iter().enumerate() {
        pass(draws, burn_in, &mut |_, piece| {
            for row in piece.values.chunks_exact(width) {
                selections.iter_mut().zip(row).for_each(|(selection, value)| selection.look(shift, *value));
            }
        })?;
        let next = SHIFTS.get(number + 1).copied();
        selections.iter_mut().for_each(|selection| selection.end(shift, next));
    }
    let location = |(moments, selection): (&MomentPasses, &Selection)| {
        let found = moments.found();
        Location {
            mean: found.map(|found| found.mean),
            sd: found.filter(|_| moments.count() > 1).map(|found| found.sd),
            quantiles: places(moments).map(|place| place?.value(|rank| selection.at(rank))),
        }
    };
    Ok(moments.iter().zip(&selections).map(location).collect())
}
