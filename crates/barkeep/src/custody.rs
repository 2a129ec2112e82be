//! What a custodian does with a data set: looks at all of it, stamps it, and puts it under an account of a ledger.
//!
//! **Privacy.** Everything here is for the custodian's eyes. No run calls it, and no analyst's request leads to it.

use crate::Error;
use crate::run::charged::declared;
use crate::spec::{Data, Dataset, Spec, SpecError};
use barkeep_data::{Count, Inspection, inspect};
use barkeep_ledger::{DataSet, Declared, Ledger, Stamp};
use std::path::Path;

/// A data set in its custodian's hands.
pub struct Holding {
    data: Data,
    declared: Declared,
    /// The data set's file; none where a spec declares it.
    set: Option<Dataset>,
}

impl Holding {
    /// Reads a data set's file, or a spec that declares its records itself. No record is opened.
    ///
    /// # Errors
    /// [`Error::Spec`] at the first fault; [`Error::Read`] if the file cannot be read.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(file).map_err(|error| Error::Read {
            path: file.display().to_string(),
            reason: error.kind().to_string(),
        })?;
        let is_spec = text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("data"));
        if is_spec {
            let spec = Spec::parse(&text, file.parent().unwrap_or(Path::new("")))?;
            return Ok(Self::of(spec.data().clone(), spec.count()));
        }
        let set = Dataset::read(file)?;
        let declared = declared(set.data(), Count::Exactly(1));
        Ok(Self { data: set.data().clone(), declared, set: Some(set) })
    }

    /// Records that a spec declares; `count` says whether their number is public.
    #[must_use]
    pub fn of(data: Data, count: Count) -> Self {
        let declared = declared(&data, count);
        Self { data, declared, set: None }
    }

    /// What is declared.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Reads all files whole.
    ///
    /// # Errors
    /// [`Error::Data`] if they cannot be read; [`Error::Spec`] where only the public part of a data set is here.
    pub fn inspect(&self) -> Result<Inspection, Error> {
        if self.data.paths().is_empty() {
            return Err(
                SpecError::new("data.path", "is missing: this is the public part of a data set").into()
            );
        }
        let (schema, person) = (self.data.declared(), self.data.person());
        Ok(inspect(self.data.paths(), schema, person, self.data.csv_options())?)
    }

    /// Whether files hold as many records, or persons, as are declared; true where their number is secret.
    #[must_use]
    pub fn has_declared_number(&self, found: &Inspection) -> bool {
        let units = found.persons.as_ref().map_or(found.records, |persons| persons.number);
        self.declared.number.is_none_or(|declared| declared == units as u64)
    }

    /// Stamps the data set as it was found.
    ///
    /// # Errors
    /// [`Error::Spec`] if it holds another number of units than declared, or is no data set's file; [`Error::Ledger`] if the stamp
    /// cannot be written.
    pub fn stamp(&self, found: &Inspection) -> Result<(), Error> {
        self.check_number(found)?;
        let Some(set) = &self.set else {
            return Err(
                SpecError::new("data", "is declared in a spec; only a data set's file is stamped").into()
            );
        };
        Ok(Stamp::write(set.file(), set.text(), self.data.paths(), &found.identity)?)
    }

    /// Puts the data set, as it was found, under an account. Gives its version.
    ///
    /// # Errors
    /// [`Error::Spec`] if it holds another number of units than declared; [`Error::Ledger`].
    pub fn add(
        &self,
        ledger: &Ledger,
        account: &str,
        name: &str,
        found: &Inspection,
        reason: Option<String>,
    ) -> Result<u32, Error> {
        self.check_number(found)?;
        let set = DataSet { declared: &self.declared, cells: found.identity, files: self.data.paths() };
        Ok(ledger.add(account, name, set, reason)?)
    }

    /// Puts a frame, known by the hash of its admitted cells, under an account. Gives its version.
    ///
    /// # Errors
    /// [`Error::Ledger`].
    pub fn add_frame(
        &self,
        ledger: &Ledger,
        account: &str,
        name: &str,
        cells: [u8; 32],
        reason: Option<String>,
    ) -> Result<u32, Error> {
        Ok(ledger.add(account, name, DataSet { declared: &self.declared, cells, files: &[] }, reason)?)
    }

    fn check_number(&self, found: &Inspection) -> Result<(), Error> {
        if self.has_declared_number(found) {
            return Ok(());
        }
        let key = format!("data.{}", self.data.unit().plural());
        Err(SpecError::new(key, "is not the number that the files hold: `barkeep dataset check` shows it")
            .into())
    }
}
