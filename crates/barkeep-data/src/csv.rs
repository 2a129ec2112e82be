//! Reads records from a CSV file, plain or gzipped, into blocks, and lets no message say what a record says.

mod lines;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use flate2::read::MultiGzDecoder;

use self::lines::Lines;
use crate::header::{locate, locate_person, looks_like_a_value};
use crate::location::unreadable;
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
    let (mut rows, header) = Rows::open(path, options)?;
    let positions = locate(path, view.source(), &header)?;
    let person = match &naming {
        Some(naming) => Some(locate_person(path, naming.column, &header)?),
        None => None,
    };
    let cells: Vec<Cells<'_>> = view.source().columns().iter().map(Cells::new).collect();
    let wrong = |_| Error::Count { path: path.to_path_buf(), declared: count.declared() };
    while rows.turn().map_err(|_| unreadable(path))? {
        if rows.odd {
            sink.note_odd_row();
        }
        if let (Some(naming), Some(person)) = (&mut naming, person)
            && !naming.roster.push(rows.cell(person))
        {
            return Err(naming.wrong_count(path));
        }
        admission
            .push_with(sink, |index| {
                cells[index].parse(positions.get(index).map_or(b"", |&position| rows.cell(position)))
            })
            .map_err(wrong)?;
        let read = admission.pushed();
        if read.is_multiple_of(BLOCK) {
            count.shown(read).into_iter().for_each(&mut *progress);
        }
    }
    // Lines are ended by line breaks, or separated by them: a missing last cell then leaves nothing at all. Where one
    // record is missing, the second is taken to be so, whatever the others say. Where any number will do, nothing is
    // added: neighbouring files are still read as records that differ in one at most.
    if last && rows.bytes.get_ref().may_hide_a_record() && count == Count::Exactly(admission.pushed() + 1) {
        admission.push_with(sink, |index| cells[index].parse(b"")).map_err(wrong)?;
    }
    Ok(())
}

/// The column names of a CSV file; see [`read_header`](crate::read_header).
pub(crate) fn csv_header(path: &Path, options: CsvOptions) -> Result<Vec<String>, Error> {
    let (_, header) = Rows::open(path, options)?;
    if header.iter().any(|cell| looks_like_a_value(cell)) {
        return Err(Error::Headless { path: path.to_path_buf() });
    }
    Ok(header)
}

/// The first bytes of every gzip file (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes that the cells of a row may have. A quote that is never closed, or a few bytes of gzip, can make a row of a whole disk.
const LONGEST_ROW: usize = 1 << 24;

/// Goes through a file row by row.
///
/// A row with another number of cells than the header, or one that is too long, is a row of missing cells: what a cell says must not
/// end a run. Memory is the longest row that is not too long.
struct Rows {
    bytes: BufReader<Lines<Box<dyn Read>>>,
    parser: Reader,
    /// The row's cells, one after the other.
    cells: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// The number of cells in the header, once it was read.
    width: Option<usize>,
    /// Whether the row has another number of cells, or is too long.
    odd: bool,
}

impl Rows {
    /// Opens a file and reads its header: the names, trimmed; one that is not UTF-8 is kept with replacement characters.
    fn open(path: &Path, options: CsvOptions) -> Result<(Self, Vec<String>), Error> {
        let CsvOptions { delimiter, quote } = options;
        if delimiter == quote || [delimiter, quote].iter().any(|byte| b"\r\n".contains(byte)) {
            let requirement = "must differ from the quote and from line breaks";
            return Err(Error::Data { key: "delimiter", requirement });
        }
        let mut file = File::open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::Missing { path: path.to_path_buf() },
            _ => unreadable(path),
        })?;
        let mut start = Vec::new();
        file.by_ref().take(2).read_to_end(&mut start).map_err(|_| unreadable(path))?;
        file.rewind().map_err(|_| unreadable(path))?;
        let bytes: Box<dyn Read> =
            if start == GZIP { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
        let bytes = BufReader::with_capacity(1 << 16, Lines::new(bytes, options));
        let parser = ReaderBuilder::new().delimiter(delimiter).quote(quote).build();
        let (cells, ends) = (vec![0; 1 << 10], vec![0; 1 << 6]);
        let mut rows = Self { bytes, parser, cells, ends, width: None, odd: false };
        if !rows.turn().map_err(|_| unreadable(path))? {
            return Err(Error::Empty { path: path.to_path_buf() });
        }
        let width = rows.width.filter(|_| !rows.odd).ok_or_else(|| unreadable(path))?;
        let header: Vec<&[u8]> = (0..width).map(|position| rows.cell(position)).collect();
        // UTF-16 holds a zero byte beside every plain letter; no text in UTF-8 or an older encoding does.
        if header.iter().any(|name| name.contains(&0)) {
            return Err(Error::Encoding { path: path.to_path_buf() });
        }
        let header = header.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        // One more than a row may have shows that it has too many.
        rows.ends.resize(width + 1, 0);
        Ok((rows, header))
    }

    /// Turns to the next row; false after the last.
    fn turn(&mut self) -> std::io::Result<bool> {
        let (mut length, mut count) = (0, 0);
        self.odd = false;
        loop {
            let input = self.bytes.fill_buf()?;
            let (cells, ends) = (&mut self.cells[length..], &mut self.ends[count..]);
            let (result, read, written, ended) = self.parser.read_record(input, cells, ends);
            self.bytes.consume(read);
            (length, count) = (length + written, count + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.cells.len() < LONGEST_ROW => {
                    self.cells.resize(2 * self.cells.len(), 0);
                }
                ReadRecordResult::OutputEndsFull if self.width.is_none() && count < LONGEST_ROW => {
                    self.ends.resize(2 * self.ends.len(), 0);
                }
                // The rest is read over what will not be looked at.
                ReadRecordResult::OutputFull => (length, self.odd) = (0, true),
                ReadRecordResult::OutputEndsFull => (count, self.odd) = (0, true),
                ReadRecordResult::Record => {
                    self.odd |= *self.width.get_or_insert(count) != count;
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// A cell of the row; empty in a row that is none.
    fn cell(&self, position: usize) -> &[u8] {
        let start = position.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        let bounds = start.zip(self.ends.get(position).copied()).filter(|_| !self.odd);
        bounds.and_then(|(start, end)| self.cells.get(start..end)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
