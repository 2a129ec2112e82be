//! Reads files of records, CSV or Parquet, into a sink: the one place that knows which is which.

use std::path::{Path, PathBuf};

use crate::csv::{csv_header, read_csv};
use crate::location::is_remote;
use crate::parquet::{parquet_header, read_parquet};
use crate::reading::{Naming, Reading};
use crate::{Admission, Count, CsvOptions, Error, Roster, Sink, View};

/// Reads what `view` needs, found by name in the header, from a file of as many records as `count` says.
///
/// A file whose name ends in `.parquet` or `.pq` is Parquet, any other CSV, plain or gzipped (known by its first
/// bytes); `options` are for CSV. With the feature `object-store` a Parquet file may lie in a store: `s3://bucket/key.parquet`.
/// `progress` hears now and then how many records were read, where
/// that is public: never under [`Count::About`]. After an error the sink may hold part of the records.
///
/// A cell that is missing, unparsable, not UTF-8 or undeclared becomes its column's `invalid` value; a number
/// outside the bounds is clamped. A row of CSV with more or fewer cells than the header, or of more than 16 MiB, is a record of missing
/// cells. Other columns are skipped unread. In CSV, blank lines are not records, unless the
/// header is one name: there a missing cell leaves an empty line, and every line is a record. In Parquet, numbers,
/// booleans and text are read, compressed by Snappy or gzip, with the feature `zstd` by Zstandard, or not at all; a text column declared as numbers
/// is read as CSV would, a number declared as a category by its decimal digits.
///
/// Memory is the sink's, a block of records and, beside them, a row of CSV or a page of each Parquet column.
///
/// **Privacy.** Refusals depend on the file's structure only and name the file, the header's columns or a
/// spec key. Errors of the CSV and Parquet readers are replaced, because they carry positions and contents.
///
/// # Errors
/// If the file is missing, unreadable, damaged or empty; if the header lacks a declared column or repeats a
/// name, or a Parquet column holds dates, lists or the like; if there are more or fewer records than [`Count::Exactly`] says.
pub fn read(
    path: impl AsRef<Path>,
    view: &View,
    count: Count,
    options: CsvOptions,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    read_rows(&[path.as_ref()], view, count, None, options, sink, progress)
}

/// Reads several files of the same columns one after the other, as [`read`] reads one: the records of all of them together are as
/// many as `count` says.
///
/// # Errors
/// Those of [`read`]; [`Error::Data`] without a file.
pub fn read_files(
    paths: &[impl AsRef<Path>],
    view: &View,
    count: Count,
    options: CsvOptions,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    read_rows(&paths, view, count, None, options, sink, progress)
}

/// Reads a file of rows that belong to as many persons as `count` says, as [`read`] does: `person` is the column that says
/// whose row it is, text or whole numbers, which no view sees; [`identifier`](crate::identifier) says whose. Rows of a person may stand anywhere in the file.
///
/// **Privacy.** Any number of rows is read and none shown. Identifiers decide which rows are one person's, and whether the
/// number of persons is the declared one; a file with another number is refused, and that is seen. Data sets are neighbours
/// where they hold the same number of persons and differ in the rows of one.
///
/// # Errors
/// Those of [`read`], with the number of persons for that of records; if the header lacks the column.
pub fn read_persons(
    path: impl AsRef<Path>,
    view: &View,
    person: &str,
    count: Count,
    options: CsvOptions,
    sink: &mut dyn Sink,
) -> Result<Roster, Error> {
    read_files_persons(&[path], view, person, count, options, sink)
}

/// Reads several files of rows that belong to persons, as [`read_persons`] reads one: rows of a person may stand in any of them.
///
/// # Errors
/// Those of [`read_persons`]; [`Error::Data`] without a file.
pub fn read_files_persons(
    paths: &[impl AsRef<Path>],
    view: &View,
    person: &str,
    count: Count,
    options: CsvOptions,
    sink: &mut dyn Sink,
) -> Result<Roster, Error> {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let mut roster = Roster::new(count);
    let rows = Count::About(count.declared());
    read_rows(&paths, view, rows, Some((person, &mut roster)), options, sink, &mut |_| {})?;
    let naming = Naming { column: person, roster: &mut roster };
    if naming.roster.is_complete() { Ok(roster) } else { Err(naming.wrong_count(&together(&paths))) }
}

/// Reads files; with `naming`, also whose rows they are, from a column into a roster.
pub(crate) fn read_rows(
    paths: &[&Path],
    view: &View,
    count: Count,
    naming: Option<(&str, &mut Roster)>,
    options: CsvOptions,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    if paths.is_empty() {
        return Err(Error::Data { key: "path", requirement: "must name a file" });
    }
    let mut naming = naming.map(|(column, roster)| Naming { column, roster });
    let mut admission = Admission::new(view.clone(), count)?;
    for (place, path) in paths.iter().enumerate() {
        let last = place + 1 == paths.len();
        let reading = Reading { admission: &mut admission, count, last, sink, progress };
        refuse_remote_text(path)?;
        if is_parquet(path) {
            read_parquet(path, view, naming.as_mut(), reading)?;
        } else {
            read_csv(path, view, naming.as_mut(), options, reading)?;
        }
    }
    admission.finish(sink).map_err(|_| Error::Count { path: together(paths), declared: count.declared() })
}

/// What messages call several files.
fn together(paths: &[&Path]) -> PathBuf {
    match paths {
        [] => PathBuf::new(),
        [one] => one.to_path_buf(),
        [first, rest @ ..] => PathBuf::from(format!("{} with {} more", first.display(), rest.len())),
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
    refuse_remote_text(path)?;
    if is_parquet(path) { parquet_header(path) } else { csv_header(path, options) }
}

/// Text has no parts that could be fetched as they are needed.
fn refuse_remote_text(path: &Path) -> Result<(), Error> {
    if is_remote(path) && !is_parquet(path) {
        return Err(Error::Data {
            key: "path",
            requirement: "must be Parquet where it names an object store",
        });
    }
    Ok(())
}

fn is_parquet(path: &Path) -> bool {
    let ends =
        |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
    ends("parquet") || ends("pq")
}
