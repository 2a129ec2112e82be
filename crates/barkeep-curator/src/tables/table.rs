//! Holds the records of a run, wherever they are: in memory, or in shards that others keep.

use crate::records::stored::Stored;
use crate::sums::terms::Widths;
use crate::tables::sweep::Sweep;
use crate::{Refused, Term};
use barkeep_data::{Schema, Unit};

/// The records of a run, admitted by the schema: every value is finite and inside its column's range.
///
/// **Privacy.** Only this crate asks the records, for questions that were paid for. There is no `Debug`, `Clone`,
/// `Serialize` or `PartialEq`.
///
/// ```compile_fail,E0616
/// fn records(table: &barkeep_curator::Table) {
///     let _ = &table.held;
/// }
/// ```
pub struct Table {
    schema: Schema,
    held: Box<dyn Sweep>,
}

impl Table {
    /// Records that answer by `held`.
    pub(crate) fn held(schema: Schema, held: impl Sweep + 'static) -> Self {
        Self { schema, held: Box::new(held) }
    }

    /// What is publicly known of the columns.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What a neighbouring data set differs in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.held.unit()
    }

    /// Checks what a sum adds up over these records, and says how long its answer is.
    ///
    /// # Errors
    /// As [`Term::check`].
    pub(crate) fn widths(&self, term: Term<'_>) -> Result<Widths, Refused> {
        term.check(self.schema.width(), self.unit(), self.held.faults())
    }

    /// What answers.
    pub(crate) fn sweep(&self) -> &dyn Sweep {
        &*self.held
    }
}

impl From<Stored> for Table {
    fn from(stored: Stored) -> Self {
        Self::held(stored.schema().clone(), stored)
    }
}
