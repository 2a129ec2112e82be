//! Reads records from a frame in memory, such as a DataFrame, by the rules for files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::header::{locate, locate_person};
use crate::parquet::named;
use crate::schema::Cells;
use crate::{Admission, Cell, Count, Error, Roster, Schema, Sink, View};

/// Columns of records in memory, a batch of rows at a time.
///
/// **Privacy.** Whoever implements it holds records. Its header, and what [`refused`](Frame::refused) says, must be the same
/// whatever the cells say.
pub trait Frame {
    /// The columns' names, in order.
    fn header(&self) -> &[String];

    /// What the column at this position holds by its type, where no declared kind can be that: "dates or times".
    fn refused(&self, position: usize) -> Option<&'static str>;

    /// What the column at this position holds by its type, where that identifies nobody: "floating-point numbers". Only text and whole
    /// numbers do.
    fn unidentifying(&self, position: usize) -> Option<&'static str>;

    /// Turns to the next batch and says how many rows it has; `None` after the last.
    ///
    /// # Errors
    /// The frame's owner fails to hand it over; nothing of why is kept, since that may quote a cell.
    fn turn(&mut self) -> Result<Option<usize>, Unavailable>;

    /// Shows some rows of a column of this batch, in order.
    fn cells(&self, position: usize, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>));
}

/// A frame's owner failed to hand over its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unavailable;

/// What messages call a frame, where they name a file otherwise.
const THE_FRAME: &str = "the frame";

/// Reads what `view` needs, found by name, from a frame of as many records as `count` says, as [`read`](crate::read) does.
///
/// Numbers, booleans and text are read as from Parquet: a number declared as a category by its decimal digits, text declared as
/// a number as CSV would. So a column gives the same records whatever type a frame's owner chose for it, as where one missing
/// value turns whole numbers into floats. Other columns are not looked at.
///
/// **Privacy.** As [`read`](crate::read): what is refused depends on names, types and, where it is public, the number of rows.
///
/// # Errors
/// If a declared column is missing, named twice, or of a type that cannot hold it; if there are more or fewer records than
/// [`Count::Exactly`] says; if the frame cannot be read.
pub fn read_frame(
    frame: &mut dyn Frame,
    view: &View,
    count: Count,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    read_rows(frame, view, count, None, sink, progress).map(drop)
}

/// Reads a frame of rows that belong to as many persons as `count` says, as [`read_persons`](crate::read_persons) does.
///
/// # Errors
/// Those of [`read_frame`], with the number of persons for that of records; if there is no such column.
pub fn read_frame_persons(
    frame: &mut dyn Frame,
    view: &View,
    person: &str,
    count: Count,
    sink: &mut dyn Sink,
) -> Result<Roster, Error> {
    let rows = Count::About(count.declared());
    let batches = read_rows(frame, view, rows, Some((person, count)), sink, &mut |_| {})?;
    match batches.naming {
        Some((_, roster)) if roster.is_complete() => Ok(roster),
        _ => Err(batches.wrong_persons()),
    }
}

fn read_rows(
    frame: &mut dyn Frame,
    view: &View,
    count: Count,
    person: Option<(&str, Count)>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(usize),
) -> Result<Batches, Error> {
    let mut admission = Admission::new(view.clone(), count)?;
    let mut batches = Batches::new(frame, view.source(), person)?;
    while let Some(rows) = frame.turn().map_err(|Unavailable| Error::Frame)? {
        batches.admit(frame, view.source(), rows, &mut admission, sink, &mut |pushed| {
            count.shown(pushed).into_iter().for_each(&mut *progress);
        })?;
    }
    admission.finish(sink).map_err(|_| wrong_count(count.declared()))?;
    Ok(batches)
}

/// Leads a frame's batches into an admission.
pub(crate) struct Batches {
    /// Where the declared columns stand.
    positions: Vec<usize>,
    /// Where the column stands that says whose row it is, and what it says.
    naming: Option<(usize, Roster)>,
    person: String,
    declared: usize,
}

impl Batches {
    /// Finds columns by their names, and refuses types that cannot hold them. With `person`, a column and how many persons it may name.
    pub(crate) fn new(
        frame: &dyn Frame,
        schema: &Schema,
        person: Option<(&str, Count)>,
    ) -> Result<Self, Error> {
        let path = Path::new(THE_FRAME);
        let positions = locate(path, schema, frame.header())?;
        for (position, column) in positions.iter().zip(schema.columns()) {
            if let Some(holds) = frame.refused(*position) {
                return Err(Error::Holds { path: path.to_owned(), column: column.name().to_owned(), holds });
            }
        }
        let mut batches = Self { positions, naming: None, person: String::new(), declared: 0 };
        if let Some((column, count)) = person {
            let position = locate_person(path, column, frame.header())?;
            (batches.person, batches.declared) = (column.to_owned(), count.declared());
            if let Some(holds) = frame.refused(position).or_else(|| frame.unidentifying(position)) {
                return Err(Error::Unidentifying { path: path.to_owned(), column: batches.person, holds });
            }
            batches.naming = Some((position, Roster::new(count)));
        }
        Ok(batches)
    }

    /// Whose the rows are that were read.
    pub(crate) fn roster(&self) -> Option<&Roster> {
        self.naming.as_ref().map(|(_, roster)| roster)
    }

    fn wrong_persons(&self) -> Error {
        let (path, column) = (PathBuf::from(THE_FRAME), self.person.clone());
        Error::Persons { path, column, declared: self.declared }
    }

    /// Admits the rows of the batch to which the frame has turned.
    pub(crate) fn admit(
        &mut self,
        frame: &dyn Frame,
        schema: &Schema,
        rows: usize,
        admission: &mut Admission,
        sink: &mut dyn Sink,
        progress: &mut dyn FnMut(usize),
    ) -> Result<(), Error> {
        let cells: Vec<Cells<'_>> = schema.columns().iter().map(Cells::new).collect();
        let mut next = 0;
        while next < rows {
            let chunk = admission.room().min(rows - next);
            if chunk == 0 {
                return Err(wrong_count(admission.declared()));
            }
            admission.push_columns(chunk, sink, |index, out| {
                let mut slots = out.iter_mut();
                frame.cells(self.positions[index], next..next + chunk, &mut |cell| {
                    if let Some(slot) = slots.next() {
                        *slot = value(&cells[index], cell);
                    }
                });
                // A batch that is shorter than it says is missing cells, not a value of earlier records.
                slots.for_each(|slot| *slot = f64::NAN);
                Ok(())
            })?;
            if let Some((position, roster)) = &mut self.naming {
                let (mut fits, mut named) = (true, 0);
                frame.cells(*position, next..next + chunk, &mut |cell| {
                    fits &= roster.push_cell(cell);
                    named += 1;
                });
                fits &= (named..chunk).all(|_| roster.push(b""));
                if !fits {
                    return Err(self.wrong_persons());
                }
            }
            next += chunk;
            progress(admission.pushed());
        }
        Ok(())
    }
}

fn wrong_count(declared: usize) -> Error {
    Error::Count { path: PathBuf::from(THE_FRAME), declared }
}

/// What a cell says in its column's own unit, not admitted yet; not-a-number where it says nothing.
#[inline]
fn value(cells: &Cells<'_>, cell: Cell<'_>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "whole numbers above 2^53 round to the nearest f64")]
    match cell {
        Cell::Missing => f64::NAN,
        Cell::Bool(value) => named(cells, f64::from(u8::from(value)), &value),
        Cell::Signed(value) => named(cells, value as f64, &value),
        Cell::Unsigned(value) => named(cells, value as f64, &value),
        Cell::Single(value) => named(cells, f64::from(value), &value),
        Cell::Double(value) => named(cells, value, &value),
        Cell::Text(text) => cells.parse(text),
    }
}

#[cfg(test)]
mod tests;
