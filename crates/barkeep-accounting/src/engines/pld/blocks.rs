//! Composes steps that are known by dots in blocks: many of them as one, from above.
//!
//! A lattice of spacing h moves ln δ of n steps by about n·s(1+s)·h²/4, and has Λ/h points for a window Λ that grows like √n. If m steps
//! are composed first, their own window is shorter by √(n/m). What comes out is again a pair known by its atoms, n/m of which stand on
//! a lattice that may be wider by √m. Both lattices together are far shorter than one for all. Blocks of blocks serve the more.
//!
//! # Proof that it is a bound
//! δ of a composition is a sum of non-negative terms, linear in the masses of each part, and grows with every loss. Let μ be the
//! losses of m steps on a lattice that bounds each of them from above ([`lattice`](super::lattice)). A sum within the window is at its
//! entry, and sums from outside only add to entries ([`engine`](super::engine)); so entries, raised by the error of the transform and
//! undone of their tilt, are at least the masses of μ there. Sums below the window are moved up to its first entry and sums above it to
//! infinity, each with Chernoff's bound of their chance. Thus the atoms of a block are at least those of μ, or of μ with losses
//! raised, and any composition of blocks bounds that of as many times m steps. ∎
//!
//! A block too many is an upper bound as well: a step more never lowers δ.

use barkeep_num::convolution::Planner;

use super::atoms::Atoms;
use super::composer::few_digits;
use super::engine::{Engine, Side};
use super::lattice::{Nodes, Tilt, split};
use super::plan::{Model, Target, Window};
use super::sketch::Sketch;
use super::tabulated::{Tabulated, thinned};
use crate::{Delta, Steps};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks of a run, at least: the last one may be nearly empty.
const BLOCKS: u64 = 1 << 12;

/// What a block is made of, at most: steps, or smaller blocks.
const PARTS: u64 = 1 << 6;

/// About what the lattice of all blocks of one size may move ln δ by.
const WIDTH: f64 = 1e-3;

/// ln of the part of δ that all blocks together may put at infinity, or move up by a window.
const LOST: f64 = -25.0;

/// The longest lattice of a block.
const LONGEST: f64 = (1 << 17) as f64;

/// Steps of one block for this many in all; none where that would not help.
pub(super) fn size(steps: u64) -> Option<u64> {
    let most = steps / BLOCKS;
    (most >= 2).then(|| 1 << most.ilog2())
}

/// The most steps up to a number that fill whole blocks.
pub(crate) fn whole(Steps(steps): Steps) -> Steps {
    Steps(steps - size(steps).map_or(0, |each| steps % each))
}

/// Blocks that are kept; the oldest is forgotten.
const MOST_MADE: usize = 4;

/// Blocks of one kind of step that were made, by their size and the quarter of ln δ they were made for; clones share them.
///
/// A block bounds its steps whatever it was made for, so that one serves all runs of about as many steps: a plan asks for it
/// to find their number, their ε and what they mean for one person.
#[derive(Debug, Clone, Default)]
pub(super) struct Made(Arc<Mutex<Vec<(u64, f64, Tabulated)>>>);

impl Made {
    /// `each` steps as one, from above, for as many as are composed in blocks of that size and about this δ; None where a lattice would
    /// be too long.
    pub(super) fn block(&self, upper: &Atoms, each: u64, delta: Delta) -> Option<Tabulated> {
        let quarters = (4.0 * libm::log(delta.get())).floor();
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().find(|(size, depth, _)| *size == each && *depth == quarters);
        if let Some((_, _, block)) = known {
            return Some(block.clone());
        }
        // From 1 to 2 times BLOCKS of them.
        let steps = each.saturating_mul(BLOCKS + BLOCKS / 2);
        let found = block(upper, each, steps, 0.25 * quarters)?;
        if made.len() >= MOST_MADE {
            made.remove(0);
        }
        made.push((each, quarters, found.clone()));
        Some(found)
    }
}

/// `each` steps as one, from above, for about `steps` of them and δ = e^`log_delta`; None where a lattice would be too long.
fn block(upper: &Atoms, each: u64, steps: u64, log_delta: f64) -> Option<Tabulated> {
    if each <= PARTS {
        return composed(upper, each, steps, log_delta);
    }
    let smaller = composed(upper, PARTS, steps, log_delta)?;
    block(&smaller.upper, each / PARTS, steps / PARTS, log_delta)
}

/// One block of `each` steps.
fn composed(upper: &Atoms, each: u64, steps: u64, log_delta: f64) -> Option<Tabulated> {
    let (count, times) = (steps as f64, each as f64);
    let outline = thinned(&upper.atoms);
    let model = |steps: f64| Model { sketches: vec![Sketch::new(&outline, steps)] };
    let rate = model(count).saddle(Target::LogDelta(log_delta)).tilt;
    let spacing = (4.0 * WIDTH / (rate * (1.0 + rate) * count)).sqrt();
    let own = model(times);
    // P(S ≥ T) ≤ e^(K(z)−zT), and the same below.
    let lost = log_delta + LOST - libm::log(count / times);
    let usual = (-2.0 * lost).sqrt() / own.cumulants(0.0).variance.sqrt();
    let (mut high, mut outer) = (f64::INFINITY, usual);
    let (mut low, mut under) = (f64::NEG_INFINITY, usual);
    for lean in (-4..=4).map(|power| usual * libm::exp2(0.5 * f64::from(power))) {
        let end = (own.cumulants(lean).value - lost) / lean;
        if end < high {
            (high, outer) = (end, lean);
        }
        let end = (lost - own.cumulants(-lean).value) / lean;
        if end > low {
            (low, under) = (end, lean);
        }
    }
    let points = (high - low) / spacing;
    if !(high > 0.0 && low < 0.0 && points < LONGEST) {
        return None;
    }
    let mut planner = Planner::default();
    let cyclic = planner.cyclic((points as usize + 2).next_power_of_two())?;
    let step = few_digits((high - low) / (cyclic.length() as f64 - 2.0));
    let window = Window {
        tilt: rate,
        low,
        high,
        below: -under - rate,
        above: outer - rate,
        returning: 0.0,
        sinking: 0.0,
    };
    let engine = Engine { cyclic, step, window, rate, reference: 0.0 };
    let indices = (low / step).floor() as i64..=(high / step).ceil() as i64;
    let nodes = Nodes { offset: 0.0, step, indices: indices.collect(), concentrated: false };
    let tilt = Tilt { rate, log_scale: model(1.0).cumulants(rate).value };
    let part = engine.part(&nodes, &split(upper, &nodes, tilt), tilt);
    let atoms = engine.compose(&[(&part, each)], Side::Upper).into_atoms()?;
    Some(Tabulated::from_above(atoms))
}

#[cfg(test)]
mod tests;
