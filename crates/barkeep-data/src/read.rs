//! Reads a file of records, CSV or Parquet, into a sink: the one place that knows which is which.

use std::path::Path;

use crate::csv::{csv_header, read_csv};
use crate::parquet::{parquet_header, read_parquet};
use crate::{Count, CsvOptions, Error, Sink, View};

/// Reads what `view` needs, found by name in the header, from a file of as many records as `count` says.
///
/// A file whose name ends in `.parquet` or `.pq` is Parquet, any other CSV, plain or gzipped (known by its first
/// bytes); `options` are for CSV. `progress` hears now and then how many records were read, where
/// that is public: never under [`Count::About`]. After an error the sink may hold part of the records.
///
/// A cell that is missing, unparsable, not UTF-8 or undeclared becomes its column's `invalid` value; a number
/// outside the bounds is clamped. Other columns are skipped unread. In CSV, blank lines are not records, unless the
/// header is one name: there a missing cell leaves an empty line, and every line is a record. In Parquet, numbers,
/// booleans and text are read, compressed by Snappy, gzip or Zstandard or not at all; a text column declared as numbers
/// is read as CSV would, a number declared as a category by its decimal digits.
///
/// Memory is the sink's, a block of records and, beside them, a row of CSV or a page of each Parquet column.
///
/// **Privacy.** Refusals depend on the file's structure only and name the file, the header's columns or a
/// spec key. Errors of the CSV and Parquet readers are replaced, because they carry positions and contents.
///
/// # Errors
/// If the file is missing, unreadable, damaged or empty; if the header lacks a declared column or repeats a
/// name, or a Parquet column holds dates, lists or the like; if a row has more or fewer cells than the header; if
/// there are more or fewer records than [`Count::Exactly`] says.
pub fn read(
    path: impl AsRef<Path>,
    view: &View,
    count: Count,
    options: CsvOptions,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    let path = path.as_ref();
    if is_parquet(path) {
        read_parquet(path, view, count, sink, progress)
    } else {
        read_csv(path, view, count, options, sink, progress)
    }
}

/// Reads the column names from the header alone, to draft a schema from; no record is looked at.
///
/// **Privacy.** Shows what the first row of a CSV file says. A first row with an empty cell or a number is refused,
/// because it is a record rather than a header; that any other first row is a header is the caller's word. Of a
/// Parquet file only the names are looked at: its footer also holds extremes of the records, which stay there.
///
/// # Errors
/// If the file is missing, unreadable or empty, or its first row is not a header.
pub fn read_header(path: impl AsRef<Path>, options: CsvOptions) -> Result<Vec<String>, Error> {
    let path = path.as_ref();
    if is_parquet(path) { parquet_header(path) } else { csv_header(path, options) }
}

fn is_parquet(path: &Path) -> bool {
    let ends =
        |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
    ends("parquet") || ends("pq")
}
