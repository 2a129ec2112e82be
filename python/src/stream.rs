//! Reads frames that hand over Arrow's C stream: polars, pyarrow, duckdb and their like.

use crate::failure::{Failure, contained};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::DataType;
use barkeep::Error;
use barkeep::data::{Cell, Error as DataError, Frame, Unavailable, identifier};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ops::Range;

/// A frame that comes as a stream of record batches.
pub(crate) struct Stream {
    header: Vec<String>,
    types: Vec<DataType>,
    reader: RecordBatchStreamReader,
    batch: Option<RecordBatch>,
}

impl Stream {
    /// Takes the stream that an object offers. What goes wrong in its making stays unsaid: it may quote a cell.
    pub(crate) fn of(frame: &Bound<'_, PyAny>) -> Result<Self, Unavailable> {
        let capsule = frame.call_method0("__arrow_c_stream__").map_err(|_| Unavailable)?;
        let capsule = capsule.cast::<PyCapsule>().map_err(|_| Unavailable)?;
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream")).map_err(|_| Unavailable)?;
        // SAFETY: by Arrow's PyCapsule protocol a capsule of this name holds a valid stream, which whoever takes it moves out;
        // `from_raw` does, and leaves a released one behind, so that the capsule's destructor frees nothing twice.
        #[expect(unsafe_code, reason = "Arrow hands streams over by address")]
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) };
        let reader = RecordBatchStreamReader::try_new(stream).map_err(|_| Unavailable)?;
        let schema = reader.schema();
        let header = schema.fields().iter().map(|field| field.name().clone()).collect();
        let types = schema.fields().iter().map(|field| field.data_type().clone()).collect();
        Ok(Self { header, types, reader, batch: None })
    }
}

impl Frame for Stream {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn refused(&self, position: usize) -> Option<&'static str> {
        self.types.get(position).and_then(refused)
    }

    fn unidentifying(&self, position: usize) -> Option<&'static str> {
        self.types.get(position).and_then(unidentifying)
    }

    fn turn(&mut self) -> Result<Option<usize>, Unavailable> {
        self.batch = match self.reader.next() {
            None => None,
            Some(Ok(batch)) => Some(batch),
            Some(Err(_)) => return Err(Unavailable),
        };
        Ok(self.batch.as_ref().map(RecordBatch::num_rows))
    }

    fn cells(&self, position: usize, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>)) {
        let column: Option<&ArrayRef> = self.batch.as_ref().and_then(|batch| batch.columns().get(position));
        match column {
            Some(column) if rows.end <= column.len() => cells(&**column, rows, show),
            _ => rows.for_each(|_| show(Cell::Missing)),
        }
    }
}

/// What a type holds that no declared kind can be.
fn refused(data_type: &DataType) -> Option<&'static str> {
    match data_type {
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float16
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..) => None,
        DataType::Dictionary(_, values) => refused(values),
        DataType::Timestamp(..)
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Duration(_)
        | DataType::Interval(_) => Some("dates or times"),
        DataType::FixedSizeBinary(_) => Some("bytes of fixed length"),
        DataType::Decimal256(..) => Some("decimal numbers of any length"),
        _ => Some("lists or records"),
    }
}

/// What a type holds that identifies nobody.
fn unidentifying(data_type: &DataType) -> Option<&'static str> {
    match data_type {
        DataType::Boolean => Some("true or false"),
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Some("floating-point numbers"),
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => {
            Some("decimal numbers")
        }
        DataType::Dictionary(_, values) => unidentifying(values),
        other => refused(other),
    }
}

/// The canonical identifiers of the persons whom a column names: what an engine must shuffle rows by, before it does.
#[pyfunction]
pub(crate) fn identifiers(rows: &Bound<'_, PyAny>, person: &str) -> PyResult<Vec<String>> {
    let lost = |Unavailable| Failure::from(Error::from(DataError::Frame));
    let mut stream = contained(|| Stream::of(rows).map_err(lost))?;
    let place = stream.header.iter().position(|name| name == person);
    let place = place.ok_or_else(|| Failure::input(format!("the records have no column {person}")))?;
    if let Some(holds) = stream.unidentifying(place) {
        let column = person.to_owned();
        return Err(Failure::from(Error::from(DataError::Unidentifying {
            path: "the frame".into(),
            column,
            holds,
        }))
        .into());
    }
    let mut names = Vec::new();
    while let Some(rows) = stream.turn().map_err(lost)? {
        stream.cells(place, 0..rows, &mut |cell| {
            identifier(cell, |name| names.push(String::from_utf8_lossy(name).into_owned()));
        });
    }
    Ok(names)
}

fn text(text: &str) -> Cell<'_> {
    Cell::Text(text.as_bytes())
}

/// Shows some rows of an array.
fn cells(array: &dyn Array, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>)) {
    macro_rules! each {
        ($array:expr, $cell:expr) => {{
            let array = $array;
            for row in rows {
                show(if array.is_null(row) { Cell::Missing } else { $cell(array.value(row)) });
            }
        }};
    }
    macro_rules! numbers {
        ($kind:ty, $cell:expr) => {
            each!(array.as_primitive::<$kind>(), $cell)
        };
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "decimal numbers round to the nearest f64, as from Parquet"
    )]
    match array.data_type() {
        DataType::Boolean => each!(array.as_boolean(), Cell::Bool),
        DataType::Int8 => numbers!(Int8Type, |value| Cell::Signed(i64::from(value))),
        DataType::Int16 => numbers!(Int16Type, |value| Cell::Signed(i64::from(value))),
        DataType::Int32 => numbers!(Int32Type, |value| Cell::Signed(i64::from(value))),
        DataType::Int64 => numbers!(Int64Type, Cell::Signed),
        DataType::UInt8 => numbers!(UInt8Type, |value| Cell::Unsigned(u64::from(value))),
        DataType::UInt16 => numbers!(UInt16Type, |value| Cell::Unsigned(u64::from(value))),
        DataType::UInt32 => numbers!(UInt32Type, |value| Cell::Unsigned(u64::from(value))),
        DataType::UInt64 => numbers!(UInt64Type, Cell::Unsigned),
        DataType::Float16 => {
            numbers!(Float16Type, |value: <Float16Type as arrow_array::ArrowPrimitiveType>::Native| {
                Cell::Single(value.to_f32())
            })
        }
        DataType::Float32 => numbers!(Float32Type, Cell::Single),
        DataType::Float64 => numbers!(Float64Type, Cell::Double),
        DataType::Utf8 => each!(array.as_string::<i32>(), text),
        DataType::LargeUtf8 => each!(array.as_string::<i64>(), text),
        DataType::Utf8View => each!(array.as_string_view(), text),
        DataType::Binary => each!(array.as_binary::<i32>(), Cell::Text),
        DataType::LargeBinary => each!(array.as_binary::<i64>(), Cell::Text),
        DataType::BinaryView => each!(array.as_binary_view(), Cell::Text),
        DataType::Decimal32(_, scale) => {
            let unit = 10_f64.powi(-i32::from(*scale));
            numbers!(Decimal32Type, |value| Cell::Double(f64::from(value) * unit))
        }
        DataType::Decimal64(_, scale) => {
            let unit = 10_f64.powi(-i32::from(*scale));
            numbers!(Decimal64Type, |value| Cell::Double(value as f64 * unit))
        }
        DataType::Decimal128(_, scale) => {
            let unit = 10_f64.powi(-i32::from(*scale));
            numbers!(Decimal128Type, |value| Cell::Double(value as f64 * unit))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (keys, values) = (dictionary.keys(), dictionary.values());
            // A key is a cell itself: a whole number that says which value it is.
            cells(keys, rows, &mut |key| {
                let place = match key {
                    Cell::Signed(place) => usize::try_from(place).ok(),
                    Cell::Unsigned(place) => usize::try_from(place).ok(),
                    _ => None,
                };
                match place.filter(|place| *place < values.len()) {
                    Some(place) => cells(&**values, place..place + 1, show),
                    None => show(Cell::Missing),
                }
            });
        }
        _ => rows.for_each(|_| show(Cell::Missing)),
    }
}
