//! Writes draws as CSV and as Parquet with the same columns: chain, draw, warmup, one per parameter and per quantity.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Encoding, Repetition, Type as Physical};
use parquet::data_type::{BoolType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{CHAIN_COLUMN, DRAW_COLUMN, Draws, NOT_PRIVATE, WARMUP_COLUMN};
use crate::run::files::{WriteError, write_atomically};

impl Draws {
    /// Writes a CSV file: a header, then one line per draw, chain after chain.
    ///
    /// Columns: `chain` and `draw`, both from 1; `warmup`, true for draws the summary leaves out; and one per parameter in the order of
    /// [`parameters`](Self::parameters), then one per quantity in the order of [`quantities`](Self::quantities).
    ///
    /// **Precision.** Numbers have the fewest digits that read back as the same f64, an exponent where plain
    /// digits would be many; not-a-number is `NaN`, infinities are `inf` and `-inf`.
    ///
    /// # Errors
    /// [`WriteError`]; the file is then as it was before, see [`write_atomically`].
    pub fn write_csv(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |file| {
            let mut writer = csv::Writer::from_writer(file);
            let names = self.parameters.iter().chain(&self.quantities).map(String::as_str);
            writer.write_record([CHAIN_COLUMN, DRAW_COLUMN, WARMUP_COLUMN].into_iter().chain(names))?;
            for (place, chain) in self.chains.iter().enumerate() {
                let mut quantities = self.derived_rows(place, 0);
                for (draw, row) in chain.rows(0).enumerate() {
                    let further = quantities.next().unwrap_or(&[]);
                    writer.serialize((place + 1, draw + 1, draw < self.warmup, row, further))?;
                }
            }
            writer.flush()
        })
    }

    /// Writes a Parquet file with the columns of [`write_csv`](Self::write_csv), `chain` and `draw` as 64-bit
    /// integers, `warmup` as a boolean, parameters as doubles; no value is null, and each chain is a row group.
    ///
    /// A run marked [`NOT_PRIVATE`] says so in the file's metadata under the key `privacy`.
    ///
    /// **Precision.** Every f64 keeps its bits.
    ///
    /// # Errors
    /// [`WriteError`]; the file is then as it was before, see [`write_atomically`].
    pub fn write_parquet(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |file| {
            self.encode_parquet(file).map_err(|error| match error {
                ParquetError::External(source) => io::Error::other(source),
                error => io::Error::other(error),
            })
        })
    }

    fn encode_parquet(&self, file: impl io::Write + Send) -> Result<(), ParquetError> {
        let column = |name: &str, physical| {
            let column = Type::primitive_type_builder(name, physical);
            column.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
        };
        let mut columns = vec![
            column(CHAIN_COLUMN, Physical::INT64)?,
            column(DRAW_COLUMN, Physical::INT64)?,
            column(WARMUP_COLUMN, Physical::BOOLEAN)?,
        ];
        for name in self.parameters.iter().chain(&self.quantities) {
            columns.push(column(name, Physical::DOUBLE)?);
        }
        let schema = Type::group_type_builder("draws").with_fields(columns).build()?;
        let mark = KeyValue::new("privacy".to_owned(), NOT_PRIVATE.to_owned());
        // Draws rarely repeat, so a dictionary of them is larger than they are; the numbers 1, 2, 3, … are not.
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_column_dictionary_enabled(CHAIN_COLUMN.into(), true)
            .set_column_encoding(DRAW_COLUMN.into(), Encoding::DELTA_BINARY_PACKED)
            .set_created_by(concat!("barkeep version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(self.not_private.then(|| vec![mark]))
            .build();

        let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
        for ((number, chain), place) in (1_i64..).zip(&self.chains).zip(0_usize..) {
            let mut group = writer.next_row_group()?;
            let mut position = 0_usize;
            while let Some(mut column) = group.next_column()? {
                match position {
                    0 => column.typed::<Int64Type>().write_batch(&vec![number; chain.len()], None, None)?,
                    1 => {
                        let draws: Vec<i64> = (1_i64..).take(chain.len()).collect();
                        column.typed::<Int64Type>().write_batch(&draws, None, None)?
                    }
                    2 => {
                        let flags: Vec<bool> = (0..chain.len()).map(|draw| draw < self.warmup).collect();
                        column.typed::<BoolType>().write_batch(&flags, None, None)?
                    }
                    _ => {
                        let series = match (position - 3).checked_sub(self.dimension()) {
                            None => chain.series(position - 3, 0),
                            Some(quantity) => self
                                .derived_rows(place, 0)
                                .filter_map(|row| row.get(quantity).copied())
                                .collect(),
                        };
                        column.typed::<DoubleType>().write_batch(&series, None, None)?
                    }
                };
                column.close()?;
                position += 1;
            }
            group.close()?;
        }
        writer.close().map(drop)
    }
}
