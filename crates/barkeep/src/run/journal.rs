//! Keeps every answer of a run on disk before anything else sees it: a killed run continues and pays for nothing twice.
//!
//! **Privacy.** An answer is *released* when it is in the journal and the journal was synchronised to the disk; only then
//! does the sampler get it, and only then is the chain's next question asked. A continued run
//!
//! 1. buys the whole budget of the plan anew, and charges it for every answer in the journal before anything is asked
//!    beyond them. All answers of all its parts together never cost more than the certificate says;
//! 2. gives each kept answer to the question it answers, whose hash the journal holds. A run that would ask another
//!    question is refused;
//! 3. asks a question again whose answer was not released, with fresh noise and at no further charge.
//!
//! *Why the third is free.* Let A be the answer lost in flight and A′ the one drawn in its place. Both have the law that was
//! paid for, given all earlier answers, and they are independent. What anyone sees holds A′ and that a machine died, not A.
//! When a machine dies does not depend on A: that is the premise. Then A′ given the death has the law of A, and what is
//! seen has the law of a run that was never killed. The program keeps its side of the premise: before the release
//! nothing reads the answer but the journal, a record's length and the work of writing it depend on the question
//! alone, and an error while writing ends the run without releasing the answer. The premise also asks that nobody reads
//! a torn record off the disk of a dead machine: the custodian keeps an unfinished journal as the records are kept, and
//! continuing cuts the torn record off before anything is asked.
//!
//! The records are read again. That they are the same records is the custodian's promise; their number is checked where it is public.

mod answers;
mod format;
mod identity;

#[cfg(test)]
mod tests;

pub(crate) use format::Header;

use self::answers::{Kept, Replay};
use self::format::{Digests, Fault, Kind, Opening, Record, Scan};
use self::identity::Identity;
use crate::Error;
use crate::plan::Plan;
use crate::run::certificate::Certificate;
use crate::run::files::hex::digits;
use crate::run::files::{WriteError, synchronise_folder};
use barkeep_curator::{Ask, Gate, Refused};
use barkeep_data::is_remote;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The name of a journal in a folder of results.
pub const JOURNAL: &str = "journal.bin";

/// The journal of one run, which all its chains share. It is locked as long as it is open.
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    header: Header,
    place: String,
    /// Where the first record starts.
    start: u64,
    /// Answers each chain had when the journal was opened, the start's last.
    kept: Vec<u64>,
    /// Whether the run had ended when the journal was opened.
    ended: bool,
    /// The tokens of its leases.
    leases: Vec<String>,
    /// Whether answers are paid for, so that losing one loses something.
    paid: bool,
    progress: Mutex<Progress>,
    synced: Condvar,
}

/// How far the journal is written and synchronised.
struct Progress {
    digests: Digests,
    /// Records appended.
    written: u64,
    /// Records that are known to be on the disk.
    synced: u64,
    /// Whether a chain is synchronising for all.
    syncing: bool,
    /// Whether the journal failed: nothing is kept or released any more.
    failed: bool,
    failure: Option<Error>,
    /// Working memory.
    bytes: Vec<u8>,
}

impl Journal {
    /// Starts a journal in a folder that has none.
    ///
    /// # Errors
    /// [`Error::Write`] if there is one, or it cannot be written.
    pub(crate) fn create(folder: &Path, header: Header, plan: &Plan) -> Result<Self, Error> {
        let path = folder.join(JOURNAL);
        let fail = |source: io::Error| Error::Write(WriteError { path: path.clone(), source });
        std::fs::create_dir_all(folder).map_err(fail)?;
        let mut file =
            OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(fail)?;
        file.lock().map_err(fail)?;
        let absolute =
            |path: &Path| std::path::absolute(path).map(|path| path.to_string_lossy().into_owned());
        // A data set is found again by its declaration, which says where its files are and how they are read.
        let data = plan.spec().data();
        let records = data.declared_in().unwrap_or(data.path());
        let mut place = match records.to_str() {
            Some(place) if is_remote(records) => place.to_owned(),
            _ => absolute(records).map_err(fail)?,
        };
        if let Some(charged_to) = plan.spec().charged_to() {
            place = place + "\0" + &absolute(&charged_to.ledger).map_err(fail)?;
        }
        let (bytes, digests) =
            format::header_bytes(&header, &place).map_err(|error| fail(io::Error::other(error)))?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(fail)?;
        synchronise_folder(folder).map_err(fail)?;
        let opening = Opening { header, place, digests, length: bytes.len() as u64 };
        let journal = Self::of(path, file, opening, false, Vec::new());
        Ok(Self { paid: plan.is_private(), ..journal })
    }

    /// Opens the journal of a run that was killed or interrupted, and cuts off a torn tail.
    ///
    /// # Errors
    /// [`Error::Journal`] if there is none, another process has it open, or it is damaged. Nothing was changed then.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(JOURNAL);
        let refuse = |reason: String| Err(Error::Journal { path: path.clone(), reason });
        let mut file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return refuse("there is no journal here, so there is no run to continue".to_owned());
            }
            Err(error) => return refuse(format!("it cannot be opened: {}", error.kind())),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return refuse("another process is running or continuing this run".to_owned());
            }
            Err(TryLockError::Error(error)) => {
                return refuse(format!("it cannot be locked: {}", error.kind()));
            }
        }
        let Scan { opening, whole, torn, ended, leases } = scanned(&path, &file)?;
        if torn > 0 {
            file.set_len(whole)
                .and_then(|()| file.sync_all())
                .map_err(|source| Error::Write(WriteError { path: path.clone(), source }))?;
        }
        if let Err(error) = file.seek(SeekFrom::Start(whole)) {
            return refuse(format!("it cannot be read: {}", error.kind()));
        }
        Ok(Self::of(path, file, opening, ended, leases))
    }

    fn of(path: PathBuf, file: File, opening: Opening, ended: bool, leases: Vec<String>) -> Self {
        let Opening { header, place, digests, length: start } = opening;
        let chains = u32::try_from(header.certificate.chains).unwrap_or(u32::MAX);
        let kept = (0..=chains).map(|chain| digests.answers(chain)).collect();
        let progress = Progress {
            digests,
            written: 0,
            synced: 0,
            syncing: false,
            failed: false,
            failure: None,
            bytes: Vec::new(),
        };
        Self {
            path,
            file,
            header,
            place,
            start,
            kept,
            ended,
            leases,
            paid: true,
            progress: Mutex::new(progress),
            synced: Condvar::new(),
        }
    }

    /// What the journal said before its first answer.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// Checks that a run of this plan continues the one in the journal.
    ///
    /// # Errors
    /// [`Error::Journal`] if it would be another run.
    pub(crate) fn belongs_to(
        mut self,
        plan: &Plan,
        insecure_seed: Option<u64>,
        signed_by: Option<&str>,
    ) -> Result<Self, Error> {
        let (kept, mut now) =
            (&self.header.certificate, Certificate::with_randomness(plan, insecure_seed.is_some()));
        // Which reservation pays is no part of a plan; the ledger is asked before anything else is.
        now.charged = kept.charged.clone();
        let now = &now;
        let other = |reason: String| Err(Error::Journal { path: self.path.clone(), reason });
        if kept.program != now.program {
            return other(format!("the run was begun by {}; this is {}", kept.program, now.program));
        }
        if kept.spec != now.spec {
            return other("it belongs to another spec".to_owned());
        }
        if kept != now {
            return other(
                "this machine plans the spec differently; continue where the run was begun".to_owned(),
            );
        }
        let seed = plan.seed().unwrap_or(self.header.seed);
        if (self.header.insecure_seed, self.header.seed) != (insecure_seed, seed) {
            return other("it belongs to a run with another seed".to_owned());
        }
        match (&self.header.signed_by, signed_by) {
            (None, None) => {}
            (Some(key), Some(given)) if key == given => {}
            (Some(key), _) => {
                return other(format!("the run was begun with the signing key {key}: give that key"));
            }
            (None, Some(_)) => return other("the run was begun without a signing key: give none".to_owned()),
        }
        self.paid = plan.is_private();
        Ok(self)
    }

    /// Its file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the records were.
    pub(crate) fn place(&self) -> &Path {
        Path::new(self.place.split('\0').next().unwrap_or_default())
    }

    /// Where the ledger was that the run is charged to.
    pub(crate) fn ledger(&self) -> Option<&Path> {
        self.place.split_once('\0').map(|(_, ledger)| Path::new(ledger))
    }

    /// Whether the run had ended when the journal was opened.
    pub(crate) fn had_ended(&self) -> bool {
        self.ended
    }

    /// Notes that the run is continued under a lease of this token, on the disk before the ledger hears of it: a copy that was made
    /// before does not have it.
    ///
    /// # Errors
    /// [`Error::Write`] if it cannot be written.
    pub(crate) fn lease(&mut self, token: &[u8; 16]) -> Result<(), Error> {
        let (chain, kind, identity, answer) = (u32::MAX, Kind::Lease, Identity::default(), token.to_vec());
        let record = Record { chain, kind, identity, answer, position: None };
        let mut progress = self.progress();
        let mut bytes = Vec::new();
        record
            .write(&mut progress.digests, &mut bytes)
            .and_then(|()| (&self.file).write_all(&bytes))
            .and_then(|()| self.file.sync_data())
            .map_err(|source| Error::Write(WriteError { path: self.path.clone(), source }))?;
        drop(progress);
        self.leases.push(digits(token));
        Ok(())
    }

    /// The tokens of the run's leases, the last one last.
    pub(crate) fn leases(&self) -> &[String] {
        &self.leases
    }

    /// Answers that were kept when the journal was opened.
    pub(crate) fn kept_answers(&self) -> u64 {
        self.kept.iter().sum()
    }

    /// The digest of all that is kept so far.
    pub(crate) fn digest(&self) -> String {
        digits(&self.progress().digests.all())
    }

    /// Deletes a journal in which nothing was answered.
    pub(crate) fn discard(self) {
        // Failing to tidy up changes nothing that was promised.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Stands between a chain and its gate: replays what was kept, and keeps what is new before it is released.
    ///
    /// # Errors
    /// [`Error::Journal`] if the journal cannot be read.
    pub(crate) fn keep(&self, chain: usize, gate: Gate) -> Result<Box<dyn Ask + Send + '_>, Error> {
        self.answer(chain, Some(gate))
    }

    /// Gives a chain the answers that were kept, and refuses any other question: there are no records behind it.
    ///
    /// # Errors
    /// [`Error::Journal`] if the journal cannot be read.
    pub(crate) fn recall(&self, chain: usize) -> Result<Box<dyn Ask + Send + '_>, Error> {
        self.answer(chain, None)
    }

    fn answer(&self, chain: usize, gate: Option<Gate>) -> Result<Box<dyn Ask + Send + '_>, Error> {
        let answers = self.kept.get(chain).copied().unwrap_or(0);
        let replay = Replay::new(&self.path, self.start, chain as u32, answers, self.is_seeded())
            .map_err(|error| self.fault(Fault::Io(error)))?;
        Ok(Box::new(Kept::new(self, chain as u32, gate, replay)))
    }

    /// Marks the journal as that of a run which has ended, and gives its digest.
    ///
    /// # Errors
    /// [`Error::Write`] if it cannot be written.
    pub(crate) fn close(self, ended: bool) -> Result<String, Error> {
        let digest = self.progress().digests.all();
        if ended && !self.ended {
            let record = Record {
                chain: u32::MAX,
                kind: Kind::End,
                identity: Identity::default(),
                answer: digest.to_vec(),
                position: None,
            };
            self.append(&record).map_err(|refused| self.explain(refused.into()))?;
        }
        Ok(digits(&digest))
    }

    /// Whether the protecting randomness is seeded.
    fn is_seeded(&self) -> bool {
        self.header.insecure_seed.is_some()
    }

    /// Appends a record and waits until it is on the disk; then its answer may be released.
    ///
    /// Chains that wait at the same time share one synchronisation. A baseline pays for nothing, so nothing is lost with its
    /// answers: they are written but not waited for.
    ///
    /// # Errors
    /// [`Refused::NotKept`]; [`Journal::explain`] knows why.
    fn append(&self, record: &Record) -> Result<(), Refused> {
        let mut progress = self.progress();
        if progress.failed {
            return Err(Refused::NotKept);
        }
        let mut bytes = std::mem::take(&mut progress.bytes);
        let written =
            record.write(&mut progress.digests, &mut bytes).and_then(|()| (&self.file).write_all(&bytes));
        progress.bytes = bytes;
        if let Err(source) = written {
            return Err(self.fail(&mut progress, source));
        }
        progress.written += 1;
        if !self.paid {
            return Ok(());
        }
        let mine = progress.written;
        while progress.synced < mine {
            if progress.failed {
                return Err(Refused::NotKept);
            }
            if progress.syncing {
                progress = self.synced.wait(progress).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            progress.syncing = true;
            let all = progress.written;
            drop(progress);
            let done = self.file.sync_data();
            progress = self.progress();
            progress.syncing = false;
            match done {
                Ok(()) => progress.synced = progress.synced.max(all),
                Err(source) => drop(self.fail(&mut progress, source)),
            }
            self.synced.notify_all();
        }
        Ok(())
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        // A panic elsewhere cannot have left a half-made record: the file ends where the last write ended.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the first failure.
    fn fail(&self, progress: &mut Progress, source: io::Error) -> Refused {
        self.fail_by(progress, Error::Write(WriteError { path: self.path.clone(), source }))
    }

    fn fail_by(&self, progress: &mut Progress, error: Error) -> Refused {
        progress.failed = true;
        progress.failure.get_or_insert(error);
        self.synced.notify_all();
        Refused::NotKept
    }

    /// Ends the run because a kept answer cannot be given to the question asked.
    fn diverge(&self, reason: &str) -> Refused {
        let error = Error::Journal { path: self.path.clone(), reason: reason.to_owned() };
        self.fail_by(&mut self.progress(), error)
    }

    /// Puts what went wrong with the journal in the place of the refusal it led to.
    pub(crate) fn explain(&self, error: Error) -> Error {
        match error {
            Error::Refused(Refused::NotKept) => {
                self.progress().failure.take().unwrap_or(Error::Refused(Refused::NotKept))
            }
            other => other,
        }
    }

    fn fault(&self, fault: Fault) -> Error {
        faulty(&self.path, fault)
    }
}

/// How many answers the journal in a file holds; none where there is no journal.
///
/// # Errors
/// As [`digest`].
pub(crate) fn answers(path: &Path) -> Result<Option<u64>, Error> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    let Opening { digests, header, .. } = scanned(path, &file)?.opening;
    let chains = u32::try_from(header.certificate.chains).unwrap_or(u32::MAX);
    Ok(Some((0..=chains).map(|chain| digests.answers(chain)).sum()))
}

/// The digest of the journal at `path`.
///
/// # Errors
/// [`Error::Journal`] if it is no journal, or damaged, or torn.
pub(crate) fn digest(path: &Path) -> Result<String, Error> {
    let refuse = |reason: String| Error::Journal { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| refuse(format!("it cannot be opened: {}", error.kind())))?;
    match scanned(path, &file)? {
        Scan { torn: 0, opening, .. } => Ok(digits(&opening.digests.all())),
        _ => Err(refuse("its last record is torn".to_owned())),
    }
}

fn scanned(path: &Path, file: &File) -> Result<Scan, Error> {
    let scan = || format::scan(&mut BufReader::new(file), file.metadata()?.len());
    scan().map_err(|fault| faulty(path, fault))
}

fn faulty(path: &Path, fault: Fault) -> Error {
    let reason = match fault {
        Fault::Io(error) => format!("it cannot be read: {}", error.kind()),
        Fault::Content(reason) => reason,
    };
    Error::Journal { path: path.to_owned(), reason }
}
