//! Follows δ of one composition along ε, from above: a lattice made for one ε serves those around it.
//!
//! Whatever ε a lattice was made for, its upper side is at or above δ at every ε, and its lower side shows how far. So of several
//! lattices the least upper side counts, and a new one is made only where none is close.

use std::cell::RefCell;

use barkeep_num::convolution::Planner;

use super::composer::{Bounds, Step};
use super::composition::Accuracy;
use super::plan::{Model, Target};
use super::query::{Query, above};
use super::work::Work;
use crate::{Delta, Epsilon, Error};

/// ln of a δ below which it does not matter how close a bound is.
const NOTHING: f64 = -30.0;

/// How much narrower the bounds of a second lattice for the same ε should be.
const FINER: f64 = 0.1;

/// Lattices kept of a direction at most.
const MOST: usize = 32;

/// A composition that is asked for δ at many ε.
pub(crate) struct Followed {
    directions: Vec<Direction>,
    accuracy: Accuracy,
    /// The δ for which the first lattice is made.
    least: Delta,
}

struct Direction {
    steps: Vec<Step>,
    model: Model,
    lattices: RefCell<Vec<Bounds>>,
}

impl Followed {
    /// From all directions in which the steps may occur, mostly to be asked where δ is at least `least`.
    ///
    /// # Errors
    /// As [`Query::new`].
    pub(super) fn new(directions: Vec<Vec<Step>>, accuracy: Accuracy, least: Delta) -> Result<Self, Error> {
        let outline = |steps: Vec<Step>| {
            // δ may be anything that f64 can tell from 0.
            let model = Query::new(&steps, -745.0, &Work::new())?.into_model();
            Ok(Direction { steps, model, lattices: RefCell::default() })
        };
        let directions = directions.into_iter().filter(|steps| !steps.is_empty());
        Ok(Self { directions: directions.map(outline).collect::<Result<_, Error>>()?, accuracy, least })
    }

    /// An upper bound of δ at ε, as close as the accuracy asks or work allows.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if no lattice gives one.
    pub(crate) fn delta(&self, epsilon: Epsilon) -> Result<f64, Error> {
        let mut worst: f64 = 0.0;
        for direction in &self.directions {
            worst = worst.max(direction.delta(epsilon.get(), self.accuracy, self.least)?);
        }
        Ok(worst)
    }
}

impl Direction {
    fn delta(&self, epsilon: f64, accuracy: Accuracy, least: Delta) -> Result<f64, Error> {
        let (work, mut planner) = (Work::new(), Planner::default());
        let query = Query::of(&self.steps, self.model.clone(), &work);
        if let Some(known) = query.delta_without_lattice(epsilon) {
            return Ok(known.upper);
        }
        let mut lattices = self.lattices.borrow_mut();
        // The first is made where δ is least, and shows how little is left far beyond. Rare large losses want a finer one.
        let here = Target::Epsilon(epsilon);
        for (target, finer) in [(Target::LogDelta(libm::log(least.get())), 1.0), (here, 1.0), (here, FINER)] {
            if let Some(log_delta) = close(&lattices, epsilon, accuracy) {
                return Ok(above(log_delta));
            }
            if lattices.len() < MOST
                && (lattices.is_empty() || target == here)
                && let Ok(bounds) = query.lattice(target, finer * accuracy.get(), &mut planner)
            {
                lattices.push(bounds);
            }
        }
        if let Some(log_delta) = close(&lattices, epsilon, accuracy) {
            return Ok(above(log_delta));
        }
        let least = lattices.iter().map(|bounds| bounds.upper.log_delta(epsilon)).fold(0.0, f64::min);
        let found = query.delta(epsilon, accuracy, &mut planner)?;
        Ok(found.upper.min(above(least)))
    }
}

/// The least ln δ that lattices give, if it is close enough to the truth or as good as nothing.
fn close(lattices: &[Bounds], epsilon: f64, accuracy: Accuracy) -> Option<f64> {
    let upper = lattices.iter().map(|bounds| bounds.upper.log_delta(epsilon)).fold(f64::INFINITY, f64::min);
    let lower =
        lattices.iter().map(|bounds| bounds.lower.log_delta(epsilon)).fold(f64::NEG_INFINITY, f64::max);
    (upper <= NOTHING || upper - lower <= accuracy.get()).then_some(upper)
}
