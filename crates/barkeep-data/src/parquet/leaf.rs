//! Knows how a Parquet column is stored, and reads values of any encoding by the crate's own reader.

use std::path::Path;

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::page::PageReader;
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::file::reader::RowGroupReader;
use ::parquet::schema::types::ColumnDescPtr;

use crate::cell::with_digits;
use crate::location::unreadable;
use crate::schema::Cells;
use crate::{Cell, Error, Roster};

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

    /// A column that says whose row it is.
    ///
    /// # Errors
    /// If it holds something else than whole numbers or text.
    pub(super) fn identifying(
        path: &Path,
        name: &str,
        position: usize,
        descriptor: &ColumnDescPtr,
    ) -> Result<Self, Error> {
        let refuse =
            |holds| Error::Unidentifying { path: path.to_path_buf(), column: name.to_owned(), holds };
        let leaf = Self::new(path, name, position, descriptor).map_err(|error| match error {
            Error::Holds { holds, .. } => refuse(holds),
            other => other,
        })?;
        match leaf.physical() {
            Physical::BOOLEAN => Err(refuse("true or false")),
            Physical::FLOAT | Physical::DOUBLE => Err(refuse("floating-point numbers")),
            #[expect(clippy::float_cmp, reason = "1 exactly where an integer counts ones")]
            Physical::INT32 | Physical::INT64 if leaf.unit != 1.0 => Err(refuse("decimal fractions")),
            Physical::INT32
            | Physical::INT64
            | Physical::BYTE_ARRAY
            | Physical::INT96
            | Physical::FIXED_LEN_BYTE_ARRAY => Ok(leaf),
        }
    }

    /// Adds the next `count` rows to a roster; false if that is a person too many.
    pub(super) fn name_rows(
        &mut self,
        path: &Path,
        count: usize,
        roster: &mut Roster,
    ) -> Result<bool, Error> {
        let Self { unsigned, present, reader, .. } = self;
        let (unsigned, present) = (*unsigned, *present);
        let fits = &mut vec![false; count][..];
        let whole = |signed: i64, unsigned_value: u64| match unsigned {
            true => Cell::Unsigned(unsigned_value),
            false => Cell::Signed(signed),
        };
        let mut push = |cell: Option<Cell<'_>>| roster.push_cell(cell.unwrap_or(Cell::Missing));
        match reader {
            Some(Typed::Int32(pages)) => pages.fill(path, present, fits, |value| {
                push(value.map(|value| whole((*value).into(), value.cast_unsigned().into())))
            })?,
            Some(Typed::Int64(pages)) => pages.fill(path, present, fits, |value| {
                push(value.map(|value| whole(*value, value.cast_unsigned())))
            })?,
            Some(Typed::Text(pages)) => {
                pages.fill(path, present, fits, |value| push(value.map(|value| Cell::Text(value.data()))))?;
            }
            Some(Typed::Bool(_) | Typed::Float(_) | Typed::Double(_)) | None => return Err(unreadable(path)),
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
