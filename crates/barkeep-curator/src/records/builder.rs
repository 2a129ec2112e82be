//! Fills a table with admitted records, row by row or from a file.

use crate::records::table::{Filling, Table};
use barkeep_data::{Admission, Count, CsvOptions, Error, Schema, View, read};
use std::path::Path;

/// Builds a [`Table`] row by row, in memory reserved once.
///
/// ```
/// use barkeep_curator::TableBuilder;
/// use barkeep_data::{Column, Schema};
/// let schema = Schema::new(vec![Column::real("height", 0.5, 2.5, 1.7)?])?;
/// let mut builder = TableBuilder::new(schema, 2)?;
/// builder.push_row(&[1.82])?;
/// builder.push_row(&[f64::NAN])?; // admitted as 1.7
/// let table = builder.finish()?;
/// # Ok::<(), barkeep_data::Error>(())
/// ```
pub struct TableBuilder {
    admission: Admission,
    filling: Filling,
}

impl TableBuilder {
    /// Reserves the memory for exactly `records` rows of this schema, which a model sees as declared.
    ///
    /// # Errors
    /// If `records` is 0 or above 2³², or there is not enough memory.
    pub fn new(schema: Schema, records: usize) -> Result<Self, Error> {
        Self::viewed(View::all(schema), Count::Exactly(records))
    }

    /// Prepares for as many rows as `count` says, whose features are computed as they come.
    ///
    /// # Errors
    /// As [`TableBuilder::new`].
    pub fn viewed(view: View, count: Count) -> Result<Self, Error> {
        let filling = Filling::reserve(view.schema(), count)?;
        Ok(Self { admission: Admission::new(view, count)?, filling })
    }

    /// Adds one record; each value is admitted by its column (clamped, rounded, or replaced by `invalid`).
    ///
    /// # Errors
    /// If the row's width is not the schema's, or all declared rows are there already.
    pub fn push_row(&mut self, row: &[f64]) -> Result<(), Error> {
        self.admission.push_row(row, &mut self.filling)
    }

    /// The table.
    ///
    /// # Errors
    /// If fewer rows than declared were added, or rows whose number is secret found no memory.
    pub fn finish(mut self) -> Result<Table, Error> {
        self.admission.finish(&mut self.filling)?;
        self.filling.finish()
    }
}

impl Table {
    /// Reads a file of records, CSV or Parquet, as [`barkeep_data::read`] does.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read`], and as [`TableBuilder::new`].
    pub fn read(
        path: impl AsRef<Path>,
        view: &View,
        count: Count,
        options: CsvOptions,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Self, Error> {
        let mut filling = Filling::reserve(view.schema(), count)?;
        read(path, view, count, options, &mut filling, progress)?;
        filling.finish()
    }
}
