//! Makes every line of a one-column CSV file a record: a missing cell leaves an empty line, which CSV readers skip.
//!
//! **Privacy.** Without this the number of records read would depend on what a cell says, and a wrong number is refused
//! in public. With it the number of lines alone decides.

use std::io::Read;

use super::CsvOptions;

/// Hands bytes on as they are, with a quoted empty cell in every empty line below a header of one name, and without the
/// byte order mark.
///
/// It follows the quotes as the CSV reader does: a quote opens a cell only at its start, and line breaks inside belong to
/// the cell.
pub(crate) struct Lines<R> {
    bytes: R,
    options: CsvOptions,
    header: Header,
    place: Place,
    /// How much of the byte order mark was seen; its length where there is none, or no more of it.
    mark: usize,
    /// Bytes handed on next, from `handed` on.
    ready: Vec<u8>,
    handed: usize,
}

/// What is known of the header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    /// Not all of it was read.
    Unread,
    /// It is one name.
    One,
    /// It is several.
    Several,
}

/// Where in a file a byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    LineStart,
    /// After a carriage return, to which a line feed would belong.
    AfterReturn,
    CellStart,
    InCell,
    InQuotes,
    /// After a quote that closes a cell, unless another follows.
    AfterQuote,
}

/// The mark with which some programs begin a file in UTF-8.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

impl<R: Read> Lines<R> {
    pub(crate) fn new(bytes: R, options: CsvOptions) -> Self {
        let (header, place) = (Header::Unread, Place::LineStart);
        Self { bytes, options, header, place, mark: 0, ready: Vec::new(), handed: 0 }
    }

    /// Whether the file, read to its end, may end in a record whose missing cell left no trace: it has one column, and
    /// its last byte ends a line.
    pub(crate) fn may_hide_a_record(&self) -> bool {
        self.header == Header::One && matches!(self.place, Place::LineStart | Place::AfterReturn)
    }

    /// Appends a byte to what is ready, with a quoted empty cell before it where it ends an empty line.
    fn admit(&mut self, byte: u8) {
        let ends_line = byte == b'\n' || byte == b'\r';
        if self.mark < MARK.len() && MARK[self.mark] == byte {
            self.mark += 1;
            return;
        }
        self.mark = MARK.len();
        let place = match self.place {
            Place::AfterReturn if byte == b'\n' => {
                self.ready.push(byte);
                self.place = Place::LineStart;
                return;
            }
            Place::AfterReturn => Place::LineStart,
            place => place,
        };
        if place == Place::LineStart && ends_line && self.header == Header::One {
            self.ready.extend([self.options.quote; 2]);
        }
        self.ready.push(byte);
        let quote = byte == self.options.quote;
        let delimiter = byte == self.options.delimiter;
        self.place = match place {
            Place::InQuotes if quote => Place::AfterQuote,
            Place::InQuotes => Place::InQuotes,
            Place::AfterQuote if quote => Place::InQuotes,
            Place::LineStart | Place::CellStart if quote => Place::InQuotes,
            Place::LineStart | Place::AfterReturn | Place::CellStart | Place::InCell | Place::AfterQuote => {
                if delimiter {
                    // A name ends here, and another follows.
                    if self.header == Header::Unread {
                        self.header = Header::Several;
                    }
                    Place::CellStart
                } else if ends_line {
                    // Lines before the header do not count.
                    if self.header == Header::Unread && place != Place::LineStart {
                        self.header = Header::One;
                    }
                    if byte == b'\r' { Place::AfterReturn } else { Place::LineStart }
                } else {
                    Place::InCell
                }
            }
        };
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        // What was read may leave nothing to hand on: a byte order mark.
        while self.handed == self.ready.len() {
            let read = self.bytes.read(out)?;
            if read == 0 || self.header == Header::Several {
                return Ok(read);
            }
            self.ready.clear();
            self.handed = 0;
            out[..read].iter().for_each(|byte| self.admit(*byte));
        }
        let waiting = &self.ready[self.handed..];
        let length = waiting.len().min(out.len());
        out[..length].copy_from_slice(&waiting[..length]);
        self.handed += length;
        Ok(length)
    }
}
