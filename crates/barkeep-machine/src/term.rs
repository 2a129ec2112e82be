//! Says what a unit, a record or a person, contributes to a question: a program over rows, a fold, a program over units.

use crate::program::{Output, Program, Unsound};

/// How the rows of a person become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// They are added.
    Sum,
    /// They are averaged: the mean of vectors in a convex set lies in it, so that a bound on a row is one on a person.
    Mean,
}

/// What a unit contributes before it is clipped.
///
/// `row` runs over rows. Where rows belong to persons, the outputs of a person's rows are folded in file order. Then `unit`, if there is one, runs
/// over units: column k is entry k of what the row program wrote, folded, and the column after the last is the number of rows. Where
/// every row is a record, that number is 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The program over rows.
    pub row: Program,
    /// How rows are folded.
    pub fold: Fold,
    /// The program over units.
    pub unit: Option<Program>,
}

impl Term {
    /// Checks that the program over units reads only what there is.
    ///
    /// # Errors
    /// [`Unsound`] where it reads more columns than the rows have entries and their number, or where rows write entries by level that
    /// it would have to read one by one.
    pub fn new(row: Program, fold: Fold, unit: Option<Program>) -> Result<Self, Unsound> {
        if let Some(unit) = &unit {
            if unit.columns().last().is_some_and(|column| *column as usize > row.width()) {
                return Err(Unsound("over units reads a column that rows do not write"));
            }
            if row.outputs().iter().any(|output| matches!(output, Output::By { .. })) {
                return Err(Unsound("over units follows one that writes by level"));
            }
        }
        Ok(Self { row, fold, unit })
    }

    /// The term whose rows are added and then clipped as they are.
    #[must_use]
    pub fn of(row: Program) -> Self {
        Self { row, fold: Fold::Sum, unit: None }
    }

    /// What leaves the last of its programs.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        self.unit.as_ref().unwrap_or(&self.row).outputs()
    }

    /// The number of entries of a unit.
    #[must_use]
    pub fn width(&self) -> usize {
        self.unit.as_ref().unwrap_or(&self.row).width()
    }
}
