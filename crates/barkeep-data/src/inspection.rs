//! Looks at everything a data set's files hold, for its custodian alone: what a declaration must be compared with.

use std::path::Path;

use crate::read::read_rows;
use crate::{Count, CsvOptions, Error, Faults, Identity, Noting, Roster, Schema, Sink, View};

/// What files hold, as their custodian may know it.
///
/// **Privacy.** Exact numbers computed from records. They go to the custodian's eyes and nowhere else: no certificate, journal or
/// message of a run may hold one. No `Debug`, `Clone` or `Serialize`.
pub struct Inspection {
    /// How many records there are.
    pub records: usize,
    /// How many of them are rows with another number of cells than the header, or too long.
    pub odd_rows: usize,
    /// How many cells of each declared column are invalid, and how many lie outside the bounds.
    pub faults: Vec<(usize, usize)>,
    /// Whose the rows are, where a column says so.
    pub persons: Option<Persons>,
    /// The [`Identity`] of the files.
    pub identity: [u8; 32],
}

/// Whose rows files hold.
pub struct Persons {
    /// How many persons there are; rows that name nobody count as one.
    pub number: usize,
    /// How many rows name nobody.
    pub unnamed_rows: usize,
    /// The most rows of one person.
    pub most_rows: usize,
}

/// Reads files whole, as [`read_files`](crate::read_files) does, and keeps numbers only.
///
/// **Privacy.** For the custodian: see [`Inspection`].
///
/// # Errors
/// Those of [`read_files`](crate::read_files), but for the number of records.
pub fn inspect(
    paths: &[impl AsRef<Path>],
    schema: &Schema,
    person: Option<&str>,
    options: CsvOptions,
) -> Result<Inspection, Error> {
    let (any, schema) = (Count::About(1), schema.unscaled()?);
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let faults = vec![(0, 0); schema.width()];
    let mut looking = Looking { identity: Identity::new(&schema), records: 0, odd_rows: 0, faults };
    let mut roster = person.map(|_| Roster::new(any));
    let view = View::all(schema);
    let naming = person.zip(roster.as_mut());
    read_rows(&paths, &view, any, naming, options, &mut looking, &mut |_| {})?;
    let Looking { identity, records, odd_rows, faults } = looking;
    let persons = roster.as_ref().map(|roster| {
        let mut rows = vec![0; roster.persons()];
        roster.rows().iter().for_each(|person| rows[*person as usize] += 1);
        let nobody = roster.identifiers().position(<[u8]>::is_empty);
        Persons {
            number: roster.persons(),
            unnamed_rows: nobody.map_or(0, |nobody| rows[nobody]),
            most_rows: rows.into_iter().max().unwrap_or(0),
        }
    });
    let identity = identity.finish(roster.as_ref());
    Ok(Inspection { records, odd_rows, faults, persons, identity })
}

struct Looking {
    identity: Identity,
    records: usize,
    odd_rows: usize,
    faults: Vec<(usize, usize)>,
}

impl Sink for Looking {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        self.records += records;
        self.identity.take(records, write);
    }

    fn noting(&self) -> Noting {
        Noting::Count
    }

    fn note(&mut self, column: usize, faults: &Faults) {
        if let Some((invalid, clamped)) = self.faults.get_mut(column) {
            *invalid += faults.invalid;
            *clamped += faults.clamped;
        }
    }

    fn note_odd_row(&mut self) {
        self.odd_rows += 1;
    }
}
