//! Reads records from a CSV file, plain or gzipped, into blocks, and lets no message say what a record says.

mod lines;

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::rc::Rc;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use flate2::read::MultiGzDecoder;

use self::lines::Lines;
use crate::header::{locate, locate_person, looks_like_a_value};
use crate::reading::{Naming, Reading};
use crate::schema::Cells;
use crate::{BLOCK, Count, Error, View};

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

/// Reads a CSV file; see [`read`](crate::read).
pub(crate) fn read_csv(
    path: &Path,
    view: &View,
    mut naming: Option<&mut Naming<'_>>,
    options: CsvOptions,
    reading: Reading<'_>,
) -> Result<(), Error> {
    let Reading { admission, count, last, sink, progress } = reading;
    let (mut reader, left) = open(path, options)?;
    let header = header(path, &mut reader)?;
    left.set(LONGEST_ROW);
    let positions = locate(path, view.source(), &header)?;
    let person = match &naming {
        Some(naming) => Some(locate_person(path, naming.column, &header)?),
        None => None,
    };
    let cells: Vec<Cells<'_>> = view.source().columns().iter().map(Cells::new).collect();
    let wrong = |_| Error::Count { path: path.to_path_buf(), declared: count.declared() };
    let mut row = ByteRecord::new();
    while reader.read_byte_record(&mut row).map_err(|error| replace(path, &error))? {
        if let (Some(naming), Some(person)) = (&mut naming, person)
            && !naming.roster.push(row.get(person).unwrap_or(b""))
        {
            return Err(naming.wrong_count(path));
        }
        let cell = |index: usize| positions.get(index).and_then(|&position| row.get(position)).unwrap_or(b"");
        admission.push_with(sink, |index| cells[index].parse(cell(index))).map_err(wrong)?;
        left.set(LONGEST_ROW);
        let read = admission.pushed();
        if read.is_multiple_of(BLOCK) {
            count.shown(read).into_iter().for_each(&mut *progress);
        }
    }
    // Lines are ended by line breaks, or separated by them: a missing last cell then leaves nothing at all. Where one
    // record is missing, the second is taken to be so, whatever the others say. Where any number will do, nothing is
    // added: neighbouring files are still read as records that differ in one at most.
    if last && reader.get_ref().may_hide_a_record() && count == Count::Exactly(admission.pushed() + 1) {
        admission.push_with(sink, |index| cells[index].parse(b"")).map_err(wrong)?;
    }
    Ok(())
}

/// The column names of a CSV file; see [`read_header`](crate::read_header).
pub(crate) fn csv_header(path: &Path, options: CsvOptions) -> Result<Vec<String>, Error> {
    let header = header(path, &mut open(path, options)?.0)?;
    if header.iter().any(|cell| looks_like_a_value(cell)) {
        return Err(Error::Headless { path: path.to_path_buf() });
    }
    Ok(header)
}

type Source = Reader<Lines<Bounded<Box<dyn Read>>>>;

/// The first bytes of every gzip file (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes a row may have. A quote that is never closed, or a few bytes of gzip, can make a row of a whole disk.
const LONGEST_ROW: usize = 1 << 24;

/// Reads no further once a row is longer than any may be.
struct Bounded<R> {
    bytes: R,
    /// What the row may still have; whoever reads rows sets it anew after each. Read ahead counts, so a row may have a
    /// buffer less.
    left: Rc<Cell<usize>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.bytes.read(out)?;
        let Some(left) = self.left.get().checked_sub(read) else {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        };
        self.left.set(left);
        Ok(read)
    }
}

fn open(path: &Path, options: CsvOptions) -> Result<(Source, Rc<Cell<usize>>), Error> {
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
    let left = Rc::new(Cell::new(LONGEST_ROW));
    let bytes = Bounded { bytes, left: Rc::clone(&left) };
    let mut builder = ReaderBuilder::new();
    builder.delimiter(delimiter).quote(quote).buffer_capacity(1 << 16);
    Ok((builder.from_reader(Lines::new(bytes, options)), left))
}

fn replace(path: &Path, error: &::csv::Error) -> Error {
    match error.kind() {
        ErrorKind::UnequalLengths { .. } => Error::Ragged { path: path.to_path_buf() },
        ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            Error::LongRow { path: path.to_path_buf() }
        }
        _ => Error::Unreadable { path: path.to_path_buf() },
    }
}

/// The header's names, trimmed; a name that is not UTF-8 is kept with replacement characters.
fn header(path: &Path, reader: &mut Source) -> Result<Vec<String>, Error> {
    let header = reader.byte_headers().map_err(|error| replace(path, &error))?;
    if header.is_empty() {
        return Err(Error::Empty { path: path.to_path_buf() });
    }
    // UTF-16 holds a zero byte beside every plain letter; no text in UTF-8 or an older encoding does.
    if header.iter().flatten().any(|byte| *byte == 0) {
        return Err(Error::Encoding { path: path.to_path_buf() });
    }
    Ok(header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect())
}
