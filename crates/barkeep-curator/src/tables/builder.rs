//! Fills a table with admitted records, row by row, from a file or from a frame in memory.

use crate::records::layout::Layout;
use crate::records::stored::{Filling, Stored};
use crate::tables::table::Table;
use barkeep_data::{
    Admission, Count, CsvOptions, Error, Frame, Roster, Schema, View, read_files, read_files_persons,
    read_frame, read_frame_persons, read_persons,
};
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
    /// Reserves the memory for exactly `records` rows of this schema, which programs read as declared.
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
        let filling = Filling::viewed(&view, count)?.counting(view.source().width());
        Ok(Self { admission: Admission::new(view, count)?, filling })
    }

    /// As [`TableBuilder::viewed`], with every column as f64 whatever the number of records is: to measure against.
    ///
    /// # Errors
    /// As [`TableBuilder::new`].
    pub fn wide(view: View, count: Count) -> Result<Self, Error> {
        let filling = Filling::reserve(view.schema(), count)?.counting(view.source().width());
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
    pub fn finish(self) -> Result<Table, Error> {
        Ok(self.stored()?.into())
    }

    /// The table in memory.
    pub(crate) fn stored(self) -> Result<Stored, Error> {
        self.filled()?.finish()
    }

    /// All rows handed over.
    fn filled(mut self) -> Result<Filling, Error> {
        self.admission.finish(&mut self.filling)?;
        Ok(self.filling)
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
        Self::read_files(&[path], view, count, options, progress)
    }

    /// Reads several files of records one after the other, as [`barkeep_data::read_files`] does.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_files`], and as [`TableBuilder::new`].
    pub fn read_files(
        paths: &[impl AsRef<Path>],
        view: &View,
        count: Count,
        options: CsvOptions,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Self, Error> {
        let mut filling = Filling::viewed(view, count)?.counting(view.source().width());
        read_files(paths, view, count, options, &mut filling, progress)?;
        Ok(filling.finish()?.into())
    }

    /// Reads several files whose rows belong to persons, as [`Table::read_persons`] reads one.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_files_persons`]; if the rows do not fit into memory.
    pub fn read_files_persons(
        paths: &[impl AsRef<Path>],
        view: &View,
        person: &str,
        count: Count,
        most_rows: Option<u64>,
        options: CsvOptions,
    ) -> Result<Self, Error> {
        Self::filled_by_person(view, about(count), count, most_rows, |filling| {
            read_files_persons(paths, view, person, count, options, filling)
        })
    }

    /// Reads a file whose rows belong to as many persons as `count` says, as [`barkeep_data::read_persons`] does: `person`
    /// names the column that says whose row it is. The first `most_rows` rows of each count, or all.
    ///
    /// **Privacy.** The number of rows stays inside: no message shows it. That a file names another number of persons than
    /// declared is refused, and seen.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_persons`]; if the rows do not fit into memory.
    pub fn read_persons(
        path: impl AsRef<Path>,
        view: &View,
        person: &str,
        count: Count,
        most_rows: Option<u64>,
        options: CsvOptions,
    ) -> Result<Self, Error> {
        Self::filled_by_person(view, about(count), count, most_rows, |filling| {
            read_persons(path, view, person, count, options, filling)
        })
    }

    /// Reads a frame of records, as [`barkeep_data::read_frame`] does.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_frame`], and as [`TableBuilder::new`].
    pub fn read_frame(
        frame: &mut dyn Frame,
        view: &View,
        count: Count,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Self, Error> {
        let mut filling = Filling::viewed(view, count)?.counting(view.source().width());
        read_frame(frame, view, count, &mut filling, progress)?;
        Ok(filling.finish()?.into())
    }

    /// Reads a frame that holds one shard of the records: any number of them, none included.
    ///
    /// `count` says how many records, or persons, all shards hold together; `person` names the column that says whose row it is,
    /// where rows belong to persons.
    ///
    /// **Privacy.** The number of records of a shard is shown to nobody.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_frame`], but for the number of records.
    pub fn read_shard(
        frame: &mut dyn Frame,
        view: &View,
        person: Option<&str>,
        count: Count,
        most_rows: Option<u64>,
    ) -> Result<Self, Error> {
        let any = Count::About(1);
        let Some(person) = person else {
            let filling = Filling::reserve(view.schema(), any)?.counting(view.source().width());
            let mut filling = filling.of_all(count);
            read_frame(frame, view, any, &mut filling, &mut |_| {})?;
            return Ok(filling.finish()?.into());
        };
        Self::filled_by_person(view, any, count, most_rows, |filling| {
            read_frame_persons(frame, view, person, any, filling)
        })
    }

    /// Reads a frame whose rows belong to persons, as [`Table::read_persons`] reads a file.
    ///
    /// # Errors
    /// Those of [`barkeep_data::read_frame_persons`]; if the rows do not fit into memory.
    pub fn read_frame_persons(
        frame: &mut dyn Frame,
        view: &View,
        person: &str,
        count: Count,
        most_rows: Option<u64>,
    ) -> Result<Self, Error> {
        Self::filled_by_person(view, about(count), count, most_rows, |filling| {
            read_frame_persons(frame, view, person, count, filling)
        })
    }

    /// Takes any number of rows, about as many as `rows` says, and sorts them by person once `read` says whose they are.
    fn filled_by_person(
        view: &View,
        rows: Count,
        count: Count,
        most_rows: Option<u64>,
        read: impl FnOnce(&mut Filling) -> Result<Roster, Error>,
    ) -> Result<Self, Error> {
        let filling = Filling::laid_out(view.schema(), Layout::of(view, count), rows)?;
        let mut filling = filling.noting(view.source().width());
        let roster = read(&mut filling)?;
        let noted = filling.take_noted();
        let noted = noted.as_deref().map(|noted| (noted, count));
        Ok(filling.finish()?.by_person(&roster, most_rows, noted)?.into())
    }
}

/// Any number of rows, a guess of which is the number of persons.
fn about(count: Count) -> Count {
    Count::About(count.declared())
}

/// Builds a [`Table`] of persons with any number of rows each, row by row.
///
/// ```
/// use barkeep_curator::PersonsBuilder;
/// use barkeep_data::{Column, Count, Schema, Unit, View};
/// let schema = Schema::new(vec![Column::real("pressure", 50.0, 250.0, 120.0)?])?;
/// let mut visits = PersonsBuilder::new(View::all(schema), Count::Exactly(2), Some(5))?;
/// visits.push_row("ada", &[118.0])?;
/// visits.push_row("bo", &[131.0])?;
/// visits.push_row("ada", &[124.0])?;
/// assert_eq!(visits.finish()?.unit(), Unit::Person { most_rows: Some(5) });
/// # Ok::<(), barkeep_data::Error>(())
/// ```
pub struct PersonsBuilder {
    rows: TableBuilder,
    roster: Roster,
    count: Count,
    most_rows: Option<u64>,
}

impl PersonsBuilder {
    /// Prepares for the rows of as many persons as `count` says, of whom the first `most_rows` rows each count, or all.
    ///
    /// # Errors
    /// As [`TableBuilder::new`].
    pub fn new(view: View, count: Count, most_rows: Option<u64>) -> Result<Self, Error> {
        let columns = view.source().width();
        let TableBuilder { admission, filling } = TableBuilder::viewed(view, about(count))?;
        let rows = TableBuilder { admission, filling: filling.noting(columns) };
        Ok(Self { rows, roster: Roster::new(count), count, most_rows })
    }

    /// Adds a row of a person; each value is admitted by its column. Rows without a person's name are one person's.
    ///
    /// # Errors
    /// If the row's width is not the schema's, or this is a person too many.
    pub fn push_row(&mut self, person: &str, row: &[f64]) -> Result<(), Error> {
        self.rows.push_row(row)?;
        if self.roster.push(person.as_bytes()) { Ok(()) } else { Err(self.wrong_count()) }
    }

    /// The table.
    ///
    /// # Errors
    /// If there are fewer persons than declared, or the rows do not fit into memory.
    pub fn finish(self) -> Result<Table, Error> {
        if !self.roster.is_complete() {
            return Err(self.wrong_count());
        }
        let mut filling = self.rows.filled()?;
        let noted = filling.take_noted();
        let noted = noted.as_deref().map(|noted| (noted, self.count));
        Ok(filling.finish()?.by_person(&self.roster, self.most_rows, noted)?.into())
    }

    fn wrong_count(&self) -> Error {
        Error::People { declared: self.count.declared() }
    }
}
