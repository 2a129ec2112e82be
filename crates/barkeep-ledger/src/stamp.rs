//! Stamps a data set that its custodian has checked, so that a run knows by the bytes of its files that nothing was changed since.

use crate::Error;
use crate::seal::{Key, beside};
use barkeep_files::hex::digits;
use barkeep_files::write_atomically;
use hmac::Mac;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The layout of stamps that this version writes.
const FORMAT: u32 = 1;

/// What a check leaves beside a declaration: `SET.stamp`, with its key in `SET.key`.
///
/// **Privacy.** Keyed hashes only. Whoever lacks the key can test no guess about records with them. The stamp and its key stay with
/// the records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    format: u32,
    /// Of the declaration's text.
    declaration: String,
    /// Of the files' bytes.
    bytes: String,
    /// Of the admitted cells.
    cells: String,
}

impl Stamp {
    /// Writes the stamp of a declaration, its files and the hash of their admitted cells. Makes a key where there is none.
    ///
    /// # Errors
    /// [`Error::Unusable`] if a file cannot be read or the key not written; [`Error::Write`].
    pub fn write(set: &Path, text: &str, files: &[PathBuf], cells: &[u8; 32]) -> Result<(), Error> {
        let place = beside(set, ".key");
        let key = if place.exists() { Key::read(&place) } else { Key::create(&place) }?;
        let (declaration, bytes, cells) = (declared(&key, text)?, key.bytes(files)?, key.identity(cells)?);
        let stamp = Self { format: FORMAT, declaration, bytes, cells };
        let stamp = serde_json::to_string_pretty(&stamp)
            .map_err(|_| Error::Request("the stamp cannot be written as JSON".to_owned()))?;
        Ok(write_atomically(&beside(set, ".stamp"), |file| writeln!(file, "{stamp}"))?)
    }

    /// Whether a data set was ever stamped.
    #[must_use]
    pub fn is_beside(set: &Path) -> bool {
        beside(set, ".stamp").exists()
    }

    /// Compares a declaration and the bytes of its files with its stamp.
    ///
    /// # Errors
    /// [`Error::Unusable`] if there is no stamp; [`Error::Edited`] if something was changed since.
    pub fn check(set: &Path, text: &str, files: &[PathBuf]) -> Result<(), Error> {
        let again = "`barkeep dataset check` looks at it and stamps it";
        let place = beside(set, ".stamp");
        let stamp = std::fs::read(&place)
            .map_err(|_| Error::unusable(set, format!("the data set has no stamp: {again}")))?;
        let stamp: Self =
            serde_json::from_slice(&stamp)
                .ok()
                .filter(|stamp: &Self| stamp.format == FORMAT)
                .ok_or_else(|| Error::unusable(&place, format!("it is no stamp of this version: {again}")))?;
        let key = Key::read(&beside(set, ".key"))?;
        let changed =
            |what: &str| Err(Error::edited(set, format!("{what} changed since it was checked: {again}")));
        if stamp.declaration != declared(&key, text)? {
            return changed("the declaration");
        }
        if stamp.bytes != key.bytes(files)? {
            return changed("the records");
        }
        Ok(())
    }
}

fn declared(key: &Key, text: &str) -> Result<String, Error> {
    let mut code = key.code("barkeep declaration\n")?;
    code.update(text.as_bytes());
    Ok(digits(&code.finalize().into_bytes()))
}
