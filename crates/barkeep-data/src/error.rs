//! Says why records cannot be described or read, naming keys, files and headers, never a row or a cell.

use std::path::PathBuf;

/// Why a schema or a file is refused.
///
/// **Privacy.** No variant holds anything read from a record: only what the spec, the file's name and its
/// header say, all of which are public.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A key of one column's description is wrong.
    #[error("data.columns.{column}: {key} {requirement}")]
    Column {
        /// The column as the spec names it.
        column: String,
        /// The key as the spec spells it.
        key: &'static str,
        /// What is required of it, as in "must be less than max".
        requirement: &'static str,
    },
    /// A key of `[data]` is wrong.
    #[error("data.{key} {requirement}")]
    Data {
        /// The key as the spec spells it.
        key: &'static str,
        /// What is required of it.
        requirement: &'static str,
    },
    /// The records would not fit into memory.
    #[error("data.records: {records} records of {columns} columns do not fit into memory")]
    Memory {
        /// The number of records declared.
        records: usize,
        /// The number of columns declared.
        columns: usize,
    },
    /// The records, whose number nobody declared, are more than the table can take.
    #[error("data.path: the records do not fit into memory, or are more than 2^32")]
    Room,
    /// A row handed over has not one value per column.
    #[error("a row must hold one value for each of the {columns} columns")]
    Width {
        /// The number of columns declared.
        columns: usize,
    },
    /// More or fewer rows than declared were handed over.
    #[error("the number of rows must be the declared {declared}")]
    Rows {
        /// The number of records declared.
        declared: usize,
    },
    /// There is no file of that name.
    #[error("data.path: there is no file {}", path.display())]
    Missing {
        /// The file as the spec names it.
        path: PathBuf,
    },
    /// The file exists but cannot be read to its end.
    #[error("data.path: {} cannot be read; is it a readable file, complete and not a folder?", path.display())]
    Unreadable {
        /// The file as the spec names it.
        path: PathBuf,
    },
    /// A frame in memory cannot be read to its end.
    #[error("the frame cannot be read: the library that holds it did not hand over its rows")]
    Frame,
    /// The file holds not even a header.
    #[error("data.path: {} is empty; a header row with the column names is required", path.display())]
    Empty {
        /// The file as the spec names it.
        path: PathBuf,
    },
    /// The first row does not look like column names.
    #[error(
        "data.path: the first row of {} does not name column {column}; a header row with the column names is required",
        path.display()
    )]
    Header {
        /// The file as the spec names it.
        path: PathBuf,
        /// The first declared column that was not found.
        column: String,
    },
    /// The first row holds numbers or empty cells instead of column names.
    #[error("{}: the first row is not a header; a row with the column names is required", path.display())]
    Headless {
        /// The file asked for.
        path: PathBuf,
    },
    /// The header is not text, or not in UTF-8.
    #[error("data.path: the header of {} is not UTF-8 text; save it as CSV in UTF-8, or as Parquet", path.display())]
    Encoding {
        /// The file as the spec names it.
        path: PathBuf,
    },
    /// The header is a single name, which is not the declared column's.
    #[error(
        "data.columns.{column}: the header of {} is one name and not this; is data.delimiter right?",
        path.display()
    )]
    Undelimited {
        /// The file as the spec names it.
        path: PathBuf,
        /// The first declared column that was not found.
        column: String,
    },
    /// The header does not hold a declared column.
    #[error(
        "data.columns.{column}: the header of {} has no such column{}",
        path.display(),
        suggestion(nearest.as_deref())
    )]
    UnknownColumn {
        /// The file as the spec names it.
        path: PathBuf,
        /// The column as the spec names it.
        column: String,
        /// The header's most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// Two columns of the header share a name.
    #[error("data.path: the header of {} names column {column} twice", path.display())]
    DuplicateHeader {
        /// The file as the spec names it.
        path: PathBuf,
        /// The name found twice.
        column: String,
    },
    /// A Parquet column holds something no declared kind can be.
    #[error("data.columns.{column}: {} holds {holds} there; numbers, true/false or text are required", path.display())]
    Holds {
        /// The file as the spec names it.
        path: PathBuf,
        /// The column as the spec names it.
        column: String,
        /// What it holds instead, as in "dates or times".
        holds: &'static str,
    },
    /// A Parquet column is compressed in a way this build cannot read.
    #[error(
        "data.path: {} is compressed by {codec}, which this build does not read; write it with Snappy or gzip{}",
        path.display(),
        if *codec == "Zstandard" { ", or build barkeep with the feature zstd" } else { "" }
    )]
    Codec {
        /// The file as the spec names it.
        path: PathBuf,
        /// The compression.
        codec: &'static str,
    },
    /// The file lies in an object store, which this build does not read.
    #[error(
        "data.path: {} lies in an object store; build barkeep with the feature object-store, or copy the file to this machine",
        path.display()
    )]
    Store {
        /// The file as the spec names it.
        path: PathBuf,
    },
    /// The header does not hold the column that says whose row it is.
    #[error(
        "data.person = \"{column}\": the header of {} has no such column{}",
        path.display(),
        suggestion(nearest.as_deref())
    )]
    UnknownPerson {
        /// The file as the spec names it.
        path: PathBuf,
        /// The column as the spec names it.
        column: String,
        /// The header's most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// The column that says whose row it is holds something that identifies nobody.
    #[error("data.person = \"{column}\": {} holds {holds} there; text or whole numbers are required", path.display())]
    Unidentifying {
        /// The file as the spec names it.
        path: PathBuf,
        /// The column as the spec names it.
        column: String,
        /// What it holds instead, as in "floating-point numbers".
        holds: &'static str,
    },
    /// The rows belong to another number of persons than declared.
    #[error("data.persons = {declared}: column {column} of {} names another number of persons", path.display())]
    Persons {
        /// The file as the spec names it.
        path: PathBuf,
        /// The column that names persons.
        column: String,
        /// The number of persons declared.
        declared: usize,
    },
    /// Rows handed over belong to another number of persons than declared.
    #[error("the rows must belong to the declared number of persons, {declared}")]
    People {
        /// The number of persons declared.
        declared: usize,
    },
    /// The file's number of records is not the declared one.
    #[error("data.records = {declared}: {} holds another number of records", path.display())]
    Count {
        /// The file as the spec names it.
        path: PathBuf,
        /// The number of records declared.
        declared: usize,
    },
}

/// An error that can be compared exactly holds no f64, and so no record's value: this line would not compile.
const _: fn() = || {
    fn holds_no_value<T: Eq>() {}
    holds_no_value::<Error>();
};

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}
