//! Reads records from a CSV file, plain or gzipped, into blocks, so that no message tells what a record says.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use flate2::read::MultiGzDecoder;

use crate::{Error, Schema, Table, TableBuilder};

/// How a CSV file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CsvOptions {
    /// The byte between two cells.
    pub delimiter: u8,
    /// The byte around a cell that holds delimiters or line breaks; doubled inside to stand for itself.
    pub quote: u8,
}

impl Default for CsvOptions {
    /// Commas and double quotes.
    fn default() -> Self {
        Self { delimiter: b',', quote: b'"' }
    }
}

/// Reads the schema's columns, found by name in the header, from a file of exactly `records` records.
///
/// A cell that is missing, unparsable, not UTF-8 or undeclared becomes its column's `invalid` value; a number
/// outside the bounds is clamped. Columns the schema does not name are skipped unread. Blank lines are not
/// records. A gzipped file is known by its first bytes and unpacked on the way. Memory is the table's plus one row.
///
/// **Privacy.** Refusals depend on the file's structure only and name the file, the header's columns or a
/// spec key. Errors of the CSV reader are replaced, because they carry row numbers.
///
/// **Errors** if the file is missing, unreadable or empty; if the header lacks a declared column or repeats a
/// name; if a row has more or fewer cells than the header; if there are more or fewer records than `records`.
pub fn read_csv(path: impl AsRef<Path>, schema: &Schema, records: usize) -> Result<Table, Error> {
    read_csv_with(path, schema, records, CsvOptions::default())
}

/// Reads as [`read_csv`] from a file with another delimiter or quote.
///
/// **Errors** as [`read_csv`].
pub fn read_csv_with(
    path: impl AsRef<Path>,
    schema: &Schema,
    records: usize,
    options: CsvOptions,
) -> Result<Table, Error> {
    let path = path.as_ref();
    let mut builder = TableBuilder::new(schema.clone(), records)?;
    let mut reader = open(path, options)?;
    let header = header(path, &mut reader)?;
    let positions = locate(path, schema, &header)?;
    let count = || Error::Count { path: path.to_path_buf(), declared: records };
    let mut row = ByteRecord::new();
    while reader.read_byte_record(&mut row).map_err(|error| replace(path, &error))? {
        let cell = |index: usize| positions.get(index).and_then(|&position| row.get(position)).unwrap_or(b"");
        builder.push_with(|index, column| column.parse(cell(index))).map_err(|_| count())?;
    }
    builder.finish().map_err(|_| count())
}

/// Reads the column names from the header alone, to draft a schema from; no record is looked at.
///
/// **Privacy.** Shows what the first row says. A first row with an empty cell or a number is refused, because it
/// is a record rather than a header; that any other first row is a header is the caller's word.
///
/// **Errors** if the file is missing, unreadable or empty, or its first row is not a header.
pub fn read_header(path: impl AsRef<Path>, options: CsvOptions) -> Result<Vec<String>, Error> {
    let path = path.as_ref();
    let header = header(path, &mut open(path, options)?)?;
    if header.iter().any(|cell| looks_like_a_value(cell)) {
        return Err(Error::Headless { path: path.to_path_buf() });
    }
    Ok(header)
}

type Source = Reader<Box<dyn Read>>;

/// The first bytes of every gzip file (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

fn open(path: &Path, options: CsvOptions) -> Result<Source, Error> {
    let CsvOptions { delimiter, quote } = options;
    if delimiter == quote || [delimiter, quote].iter().any(|byte| b"\r\n".contains(byte)) {
        let requirement = "must differ from the quote and from line breaks";
        return Err(Error::Data { key: "delimiter", requirement });
    }
    let unreadable = || Error::Unreadable { path: path.to_path_buf() };
    let mut file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::Missing { path: path.to_path_buf() },
        _ => unreadable(),
    })?;
    let mut start = Vec::new();
    file.by_ref().take(2).read_to_end(&mut start).map_err(|_| unreadable())?;
    file.rewind().map_err(|_| unreadable())?;
    let bytes: Box<dyn Read> =
        if start == GZIP { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    Ok(ReaderBuilder::new().delimiter(delimiter).quote(quote).buffer_capacity(1 << 16).from_reader(bytes))
}

fn replace(path: &Path, error: &::csv::Error) -> Error {
    match error.kind() {
        ErrorKind::UnequalLengths { .. } => Error::Ragged { path: path.to_path_buf() },
        _ => Error::Unreadable { path: path.to_path_buf() },
    }
}

/// The header's names, trimmed; a name that is not UTF-8 is kept with replacement characters.
fn header(path: &Path, reader: &mut Source) -> Result<Vec<String>, Error> {
    let header = reader.byte_headers().map_err(|error| replace(path, &error))?;
    if header.is_empty() {
        return Err(Error::Empty { path: path.to_path_buf() });
    }
    Ok(header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect())
}

/// Where in the header each declared column stands.
fn locate(path: &Path, schema: &Schema, header: &[String]) -> Result<Vec<usize>, Error> {
    let mut places = BTreeMap::new();
    let mut twice = None;
    for (position, name) in header.iter().enumerate() {
        if places.insert(name.as_str(), position).is_some() && !name.is_empty() {
            twice = Some(name);
        }
    }
    let mut positions = Vec::with_capacity(schema.width());
    for column in schema.columns() {
        match places.get(column.name()) {
            Some(&position) => positions.push(position),
            None => return Err(absent(path, column.name(), header)),
        }
    }
    // Only now is the first row known to be a header, so that its names may be shown.
    match twice {
        Some(name) => Err(Error::DuplicateHeader { path: path.to_path_buf(), column: name.clone() }),
        None => Ok(positions),
    }
}

fn absent(path: &Path, column: &str, header: &[String]) -> Error {
    let (path, name) = (path.to_path_buf(), column.to_owned());
    // A first row with numbers is a record, not a header: none of it may be shown.
    if header.iter().any(|cell| looks_like_a_value(cell)) {
        Error::Header { path, column: name }
    } else {
        Error::UnknownColumn { path, column: name, nearest: nearest(column, header) }
    }
}

fn looks_like_a_value(cell: &str) -> bool {
    cell.is_empty() || cell.parse::<f64>().is_ok()
}

/// How alike two names must be, from 0 to 1, for one to be suggested for the other.
///
/// High, so that a text file without a header does not show a cell that happens to stand in its first row.
const ALIKE: f64 = 0.8;

fn nearest(column: &str, header: &[String]) -> Option<String> {
    let likeness = |name: &String| strsim::jaro_winkler(&column.to_lowercase(), &name.to_lowercase());
    let best = header.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= ALIKE).then(|| best.clone())
}
