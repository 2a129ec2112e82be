//! Rows on their way from a file of either kind to a sink.

use std::path::Path;

use crate::{Admission, Count, Error, Roster, Sink};

/// Whose rows are read.
pub(crate) struct Naming<'a> {
    /// The column that says.
    pub(crate) column: &'a str,
    /// What it says.
    pub(crate) roster: &'a mut Roster,
}

impl Naming<'_> {
    /// Says that a file names another number of persons than declared.
    pub(crate) fn wrong_count(&self, path: &Path) -> Error {
        let (path, column) = (path.to_path_buf(), self.column.to_owned());
        Error::Persons { path, column, declared: self.roster.count().declared() }
    }
}

/// Rows on their way from one of several files.
pub(crate) struct Reading<'a> {
    pub(crate) admission: &'a mut Admission,
    pub(crate) count: Count,
    /// Whether this file is the last.
    pub(crate) last: bool,
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) progress: &'a mut dyn FnMut(usize),
}
