//! Keeps computed cells as lines of JSON, each written as soon as it is known, so that an interrupted run goes on where it stopped.

use crate::experiment::{Cells, Values};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Names the cell.
    pub(crate) key: String,
    /// A fingerprint of everything the numbers depend on.
    pub(crate) settings: String,
    /// The day it was computed.
    pub(crate) date: String,
    /// How long it took, in seconds of wall time.
    pub(crate) seconds: f64,
    /// The numbers; JSON has no word for what is not a number but null.
    #[serde(deserialize_with = "numbers")]
    pub(crate) values: Values,
}

fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Values, D::Error> {
    let found = BTreeMap::<String, Vec<Option<f64>>>::deserialize(from)?;
    let read = |numbers: Vec<Option<f64>>| numbers.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect();
    Ok(found.into_iter().map(|(name, numbers)| (name, read(numbers))).collect())
}

/// The cells of a file; a later line replaces an earlier one of the same key.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    /// In the order in which they were computed.
    pub(crate) kept: Vec<Kept>,
}

impl Store {
    /// Reads what is there; a last line cut short by an interruption is dropped.
    ///
    /// # Errors
    /// A file that cannot be read, or a line elsewhere that is not a cell.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {}: {}", path.display(), error.kind())),
        };
        let mut store = Self { path: path.to_owned(), kept: Vec::new() };
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            match serde_json::from_str::<Kept>(line) {
                Ok(cell) => store.insert(cell),
                Err(_) if number + 1 == lines.len() && !text.ends_with('\n') => store.rewrite()?,
                Err(_) => return Err(format!("line {} of {} is not a cell", number + 1, path.display())),
            }
        }
        Ok(store)
    }

    /// The cell of this key, if it was computed under these settings.
    #[must_use]
    pub(crate) fn find(&self, key: &str, settings: &str) -> Option<&Kept> {
        let settings = fingerprint(settings);
        self.kept.iter().find(|cell| cell.key == key && cell.settings == settings)
    }

    /// Keeps a cell: on disk first.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep(
        &mut self,
        key: &str,
        settings: &str,
        (date, seconds): (&str, f64),
        values: Values,
    ) -> Result<(), String> {
        let cell = Kept {
            key: key.to_owned(),
            settings: fingerprint(settings),
            date: date.to_owned(),
            seconds,
            values,
        };
        let fail = |error: std::io::Error| format!("cannot write {}: {}", self.path.display(), error.kind());
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path).map_err(fail)?;
        file.write_all(line(&cell)?.as_bytes()).map_err(fail)?;
        self.insert(cell);
        Ok(())
    }

    /// All cells by key.
    #[must_use]
    pub(crate) fn cells(&self) -> Cells {
        Cells(self.kept.iter().map(|cell| (cell.key.clone(), cell.values.clone())).collect())
    }

    fn insert(&mut self, cell: Kept) {
        self.kept.retain(|old| old.key != cell.key);
        self.kept.push(cell);
    }

    fn rewrite(&self) -> Result<(), String> {
        let lines = self.kept.iter().map(line).collect::<Result<String, _>>()?;
        let fail = |error: std::io::Error| format!("cannot write {}: {}", self.path.display(), error.kind());
        File::create(&self.path).and_then(|mut file| file.write_all(lines.as_bytes())).map_err(fail)
    }
}

fn line(cell: &Kept) -> Result<String, String> {
    serde_json::to_string(cell).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// 64 bits of the text (Fowler, Noll and Vo): a guard against stale cells, not against malice.
fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
