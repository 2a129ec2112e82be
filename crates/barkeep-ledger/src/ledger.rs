//! Opens a ledger, decides under a lock, writes, and seals.

use crate::books::Books;
use crate::entry::{Addition, Body, Cap, Closing, Entry, Event, Lease, Opening, Refusal, Unit, Whom};
use crate::request::{DataSet, Records, Request, prices};
use crate::seal::{Key, Seal, beside, fill};
use crate::store::{self, Chain};
use crate::{Error, entry};
use barkeep_accounting::{Delta, Epsilon, Neighbours, RunFilter};
use barkeep_files::hex::digits;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a lock is tried, and the pause between: ten seconds in all.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// A ledger on disk. Every method takes the lock, verifies the file against its seal, acts, and seals it again.
///
/// Beside `LEDGER` lie `LEDGER.key` (the custodian's secret), `LEDGER.seal` and `LEDGER.lock`.
///
/// # Seal
/// **Found:** any changed, added or removed byte of the ledger file or its seal; an entry that was edited, removed, inserted or put
/// elsewhere, even where every hash was computed anew, since the seal takes the key; an entry that no run of barkeep could
/// have written, such as a run beyond its total or a bill whose price is not its own ([`Ledger::check`]).
///
/// **Healed:** a machine that died amid writing. Its seal names the entry that was on its way. The next who opens the ledger
/// verifies the chain; it must hold the sealed entries, or those and that one. Bytes of the file that are no part of an entry are
/// not verified in this case; they are sealed anew.
///
/// **Not found:** all files put back to an earlier state together. Note the hash of the last entry elsewhere, and have
/// [`Ledger::check`] look for it. Whoever holds the key can write a ledger of his own.
#[derive(Debug, Clone)]
pub struct Ledger {
    path: PathBuf,
    at: Option<String>,
}

/// What a run would cost an account.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// The least ε of a total that would have paid for all runs so far, at the account's δ.
    pub before: f64,
    /// The same with this run.
    pub after: f64,
    /// Why the account would refuse it; absent where it would not.
    pub refused: Option<String>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// How many entries there are.
    pub entries: u64,
    /// Bills whose price was computed again.
    pub bills: u64,
    /// The hash of the last entry.
    pub head: String,
}

/// A ledger that is locked and was verified.
struct Opened {
    key: Key,
    chain: Chain,
    books: Books,
    seal: Seal,
    /// Held until the seal is written.
    _lock: File,
}

impl Ledger {
    /// Makes a ledger in a new file, and a key beside it.
    ///
    /// # Errors
    /// [`Error::Unusable`] if there is one, or it cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let ledger = Self { path: path.to_owned(), at: None };
        if path.exists() {
            return Err(Error::unusable(path, "there is a file here already; ledgers are never replaced"));
        }
        let lock =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(ledger.file(".lock"));
        let lock =
            lock.map_err(|error| Error::unusable(path, format!("cannot be made: {}", error.kind())))?;
        ledger.locked(lock)?;
        let key = Key::create(&ledger.file(".key"))?;
        store::create(path)?;
        let bytes = ledger.bytes()?;
        Seal::of(&bytes, 0, &entry::Hash::default()).write(&ledger.file(".seal"), &key)?;
        Ok(ledger)
    }

    /// Opens a ledger and verifies it against its seal.
    ///
    /// # Errors
    /// [`Error::Unusable`] if it is missing, foreign, newer or locked; [`Error::Edited`] if it is not as barkeep left it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let ledger = Self { path: path.to_owned(), at: None };
        ledger.opened()?;
        Ok(ledger)
    }

    /// Dates the entries that are written from here on. No decision depends on a date.
    #[must_use]
    pub fn dated(self, at: Option<String>) -> Self {
        Self { at, ..self }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name for a new run.
    ///
    /// # Errors
    /// [`Error::Request`] if the operating system gives no randomness.
    pub fn new_run() -> Result<String, Error> {
        Ok(digits(&Self::new_token()?))
    }

    /// A token that nobody else has, for a new lease.
    ///
    /// # Errors
    /// As [`Ledger::new_run`].
    pub fn new_token() -> Result<[u8; 16], Error> {
        let mut bytes = [0; 16];
        fill(&mut bytes).map_err(Error::Request)?;
        Ok(bytes)
    }

    /// What follows from the entries.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn books(&self) -> Result<Books, Error> {
        Ok(self.opened()?.books)
    }

    /// Every entry.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn entries(&self) -> Result<Vec<Entry>, Error> {
        Ok(self.opened()?.chain.entries)
    }

    /// Opens an account.
    ///
    /// # Errors
    /// [`Error::Request`] if the name was used, or a reason is missing; as [`Ledger::open`].
    pub fn open_account(
        &self,
        account: &str,
        (epsilon, delta): (Epsilon, Delta),
        neighbours: Neighbours,
        unit: Unit,
        reason: Option<String>,
    ) -> Result<(), Error> {
        let orders = RunFilter::new(epsilon, delta).orders().to_vec();
        let account = account.to_owned();
        let opening = Opening { account, epsilon, delta, neighbours, unit, orders, reason };
        self.write(|_, _| Ok((Some(Event::Open(opening)), ())))
    }

    /// Puts a data set, or its next version, under an account. Gives the version.
    ///
    /// # Errors
    /// [`Error::Request`] if another open account has these records, or a closed one had them and no reason is given.
    pub fn add(
        &self,
        account: &str,
        data: &str,
        set: DataSet<'_>,
        reason: Option<String>,
    ) -> Result<u32, Error> {
        self.write(|books, key| {
            let version = books.open_account(account).map_err(Error::Request)?.next_version(data);
            let (account, data) = (account.to_owned(), data.to_owned());
            let identity = key.identity(&set.cells)?;
            let bytes = if set.files.is_empty() { None } else { Some(key.bytes(set.files)?) };
            let declared = Some(set.declared.clone());
            let addition = Addition { account, data, version, identity, bytes, declared, reason };
            Ok((Some(Event::Add(addition)), version))
        })
    }

    /// Says that a key signs for an analyst.
    ///
    /// # Errors
    /// [`Error::Request`] if it signs for someone already.
    pub fn add_analyst(&self, name: &str, key: &str) -> Result<(), Error> {
        let (name, key) = (name.to_owned(), key.to_owned());
        self.write(|_, _| Ok((Some(Event::Analyst { name, key }), ())))
    }

    /// Bounds what an analyst or a project may spend, runs so far included.
    ///
    /// # Errors
    /// [`Error::Request`] if they have spent more already.
    pub fn cap(
        &self,
        account: &str,
        whom: Whom,
        name: &str,
        (epsilon, delta): (Epsilon, Delta),
    ) -> Result<(), Error> {
        let orders = RunFilter::new(epsilon, delta).orders().to_vec();
        let (account, name) = (account.to_owned(), name.to_owned());
        self.write(|_, _| Ok((Some(Event::Cap(Cap { account, whom, name, epsilon, delta, orders })), ())))
    }

    /// Closes an account for ever.
    ///
    /// # Errors
    /// [`Error::Request`] if there is none, it is closed, or the reason has no words.
    pub fn close_account(&self, account: &str, reason: &str) -> Result<(), Error> {
        let (account, reason) = (account.to_owned(), reason.to_owned());
        self.write(|_, _| Ok((Some(Event::CloseAccount { account, reason }), ())))
    }

    /// Reserves what a run's bill costs. When this returns, it is spent and on the disk.
    ///
    /// A run that reserved before, and has not ended, continues its own reservation and is charged nothing. It takes a lease: a copy of
    /// its folder that was made before knows an earlier one only, and is refused.
    ///
    /// **Privacy.** Whether a run is accepted depends on the books, its bill and its declaration. That `records` are those of the account is
    /// decided by their bytes. It is the same for neighbours: the custodian put under the account whatever file there is.
    ///
    /// # Errors
    /// [`Error::Budget`] if total or caps have no room: the refusal is recorded. [`Error::Request`] if the run does not go with
    /// the account: nothing is written.
    pub fn reserve(&self, request: &Request, records: Records<'_>) -> Result<(), Error> {
        let refused = self.write(|books, key| {
            let known = books.run(&request.run);
            let account = match (known, books.account(&request.account)) {
                // What is spent may be used, whatever became of the account since.
                (Some(_), Some(account)) => account,
                (_, _) => books.open_account(&request.account).map_err(Error::Request)?,
            };
            let data = match records {
                Records::Files(files) => account.version_of(&key.bytes(files)?),
                Records::Unread(name) => account.last_version(name),
            };
            if let Some(state) = known {
                let token = request.continues(state, data)?;
                let lease = Lease { run: request.run.clone(), token };
                return Ok((Some(Event::Lease(lease)), None));
            }
            let asked = request.priced(account, data)?;
            Ok(match account.room(&asked) {
                Ok(()) => (Some(Event::Reserve(asked)), None),
                Err(reason) => (Some(Event::Refuse(Refusal { asked, reason: reason.clone() })), Some(reason)),
            })
        })?;
        match refused {
            None => Ok(()),
            Some(reason) => Err(Error::Budget(format!(
                "{reason}. Nothing was spent; the refusal is recorded in {}",
                self.path.display()
            ))),
        }
    }

    /// Compares a frame that was read with the data set for which its run reserved.
    ///
    /// # Errors
    /// [`Error::Request`] if its cells are others.
    pub fn recognise(&self, run: &str, cells: &[u8; 32]) -> Result<(), Error> {
        let Opened { key, books, .. } = self.opened()?;
        let identity = key.identity(cells)?;
        let reserved = books.run(run).map(|state| &state.reserved);
        let known = reserved.and_then(|own| {
            let versions = books.account(&own.account)?.data().iter();
            versions.rev().find(|known| known.data == own.data && known.version == own.version)
        });
        match known.is_some_and(|known| known.identity == identity) {
            true => Ok(()),
            false => Err(Error::Request(format!("run {run} has reserved for other records than these"))),
        }
    }

    /// What a run would cost, without asking for it.
    ///
    /// # Errors
    /// [`Error::Request`] if the run does not go with the account.
    pub fn quote(&self, request: &Request) -> Result<Quote, Error> {
        let books = self.books()?;
        let account = books.open_account(&request.account).map_err(Error::Request)?;
        let asked = request.priced_alone(account)?;
        Ok(Quote {
            before: books.spent(account, None)?,
            after: books.spent(account, Some(&request.bill))?,
            refused: account.room(&asked).err(),
        })
    }

    /// Notes how far a run came. It stays spent.
    ///
    /// # Errors
    /// [`Error::Request`] if it reserved nothing, has ended, or had more answers before.
    pub fn close(&self, closing: Closing) -> Result<(), Error> {
        self.write(|_, _| Ok((Some(Event::Close(closing)), ())))
    }

    /// Verifies everything: the seal, every hash, every event against the books before it, and the price of every bill, computed
    /// again. With `head`, the hash of an entry noted elsewhere, also that the ledger was not put back to before it.
    ///
    /// # Errors
    /// [`Error::Edited`] for whatever does not fit.
    pub fn check(&self, head: Option<&str>) -> Result<Checked, Error> {
        let Opened { chain, .. } = self.opened()?;
        if let Some(head) = head
            && !chain.entries.iter().any(|entry| entry.hash == head)
        {
            let reason = format!(
                "no entry has the hash {head}: the ledger was put back to an earlier state, or is another"
            );
            return Err(Error::edited(&self.path, reason));
        }
        let (mut books, mut bills) = (Books::default(), 0);
        for entry in &chain.entries {
            if let Event::Reserve(asked) | Event::Refuse(Refusal { asked, .. }) = &entry.event {
                let account =
                    books.open_account(&asked.account).map_err(|reason| self.impossible(entry, &reason))?;
                let (charge, caps) = prices(account, asked)?;
                let same = asked.charge.is_close_to(&charge)
                    && asked.cap_charges.len() == caps.len()
                    && asked.cap_charges.iter().zip(&caps).all(|(stored, again)| stored.is_close_to(again));
                if !same {
                    return Err(self.impossible(entry, "its bill costs something else than it says"));
                }
                bills += 1;
            }
            books.apply(&entry.event).map_err(|reason| self.impossible(entry, &reason))?;
        }
        Ok(Checked { entries: chain.length(), bills, head: digits(&chain.head) })
    }

    fn impossible(&self, entry: &Entry, reason: &str) -> Error {
        Error::edited(&self.path, format!("entry {} was not written by barkeep: {reason}", entry.number))
    }

    fn file(&self, ending: &str) -> PathBuf {
        beside(&self.path, ending)
    }

    fn bytes(&self) -> Result<Vec<u8>, Error> {
        std::fs::read(&self.path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                Error::unusable(&self.path, "there is no ledger here; `barkeep ledger new` makes one")
            }
            kind => Error::unusable(&self.path, format!("the ledger cannot be read: {kind}")),
        })
    }

    /// Waits for the lock.
    fn locked(&self, lock: File) -> Result<File, Error> {
        for _ in 0..TRIES {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(error)) => {
                    return Err(Error::unusable(
                        &self.path,
                        format!("it cannot be locked: {}", error.kind()),
                    ));
                }
            }
        }
        Err(Error::unusable(
            &self.path,
            "another process has held the ledger for ten seconds; try again later",
        ))
    }

    /// Locks, verifies, and heals what a machine that died left half done.
    fn opened(&self) -> Result<Opened, Error> {
        let path = &self.path;
        // The file first: what is missing or foreign should be said as such.
        let header = store::check_header(path, &self.bytes()?);
        if header.is_err() && self.file(".seal").exists() {
            Seal::read(&self.file(".seal"), &Key::read(&self.file(".key"))?)?;
            return Err(Error::edited(path, "it was a ledger, and its first bytes were changed"));
        }
        header?;
        let lock = File::open(self.file(".lock"))
            .or_else(|_| {
                OpenOptions::new()
                    .read(true)
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(self.file(".lock"))
            })
            .map_err(|error| Error::unusable(path, format!("it cannot be locked: {}", error.kind())))?;
        let lock = self.locked(lock)?;
        let key = Key::read(&self.file(".key"))?;
        let seal = Seal::read(&self.file(".seal"), &key)?;
        if self.file("-journal").exists() {
            return Err(Error::edited(
                path,
                "another program has begun to write to it: there is a -journal file",
            ));
        }
        let (chain, seal) = match &seal.pending {
            None => (self.sealed(&seal)?, seal),
            Some(pending) => self.healed(&seal, pending, &key)?,
        };
        let mut books = Books::default();
        for entry in &chain.entries {
            books.apply(&entry.event).map_err(|reason| self.impossible(entry, &reason))?;
        }
        Ok(Opened { key, chain, books, seal, _lock: lock })
    }

    /// The entries of a file that is as its seal says, to the byte.
    fn sealed(&self, seal: &Seal) -> Result<Chain, Error> {
        let edited = |reason: &str| Error::edited(&self.path, reason);
        if std::fs::metadata(self.file("-wal")).is_ok_and(|log| log.len() > 0) {
            return Err(edited("another program has written to it: there is a -wal file"));
        }
        let bytes = self.bytes()?;
        let now = Seal::of(&bytes, seal.entries, &entry::Hash::default());
        if now.length < seal.length {
            return Err(edited("it is shorter than barkeep left it: it was truncated"));
        }
        if (now.length, now.file) != (seal.length, seal.file.clone()) {
            return Err(edited("it is not as barkeep left it: bytes were changed, or it was replaced"));
        }
        let chain = store::read(&self.path, true)?;
        if chain.length() != seal.entries || digits(&chain.head) != seal.head {
            return Err(edited("its last entry is not the sealed one"));
        }
        Ok(chain)
    }

    /// The entries of a file that a machine that died may have left half written, sealed anew.
    fn healed(&self, seal: &Seal, pending: &str, key: &Key) -> Result<(Chain, Seal), Error> {
        self.writable()?;
        let chain = store::read(&self.path, false)?;
        let (length, head) = (chain.length(), digits(&chain.head));
        let before = length == seal.entries && head == seal.head;
        let after = Some(length) == seal.entries.checked_add(1) && head == pending;
        if !before && !after {
            let reason = "it holds other entries than those of its seal and the one that was being written";
            return Err(Error::edited(&self.path, reason));
        }
        let seal = Seal::of(&self.bytes()?, length, &chain.head).write(&self.file(".seal"), key)?;
        Ok((chain, seal))
    }

    /// Refuses a file that must not be written, before anything is.
    fn writable(&self) -> Result<(), Error> {
        let read_only = std::fs::metadata(&self.path).is_ok_and(|file| file.permissions().readonly());
        if read_only {
            Err(Error::unusable(&self.path, "the ledger is read-only; nothing was spent"))
        } else {
            Ok(())
        }
    }

    /// Lets `decide` look at the books, and writes the event it gives, if any.
    fn write<T>(
        &self,
        decide: impl FnOnce(&Books, &Key) -> Result<(Option<Event>, T), Error>,
    ) -> Result<T, Error> {
        let Opened { key, chain, mut books, seal, _lock } = self.opened()?;
        self.writable()?;
        let (event, outcome) = decide(&books, &key)?;
        let Some(event) = event else { return Ok(outcome) };
        books.apply(&event).map_err(Error::Request)?;
        let text = Body { at: self.at.clone(), event }
            .text()
            .map_err(|_| Error::Request("the entry cannot be written as JSON".to_owned()))?;
        let number = chain.length() + 1;
        let hash = entry::hash(number, &chain.head, &text);
        let place = self.file(".seal");
        seal.expecting(&hash).write(&place, &key)?;
        store::append(&self.path, number, &text, &hash)?;
        Seal::of(&self.bytes()?, number, &hash).write(&place, &key)?;
        Ok(outcome)
    }
}
