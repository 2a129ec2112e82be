//! Counts the work of one question, so that every question ends: with an answer, or with a typed refusal.

use std::cell::Cell;

/// Lattice points that one question may transform: some seconds.
const MOST: usize = 1 << 25;

/// What a look at a composition costs at least, in lattice points: it is planned first, however short its lattice.
const LOOK: usize = 1 << 14;

/// Lattice points that may still be transformed. All directions and lattices of a question share them.
#[derive(Debug)]
pub(super) struct Work(Cell<usize>);

impl Work {
    pub(super) fn new() -> Self {
        Self(Cell::new(MOST))
    }

    /// Pays for a look that transforms this many points; false if not enough was left.
    pub(super) fn spend(&self, points: usize) -> bool {
        let left = self.0.get().checked_sub(points.max(LOOK));
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}
