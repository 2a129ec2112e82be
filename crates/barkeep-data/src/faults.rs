//! Finds what is wrong with cells before they are admitted, as far as a sink wants to know it.

use crate::schema::{is_bool, is_level, round};
use crate::{Column, Kind};

/// What is wrong with a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Valid,
    /// It is missing, unreadable or undeclared: the column's `invalid` stands in.
    Invalid,
    /// It lies outside the bounds, and was moved to the nearer one.
    Clamped,
}

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

    /// Adds those of some cells, as they were read.
    pub(crate) fn add(&mut self, noting: Noting, column: &Column, values: &[f64]) {
        if noting == Noting::Nothing {
            return;
        }
        let [invalid, clamped] = match column.kind() {
            Kind::Real { min, max } => {
                times(values, |value| [value.is_nan(), (value < *min) | (value > *max)])
            }
            Kind::Integer { min, max } => times(values, |value| {
                let whole = round(value);
                [whole.is_nan(), (whole < *min) | (whole > *max)]
            }),
            Kind::Bool => times(values, |value| [!is_bool(value), false]),
            Kind::Category { levels } => {
                let count = levels.len() as f64;
                times(values, |value| [!is_level(value, count), false])
            }
        };
        self.cells += values.len();
        self.invalid += invalid;
        self.clamped += clamped;
        if noting == Noting::Each {
            self.each.extend(values.iter().map(|value| column.fault(*value)));
        }
    }
}

/// How many values are the one, and how many the other, in a loop without jumps.
#[inline]
fn times(values: &[f64], are: impl Fn(f64) -> [bool; 2]) -> [usize; 2] {
    values.iter().fold([0; 2], |[one, other], value| {
        let [is_one, is_other] = are(*value);
        [one + usize::from(is_one), other + usize::from(is_other)]
    })
}
