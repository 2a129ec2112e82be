//! Reads and writes the file of entries: SQLite with a write-ahead log, every commit on the disk before it counts.

use crate::Error;
use crate::entry::{Body, Entry, Hash, hash};
use crate::seal::FORMAT;
use barkeep_files::hex::digits;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// Marks a SQLite file as a ledger: "bkpL".
const APPLICATION: u32 = 0x626b_704c;
/// What every SQLite file starts with.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Where a SQLite file's header holds the layout's version and the application, big-endian.
const VERSION_AT: usize = 60;
const APPLICATION_AT: usize = 68;

/// Every entry, and the hash of the last one.
pub(crate) struct Chain {
    pub(crate) entries: Vec<Entry>,
    pub(crate) head: Hash,
}

impl Chain {
    /// How many entries there are.
    pub(crate) fn length(&self) -> u64 {
        self.entries.len() as u64
    }
}

/// Says why bytes are no ledger, before SQLite sees them.
pub(crate) fn check_header(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let number = |at: usize| {
        let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
        field.map_or(0, u32::from_be_bytes)
    };
    if !bytes.starts_with(MAGIC) || number(APPLICATION_AT) != APPLICATION {
        return Err(Error::unusable(path, "it is no ledger of barkeep's"));
    }
    if number(VERSION_AT) > FORMAT {
        let reason = format!(
            "the ledger has layout {}; this version of barkeep reads layout {FORMAT}",
            number(VERSION_AT)
        );
        return Err(Error::unusable(path, reason));
    }
    Ok(())
}

/// What SQLite says, without its values.
fn said(path: &Path, error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            Error::unusable(path, "another program holds the ledger; try again when it has ended")
        }
        Some(rusqlite::ErrorCode::ReadOnly | rusqlite::ErrorCode::PermissionDenied) => {
            Error::unusable(path, "the ledger cannot be written: it is read-only")
        }
        Some(rusqlite::ErrorCode::DiskFull) => {
            Error::unusable(path, "the ledger cannot be written: the disk is full")
        }
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
            Error::edited(path, "it is damaged: SQLite cannot read it")
        }
        Some(code) => Error::unusable(path, format!("the ledger cannot be used: {code:?}")),
        None => Error::edited(path, "it is damaged: its tables are not a ledger's"),
    }
}

/// Makes an empty ledger file.
pub(crate) fn create(path: &Path) -> Result<(), Error> {
    let say = |error: rusqlite::Error| said(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let file = Connection::open_with_flags(path, flags).map_err(say)?;
    durable(&file).map_err(say)?;
    file.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION};
         PRAGMA user_version = {FORMAT};
         CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
         CREATE TRIGGER entries_stay BEFORE UPDATE ON entries
             BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
         CREATE TRIGGER entries_remain BEFORE DELETE ON entries
             BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;"
    ))
    .map_err(say)?;
    settle(file).map_err(say)
}

/// A write-ahead log that is synchronised at every commit.
fn durable(file: &Connection) -> rusqlite::Result<()> {
    file.busy_timeout(Duration::from_secs(10))?;
    file.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    file.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA trusted_schema = OFF;")
}

/// Moves the log into the file and closes both: what is sealed is one file.
fn settle(file: Connection) -> rusqlite::Result<()> {
    file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    file.close().map_err(|(_, error)| error)
}

/// Reads every entry and verifies the chain. With `settled` the file is read as it is, and nothing is created beside it.
pub(crate) fn read(path: &Path, settled: bool) -> Result<Chain, Error> {
    let say = |error: rusqlite::Error| said(path, &error);
    let file = if settled {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable(path)?, flags).map_err(say)?
    } else {
        let file = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(say)?;
        durable(&file).map_err(say)?;
        file
    };
    let chain = chain(path, &file)?;
    if settled {
        file.close().map_err(|(_, error)| say(error))?;
    } else {
        settle(file).map_err(say)?;
    }
    Ok(chain)
}

/// The address under which SQLite reads a file that nobody changes meanwhile.
fn immutable(path: &Path) -> Result<String, Error> {
    let path = std::path::absolute(path).map_err(|_| Error::unusable(path, "it has no absolute path"))?;
    let text = path.to_str().ok_or_else(|| Error::unusable(&path, "its path is not UTF-8"))?;
    let escaped: String = text
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    let root = if escaped.starts_with('/') { "" } else { "/" };
    Ok(format!("file:{root}{escaped}?immutable=1"))
}

fn chain(path: &Path, file: &Connection) -> Result<Chain, Error> {
    let say = |error: rusqlite::Error| said(path, &error);
    let mut rows = file.prepare("SELECT number, body, hash FROM entries ORDER BY number").map_err(say)?;
    let rows = rows
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, Vec<u8>>(2)?)))
        .map_err(say)?;
    let (mut entries, mut head) = (Vec::new(), Hash::default());
    for row in rows {
        let (number, text, stored) = row.map_err(say)?;
        let expected = entries.len() as u64 + 1;
        if u64::try_from(number) != Ok(expected) {
            return Err(Error::edited(path, format!("entry {expected} is missing")));
        }
        head = hash(expected, &head, &text);
        if stored != head {
            let reason =
                format!("entry {expected} was edited, or one before it was removed or put elsewhere");
            return Err(Error::edited(path, reason));
        }
        let Ok(Body { at, event }) = serde_json::from_str(&text) else {
            return Err(Error::edited(
                path,
                format!("entry {expected} says nothing this version understands"),
            ));
        };
        entries.push(Entry { number: expected, at, event, hash: digits(&head) });
    }
    Ok(Chain { entries, head })
}

/// Appends an entry to those that were read, in one transaction, and settles the file.
pub(crate) fn append(path: &Path, number: u64, body: &str, hash: &Hash) -> Result<(), Error> {
    let say = |error: rusqlite::Error| said(path, &error);
    let mut file = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(say)?;
    durable(&file).map_err(say)?;
    let transaction = file.transaction_with_behavior(TransactionBehavior::Immediate).map_err(say)?;
    let last: i64 = transaction
        .query_row("SELECT coalesce(max(number), 0) FROM entries", [], |row| row.get(0))
        .map_err(say)?;
    if u64::try_from(last).ok().and_then(|last| last.checked_add(1)) != Some(number) {
        return Err(Error::edited(path, "another program wrote to it at the same time"));
    }
    let written = i64::try_from(number).map_err(|_| Error::unusable(path, "it is full"))?;
    transaction
        .execute("INSERT INTO entries (number, body, hash) VALUES (?1, ?2, ?3)", (written, body, &hash[..]))
        .map_err(say)?;
    transaction.commit().map_err(say)?;
    settle(file).map_err(say)
}
