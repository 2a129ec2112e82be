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
    scalars: Scalars<'py>,
}

/// The types, besides Python's own, whose objects are cells: known by what they are, never by what they say of themselves.
struct Scalars<'py> {
    /// NumPy's, which have a value of Python's own.
    numpy: Vec<Bound<'py, PyAny>>,
    decimal: Option<Bound<'py, PyAny>>,
}

impl<'py> Scalars<'py> {
    /// Of the modules that are there; those that nobody has imported have made no object.
    fn of(py: Python<'py>) -> PyResult<Self> {
        let modules = py.import("sys")?.getattr("modules")?;
        let module = |name: &str| modules.get_item(name).ok();
        let names = [
            "bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
            "float32", "float64", "str_", "bytes_",
        ];
        let numpy = module("numpy");
        let numpy = names.iter().filter_map(|name| numpy.as_ref()?.getattr(*name).ok()).collect();
        Ok(Self { numpy, decimal: module("decimal").and_then(|module| module.getattr("Decimal").ok()) })
    }

    /// Shows what an object says: booleans, numbers and text of exactly these types, decimal numbers as they are written. All else is
    /// missing, and no other object's code is run: a class may call itself what it likes.
    fn show(&self, object: &Bound<'py, PyAny>, show: &mut dyn FnMut(Cell<'_>)) {
        if let Ok(text) = object.cast_exact::<PyString>() {
            return show(text.to_str().map_or(Cell::Missing, |text| Cell::Text(text.as_bytes())));
        }
        if let Ok(value) = object.cast_exact::<PyFloat>() {
            return show(Cell::Double(value.value()));
        }
        if let Ok(value) = object.cast_exact::<PyBool>() {
            return show(Cell::Bool(value.is_true()));
        }
        if object.cast_exact::<PyInt>().is_ok() {
            return whole(object, show);
        }
        if let Ok(text) = object.cast_exact::<PyBytes>() {
            return show(Cell::Text(text.as_bytes()));
        }
        let kind = object.get_type();
        if self.numpy.iter().any(|known| kind.is(known)) {
            return match object.call_method0("item") {
                Ok(item) if !item.get_type().is(&kind) => self.show(&item, show),
                _ => show(Cell::Missing),
            };
        }
        if !self.decimal.as_ref().is_some_and(|known| kind.is(known)) {
            return show(Cell::Missing);
        }
        written(object, show);
    }
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
        Ok(Self { header, columns: read, rows, batch: 0..0, scalars: Scalars::of(columns.py())? })
    }

    /// Shows one object of a list, missing where the list is shorter.
    fn item(&self, objects: &Bound<'py, PyList>, place: usize, show: &mut dyn FnMut(Cell<'_>)) {
        match objects.get_item(place) {
            Ok(object) => self.scalars.show(&object, show),
            Err(_) => show(Cell::Missing),
        }
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

    fn unidentifying(&self, position: usize) -> Option<&'static str> {
        match self.columns.get(position) {
            Some(Column::Bool(_)) => Some("true or false"),
            Some(Column::Single(_) | Column::Double(_)) => Some("floating-point numbers"),
            Some(
                Column::Unread
                | Column::Refused(_)
                | Column::Signed(_)
                | Column::Unsigned(_)
                | Column::Objects(_)
                | Column::Codes(..),
            )
            | None => None,
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
                rows.for_each(|row| self.item(objects, self.batch.start + row, show));
            }
            Some(Column::Codes(codes, values)) => {
                for row in rows {
                    match codes.batch.get(row).and_then(|code| usize::try_from(*code).ok()) {
                        Some(place) => self.item(values, place, show),
                        None => show(Cell::Missing),
                    }
                }
            }
            Some(Column::Unread | Column::Refused(_)) | None => rows.for_each(|_| show(Cell::Missing)),
        }
    }
}

/// Shows a whole number of any size.
fn whole(object: &Bound<'_, PyAny>, show: &mut dyn FnMut(Cell<'_>)) {
    if let Ok(value) = object.extract::<i64>() {
        return show(Cell::Signed(value));
    }
    if let Ok(value) = object.extract::<u64>() {
        return show(Cell::Unsigned(value));
    }
    // By its digits: a float would stand for others too.
    written(object, show);
}

/// Shows a number as it is written. Python does not write whole numbers of thousands of digits; they are as far out as one can be.
fn written(object: &Bound<'_, PyAny>, show: &mut dyn FnMut(Cell<'_>)) {
    match (object.str(), object.lt(0)) {
        (Ok(text), _) => show(text.to_str().map_or(Cell::Missing, |text| Cell::Text(text.as_bytes()))),
        (Err(_), Ok(true)) => show(Cell::Double(f64::NEG_INFINITY)),
        (Err(_), Ok(false)) => show(Cell::Double(f64::INFINITY)),
        (Err(_), Err(_)) => show(Cell::Missing),
    }
}
