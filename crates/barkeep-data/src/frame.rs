//! Reads records from a frame in memory, such as a DataFrame, by the rules for files.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::header::{locate, locate_person};
use crate::parquet::{named, with_digits};
use crate::reading::Naming;
use crate::schema::Cells;
use crate::{Admission, Count, Error, Roster, Sink, View};

/// One cell, as a frame holds it.
///
/// **Privacy.** A record's value: no `Debug`, `Serialize` or `PartialEq`.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    /// Nothing, or something that is no number, no boolean and no text.
    Missing,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Signed(i64),
    /// A whole number of at least 0.
    Unsigned(u64),
    /// A number of 32 bits.
    Single(f32),
    /// A number.
    Double(f64),
    /// Text, read as a cell of CSV is.
    Text(&'a [u8]),
}

/// Columns of records in memory, a batch of rows at a time.
///
/// **Privacy.** Whoever implements it holds records. Its header, and what [`refused`](Frame::refused) says, must be the same
/// whatever the cells say.
pub trait Frame {
    /// The columns' names, in order.
    fn header(&self) -> &[String];

    /// What the column at this position holds by its type, where no declared kind can be that: "dates or times".
    fn refused(&self, position: usize) -> Option<&'static str>;

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
    read_rows(frame, view, count, None, sink, progress)
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
    let mut naming = Naming { column: person, roster: Roster::new(count) };
    let rows = Count::About(count.declared());
    read_rows(frame, view, rows, Some(&mut naming), sink, &mut |_| {})?;
    if naming.roster.is_complete() {
        Ok(naming.roster)
    } else {
        Err(naming.wrong_count(Path::new(THE_FRAME)))
    }
}

fn read_rows(
    frame: &mut dyn Frame,
    view: &View,
    count: Count,
    mut naming: Option<&mut Naming<'_>>,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    let path = Path::new(THE_FRAME);
    let mut admission = Admission::new(view.clone(), count)?;
    let positions = locate(path, view.source(), frame.header())?;
    let columns = view.source().columns();
    for (position, column) in positions.iter().zip(columns) {
        check(frame, *position, column.name())?;
    }
    let person = match &naming {
        None => None,
        Some(naming) => {
            let position = locate_person(path, naming.column, frame.header())?;
            check(frame, position, naming.column)?;
            Some(position)
        }
    };
    let cells: Vec<Cells<'_>> = columns.iter().map(Cells::new).collect();
    let wrong = || Error::Count { path: PathBuf::from(THE_FRAME), declared: count.declared() };
    while let Some(rows) = frame.turn().map_err(|Unavailable| Error::Frame)? {
        let mut next = 0;
        while next < rows {
            let chunk = admission.room().min(rows - next);
            if chunk == 0 {
                return Err(wrong());
            }
            admission.push_columns(chunk, sink, |index, out| {
                let mut slots = out.iter_mut();
                frame.cells(positions[index], next..next + chunk, &mut |cell| {
                    if let Some(slot) = slots.next() {
                        *slot = value(&cells[index], cell);
                    }
                });
                // A batch that is shorter than it says is missing cells, not a value of earlier records.
                slots.for_each(|slot| *slot = f64::NAN);
                Ok(())
            })?;
            if let (Some(naming), Some(person)) = (&mut naming, person) {
                let mut fits = true;
                let mut named = 0;
                frame.cells(person, next..next + chunk, &mut |cell| {
                    fits &= name(&mut naming.roster, cell);
                    named += 1;
                });
                fits &= (named..chunk).all(|_| naming.roster.push(b""));
                if !fits {
                    return Err(naming.wrong_count(path));
                }
            }
            next += chunk;
            count.shown(admission.pushed()).into_iter().for_each(&mut *progress);
        }
    }
    admission.finish(sink).map_err(|_| wrong())
}

/// Refuses a type that can hold no declared kind.
fn check(frame: &dyn Frame, position: usize, column: &str) -> Result<(), Error> {
    match frame.refused(position) {
        None => Ok(()),
        Some(holds) => Err(Error::Holds { path: PathBuf::from(THE_FRAME), column: column.to_owned(), holds }),
    }
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

/// Adds the next row to a roster, a number by what it looks like when written; false if that is a person too many.
fn name(roster: &mut Roster, cell: Cell<'_>) -> bool {
    match cell {
        Cell::Missing => roster.push(b""),
        Cell::Bool(value) => with_digits(&value, |digits| roster.push(digits)),
        Cell::Signed(value) => with_digits(&value, |digits| roster.push(digits)),
        Cell::Unsigned(value) => with_digits(&value, |digits| roster.push(digits)),
        Cell::Single(value) if value.is_nan() => roster.push(b""),
        Cell::Single(value) => with_digits(&value, |digits| roster.push(digits)),
        Cell::Double(value) if value.is_nan() => roster.push(b""),
        Cell::Double(value) => with_digits(&value, |digits| roster.push(digits)),
        Cell::Text(text) => roster.push(text),
    }
}

#[cfg(test)]
mod tests;
