//! Seals a ledger with the custodian's key, so that a byte that was changed outside barkeep is noticed.
//!
//! The seal is a file beside the ledger. It holds the hash of the whole ledger file, its length, the number and the hash of its last
//! entry, and a code that only the key can make. Before an entry is written the seal names it as pending; after it is
//! written the seal is made anew. A machine that dies in between leaves a pending seal: the entries are then verified by
//! their chain, and must be those of the seal, or those and the pending one.

use crate::Error;
use crate::entry::Hash;
use barkeep_files::hex::{bytes, digits};
use barkeep_files::write_atomically;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The layout of ledgers and seals that this version writes.
pub(crate) const FORMAT: u32 = 1;

/// What a key's file starts with.
const WORD: &str = "barkeep-ledger-key";

/// A file beside the ledger.
pub(crate) fn beside(ledger: &Path, ending: &str) -> PathBuf {
    let mut name = ledger.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The custodian's key. It has no `Debug`, `Clone` or `Serialize`.
pub(crate) struct Key([u8; 32]);

impl Key {
    /// Makes a key in a new file that its owner alone can read.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| Error::unusable(path, reason);
        let mut bytes = [0; 32];
        fill(&mut bytes).map_err(fail)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                fail("there is a key here already; keys are never replaced".to_owned())
            }
            kind => fail(format!("the key cannot be written: {kind}")),
        })?;
        writeln!(file, "{WORD} {}", digits(&bytes))
            .and_then(|()| file.sync_all())
            .map_err(|error| fail(format!("the key cannot be written: {}", error.kind())))?;
        Ok(Self(bytes))
    }

    /// Reads a key.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::unusable(
                path,
                "the custodian's key is missing: without it nobody can say that the files beside it are whole. Put it back",
            ),
            kind => Error::unusable(path, format!("the custodian's key cannot be read: {kind}")),
        })?;
        let key = text.trim_end().strip_prefix(WORD).and_then(|rest| rest.strip_prefix(' ')).and_then(bytes);
        key.map(Self).ok_or_else(|| Error::unusable(path, "it is no custodian's key"))
    }

    /// A code over these parts, under a word that keeps codes of one kind apart from those of another.
    pub(crate) fn code(&self, domain: &str) -> Result<Hmac<Sha256>, Error> {
        let mut code = Hmac::<Sha256>::new_from_slice(&self.0)
            .map_err(|_| Error::Request("the key has no length that a code can use".to_owned()))?;
        code.update(domain.as_bytes());
        Ok(code)
    }

    /// The keyed form of a hash of admitted cells: nobody can compute it without the key.
    ///
    /// **Privacy.** It stays in the ledger. Published, it would let whoever has the key test a guess.
    pub(crate) fn identity(&self, cells: &[u8; 32]) -> Result<String, Error> {
        let mut code = self.code("barkeep cells\n")?;
        code.update(cells);
        Ok(digits(&code.finalize().into_bytes()))
    }

    /// The keyed hash of the bytes of some files, one after the other.
    ///
    /// **Privacy.** As [`Key::identity`].
    ///
    /// # Errors
    /// A file cannot be read; nothing of it is said.
    pub(crate) fn bytes(&self, files: &[impl AsRef<Path>]) -> Result<String, Error> {
        let mut code = self.code("barkeep records\n")?;
        let mut buffer = vec![0; 1 << 16];
        for (place, path) in files.iter().map(AsRef::as_ref).enumerate() {
            let fail = |error: io::Error| Error::unusable(path, format!("cannot be read: {}", error.kind()));
            let mut file = File::open(path).map_err(fail)?;
            if place > 0 {
                // Where one file ends and the next begins is a part of what they say.
                code.update(&file.metadata().map_err(fail)?.len().to_le_bytes());
            }
            loop {
                match file.read(&mut buffer).map_err(fail)? {
                    0 => break,
                    read => code.update(&buffer[..read]),
                }
            }
        }
        Ok(digits(&code.finalize().into_bytes()))
    }
}

/// Bytes from the operating system.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<(), String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "names and keys that protect no record; noise has its own door"
    )]
    getrandom::fill(bytes).map_err(|_| "the operating system gives no randomness".to_owned())
}

/// What barkeep left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seal {
    pub(crate) format: u32,
    /// How many entries there are.
    pub(crate) entries: u64,
    /// The hash of the last one.
    pub(crate) head: String,
    /// Bytes of the file.
    pub(crate) length: u64,
    /// SHA-256 of the file.
    pub(crate) file: String,
    /// The hash of the entry that is being written; the file may then be the one before or after it.
    pub(crate) pending: Option<String>,
    /// The code over all of the above.
    code: String,
}

impl Seal {
    /// The seal of a file's bytes after these entries.
    pub(crate) fn of(bytes: &[u8], entries: u64, head: &Hash) -> Self {
        let (length, file) = (bytes.len() as u64, digits(&Sha256::digest(bytes)));
        Self { format: FORMAT, entries, head: digits(head), length, file, pending: None, code: String::new() }
    }

    /// The same seal while the entry with this hash is being written.
    pub(crate) fn expecting(self, hash: &Hash) -> Self {
        Self { pending: Some(digits(hash)), ..self }
    }

    fn coded(mut self, key: &Key) -> Result<Self, Error> {
        self.code = String::new();
        let mut code = key.code("barkeep ledger seal\n")?;
        code.update(self.text().as_bytes());
        self.code = digits(&code.finalize().into_bytes());
        Ok(self)
    }

    fn text(&self) -> String {
        // Numbers and words, all of which JSON can write.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    /// Writes the seal in one indivisible and durable step.
    pub(crate) fn write(self, path: &Path, key: &Key) -> Result<Self, Error> {
        let seal = self.coded(key)?;
        write_atomically(path, |file| file.write_all(seal.text().as_bytes()))?;
        Ok(seal)
    }

    /// Reads a seal that this key made.
    pub(crate) fn read(path: &Path, key: &Key) -> Result<Self, Error> {
        let edited = |reason: &str| Error::edited(path, reason);
        let text = std::fs::read(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                edited("the seal is missing: it was removed, or the ledger was never completed")
            }
            kind => Error::unusable(path, format!("the seal cannot be read: {kind}")),
        })?;
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|_| edited("the seal was edited"))?;
        if value
            .get("format")
            .and_then(serde_json::Value::as_u64)
            .is_some_and(|format| format > u64::from(FORMAT))
        {
            let reason = "the ledger was written by a newer version of barkeep, or its seal was edited";
            return Err(Error::unusable(path, reason));
        }
        let seal: Self = serde_json::from_value(value).map_err(|_| edited("the seal was edited"))?;
        let whole = seal.text().as_bytes() == text.as_slice() && seal.clone().coded(key)?.code == seal.code;
        if whole { Ok(seal) } else { Err(edited("the seal was edited, or is not of this ledger's key")) }
    }
}
