//! Hashes the admitted cells of a data set, so that a ledger knows it again in whatever file or frame it comes.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::frame::Batches;
use crate::{Admission, BLOCK, Cell, Count, Error, Frame, Roster, Schema, Sink, Unavailable, View};

/// Hashes what a sink is handed: every declared column as it is admitted, in the order of the declaration.
///
/// A CSV file, the same file packed by gzip, a Parquet file and a frame of the same cells have one identity. Another order of rows,
/// other bounds or another person column make another one.
///
/// **Privacy.** A plain hash of records lets anyone test a guess about them. It goes to a ledger or a stamp, which keep a keyed hash of it,
/// and nowhere else: no `Debug`, `Serialize` or `PartialEq`.
pub struct Identity {
    hash: Sha256,
    columns: usize,
    values: Vec<f64>,
}

impl Identity {
    /// For records of these columns.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        let mut hash = Sha256::new_with_prefix(b"barkeep admitted cells\n");
        for column in schema.columns() {
            write(&mut hash, column.name().as_bytes());
        }
        Self { hash, columns: schema.width(), values: Vec::new() }
    }

    /// The hash of all cells, and of whose rows they are.
    #[must_use]
    pub fn finish(mut self, roster: Option<&Roster>) -> [u8; 32] {
        for name in roster.into_iter().flat_map(Roster::identifiers) {
            write(&mut self.hash, name);
        }
        for row in roster.into_iter().flat_map(Roster::rows) {
            self.hash.update(row.to_le_bytes());
        }
        self.hash.finalize().into()
    }
}

/// Adds bytes behind their number.
fn write(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

impl Sink for Identity {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        self.values.resize(records.min(BLOCK), 0.0);
        for column in 0..self.columns {
            write(column, &mut self.values);
            // Both zeros are one value.
            self.values.iter().for_each(|value| self.hash.update((value + 0.0).to_le_bytes()));
        }
    }
}

/// A frame that is read by someone else, while its identity is taken from the same cells.
pub struct Identified<'a> {
    frame: &'a mut dyn Frame,
    batches: Batches,
    admission: Admission,
    identity: Identity,
    schema: Schema,
}

impl<'a> Identified<'a> {
    /// Of all columns that a schema declares, and of whose rows they are.
    ///
    /// # Errors
    /// As [`read_frame`](crate::read_frame), for names and types of columns.
    pub fn new(frame: &'a mut dyn Frame, schema: &Schema, person: Option<&str>) -> Result<Self, Error> {
        let any = Count::About(1);
        let schema = schema.unscaled()?;
        let batches = Batches::new(frame, &schema, person.map(|column| (column, any)))?;
        let admission = Admission::new(View::all(schema.clone()), any)?;
        Ok(Self { frame, batches, admission, identity: Identity::new(&schema), schema })
    }

    /// The identity of the frame, once it was read to its end.
    ///
    /// # Errors
    /// None in a frame that was read.
    pub fn finish(mut self) -> Result<[u8; 32], Error> {
        self.admission.finish(&mut self.identity)?;
        Ok(self.identity.finish(self.batches.roster()))
    }
}

impl Frame for Identified<'_> {
    fn header(&self) -> &[String] {
        self.frame.header()
    }

    fn refused(&self, position: usize) -> Option<&'static str> {
        self.frame.refused(position)
    }

    fn unidentifying(&self, position: usize) -> Option<&'static str> {
        self.frame.unidentifying(position)
    }

    fn turn(&mut self) -> Result<Option<usize>, Unavailable> {
        let turned = self.frame.turn()?;
        if let Some(rows) = turned {
            let Self { frame, batches, admission, identity, schema } = self;
            batches
                .admit(&**frame, schema, rows, admission, identity, &mut |_| {})
                .map_err(|_| Unavailable)?;
        }
        Ok(turned)
    }

    fn cells(&self, position: usize, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>)) {
        self.frame.cells(position, rows, show);
    }
}
