//! Reads files into plain columns, so that tests can look at every value.

use barkeep_data::{Count, CsvOptions, Error, Schema, Sink, View};
use std::path::Path;

/// What a reader handed on.
pub(crate) struct Collected {
    columns: Vec<Vec<f64>>,
}

impl Collected {
    pub(crate) fn of(schema: &Schema) -> Self {
        Self { columns: vec![Vec::new(); schema.width()] }
    }

    pub(crate) fn records(&self) -> usize {
        self.columns[0].len()
    }

    pub(crate) fn column(&self, index: usize) -> &[f64] {
        &self.columns[index]
    }
}

impl Sink for Collected {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        for (index, column) in self.columns.iter_mut().enumerate() {
            let start = column.len();
            column.resize(start + records, f64::NAN);
            write(index, &mut column[start..]);
        }
    }
}

/// Reads a file as `barkeep_data::read` does, and keeps its columns.
pub(crate) fn read(
    path: impl AsRef<Path>,
    view: &View,
    count: Count,
    options: CsvOptions,
    progress: &mut dyn FnMut(usize),
) -> Result<Collected, Error> {
    let mut collected = Collected::of(view.schema());
    barkeep_data::read(path, view, count, options, &mut collected, progress)?;
    Ok(collected)
}
