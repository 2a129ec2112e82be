//! Knows which person each row belongs to, without a way to print, compare or serialise it.

use crate::names::Names;
use crate::{Cell, Count, identifier};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a neighbouring data set differs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// One record.
    Record,
    /// One person: all the rows that name the person.
    Person {
        /// The most rows of a person that count, the first in file order; `None` where all do.
        most_rows: Option<u64>,
    },
}

impl Unit {
    /// What one is called.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Person { .. } => "person",
        }
    }

    /// What several are called.
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Record => "records",
            Self::Person { .. } => "persons",
        }
    }
}

impl fmt::Display for Unit {
    /// What a neighbouring data set differs in: "one record", or "one person's rows, at most 5".
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record => out.write_str("one record"),
            Self::Person { most_rows: None } => out.write_str("one person's rows"),
            Self::Person { most_rows: Some(most) } => write!(out, "one person's rows, at most {most}"),
        }
    }
}

/// Which person each row belongs to: persons are numbered in the order in which they first appear.
///
/// [`identifier`] says which person a cell names. Rows whose cell names nobody are one person's. Memory is four bytes a row, and the identifiers, each once with some twenty bytes.
///
/// **Privacy.** Identifiers and their order say who is in the data. There is no `Debug`, `Clone`, `Serialize` or `PartialEq`,
/// and no message shows one. What can be seen from outside is whether the number of persons is the declared one.
pub struct Roster {
    persons: Names,
    rows: Vec<u32>,
    /// How many persons there may be.
    count: Count,
}

impl Roster {
    /// For as many persons as `count` says.
    #[must_use]
    pub fn new(count: Count) -> Self {
        Self { persons: Names::default(), rows: Vec::new(), count }
    }

    /// Adds the next row, of the person whom a text names; false if that is a person too many.
    #[must_use]
    pub fn push(&mut self, text: &[u8]) -> bool {
        self.push_cell(Cell::Text(text))
    }

    /// Adds the next row, of the person whom a cell names; false if that is a person too many.
    #[must_use]
    pub fn push_cell(&mut self, cell: Cell<'_>) -> bool {
        identifier(cell, |name| {
            let person = match self.persons.find(name) {
                None if self.count.left(self.persons.len()) > 0 => self.persons.add(name),
                known => known,
            };
            self.rows.extend(person);
            person.is_some()
        })
    }

    /// Whether there may be as many persons as were seen.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.count.admits(self.persons.len())
    }

    /// How many persons there may be.
    pub(crate) fn count(&self) -> Count {
        self.count
    }

    /// The person of each row, in file order.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The person of each row, in file order, without the identifiers.
    #[must_use]
    pub fn into_rows(self) -> Vec<u32> {
        self.rows
    }

    /// The persons' identifiers, in the order of their numbers.
    pub(crate) fn identifiers(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.persons.len()).filter_map(|number| self.persons.get(number))
    }

    /// The number of persons seen.
    #[must_use]
    pub fn persons(&self) -> usize {
        self.persons.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_identifier_are_one_person_wherever_they_stand() {
        let mut roster = Roster::new(Count::Exactly(4));
        for identifier in ["b", "a", " b ", "", "a", "  ", "10"] {
            assert!(roster.push(identifier.as_bytes()));
        }
        // No UTF-8 is no identifier: the person of all such rows and of the empty ones.
        assert!(roster.push(&[0xff, 0xfe]));
        assert_eq!(roster.rows(), [0, 1, 0, 2, 1, 2, 3, 2]);
        assert!(roster.is_complete() && roster.persons() == 4);
        assert!(!roster.push(b"one too many"));
        assert!(!Roster::new(Count::Exactly(1)).is_complete() && Roster::new(Count::About(1)).is_complete());
    }
}
