//! Decodes the pages of one Parquet column straight into numbers: plain values and dictionaries here, rarer encodings by the crate.
//!
//! A dictionary is read once for a row group, its text too: what follows is one look-up a record.

use std::path::Path;

use ::parquet::basic::{Encoding, Type as Physical};
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::ParquetError;
use ::parquet::file::reader::RowGroupReader;

use super::gaps::There;
use super::leaf::{Leaf, named};
use super::runs::{Piece, Runs};
use crate::Column;
use crate::location::unreadable;
use crate::schema::Cells;

/// Reads one column of all row groups: each cell in the column's own unit, not admitted yet.
pub(super) struct Decoder<'a> {
    cells: Cells<'a>,
    leaf: Leaf,
    pages: Option<Box<dyn PageReader>>,
    /// What the row group's dictionary says.
    dictionary: Vec<f64>,
    /// Its page, where the crate's own reader may need it.
    from: Option<Page>,
    keeps_from: bool,
    open: Option<Open>,
    /// Which of some records have a value, and those values.
    there: There,
    found: Vec<f64>,
}

/// A page that is not read to its end.
struct Open {
    page: Page,
    /// Records that are not read yet.
    left: usize,
    /// Which of them have a value; all where it is none.
    levels: Option<Runs>,
    /// None where the crate's own reader reads them, missing ones included.
    values: Option<Values>,
}

enum Values {
    /// One after the other, from this byte on.
    Plain(usize),
    /// Indices of the dictionary.
    Indices(Runs),
}

impl<'a> Decoder<'a> {
    pub(super) fn new(cells: Cells<'a>, leaf: Leaf) -> Self {
        Self {
            cells,
            leaf,
            pages: None,
            dictionary: Vec::new(),
            from: None,
            keeps_from: false,
            open: None,
            there: There::default(),
            found: Vec::new(),
        }
    }

    pub(super) fn position(&self) -> usize {
        self.leaf.position
    }

    pub(super) fn column(&self) -> &'a Column {
        self.cells.column()
    }

    /// Turns to a row group.
    pub(super) fn start(&mut self, path: &Path, group: &dyn RowGroupReader) -> Result<(), crate::Error> {
        (self.pages, self.open, self.from) = (Some(self.leaf.pages(path, group)?), None, None);
        // The oldest way to say which values are there.
        #[expect(deprecated, reason = "old files have it")]
        let oldest = Encoding::BIT_PACKED;
        self.keeps_from = group.metadata().column(self.leaf.position).encodings().any(|own| own == oldest);
        self.dictionary.clear();
        if self.leaf.physical() == Physical::BOOLEAN {
            let of = |value: bool| named(&self.cells, f64::from(u8::from(value)), &value);
            self.dictionary.extend([of(false), of(true)]);
        }
        Ok(())
    }

    /// The next `out.len()` records.
    pub(super) fn fill(&mut self, path: &Path, out: &mut [f64]) -> Result<(), crate::Error> {
        self.try_fill(path, out).ok_or_else(|| unreadable(path))
    }

    fn try_fill(&mut self, path: &Path, mut out: &mut [f64]) -> Option<()> {
        while !out.is_empty() {
            let Some(open) = self.open.as_mut().filter(|open| open.left > 0) else {
                self.turn()?;
                continue;
            };
            let Open { page, left, levels, values } = open;
            let most = out.len().min(*left);
            let Some(values) = values else {
                self.leaf.fill(path, &self.cells, out.get_mut(..most)?).ok()?;
                *left -= most;
                out = out.get_mut(most..)?;
                continue;
            };
            let page = &page.buffer()[..];
            let source = (&self.cells, &self.leaf, &self.dictionary[..]);
            let here = out.get_mut(..most)?;
            match levels {
                None => values.fill(source, page, here)?,
                Some(runs) => {
                    // Runs are short where gaps are many: first which are there, then their values together.
                    let count = self.there.read(runs, page, most)?;
                    if count == most {
                        values.fill(source, page, here)?;
                    } else {
                        self.found.resize(self.found.len().max(count + 8), 0.0);
                        values.fill(source, page, self.found.get_mut(..count)?)?;
                        self.there.spread(&self.found, here)?;
                    }
                }
            }
            *left -= most;
            out = out.get_mut(most..)?;
        }
        Some(())
    }

    /// Opens the next page of records.
    fn turn(&mut self) -> Option<()> {
        let page = self.pages.as_mut()?.get_next_page().ok()??;
        let length = page.buffer().len();
        let count = usize::try_from(page.num_values()).ok()?;
        let (levels, start) = match &page {
            Page::DictionaryPage { encoding, .. } => {
                let is_plain = matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY);
                // A value takes four bytes at least: no memory is reserved for more than there are.
                if !is_plain || self.leaf.physical() == Physical::BOOLEAN || count > length / 4 {
                    return None;
                }
                if self.dictionary.capacity() < count {
                    // What it held is not moved along.
                    self.dictionary = Vec::new();
                }
                self.dictionary.resize(count, 0.0);
                let source = (&self.cells, &self.leaf, &[][..]);
                Values::Plain(0).fill(source, page.buffer(), &mut self.dictionary)?;
                self.from = Some(page).filter(|_| self.keeps_from);
                return Some(());
            }
            Page::DataPage { .. } if self.leaf.present == 0 => (None, Some(0)),
            Page::DataPage { buf, def_level_encoding: Encoding::RLE, .. } => {
                let size = usize::try_from(u32::from_le_bytes(*buf.first_chunk()?)).ok()?;
                let end = size.checked_add(4).filter(|end| *end <= length)?;
                (Some(Runs::new(1, 4, end)?), Some(end))
            }
            Page::DataPage { .. } => (None, None),
            Page::DataPageV2 { rep_levels_byte_len, def_levels_byte_len, .. } => {
                let start = usize::try_from(*rep_levels_byte_len).ok()?;
                let end = start.checked_add(usize::try_from(*def_levels_byte_len).ok()?)?;
                let end = Some(end).filter(|end| *end <= length)?;
                let levels = (self.leaf.present > 0).then(|| Runs::new(1, start, end));
                (if let Some(levels) = levels { Some(levels?) } else { None }, Some(end))
            }
        };
        let values = match (page.encoding(), start) {
            (Encoding::PLAIN, Some(start)) if self.leaf.physical() == Physical::BOOLEAN => {
                Values::Indices(Runs::bits(start, length)?)
            }
            (Encoding::PLAIN, Some(start)) => Values::Plain(start),
            (Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY, Some(start)) => {
                // A page without a value may lack the byte that says how wide an index is.
                let width = page.buffer().get(start).map_or(0, |width| u32::from(*width));
                Values::Indices(Runs::new(width, (start + 1).min(length), length)?)
            }
            _ => {
                let alone = [Some(page.clone()), self.from.clone()].into_iter().flatten().collect();
                self.leaf.open(Box::new(Alone(alone)))?;
                self.open = Some(Open { page, left: count, levels: None, values: None });
                return Some(());
            }
        };
        self.open = Some(Open { page, left: count, levels, values: Some(values) });
        Some(())
    }
}

/// What values mean: the column's cells, how they are stored, and the dictionary.
type Source<'a> = (&'a Cells<'a>, &'a Leaf, &'a [f64]);

impl Values {
    /// The next `out.len()` values; none if there are fewer.
    fn fill(&mut self, (cells, leaf, dictionary): Source<'_>, page: &[u8], out: &mut [f64]) -> Option<()> {
        match self {
            Self::Plain(at) => {
                *at = leaf.plain(cells, page, *at, out)?;
                Some(())
            }
            Self::Indices(runs) => {
                let mut out = out;
                while !out.is_empty() {
                    let count = match runs.next(page, out.len())? {
                        Piece::Same(index, count) => {
                            out.get_mut(..count)?.fill(*dictionary.get(index as usize)?);
                            count
                        }
                        Piece::Packed(packed, count) => {
                            let mut known = true;
                            packed.each(page, out.get_mut(..count)?, |index| {
                                let value = dictionary.get(index as usize);
                                known &= value.is_some();
                                value.copied().unwrap_or(f64::NAN)
                            })?;
                            known.then_some(count)?
                        }
                    };
                    out = out.get_mut(count..)?;
                }
                Some(())
            }
        }
    }
}

/// A page for the crate's own reader, behind the dictionary it may need; the first is the last.
struct Alone(Vec<Page>);

impl Iterator for Alone {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.pop().map(Ok)
    }
}

impl PageReader for Alone {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        Ok(self.0.pop())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        let metadata = |page: &Page| PageMetadata {
            num_rows: None,
            num_levels: usize::try_from(page.num_values()).ok(),
            is_dict: page.is_dictionary_page(),
        };
        Ok(self.0.last().map(metadata))
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.0.pop();
        Ok(())
    }
}
