//! Signs certificates with ed25519, so that a reader who knows a custodian's public key knows whose certificate it is.
//!
//! A key is a file of one line, a word that says what it is and 64 hexadecimal digits. The secret one is readable by its
//! owner alone; the public one, beside it with the ending `.pub`, is for everyone.

use crate::Error;
use barkeep_files::hex::{bytes, digits};
use barkeep_files::{WriteError, write_atomically};
use ed25519_dalek::{Signature as Signed, Signer, VerifyingKey};
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a secret key's file starts with.
const SECRET: &str = "barkeep-secret-key";
/// What a public key's file starts with.
const PUBLIC: &str = "barkeep-public-key";
/// Keeps signatures of certificates apart from signatures of anything else under the same key.
const DOMAIN: &[u8] = b"barkeep certificate\n";

/// A signature and the key that made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// The public key, in hexadecimal digits.
    pub key: String,
    /// The signature of everything else in the file, in hexadecimal digits.
    pub signature: String,
}

/// A secret key. It has no `Debug`, `Clone` or `Serialize`.
pub struct SigningKey(ed25519_dalek::SigningKey);

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl SigningKey {
    /// Makes a key from the operating system's randomness, and writes it to a new file and its public half beside it.
    ///
    /// # Errors
    /// [`Error::Write`] if one of the files exists or cannot be written, or there is no randomness.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let fail = |source: io::Error| Error::Write(WriteError { path: path.to_owned(), source });
        let public = public_path(path);
        if public.exists() {
            let source =
                io::Error::new(io::ErrorKind::AlreadyExists, "the file exists; keys are never replaced");
            return Err(Error::Write(WriteError { path: public, source }));
        }
        let mut bytes = [0; 32];
        #[expect(
            clippy::disallowed_methods,
            reason = "a key that protects no record; noise has its own door"
        )]
        getrandom::fill(&mut bytes)
            .map_err(|_| fail(io::Error::other("the operating system gives no randomness")))?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(fail)?;
        writeln!(file, "{SECRET} {}", digits(&bytes)).and_then(|()| file.sync_all()).map_err(fail)?;
        let key = Self(ed25519_dalek::SigningKey::from_bytes(&bytes));
        write_atomically(&public, |file| writeln!(file, "{PUBLIC} {}", key.public().digits()))?;
        Ok(key)
    }

    /// Reads a secret key.
    ///
    /// # Errors
    /// [`Error::Read`] if the file cannot be read or is no secret key. Nothing of its content is said.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Ok(Self(ed25519_dalek::SigningKey::from_bytes(&read(path, SECRET)?)))
    }

    /// The public half.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a certificate's text.
    pub(crate) fn sign(&self, text: &[u8]) -> Signature {
        self.sign_as(DOMAIN, text)
    }

    /// Signs a text of the kind that `domain` names.
    pub(crate) fn sign_as(&self, domain: &[u8], text: &[u8]) -> Signature {
        let signature = digits(&self.0.sign(&[domain, text].concat()).to_bytes());
        Signature { key: self.public().digits(), signature }
    }
}

impl PublicKey {
    /// Reads a public key's file.
    ///
    /// # Errors
    /// [`Error::Read`] if the file cannot be read or is no public key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        VerifyingKey::from_bytes(&read(path, PUBLIC)?).map(Self).map_err(|_| not_a_key(path, PUBLIC))
    }

    /// The key in hexadecimal digits.
    #[must_use]
    pub fn digits(&self) -> String {
        digits(self.0.as_bytes())
    }
}

impl Signature {
    /// Whether the key in it signed this text of a certificate.
    pub(crate) fn holds(&self, text: &[u8]) -> bool {
        self.holds_as(DOMAIN, text)
    }

    /// Whether the key in it signed this text of the kind that `domain` names.
    pub(crate) fn holds_as(&self, domain: &[u8], text: &[u8]) -> bool {
        let (Some(key), Some(signature)) = (bytes::<32>(&self.key), bytes::<64>(&self.signature)) else {
            return false;
        };
        // One spelling of a key and a signature, so that no edited letter passes.
        let spelled = digits(&key) == self.key && digits(&signature) == self.signature;
        let signed = Signed::from_bytes(&signature);
        let holds = |key: VerifyingKey| key.verify_strict(&[domain, text].concat(), &signed).is_ok();
        spelled && VerifyingKey::from_bytes(&key).is_ok_and(holds)
    }
}

/// Where the public half of a key is written.
#[must_use]
pub fn public_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".pub");
    PathBuf::from(name)
}

fn read(path: &Path, word: &str) -> Result<[u8; 32], Error> {
    let fail =
        |error: io::Error| Error::Read { path: path.display().to_string(), reason: error.kind().to_string() };
    let text = std::fs::read_to_string(path).map_err(fail)?;
    let key = text.trim_end().strip_prefix(word).and_then(|rest| rest.strip_prefix(' ')).and_then(bytes);
    key.ok_or_else(|| not_a_key(path, word))
}

fn not_a_key(path: &Path, word: &str) -> Error {
    Error::Read { path: path.display().to_string(), reason: format!("it is no {}", word.replace('-', " ")) }
}

#[cfg(test)]
mod tests;
