//! Keeps a run's folder: the certificate before the first answer, draws and summary after the last.

use crate::Error;
use crate::plan::certificate::Certificate;
use crate::run::files::{WriteError, write_atomically, write_json};
use crate::run::{Run, Runner};
use barkeep_curator::Table;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The certificate's file name.
pub const CERTIFICATE: &str = "certificate.json";
/// Claims a folder for one run, so that two runs at once cannot mix their files.
const CLAIM: &str = ".barkeep-run";

/// A folder claimed for one run.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates the folder, or takes an empty one.
    ///
    /// # Errors
    /// [`Error::Write`] if it holds anything, another run claimed it, or it cannot be written.
    pub fn claim(path: &Path) -> Result<Self, Error> {
        let fail = |source: io::Error| Error::Write(WriteError { path: path.to_owned(), source });
        fs::create_dir_all(path).map_err(fail)?;
        let occupied = |who| fail(io::Error::new(ErrorKind::AlreadyExists, who));
        // Claimed first and looked at then: another run may come and go between a look and a claim.
        let claim = path.join(CLAIM);
        OpenOptions::new().write(true).create_new(true).open(&claim).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => occupied(
                "the folder is not empty: another run is using it, or was killed in it; name a new one",
            ),
            _ => fail(error),
        })?;
        for entry in fs::read_dir(path).map_err(fail)? {
            if entry.map_err(fail)?.file_name() != CLAIM {
                // Ours alone, and nothing else was touched.
                let _ = fs::remove_file(&claim);
                return Err(occupied(
                    "the folder is not empty; name a new one, so that no earlier result is lost",
                ));
            }
        }
        Ok(Self(path.to_owned()))
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Gives an unused folder back: nothing was answered, so nothing need be kept.
    fn release(&self) {
        // Failing to tidy up changes nothing that was promised.
        let _ = fs::remove_file(self.0.join(CLAIM));
        let _ = fs::remove_dir(&self.0);
    }

    /// Reads the plan's records, certifies, runs and writes everything.
    ///
    /// # Errors
    /// As [`Folder::run_on`], and bad records: the folder is then given back, since nothing was answered.
    pub fn run(self, runner: Runner<'_>) -> Result<Run, Error> {
        let watch = runner.watcher();
        match runner.plan().read_records(&mut |records| watch.read(records)) {
            Ok(table) => self.run_on(runner, table),
            Err(error) => {
                self.release();
                Err(error)
            }
        }
    }

    /// Certifies, runs on a table already in memory and writes everything.
    ///
    /// The certificate is written before the first answer: a run killed at any moment leaves no result, or a
    /// certificate that charges at least what was answered.
    ///
    /// # Errors
    /// A refused question, or a file that cannot be written.
    pub fn run_on(self, runner: Runner<'_>, table: Table) -> Result<Run, Error> {
        self.announce(&runner.certificate())?;
        let run = runner.run(table)?;
        self.keep(&run)?;
        Ok(run)
    }

    /// Writes what is known before the first answer.
    pub(super) fn announce(&self, certificate: &Certificate) -> Result<(), Error> {
        if !certificate.private {
            // A CSV file has no place for a mark; its folder has.
            write_atomically(&self.0.join("NOT-PRIVATE.txt"), |file| {
                writeln!(file, "{}", certificate.statement)
            })?;
        }
        Ok(write_json(&self.0.join(CERTIFICATE), certificate)?)
    }

    /// Writes what a run yielded, and ends the claim.
    pub(super) fn keep(self, run: &Run) -> Result<(), Error> {
        run.draws.write_csv(&self.0.join("draws.csv"))?;
        run.draws.write_parquet(&self.0.join("draws.parquet"))?;
        write_json(&self.0.join("summary.json"), run.summary())?;
        write_json(&self.0.join(CERTIFICATE), &run.certificate)?;
        // Failing to tidy up changes nothing that was promised.
        let _ = fs::remove_file(self.0.join(CLAIM));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
