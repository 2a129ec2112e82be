//! Finds what is wrong with cells before they are admitted, as far as a sink wants to know it.

use crate::{Column, Fault};

/// What a sink wants to know of faults.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Noting {
    /// Nothing.
    Nothing,
    /// How many there are.
    Count,
    /// Which cell has which.
    Each,
}

/// What is wrong with some cells of one column.
///
/// **Privacy.** Computed from records: no `Debug`, `Clone`, `Serialize` or `PartialEq`.
#[derive(Default)]
pub struct Faults {
    /// The number of cells; 0 where nothing is noted.
    pub cells: usize,
    /// How many are invalid.
    pub invalid: usize,
    /// How many were clamped.
    pub clamped: usize,
    /// The fault of each, in order; empty where they are only counted.
    pub each: Vec<Fault>,
}

impl Faults {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        (self.cells, self.invalid, self.clamped) = (0, 0, 0);
        self.each.clear();
    }

    /// Admits some cells, as they were read, and adds what was wrong with them.
    pub(crate) fn admit(&mut self, noting: Noting, column: &Column, values: &mut [f64]) {
        if noting == Noting::Each {
            self.each.extend(values.iter().map(|value| column.fault(*value)));
        }
        let [invalid, clamped] = column.admit_all(values);
        if noting != Noting::Nothing {
            self.cells += values.len();
            self.invalid += invalid;
            self.clamped += clamped;
        }
    }
}
