//! Knows which person each row belongs to, without a way to print, compare or serialise it.

use crate::Count;
use crate::names::Names;
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
/// An identifier is text, compared byte by byte without the blanks around it. Rows whose identifier is empty, or no UTF-8, are
/// one person's. Memory is four bytes a row, and the identifiers, each once with some twenty bytes.
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

    /// Adds the next row; false if that is a person too many.
    #[must_use]
    pub fn push(&mut self, identifier: &[u8]) -> bool {
        let identifier = std::str::from_utf8(identifier).map_or("", str::trim).as_bytes();
        let person = match self.persons.find(identifier) {
            None if self.count.left(self.persons.len()) > 0 => self.persons.add(identifier),
            known => known,
        };
        self.rows.extend(person);
        person.is_some()
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
