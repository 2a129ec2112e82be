//! Reads records from a Parquet file, a block of all columns at a time, and lets no message say what a record says.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, SyncSender};

use ::parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use crate::header::{locate, locate_person};
use crate::read::{Naming, Reading};
use crate::schema::Cells;
use crate::{BLOCK, Error, Kind, Roster, View};

/// Reads a Parquet file; see [`read`](crate::read).
pub(crate) fn read_parquet(
    path: &Path,
    view: &View,
    mut naming: Option<&mut Naming<'_>>,
    reading: Reading<'_>,
) -> Result<(), Error> {
    let Reading { admission, count, last, sink, progress } = reading;
    contained(path, || {
        let file = open(path)?;
        let columns = file.metadata().file_metadata().schema_descr().columns();
        let header = names(&file);
        let positions = locate(path, view.source(), &header)?;
        let mut decoders = Vec::with_capacity(positions.len());
        for (&position, column) in positions.iter().zip(view.source().columns()) {
            let descriptor = columns.get(position).ok_or_else(|| unreadable(path))?;
            let leaf = Leaf::new(path, column.name(), position, descriptor)?;
            decoders.push(Decoder { cells: Cells::new(column), leaf });
        }
        let mut named = match &naming {
            None => None,
            Some(naming) => {
                let position = locate_person(path, naming.column, &header)?;
                let descriptor = columns.get(position).ok_or_else(|| unreadable(path))?;
                Some(Leaf::new(path, naming.column, position, descriptor)?)
            }
        };
        let wrong = || Error::Count { path: path.to_path_buf(), declared: count.declared() };
        let held = file.metadata().row_groups().iter().map(|group| usize::try_from(group.num_rows()));
        let held = held.sum::<Result<usize, _>>().map_err(|_| unreadable(path))?;
        let held = admission.pushed().saturating_add(held);
        if !(count.admits(held) || !last && count.left(held) > 0) {
            return Err(wrong());
        }
        // Columns are decoded by other threads, a stretch ahead of the one that is admitted here.
        let stretch = stretch(decoders.len());
        let share = decoders.len().div_ceil(threads()).max(1);
        std::thread::scope(|scope| {
            let lanes = decoders.chunks_mut(share).map(|decoders| {
                let (full, stretches) = mpsc::sync_channel(1);
                let (back, empty) = mpsc::channel();
                scope.spawn(move || Lane { path, decoders, stretch, full, empty }.decode());
                (stretches, back)
            });
            let lanes: Vec<_> = lanes.collect();
            for group in 0..file.num_row_groups() {
                let group = file.get_row_group(group).map_err(|_| unreadable(path))?;
                if let Some(leaf) = &mut named {
                    leaf.start(path, &*group)?;
                }
                for length in stretches(path, &*group, stretch)? {
                    let received = lanes.iter().map(|(stretches, _)| stretches.recv());
                    let received = received.map(|decoded| decoded.unwrap_or_else(|_| Err(unreadable(path))));
                    let columns = received.collect::<Result<Vec<_>, _>>()?;
                    let mut next = 0;
                    while next < length {
                        let chunk = admission.room().min(length - next);
                        if chunk == 0 {
                            return Err(wrong());
                        }
                        admission.push_columns(chunk, sink, |index, out| {
                            let column = columns.get(index / share).and_then(|own| own.get(index % share));
                            let values = column.and_then(|column| column.get(next..next + chunk));
                            out.copy_from_slice(values.ok_or_else(|| unreadable(path))?);
                            Ok(())
                        })?;
                        if let (Some(leaf), Some(naming)) = (&mut named, &mut naming)
                            && !leaf.name_rows(path, chunk, &mut naming.roster)?
                        {
                            return Err(naming.wrong_count(path));
                        }
                        next += chunk;
                        count.shown(admission.pushed()).into_iter().for_each(&mut *progress);
                    }
                    for ((_, back), columns) in lanes.iter().zip(columns) {
                        // Who has decoded everything needs no memory.
                        let _ = back.send(columns);
                    }
                }
            }
            Ok(())
        })
    })
}

/// Columns that one thread decodes, from a file it opens for itself: the place of the next byte belongs to an open file.
struct Lane<'a, 'b> {
    path: &'a Path,
    decoders: &'a mut [Decoder<'b>],
    stretch: usize,
    full: SyncSender<Result<Vec<Vec<f64>>, Error>>,
    /// Columns whose memory is free again.
    empty: Receiver<Vec<Vec<f64>>>,
}

impl Lane<'_, '_> {
    /// Decodes all stretches, or as many as are taken.
    fn decode(self) {
        let Self { path, decoders, stretch, full, empty } = self;
        let decoded = contained(path, || {
            let file = open(path)?;
            for group in 0..file.num_row_groups() {
                let group = file.get_row_group(group).map_err(|_| unreadable(path))?;
                for decoder in &mut *decoders {
                    decoder.leaf.start(path, &*group)?;
                }
                for length in stretches(path, &*group, stretch)? {
                    let mut columns = empty.try_recv().unwrap_or_default();
                    columns.resize_with(decoders.len(), Vec::new);
                    for (decoder, column) in decoders.iter_mut().zip(&mut columns) {
                        column.resize(length, 0.0);
                        decoder.fill(path, column)?;
                    }
                    if full.send(Ok(columns)).is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        });
        if let Err(error) = decoded {
            // Where nobody listens, another error was found first.
            let _ = full.send(Err(error));
        }
    }
}

/// How many threads decode columns.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Records that are decoded at a time: some eight megabytes of all columns at most, three times.
fn stretch(columns: usize) -> usize {
    ((1 << 20) / columns.max(1)).clamp(BLOCK, 8 * BLOCK)
}

/// The lengths of a row group's stretches.
fn stretches(
    path: &Path,
    group: &dyn RowGroupReader,
    stretch: usize,
) -> Result<impl Iterator<Item = usize> + use<>, Error> {
    let rows = usize::try_from(group.metadata().num_rows()).map_err(|_| unreadable(path))?;
    Ok((0..rows).step_by(stretch).map(move |start| stretch.min(rows - start)))
}

/// The column names of a Parquet file; see [`read_header`](crate::read_header).
pub(crate) fn parquet_header(path: &Path) -> Result<Vec<String>, Error> {
    contained(path, || Ok(names(&open(path)?)))
}

/// A damaged file may make the Parquet reader panic: it then cannot be read, like any other.
fn contained<T>(path: &Path, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(unreadable(path)))
}

fn unreadable(path: &Path) -> Error {
    Error::Unreadable { path: path.to_path_buf() }
}

fn open(path: &Path) -> Result<SerializedFileReader<File>, Error> {
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::Missing { path: path.to_path_buf() },
        _ => unreadable(path),
    })?;
    SerializedFileReader::new(file).map_err(|_| unreadable(path))
}

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

/// Every leaf's name; a nested one is the path to it.
fn names(file: &SerializedFileReader<File>) -> Vec<String> {
    let columns = file.metadata().file_metadata().schema_descr().columns();
    columns.iter().map(|column| column.path().string()).collect()
}

/// Reads one column of all row groups as its schema admits it.
struct Decoder<'a> {
    cells: Cells<'a>,
    leaf: Leaf,
}

/// One column of the file, as it is stored.
struct Leaf {
    position: usize,
    unsigned: bool,
    /// What an integer counts: 1, or 10^−s of a decimal number.
    unit: f64,
    /// The definition level of a value that is there; 0 if none can be missing.
    present: i16,
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
    fn new(path: &Path, name: &str, position: usize, descriptor: &ColumnDescriptor) -> Result<Self, Error> {
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
        Ok(Self { position, unsigned, unit, present, reader: None })
    }

    /// Turns to a row group.
    fn start(&mut self, path: &Path, group: &dyn RowGroupReader) -> Result<(), Error> {
        if let Some(codec) = unread(group.metadata().column(self.position).compression()) {
            return Err(Error::Codec { path: path.to_path_buf(), codec });
        }
        let reader = group.get_column_reader(self.position).map_err(|_| unreadable(path))?;
        self.reader = Some(match reader {
            ColumnReader::BoolColumnReader(reader) => Typed::Bool(Pages::new(reader)),
            ColumnReader::Int32ColumnReader(reader) => Typed::Int32(Pages::new(reader)),
            ColumnReader::Int64ColumnReader(reader) => Typed::Int64(Pages::new(reader)),
            ColumnReader::FloatColumnReader(reader) => Typed::Float(Pages::new(reader)),
            ColumnReader::DoubleColumnReader(reader) => Typed::Double(Pages::new(reader)),
            ColumnReader::ByteArrayColumnReader(reader) => Typed::Text(Pages::new(reader)),
            _ => return Err(unreadable(path)),
        });
        Ok(())
    }

    /// Adds the next `count` rows to a roster, a number by what it looks like when written; false if that is a person too
    /// many.
    fn name_rows(&mut self, path: &Path, count: usize, roster: &mut Roster) -> Result<bool, Error> {
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
}

impl Decoder<'_> {
    /// The next `out.len()` records, in the column's own unit.
    fn fill(&mut self, path: &Path, out: &mut [f64]) -> Result<(), Error> {
        let Self { cells, leaf: Leaf { unsigned, unit, present, reader, .. } } = self;
        let (cells, unsigned, unit, present) = (&*cells, *unsigned, *unit, *present);
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
}

/// A number, or a category's level by what the number looks like when written.
#[inline]
pub(crate) fn named(cells: &Cells<'_>, number: f64, written: &impl std::fmt::Display) -> f64 {
    if !matches!(cells.column().kind(), Kind::Category { .. }) {
        return number;
    }
    with_digits(written, |digits| cells.parse(digits))
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
