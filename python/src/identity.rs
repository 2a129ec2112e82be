//! Says which data a frame is, for an account that pays.
//!
//! The cells of every declared column are hashed as values, not as types: a frame of pandas and one of polars that hold the same are
//! the same data, and a missing value that turned whole numbers into floats changes nothing else.
//!
//! **Privacy.** The hash goes to the ledger only, which keeps a keyed hash of it. It is never shown.

use crate::failure::Failure;
use barkeep::Error;
use barkeep::data::{Cell, Error as DataError, Frame, Unavailable};
use sha2::{Digest, Sha256};

/// The hash of a frame's cells.
pub(crate) struct Identity([u8; 32]);

impl Identity {
    /// Reads the named columns of a frame to its end.
    ///
    /// # Errors
    /// The frame has no such column, or its owner does not hand it over.
    pub(crate) fn of(frame: &mut dyn Frame, names: &[String]) -> Result<Self, Failure> {
        let place = |name: &String| {
            let found = frame.header().iter().position(|held| held == name);
            found.ok_or_else(|| Failure::input(format!("the frame has no column {name}")))
        };
        let places = names.iter().map(place).collect::<Result<Vec<usize>, Failure>>()?;
        let mut columns: Vec<Sha256> = names.iter().map(|_| Sha256::new()).collect();
        let lost = |Unavailable| Failure::from(Error::from(DataError::Frame));
        while let Some(rows) = frame.turn().map_err(lost)? {
            for (place, column) in places.iter().zip(&mut columns) {
                frame.cells(*place, 0..rows, &mut |cell| write(cell, column));
            }
        }
        let mut whole = Sha256::new();
        for (name, column) in names.iter().zip(columns) {
            whole.update((name.len() as u64).to_le_bytes());
            whole.update(name);
            whole.update(column.finalize());
        }
        Ok(Self(whole.finalize().into()))
    }

    /// Writes it, as a ledger asks for cells.
    pub(crate) fn write(&self, out: &mut dyn FnMut(&[u8])) {
        out(&self.0);
    }
}

/// Writes a cell so that equal values give equal bytes, and others do not.
fn write(cell: Cell<'_>, out: &mut Sha256) {
    let whole = |value: i128, out: &mut Sha256| {
        out.update([2]);
        out.update(value.to_le_bytes());
    };
    let number = |value: f64, out: &mut Sha256| {
        // Whole numbers are the same data as floats.
        if value.is_nan() {
            out.update([0]);
        } else if value.fract() == 0.0 && value.abs() < 1e30 {
            #[expect(clippy::cast_possible_truncation, reason = "whole, and far below the largest")]
            whole(value as i128, out);
        } else {
            out.update([3]);
            out.update(value.to_le_bytes());
        }
    };
    match cell {
        Cell::Missing => out.update([0]),
        Cell::Bool(value) => out.update([1, u8::from(value)]),
        Cell::Signed(value) => whole(value.into(), out),
        Cell::Unsigned(value) => whole(value.into(), out),
        Cell::Single(value) => number(value.into(), out),
        Cell::Double(value) => number(value, out),
        Cell::Text(text) => {
            out.update([4]);
            out.update((text.len() as u64).to_le_bytes());
            out.update(text);
        }
    }
}
