//! Reads frames that hold NumPy arrays or Python objects: pandas, and dictionaries of arrays.
//!
//! Cells of Python objects are looked at one by one: what a column of them holds in all is not its type's to say, and asking
//! a library to guess would make the reading depend on cells.

use barkeep::data::{Cell, Frame, Unavailable};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyList, PySlice, PyString};
use std::ops::Range;

/// Rows that are copied out of arrays at a time: another thread of Python's may write to an array, not to a copy.
const BATCH: usize = 1 << 14;

/// A frame of columns in Python's memory.
pub(crate) struct Columns<'py> {
    header: Vec<String>,
    columns: Vec<Column<'py>>,
    rows: usize,
    /// Where this batch starts and the next one does.
    batch: Range<usize>,
}

/// One column.
enum Column<'py> {
    /// Not declared: never looked at.
    Unread,
    /// Of a type that can hold no declared kind.
    Refused(&'static str),
    Bool(Numbers<'py, u8>),
    Signed(Numbers<'py, i64>),
    Unsigned(Numbers<'py, u64>),
    Single(Numbers<'py, f32>),
    Double(Numbers<'py, f64>),
    Objects(Bound<'py, PyList>),
    /// Which of some objects each row is; a negative number for none.
    Codes(Numbers<'py, i64>, Bound<'py, PyList>),
}

/// An array of numbers, and those of the batch.
struct Numbers<'py, T> {
    array: Bound<'py, PyAny>,
    batch: Vec<T>,
}

impl<'py, T: Element> Numbers<'py, T> {
    fn new(array: Bound<'py, PyAny>) -> Self {
        Self { array, batch: Vec::new() }
    }

    fn turn(&mut self, rows: &Range<usize>) -> PyResult<()> {
        let py = self.array.py();
        let place = |row: usize| isize::try_from(row).unwrap_or(isize::MAX);
        let slice = self.array.get_item(PySlice::new(py, place(rows.start), place(rows.end), 1))?;
        self.batch = PyBuffer::get(&slice)?.to_vec(py)?;
        Ok(())
    }
}

impl<'py> Columns<'py> {
    /// Takes columns as `barkeep._frames` describes them: a name, a kind, and what holds the cells.
    pub(crate) fn of(columns: &Bound<'py, PyList>, rows: usize) -> PyResult<Self> {
        let mut header = Vec::new();
        let mut read = Vec::new();
        for column in columns.iter() {
            let (name, kind, cells): (String, String, Bound<'py, PyAny>) = column.extract()?;
            header.push(name);
            read.push(match kind.as_str() {
                "unread" => Column::Unread,
                "dates" => Column::Refused("dates or times"),
                "lists" => Column::Refused("lists or records"),
                "complex" => Column::Refused("complex numbers"),
                "bytes" => Column::Refused("bytes of fixed length"),
                "bool" => Column::Bool(Numbers::new(cells)),
                "signed" => Column::Signed(Numbers::new(cells)),
                "unsigned" => Column::Unsigned(Numbers::new(cells)),
                "single" => Column::Single(Numbers::new(cells)),
                "double" => Column::Double(Numbers::new(cells)),
                "objects" => Column::Objects(cells.cast_into::<PyList>()?),
                "codes" => {
                    let (codes, values): (Bound<'py, PyAny>, Bound<'py, PyList>) = cells.extract()?;
                    Column::Codes(Numbers::new(codes), values)
                }
                _ => return Err(PyValueError::new_err("no such kind of column")),
            });
        }
        Ok(Self { header, columns: read, rows, batch: 0..0 })
    }
}

impl Frame for Columns<'_> {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn refused(&self, position: usize) -> Option<&'static str> {
        match self.columns.get(position) {
            Some(Column::Refused(holds)) => Some(holds),
            _ => None,
        }
    }

    fn turn(&mut self) -> Result<Option<usize>, Unavailable> {
        self.batch = self.batch.end..self.rows.min(self.batch.end + BATCH);
        if self.batch.is_empty() {
            return Ok(None);
        }
        for column in &mut self.columns {
            match column {
                Column::Bool(numbers) => numbers.turn(&self.batch),
                Column::Signed(numbers) | Column::Codes(numbers, _) => numbers.turn(&self.batch),
                Column::Unsigned(numbers) => numbers.turn(&self.batch),
                Column::Single(numbers) => numbers.turn(&self.batch),
                Column::Double(numbers) => numbers.turn(&self.batch),
                Column::Unread | Column::Refused(_) | Column::Objects(_) => Ok(()),
            }
            .map_err(|_| Unavailable)?;
        }
        Ok(Some(self.batch.len()))
    }

    fn cells(&self, position: usize, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>)) {
        macro_rules! each {
            ($numbers:expr, $cell:expr) => {
                match $numbers.batch.get(rows.clone()) {
                    Some(values) => values.iter().for_each(|value| show($cell(*value))),
                    None => rows.for_each(|_| show(Cell::Missing)),
                }
            };
        }
        match self.columns.get(position) {
            Some(Column::Bool(values)) => each!(values, |value| Cell::Bool(value != 0)),
            Some(Column::Signed(values)) => each!(values, Cell::Signed),
            Some(Column::Unsigned(values)) => each!(values, Cell::Unsigned),
            Some(Column::Single(values)) => each!(values, Cell::Single),
            Some(Column::Double(values)) => each!(values, Cell::Double),
            Some(Column::Objects(objects)) => {
                rows.for_each(|row| with_item(objects, self.batch.start + row, show));
            }
            Some(Column::Codes(codes, values)) => {
                for row in rows {
                    match codes.batch.get(row).and_then(|code| usize::try_from(*code).ok()) {
                        Some(place) => with_item(values, place, show),
                        None => show(Cell::Missing),
                    }
                }
            }
            Some(Column::Unread | Column::Refused(_)) | None => rows.for_each(|_| show(Cell::Missing)),
        }
    }
}

/// Shows one object of a list, missing where the list is shorter.
fn with_item(objects: &Bound<'_, PyList>, place: usize, show: &mut dyn FnMut(Cell<'_>)) {
    match objects.get_item(place) {
        Ok(object) => with_object(&object, show),
        Err(_) => show(Cell::Missing),
    }
}

/// Shows what an object says: booleans, numbers and text, NumPy's own too, and decimal numbers as they are written. All else
/// is missing; no other object's code is run.
fn with_object(object: &Bound<'_, PyAny>, show: &mut dyn FnMut(Cell<'_>)) {
    if object.is_none() {
        return show(Cell::Missing);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return show(text.to_str().map_or(Cell::Missing, |text| Cell::Text(text.as_bytes())));
    }
    if let Ok(value) = object.cast::<PyFloat>() {
        return show(Cell::Double(value.value()));
    }
    if let Ok(value) = object.cast::<PyBool>() {
        return show(Cell::Bool(value.is_true()));
    }
    if object.cast::<PyInt>().is_ok() {
        return show(whole(object));
    }
    if let Ok(text) = object.cast::<PyBytes>() {
        return show(Cell::Text(text.as_bytes()));
    }
    let kind = object.get_type();
    let module = kind.module();
    match module.as_ref().ok().and_then(|module| module.to_str().ok()) {
        Some("numpy") => match object.call_method0("item") {
            Ok(item) if !item.get_type().is(&kind) => with_object(&item, show),
            _ => show(Cell::Missing),
        },
        Some("decimal") => match object.str() {
            Ok(text) => show(text.to_str().map_or(Cell::Missing, |text| Cell::Text(text.as_bytes()))),
            Err(_) => show(Cell::Missing),
        },
        _ => show(Cell::Missing),
    }
}

/// A whole number of any size.
fn whole<'a>(object: &Bound<'_, PyAny>) -> Cell<'a> {
    if let Ok(value) = object.extract::<i64>() {
        return Cell::Signed(value);
    }
    if let Ok(value) = object.extract::<u64>() {
        return Cell::Unsigned(value);
    }
    match (object.extract::<f64>(), object.lt(0)) {
        (Ok(value), _) => Cell::Double(value),
        // Beyond any float: as far out as one can be.
        (Err(_), Ok(true)) => Cell::Double(f64::NEG_INFINITY),
        (Err(_), Ok(false)) => Cell::Double(f64::INFINITY),
        (Err(_), Err(_)) => Cell::Missing,
    }
}
