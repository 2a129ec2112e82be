//! Writes draws as Parquet: the columns of the CSV file, every f64 with its bits, chains in row groups of their own.

use super::{Format, Heading, Opened, Rows, Storage};
use crate::run::draws::{CHAIN_COLUMN, DRAW_COLUMN, NOT_PRIVATE, WARMUP_COLUMN};
use parquet::basic::{Encoding, Repetition, Type as Physical};
use parquet::data_type::{BoolType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::types::Type;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::Arc;

/// The format.
pub(crate) const FORMAT: Format = Format { name: "draws.parquet", open };

/// The values of a row group at most: 8 MiB wait for their columns to be written one after the other.
const GROUP_VALUES: usize = 1 << 20;
/// The draws of a row group at most.
const GROUP_DRAWS: usize = 1 << 16;

struct Parquet<'a> {
    heading: &'a Heading,
    writer: SerializedFileWriter<&'a mut BufWriter<File>>,
    /// The draws of a row group.
    room: usize,
    /// The chain of the draws that wait, and the position of the first.
    chain: usize,
    first: usize,
    /// The draws that wait, row after row.
    waiting: Vec<f64>,
}

fn open<'a>(heading: &'a Heading, file: &'a mut BufWriter<File>) -> Opened<'a> {
    let room = (GROUP_VALUES / heading.width().max(1)).clamp(1, GROUP_DRAWS);
    let writer = SerializedFileWriter::new(
        file,
        Arc::new(schema(heading).map_err(failure)?),
        Arc::new(properties(heading)),
    );
    let writer = writer.map_err(failure)?;
    Ok(Box::new(Parquet { heading, writer, room, chain: 0, first: 0, waiting: Vec::new() }))
}

fn schema(heading: &Heading) -> Result<Type, ParquetError> {
    let column = |name: &str, physical| {
        let column = Type::primitive_type_builder(name, physical);
        column.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
    };
    let mut columns = vec![
        column(CHAIN_COLUMN, Physical::INT64)?,
        column(DRAW_COLUMN, Physical::INT64)?,
        column(WARMUP_COLUMN, Physical::BOOLEAN)?,
    ];
    for name in heading.names() {
        columns.push(column(name, Physical::DOUBLE)?);
    }
    Type::group_type_builder("draws").with_fields(columns).build()
}

fn properties(heading: &Heading) -> WriterProperties {
    let mark = KeyValue::new("privacy".to_owned(), NOT_PRIVATE.to_owned());
    // Draws rarely repeat, so a dictionary of them is larger than they are; the numbers 1, 2, 3, … are not.
    WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_column_dictionary_enabled(CHAIN_COLUMN.into(), true)
        .set_column_encoding(DRAW_COLUMN.into(), Encoding::DELTA_BINARY_PACKED)
        .set_created_by(concat!("barkeep version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(heading.not_private.then(|| vec![mark]))
        .build()
}

/// The draws of one parameter in a file, by chain, without warm-up.
///
/// # Errors
/// The file cannot be read, or is not one of this format.
pub(crate) fn series(path: &Path, parameter: usize, chains: usize) -> io::Result<Vec<Vec<f64>>> {
    let mut series = vec![Vec::new(); chains];
    for row in SerializedFileReader::new(File::open(path)?).map_err(failure)? {
        let row = row.map_err(failure)?;
        if row.get_bool(2).map_err(failure)? {
            continue;
        }
        let chain = usize::try_from(row.get_long(0).map_err(failure)? - 1).ok();
        let chain = chain.and_then(|chain| series.get_mut(chain)).ok_or(io::ErrorKind::InvalidData)?;
        chain.push(row.get_double(3 + parameter).map_err(failure)?);
    }
    Ok(series)
}

/// Shows every draw in a file, warm-up too: its chain from 0, its position in the chain from 0, and its numbers.
///
/// # Errors
/// The file cannot be read, or is not one of this format.
pub(crate) fn visit(path: &Path, visit: &mut dyn FnMut(usize, usize, &[f64])) -> io::Result<()> {
    let mut numbers = Vec::new();
    for row in SerializedFileReader::new(File::open(path)?).map_err(failure)? {
        let row = row.map_err(failure)?;
        let place = |column| {
            let number = row.get_long(column).map_err(failure)?;
            usize::try_from(number - 1).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
        };
        numbers.clear();
        for column in 3..row.len() {
            numbers.push(row.get_double(column).map_err(failure)?);
        }
        visit(place(0)?, place(1)?, &numbers);
    }
    Ok(())
}

fn failure(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => io::Error::other(source),
        error => io::Error::other(error),
    }
}

impl Parquet<'_> {
    /// Writes the draws that wait as a row group.
    fn group(&mut self) -> Result<(), ParquetError> {
        let width = self.heading.width();
        let draws = self.waiting.len() / width.max(1);
        if draws == 0 {
            return Ok(());
        }
        let number = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
        let places = self.first..self.first + draws;
        let mut group = self.writer.next_row_group()?;
        let mut position = 0_usize;
        while let Some(mut column) = group.next_column()? {
            match position {
                0 => {
                    let chains = vec![number(self.chain + 1); draws];
                    column.typed::<Int64Type>().write_batch(&chains, None, None)?
                }
                1 => {
                    let numbers: Vec<i64> = places.clone().map(|place| number(place + 1)).collect();
                    column.typed::<Int64Type>().write_batch(&numbers, None, None)?
                }
                2 => {
                    let flags: Vec<bool> = places.clone().map(|place| place < self.heading.warmup).collect();
                    column.typed::<BoolType>().write_batch(&flags, None, None)?
                }
                _ => {
                    let values: Vec<f64> =
                        self.waiting.iter().skip(position - 3).step_by(width).copied().collect();
                    column.typed::<DoubleType>().write_batch(&values, None, None)?
                }
            };
            column.close()?;
            position += 1;
        }
        group.close()?;
        self.waiting.clear();
        Ok(())
    }
}

impl Storage for Parquet<'_> {
    fn append(&mut self, rows: &Rows<'_>) -> io::Result<()> {
        if rows.chain != self.chain {
            self.group().map_err(failure)?;
        }
        for (place, row) in (rows.first..).zip(rows.values.chunks_exact(self.heading.width())) {
            if self.waiting.len() == self.room * row.len() {
                self.group().map_err(failure)?;
            }
            if self.waiting.is_empty() {
                (self.chain, self.first) = (rows.chain, place);
            }
            self.waiting.extend_from_slice(row);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.group().map_err(failure)?;
        self.writer.close().map(drop).map_err(failure)
    }
}
