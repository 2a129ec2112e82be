//! Knows how a Parquet column is stored, and reads values of any encoding by the crate's own reader.

use std::io::Write;
use std::path::Path;

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::file::reader::RowGroupReader;
use ::parquet::schema::types::ColumnDescPtr;

use crate::location::unreadable;
use crate::schema::Cells;
use crate::{Error, Roster};

/// The name of a compression that this build does not read.
fn unread(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => None,
        Compression::ZSTD(_) => (!cfg!(feature = "zstd")).then_some("Zstandard"),
        Compression::LZO => Some("LZO"),
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZ4 | Compression::LZ4_RAW => Some("LZ4"),
    }
}

/// One column of the file, as it is stored.
pub(super) struct Leaf {
    pub(super) position: usize,
    descriptor: ColumnDescPtr,
    unsigned: bool,
    /// What an integer counts: 1, or 10^−s of a decimal number.
    unit: f64,
    /// The definition level of a value that is there; 0 if none can be missing.
    pub(super) present: i16,
    reader: Option<Typed>,
}

/// A column's reader and its buffers, by physical type.
enum Typed {
    Bool(Pages<::parquet::data_type::BoolType>),
    Int32(Pages<::parquet::data_type::Int32Type>),
    Int64(Pages<::parquet::data_type::Int64Type>),
    Float(Pages<::parquet::data_type::FloatType>),
    Double(Pages<::parquet::data_type::DoubleType>),
    Text(Pages<::parquet::data_type::ByteArrayType>),
}

struct Pages<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    levels: Vec<i16>,
}

impl<T: DataType> Pages<T> {
    fn new(reader: ColumnReaderImpl<T>) -> Self {
        Self { reader, values: Vec::new(), levels: Vec::new() }
    }

    /// Reads `out.len()` records: `admit` of a value, or of nothing where it is missing.
    fn fill<Admitted>(
        &mut self,
        path: &Path,
        present: i16,
        out: &mut [Admitted],
        mut admit: impl FnMut(Option<&T::T>) -> Admitted,
    ) -> Result<(), Error> {
        self.values.clear();
        self.levels.clear();
        let levels = (present > 0).then_some(&mut self.levels);
        let (read, ..) = self
            .reader
            .read_records(out.len(), levels, None, &mut self.values)
            .map_err(|_| unreadable(path))?;
        if read != out.len() {
            return Err(unreadable(path));
        }
        let mut values = self.values.iter();
        if self.values.len() == out.len() {
            // None is missing.
            out.iter_mut().zip(values).for_each(|(out, value)| *out = admit(Some(value)));
        } else if present == 0 {
            out.iter_mut().for_each(|out| *out = admit(values.next()));
        } else {
            for (out, level) in out.iter_mut().zip(&self.levels) {
                *out = admit(if *level == present { values.next() } else { None });
            }
        }
        Ok(())
    }
}

impl Leaf {
    /// # Errors
    /// If the column holds something else than numbers, booleans or text.
    pub(super) fn new(
        path: &Path,
        name: &str,
        position: usize,
        descriptor: &ColumnDescPtr,
    ) -> Result<Self, Error> {
        let refuse = |holds| Error::Holds { path: path.to_path_buf(), column: name.to_owned(), holds };
        if descriptor.max_rep_level() > 0 || descriptor.path().parts().len() > 1 {
            return Err(refuse("lists or records"));
        }
        let mut unit = 1.0;
        let mut unsigned = false;
        match (descriptor.logical_type_ref(), descriptor.converted_type()) {
            (Some(LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. }), _)
            | (
                _,
                ConvertedType::DATE
                | ConvertedType::TIME_MILLIS
                | ConvertedType::TIME_MICROS
                | ConvertedType::TIMESTAMP_MILLIS
                | ConvertedType::TIMESTAMP_MICROS
                | ConvertedType::INTERVAL,
            ) => return Err(refuse("dates or times")),
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => unsigned = true,
            (_, ConvertedType::DECIMAL) => {
                if descriptor.physical_type() == Physical::BYTE_ARRAY {
                    return Err(refuse("decimal numbers of any length"));
                }
                unit = libm::pow(10.0, -f64::from(descriptor.type_scale()));
            }
            _ => {}
        }
        match descriptor.physical_type() {
            Physical::INT96 => return Err(refuse("dates or times")),
            Physical::FIXED_LEN_BYTE_ARRAY => return Err(refuse("bytes of fixed length")),
            _ => {}
        }
        let present = descriptor.max_def_level();
        let descriptor = ColumnDescPtr::clone(descriptor);
        Ok(Self { position, descriptor, unsigned, unit, present, reader: None })
    }

    pub(super) fn physical(&self) -> Physical {
        self.descriptor.physical_type()
    }

    /// The pages of a row group.
    pub(super) fn pages(
        &self,
        path: &Path,
        group: &dyn RowGroupReader,
    ) -> Result<Box<dyn PageReader>, Error> {
        if let Some(codec) = unread(group.metadata().column(self.position).compression()) {
            return Err(Error::Codec { path: path.to_path_buf(), codec });
        }
        group.get_column_page_reader(self.position).map_err(|_| unreadable(path))
    }

    /// Turns to some pages, to be read by the crate's own reader.
    pub(super) fn open(&mut self, pages: Box<dyn PageReader>) -> Option<()> {
        self.reader = Some(match get_column_reader(ColumnDescPtr::clone(&self.descriptor), pages) {
            ColumnReader::BoolColumnReader(reader) => Typed::Bool(Pages::new(reader)),
            ColumnReader::Int32ColumnReader(reader) => Typed::Int32(Pages::new(reader)),
            ColumnReader::Int64ColumnReader(reader) => Typed::Int64(Pages::new(reader)),
            ColumnReader::FloatColumnReader(reader) => Typed::Float(Pages::new(reader)),
            ColumnReader::DoubleColumnReader(reader) => Typed::Double(Pages::new(reader)),
            ColumnReader::ByteArrayColumnReader(reader) => Typed::Text(Pages::new(reader)),
            ColumnReader::Int96ColumnReader(_) | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                return None;
            }
        });
        Some(())
    }

    /// Adds the next `count` rows to a roster, a number by what it looks like when written; false if that is a person too
    /// many.
    pub(super) fn name_rows(
        &mut self,
        path: &Path,
        count: usize,
        roster: &mut Roster,
    ) -> Result<bool, Error> {
        let Self { unsigned, present, reader, .. } = self;
        let (unsigned, present) = (*unsigned, *present);
        let fits = &mut vec![false; count][..];
        let mut push = |value: Option<&dyn std::fmt::Display>| match value {
            None => roster.push(b""),
            Some(value) => with_digits(value, |digits| roster.push(digits)),
        };
        match reader {
            None => return Err(unreadable(path)),
            Some(Typed::Bool(pages)) => {
                pages.fill(path, present, fits, |value| push(value.map(|v| v as _)))?
            }
            Some(Typed::Int32(pages)) => pages.fill(path, present, fits, |value| match value {
                Some(value) if unsigned => push(Some(&value.cast_unsigned())),
                value => push(value.map(|value| value as _)),
            })?,
            Some(Typed::Int64(pages)) => pages.fill(path, present, fits, |value| match value {
                Some(value) if unsigned => push(Some(&value.cast_unsigned())),
                value => push(value.map(|value| value as _)),
            })?,
            Some(Typed::Float(pages)) => pages.fill(path, present, fits, |value| {
                push(value.filter(|value| !value.is_nan()).map(|value| value as _))
            })?,
            Some(Typed::Double(pages)) => pages.fill(path, present, fits, |value| {
                push(value.filter(|value| !value.is_nan()).map(|value| value as _))
            })?,
            Some(Typed::Text(pages)) => {
                pages.fill(path, present, fits, |value| {
                    roster.push(value.map_or(b"", |value| value.data()))
                })?;
            }
        }
        Ok(fits.iter().all(|fits| *fits))
    }

    /// The next `out.len()` records, in the column's own unit.
    pub(super) fn fill(&mut self, path: &Path, cells: &Cells<'_>, out: &mut [f64]) -> Result<(), Error> {
        let Self { unsigned, unit, present, reader, .. } = self;
        let (unsigned, unit, present) = (*unsigned, *unit, *present);
        let missing = f64::NAN;
        match reader {
            None => Err(unreadable(path)),
            Some(Typed::Bool(pages)) => pages.fill(path, present, out, |value| {
                value.map_or(missing, |value| named(cells, f64::from(u8::from(*value)), value))
            }),
            Some(Typed::Int32(pages)) => pages.fill(path, present, out, |value| match value {
                None => missing,
                Some(value) if unsigned => {
                    let value = value.cast_unsigned();
                    named(cells, f64::from(value), &value)
                }
                Some(value) => named(cells, f64::from(*value) * unit, value),
            }),
            #[expect(
                clippy::cast_precision_loss,
                reason = "whole numbers above 2^53 round to the nearest f64"
            )]
            Some(Typed::Int64(pages)) => pages.fill(path, present, out, |value| match value {
                None => missing,
                Some(value) if unsigned => {
                    let value = value.cast_unsigned();
                    named(cells, value as f64, &value)
                }
                Some(value) => named(cells, *value as f64 * unit, value),
            }),
            Some(Typed::Float(pages)) => pages.fill(path, present, out, |value| {
                value.map_or(missing, |value| named(cells, f64::from(*value), value))
            }),
            Some(Typed::Double(pages)) => pages
                .fill(path, present, out, |value| value.map_or(missing, |value| named(cells, *value, value))),
            Some(Typed::Text(pages)) => pages
                .fill(path, present, out, |value| value.map_or(missing, |value| cells.parse(value.data()))),
        }
    }

    /// The next `out.len()` values of a page that holds them one after the other from byte `at` on, in the column's own unit, and where
    /// they end; none if there are fewer, or they are single bits.
    pub(super) fn plain(&self, cells: &Cells<'_>, page: &[u8], at: usize, out: &mut [f64]) -> Option<usize> {
        let (unit, rest) = (self.unit, page.get(at..)?);
        #[expect(clippy::cast_precision_loss, reason = "whole numbers above 2^53 round to the nearest f64")]
        let taken = match (self.physical(), self.unsigned) {
            (Physical::INT32, true) => plain(cells, rest, out, u32::from_le_bytes, f64::from),
            (Physical::INT32, false) => {
                plain(cells, rest, out, i32::from_le_bytes, |value| f64::from(value) * unit)
            }
            (Physical::INT64, true) => plain(cells, rest, out, u64::from_le_bytes, |value| value as f64),
            (Physical::INT64, false) => {
                plain(cells, rest, out, i64::from_le_bytes, |value| value as f64 * unit)
            }
            (Physical::FLOAT, _) => plain(cells, rest, out, f32::from_le_bytes, f64::from),
            (Physical::DOUBLE, _) => plain(cells, rest, out, f64::from_le_bytes, |value| value),
            (Physical::BYTE_ARRAY, _) => texts(cells, rest, out),
            (Physical::BOOLEAN | Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY, _) => None,
        };
        at.checked_add(taken?)
    }
}

/// Reads numbers of `SIZE` bytes, and says how many bytes that were.
#[inline]
fn plain<const SIZE: usize, T: std::fmt::Display>(
    cells: &Cells<'_>,
    bytes: &[u8],
    out: &mut [f64],
    read: impl Fn([u8; SIZE]) -> T,
    number: impl Fn(T) -> f64,
) -> Option<usize> {
    let size = out.len().checked_mul(SIZE)?;
    let (values, _) = bytes.get(..size)?.as_chunks::<SIZE>();
    if cells.are_levels() {
        for (out, value) in out.iter_mut().zip(values) {
            *out = with_digits(&read(*value), |digits| cells.parse(digits));
        }
    } else {
        out.iter_mut().zip(values).for_each(|(out, value)| *out = number(read(*value)));
    }
    Some(size)
}

/// Reads texts, each behind its length in four bytes, and says how many bytes that were.
fn texts(cells: &Cells<'_>, bytes: &[u8], out: &mut [f64]) -> Option<usize> {
    let mut rest = bytes;
    for out in out {
        let (length, text) = rest.split_first_chunk()?;
        let (text, after) = text.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        *out = cells.parse(text);
        rest = after;
    }
    Some(bytes.len() - rest.len())
}

/// A number, or a category's level by what the number looks like when written.
#[inline]
pub(crate) fn named(cells: &Cells<'_>, number: f64, written: &impl std::fmt::Display) -> f64 {
    if cells.are_levels() { with_digits(written, |digits| cells.parse(digits)) } else { number }
}

/// Shows what a number looks like when written.
pub(crate) fn with_digits<T>(
    written: &(impl std::fmt::Display + ?Sized),
    look: impl FnOnce(&[u8]) -> T,
) -> T {
    // The longest f64 in plain digits has 327 characters; a longer one is no level anyone declared.
    let mut digits = [0_u8; 336];
    let mut rest = &mut digits[..];
    let _ = write!(rest, "{written}");
    let length = 336 - rest.len();
    look(digits.get(..length).unwrap_or_default())
}
