//! Keeps a run's folder: certificate and journal before the first answer, draws and summary after the last.

use crate::Error;
use crate::insecure::Insecure;
use crate::plan::Plan;
use crate::run::Summary;
use crate::run::certificate::{Certificate, Hashes};
use crate::run::charged::Charge;
use crate::run::files::{WriteError, write_atomically, write_json};
use crate::run::journal::{JOURNAL, Journal};
use crate::run::runner::Ready;
use crate::run::storage::spool::Spool;
use crate::run::storage::{self, Heading, Source};
use crate::run::{Drawn, Runner, summary};
use crate::signature::SigningKey;
use crate::spec::{Dataset, SpecError};
use barkeep_curator::Table;
use barkeep_ledger::Stamp;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The certificate's file name.
pub const CERTIFICATE: &str = "certificate.json";
/// The draws' file names.
pub(crate) const DRAWS_CSV: &str = storage::csv::FORMAT.name;
pub(crate) const DRAWS_PARQUET: &str = storage::parquet::FORMAT.name;
/// The summary's file name.
pub(crate) const SUMMARY: &str = "summary.json";
/// Claims a folder for one run, so that two runs at once cannot mix their files.
const CLAIM: &str = ".barkeep-run";

/// A folder claimed for one run.
pub struct Folder {
    path: PathBuf,
    keeping: Keeping,
    signer: Option<SigningKey>,
    /// Where the ledger is, if not where the spec says.
    ledger: Option<PathBuf>,
    /// When the ledger's entries are written, as the program says.
    date: Option<String>,
}

/// What happens to answers.
enum Keeping {
    /// They go into a new journal.
    New,
    /// They are lost if the run is killed.
    Nowhere,
    /// They go into the journal of the run that is continued.
    Continued(Box<Journal>),
}

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
                "the folder is not empty: another run is using it, or was killed in it; continue that one by \
                 `barkeep resume`, or name a new folder",
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
        Ok(Self { path: path.to_owned(), keeping: Keeping::New, signer: None, ledger: None, date: None })
    }

    /// Opens the folder of a run that was killed or interrupted, and plans that run again; `records` says where the
    /// records are, or the data set's file, if no longer where they were.
    ///
    /// [`Folder::run`] then continues it: with the plan's [`Runner`], watched or not, and privacy given up as before.
    ///
    /// # Errors
    /// [`Error::Journal`] if no run can be continued here: there is none, it has ended, another process has it, or its
    /// journal is damaged. Nothing was changed then.
    pub fn resume(path: &Path, records: Option<&Path>) -> Result<(Self, Plan), Error> {
        let journal = Journal::open(path)?;
        let refuse = |reason: &str| Error::Journal { path: path.join(JOURNAL), reason: reason.to_owned() };
        let place = path.join(CERTIFICATE);
        // A run killed between journal and certificate has none: nothing was answered.
        if place.exists() {
            let certificate = Certificate::read(&place)?;
            if certificate.before_answers() != journal.header().certificate {
                return Err(refuse("it belongs to another run than the certificate beside it"));
            }
            let bound = certificate.hashes.as_ref().and_then(|hashes| hashes.journal.as_ref());
            if bound.is_some_and(|bound| *bound != journal.digest()) {
                return Err(refuse(
                    "it is not the journal its certificate was completed with: answers were cut off or edited",
                ));
            }
            if journal.had_ended() && certificate.steps_used.is_some() {
                // Killed between its last file and the end of its claim, or before the ledger heard of its end.
                let _ = fs::remove_file(path.join(CLAIM));
                Charge::note_end(path, &journal)?;
                return Err(refuse("the run has ended, and all is written: there is nothing to continue"));
            }
        }
        let spec = journal.header().certificate.parsed_spec()?;
        let place = records.unwrap_or(journal.place());
        let spec = match spec.data().set() {
            Some(_) => spec.on_set(&Dataset::read(place)?)?,
            None => spec.with_records_at(place),
        };
        let plan = Plan::new(match journal.ledger() {
            Some(ledger) => spec.with_ledger_at(ledger),
            None => spec,
        })?;
        let keeping = Keeping::Continued(Box::new(journal));
        Ok((Self { path: path.to_owned(), keeping, signer: None, ledger: None, date: None }, plan))
    }

    /// Signs the certificate, before the first answer and after the last.
    #[must_use]
    pub fn signed_by(self, key: SigningKey) -> Self {
        Self { signer: Some(key), ..self }
    }

    /// Keeps no journal: a killed run is lost with all it paid for, and cannot be continued.
    #[must_use]
    pub fn without_journal(self) -> Self {
        Self { keeping: Keeping::Nowhere, ..self }
    }

    /// Finds the ledger that pays here, not where the spec says.
    #[must_use]
    pub fn ledger_at(self, path: impl Into<PathBuf>) -> Self {
        Self { ledger: Some(path.into()), ..self }
    }

    /// Dates the entries that the run leaves in a ledger.
    #[must_use]
    pub fn dated(self, date: String) -> Self {
        Self { date: Some(date), ..self }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Answers the run already has; 0 for a new one.
    #[must_use]
    pub fn kept_answers(&self) -> u64 {
        match &self.keeping {
            Keeping::New | Keeping::Nowhere => 0,
            Keeping::Continued(journal) => journal.kept_answers(),
        }
    }

    /// Opens the journal.
    fn ready<'a>(&mut self, runner: Runner<'a>) -> Result<Ready<'a>, Error> {
        match std::mem::replace(&mut self.keeping, Keeping::Nowhere) {
            Keeping::Nowhere => runner.ready(),
            Keeping::New => runner.journal(&self.path).signed_by(self.public_key()).ready(),
            Keeping::Continued(journal) => {
                let insecure_seed = journal.header().insecure_seed;
                let runner = match insecure_seed {
                    Some(seed) => runner.insecure(Insecure::seed(seed)),
                    None => runner,
                };
                runner.signed_by(self.public_key()).continued(*journal)
            }
        }
    }

    /// Whose certificate it will be.
    fn public_key(&self) -> Option<String> {
        self.signer.as_ref().map(|key| key.public().digits())
    }

    /// Gives an unused folder back: nothing was answered, so nothing need be kept.
    pub(super) fn release(&self) {
        // Failing to tidy up changes nothing that was promised.
        let _ = fs::remove_file(self.path.join(CLAIM));
        let _ = fs::remove_dir(&self.path);
    }

    /// Reads the plan's records, certifies, runs and writes everything. Where the records are a data set that was stamped, and no account
    /// knows them, their bytes are compared with the stamp meanwhile.
    ///
    /// # Errors
    /// As [`Folder::run_on`], and bad records: a new folder is then given back, since nothing was answered.
    pub fn run(self, runner: Runner<'_>) -> Result<Saved, Error> {
        let reserved = self.reserve_with(runner, true)?;
        let read = reserved.read_files();
        reserved.end(read)
    }

    /// Has the account pay for a run on a frame, if the spec names one, before anything of the frame is read.
    ///
    /// # Errors
    /// [`Error::Ledger`] if the account does not pay; a journal that cannot be continued, or a file that cannot be written.
    pub fn reserve(self, runner: Runner<'_>) -> Result<Reserved<'_>, Error> {
        self.reserve_with(runner, false)
    }

    fn reserve_with(mut self, runner: Runner<'_>, in_files: bool) -> Result<Reserved<'_>, Error> {
        let new = matches!(self.keeping, Keeping::New | Keeping::Nowhere);
        let charge = self.charge(&runner).inspect_err(|_| {
            if new {
                self.release();
            }
        })?;
        let kept = self.kept_answers();
        // The journal first: a run killed while it reads can be continued, too.
        let ready = self.ready(runner.charged(charge.as_ref().map(Charge::stated)))?;
        let mut reserved = Reserved { folder: self, ready, charge, new };
        match reserved.pay(kept, in_files) {
            Ok(()) => Ok(reserved),
            Err(error) => Err(reserved.refuse(error)),
        }
    }

    /// What the run's account is to be asked, if the spec names one.
    fn charge(&self, runner: &Runner<'_>) -> Result<Option<Charge>, Error> {
        let own = match &self.keeping {
            Keeping::New | Keeping::Nowhere => None,
            Keeping::Continued(journal) => journal.header().certificate.charged.clone(),
        };
        Charge::of(runner, own, self.ledger.as_deref(), self.date.clone())
    }

    /// Certifies, runs on a table already in memory and writes everything.
    ///
    /// The certificate is written before the first answer: a run killed at any moment leaves no result, or a
    /// certificate that charges at least what was answered.
    ///
    /// # Errors
    /// A refused question, a journal that cannot be continued, or a file that cannot be written; [`Error::Spec`] if the spec names an
    /// account, which must pay before records are read: [`Folder::reserve`].
    pub fn run_on(self, runner: Runner<'_>, table: Table) -> Result<Saved, Error> {
        if runner.plan().spec().charged_to().is_some() {
            if matches!(self.keeping, Keeping::New | Keeping::Nowhere) {
                self.release();
            }
            let reason =
                "names an account, which pays before records are read: reserve first, by Folder::reserve";
            return Err(SpecError::new("privacy.ledger", reason).into());
        }
        self.reserve_with(runner, false)?.run(table, None)
    }

    fn certify_and_run(self, ready: Ready<'_>, table: Table) -> Result<Saved, Error> {
        self.announce(&ready.runner.certificate())?;
        let spool = self.spool(ready.runner.plan(), ready.runner.heading()?);
        let drawn = ready.run(table, spool)?;
        self.write(drawn)
    }

    /// Where draws are kept as they come.
    pub(super) fn spool(&self, plan: &Plan, heading: Heading) -> Spool {
        Spool::new(&self.path, heading, Arc::clone(plan.spec().model()))
    }

    /// Writes everything that follows from draws.
    pub(super) fn write<S: Source<Error = io::Error>>(self, drawn: Drawn<S>) -> Result<Saved, Error> {
        let Drawn { draws, certificate, seed, steps_used, interrupted, faults, reports, units, journal } =
            drawn;
        let summary = summary(&draws, &reports, faults, &units).map_err(|error| Error::Read {
            path: self.path.display().to_string(),
            reason: format!("the draws just written cannot be read back: {}", error.kind()),
        })?;
        let folder = self.path.clone();
        self.write_draws(&draws)?;
        // The spool goes before the certificate binds the files: a run that is certified whole has none.
        drop(draws);
        let certificate = self.conclude(&summary, certificate, journal)?;
        Ok(Saved { folder, certificate, seed, steps_used, interrupted, summary })
    }

    /// Writes what is known before the first answer.
    pub(super) fn announce(&self, certificate: &Certificate) -> Result<(), Error> {
        if !certificate.private {
            // A CSV file has no place for a mark; its folder has.
            write_atomically(&self.path.join("NOT-PRIVATE.txt"), |file| {
                writeln!(file, "{}", certificate.statement)
            })?;
        }
        self.write_certificate(certificate.clone()).map(drop)
    }

    /// Writes the certificate, signed if there is a key.
    fn write_certificate(&self, certificate: Certificate) -> Result<Certificate, Error> {
        let certificate = certificate.signed_by(self.signer.as_ref());
        write_atomically(&self.path.join(CERTIFICATE), |file| file.write_all(certificate.text().as_bytes()))?;
        Ok(certificate)
    }

    /// Writes the draws in every format.
    pub(super) fn write_draws(&self, draws: &impl Source) -> Result<(), Error> {
        for format in storage::FORMATS {
            format.write(draws, &self.path.join(format.name))?;
        }
        Ok(())
    }

    /// Writes the summary, and the certificate that binds it and the draws, and ends the claim.
    pub(super) fn conclude(
        self,
        summary: &Summary,
        certificate: Certificate,
        journal: Option<String>,
    ) -> Result<Certificate, Error> {
        write_json(&self.path.join(SUMMARY), summary)?;
        let hashes = Some(Hashes::of(&self.path, journal)?);
        let certificate = self.write_certificate(Certificate { hashes, ..certificate })?;
        // Failing to tidy up changes nothing that was promised.
        let _ = fs::remove_file(self.path.join(CLAIM));
        Ok(certificate)
    }
}

/// A run that is paid for and certified, whose records were not read yet.
pub struct Reserved<'a> {
    folder: Folder,
    ready: Ready<'a>,
    charge: Option<Charge>,
    /// Whether it was begun here.
    new: bool,
}

impl Reserved<'_> {
    /// Has the account pay, and then certifies: before records are opened.
    fn pay(&mut self, kept: u64, in_files: bool) -> Result<(), Error> {
        let Some(charge) = &mut self.charge else { return Ok(()) };
        let leases = self.ready.lease(!self.new)?;
        charge.reserve(&self.ready.runner, kept, leases, in_files)?;
        self.folder.announce(&self.ready.runner.certificate())
    }

    /// Reads the records from the spec's files.
    fn read_files(&self) -> Result<Table, Error> {
        let runner = &self.ready.runner;
        let read = || runner.plan().read_records(&mut |records| runner.watcher().read(records));
        let data = runner.plan().spec().data();
        let stamped = data.declared_in().filter(|file| self.charge.is_none() && Stamp::is_beside(file));
        let Some(file) = stamped else { return read() };
        let set = Dataset::read(file)?;
        std::thread::scope(|scope| {
            let stamped = scope.spawn(|| Stamp::check(file, set.text(), data.paths()));
            let table = read();
            // What was changed is said before what that led to.
            stamped.join().unwrap_or_else(|_| Err(barkeep_ledger::Error::Request("no stamp".to_owned())))?;
            table
        })
    }

    /// Certifies, runs on records that were read, and writes everything. An account must know a frame again by its `identity`, which
    /// [`Identified`](barkeep_data::Identified) takes while it is read.
    ///
    /// # Errors
    /// As [`Folder::run_on`]; [`Error::Journal`] if the frame is not the account's: what was reserved stays spent.
    pub fn run(self, table: Table, identity: Option<[u8; 32]>) -> Result<Saved, Error> {
        let known = match (&self.charge, identity) {
            (None, _) => Ok(()),
            (Some(charge), Some(identity)) => charge.recognise(&identity),
            (Some(_), None) => {
                Err(SpecError::new("privacy.ledger", "names an account, which must know the records again")
                    .into())
            }
        };
        self.end(known.map(|()| table))
    }

    /// Ends a run whose records could not be read. A new folder is given back where nothing is spent.
    #[must_use]
    pub fn refuse(self, error: Error) -> Error {
        match self.charge {
            // What is reserved is spent, and can only be continued.
            Some(charge) if charge.is_reserved() => charge.stands(&error, &self.folder.path),
            Some(_) | None => {
                if self.new {
                    self.ready.give_up();
                    self.folder.release();
                }
                error
            }
        }
    }

    fn end(self, read: Result<Table, Error>) -> Result<Saved, Error> {
        let table = match read {
            Ok(table) => table,
            Err(error) => return Err(self.refuse(error)),
        };
        let path = self.folder.path.clone();
        let run = self.folder.certify_and_run(self.ready, table)?;
        if let Some(charge) = self.charge {
            charge.close(&path, run.interrupted)?;
        }
        Ok(run)
    }
}

/// A run whose files are written; all of it public.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Saved {
    /// The folder.
    pub folder: PathBuf,
    /// The certificate it ran under, bound to its files.
    pub certificate: Certificate,
    /// Seed of the proposals.
    pub seed: u64,
    /// Steps each chain made.
    pub steps_used: Vec<u64>,
    /// Whether a person stopped it.
    pub interrupted: bool,
    summary: Summary,
}

impl Saved {
    /// Where the posterior lies and how far the chains can be trusted.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The draws of one parameter, by its position, chain by chain and without warm-up, read back from the folder.
    ///
    /// # Errors
    /// [`Error::Read`] if they cannot be read.
    pub fn series(&self, parameter: usize) -> Result<Vec<Vec<f64>>, Error> {
        let path = self.folder.join(DRAWS_PARQUET);
        storage::parquet::series(&path, parameter, self.steps_used.len())
            .map_err(|error| Error::Read { path: path.display().to_string(), reason: error.to_string() })
    }
}

#[cfg(test)]
mod tests;
