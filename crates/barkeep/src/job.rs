//! Hands work over a closed room's airlock: one request file goes in, one signed bundle comes out.
//!
//! An analyst packs a spec into a [`Request`]: it names a data set, everything else it needs is written in, and no file that it names is
//! opened. The custodian runs it on that data set, as their own declaration says, charged to their ledger, and packs what is public of the run into a [`Bundle`]: request, certificate,
//! draws, summary, report. A manifest with the hash of each, signed under the custodian's key, binds them together.
//!
//! **Privacy.** A bundle holds what the certificate covers and functions of it. The journal stays with the custodian.

mod archive;
#[cfg(test)]
mod tests;

use crate::Error;
use crate::check;
use crate::plan::Plan;
use crate::run::certificate::{Certificate, Verified};
use crate::run::files::{WriteError, write_atomically};
use crate::run::folder::{CERTIFICATE, DRAWS_CSV, DRAWS_PARQUET, SUMMARY};
use crate::signature::{PublicKey, Signature, SigningKey};
use crate::spec::{Dataset, Spec, is_of};
use barkeep_files::hex::digits;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// The version of both layouts.
const FORMAT: u32 = 2;
/// Keeps signatures of bundles apart from those of certificates.
const DOMAIN: &[u8] = b"barkeep bundle\n";
/// Keeps signatures of requests apart from both.
const REQUEST_DOMAIN: &[u8] = b"barkeep request\n";
/// Names of a bundle's files, in the order they stand in it.
const MANIFEST: &str = "bundle.json";
const REQUEST: &str = "request.json";
const REPORT: &str = "report.html";
const FILES: [&str; 6] = [CERTIFICATE, DRAWS_CSV, DRAWS_PARQUET, SUMMARY, REPORT, REQUEST];
/// Bytes of a request at most.
const LONGEST_REQUEST: u64 = 1 << 24;

/// What an analyst asks a custodian to run: a spec with all that it needs written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Says what file this is: `barkeep-request`.
    kind: String,
    format: u32,
    /// The spec, with its model's text; its data set by name.
    spec: String,
    /// Who asks; absent where nobody signed.
    signature: Option<Signature>,
}

/// What a request's `kind` says.
const KIND: &str = "barkeep-request";

impl Request {
    /// Packs a spec, which must be plannable, and signs it if there is a key.
    ///
    /// # Errors
    /// As [`Plan::new`]; [`Error::Spec`] for a model that is code of the analyst's own, and for a spec that names no data set, or says
    /// how its records are read.
    pub fn pack(spec: &Spec, key: Option<&SigningKey>) -> Result<Self, Error> {
        Plan::new(Spec::parse_alone(&spec.text())?)?;
        let spec = spec.request_text()?;
        let unsigned = Self { kind: KIND.to_owned(), format: FORMAT, spec, signature: None };
        let signature = key.map(|key| key.sign_as(REQUEST_DOMAIN, unsigned.text().as_bytes()));
        Ok(Self { signature, ..unsigned })
    }

    /// The public key of whoever signed it, in hexadecimal digits; none where nobody did.
    ///
    /// # Errors
    /// [`Error::Certificate`] if the signature does not fit.
    pub fn signed_by(&self) -> Result<Option<&str>, Error> {
        let Some(signature) = &self.signature else { return Ok(None) };
        let unsigned = Self { signature: None, ..self.clone() };
        if signature.holds_as(REQUEST_DOMAIN, unsigned.text().as_bytes()) {
            Ok(Some(&signature.key))
        } else {
            Err(Error::Certificate(
                "the signature does not fit the request: one of them was edited".to_owned(),
            ))
        }
    }

    /// Reads a request.
    ///
    /// # Errors
    /// [`Error::Read`] if it cannot be read or is no request of a known format.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| Error::Read { path: path.display().to_string(), reason };
        let length = std::fs::metadata(path).map_err(|error| fail(error.kind().to_string()))?.len();
        if length > LONGEST_REQUEST {
            return Err(fail("it is no request: it is too long".to_owned()));
        }
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.kind().to_string()))?;
        Self::parse(&text).map_err(|reason| fail(reason.to_owned()))
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let request: Self =
            serde_json::from_str(text).map_err(|_| "it is no request that `barkeep job pack` made")?;
        match (request.kind.as_str(), request.format) {
            (KIND, FORMAT) => Ok(request),
            (KIND, _) => {
                Err("it was packed by another version of barkeep, in a layout that this one does not know")
            }
            _ => Err("it is no request that `barkeep job pack` made"),
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        Ok(write_atomically(path, |file| file.write_all(self.text().as_bytes()))?)
    }

    /// The spec in it, on the custodian's data set. No file that it names is opened.
    ///
    /// # Errors
    /// [`Error::Spec`] at the first fault, and for every key that is the custodian's to declare.
    pub fn spec(&self, set: &Dataset) -> Result<Spec, Error> {
        Ok(Spec::parse_request(&self.spec, set)?)
    }

    /// Refuses a request that says how records are read, or who asks, before any file is opened.
    ///
    /// # Errors
    /// [`Error::Spec`] at the first such key.
    pub fn check(&self) -> Result<(), Error> {
        Ok(Spec::check_request(&self.spec)?)
    }

    /// Whether a certificate is of a run of this request.
    #[must_use]
    pub fn is_of(&self, certificate: &Certificate) -> bool {
        let parsed = |text: &str| text.parse::<toml::Table>().ok();
        match (parsed(&certificate.spec), parsed(&self.spec)) {
            (Some(run), Some(asked)) => is_of(&run, &asked),
            _ => false,
        }
    }

    fn text(&self) -> String {
        // Words and a number, which JSON can write.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// What lies in a bundle, and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: u32,
    /// SHA-256 of each file, by name.
    files: BTreeMap<String, String>,
    /// Of all of the above.
    signature: Option<Signature>,
}

impl Manifest {
    fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// What leaves the room: a tar archive that any tool opens.
pub struct Bundle {
    files: Vec<(String, Vec<u8>)>,
    manifest: Manifest,
}

impl Bundle {
    /// Packs the folder of a run that has ended, with its request and its report, signed.
    ///
    /// # Errors
    /// [`Error::Read`] if a file is missing; [`Error::Certificate`] if the folder is not of this request, a file was edited, or
    /// the certificate is not signed by the same key.
    pub fn pack(folder: &Path, request: &Request, report: &str, key: &SigningKey) -> Result<Self, Error> {
        let certificate = Certificate::read(&folder.join(CERTIFICATE))?;
        if !request.is_of(&certificate) {
            let reason = "the folder holds a run of another spec than the request's".to_owned();
            return Err(Error::Certificate(reason));
        }
        certificate.check_signature(Some(&key.public()))?;
        certificate.check_files(folder)?;
        let mut files = Vec::new();
        for name in FILES {
            let bytes = match name {
                REPORT => report.as_bytes().to_vec(),
                REQUEST => request.text().into_bytes(),
                _ => std::fs::read(folder.join(name)).map_err(|error| Error::Read {
                    path: folder.join(name).display().to_string(),
                    reason: error.kind().to_string(),
                })?,
            };
            files.push((name.to_owned(), bytes));
        }
        let hashes =
            files.iter().map(|(name, bytes)| (name.clone(), digits(&Sha256::digest(bytes)))).collect();
        let unsigned = Manifest { format: FORMAT, files: hashes, signature: None };
        let signature = Some(key.sign_as(DOMAIN, unsigned.text().as_bytes()));
        Ok(Self { files, manifest: Manifest { signature, ..unsigned } })
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let manifest = self.manifest.text().into_bytes();
        let all = std::iter::once((MANIFEST, manifest.as_slice()))
            .chain(self.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
        let bytes = archive::write(all).ok_or_else(|| {
            let source = std::io::Error::other("a file is too large for a bundle");
            WriteError { path: path.to_owned(), source }
        })?;
        Ok(write_atomically(path, |file| file.write_all(&bytes))?)
    }

    /// Whether a file looks like a bundle.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        archive::is_one(path)
    }

    /// Reads a bundle. [`Bundle::verify`] says what it is worth.
    ///
    /// # Errors
    /// [`Error::Read`] if it cannot be read or is no bundle of a known layout.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fail = |reason: &str| Error::Read { path: path.display().to_string(), reason: reason.to_owned() };
        let bytes = std::fs::read(path).map_err(|error| fail(&error.kind().to_string()))?;
        let mut files =
            archive::read(&bytes).ok_or_else(|| fail("it is no bundle, or a part of it is missing"))?;
        let known: Vec<&str> = std::iter::once(MANIFEST).chain(FILES).collect();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        if names != known {
            return Err(fail("it does not hold the files of a bundle, each once and in their order"));
        }
        let (_, manifest) = files.remove(0);
        let text = String::from_utf8(manifest).map_err(|_| fail("its manifest is no text"))?;
        let manifest: Manifest =
            serde_json::from_str(&text).map_err(|_| fail("its manifest is none of barkeep's"))?;
        match (manifest.format, manifest.text() == text) {
            (FORMAT, true) => Ok(Self { files, manifest }),
            (FORMAT, false) => Err(fail("its manifest was edited")),
            _ => Err(fail(
                "it was packed by another version of barkeep, in a layout that this one does not know",
            )),
        }
    }

    /// Verifies everything: the manifest's signature, which must be this key's if one is given, every file's hash, that the certificate
    /// is signed by the same key, binds the draws and the summary, is of the request, and costs what it states.
    ///
    /// # Errors
    /// [`Error::Certificate`] for whatever does not fit.
    pub fn verify(&self, key: Option<&PublicKey>) -> Result<(Certificate, Verified), Error> {
        self.verify_while(key, &mut check::at_most(check::PATIENT))
    }

    /// The same, with an independent check of ε as [`Certificate::verify_while`] has it.
    ///
    /// # Errors
    /// As [`Bundle::verify`].
    pub fn verify_while(
        &self,
        key: Option<&PublicKey>,
        keep: &mut dyn FnMut(f64, f64) -> bool,
    ) -> Result<(Certificate, Verified), Error> {
        let fail = |reason: String| Err(Error::Certificate(reason));
        let Some(signature) = &self.manifest.signature else {
            return fail("the bundle is not signed".to_owned());
        };
        if key.is_some_and(|key| key.digits() != signature.key) {
            return fail("the bundle is signed by another key".to_owned());
        }
        let unsigned = Manifest { signature: None, ..self.manifest.clone() };
        if !signature.holds_as(DOMAIN, unsigned.text().as_bytes()) {
            return fail("the signature does not fit the bundle: one of them was edited".to_owned());
        }
        if self.manifest.files.len() != self.files.len() {
            return fail("the manifest names other files than the bundle holds".to_owned());
        }
        for (name, bytes) in &self.files {
            if self.manifest.files.get(name) != Some(&digits(&Sha256::digest(bytes))) {
                return fail(format!("{name} is not the file that was packed: it was edited or replaced"));
            }
        }
        let certificate = Certificate::parse(self.text(CERTIFICATE)?, CERTIFICATE)?;
        if certificate.signature.as_ref().map(|own| &own.key) != Some(&signature.key) {
            return fail("the certificate is signed by another key than the bundle".to_owned());
        }
        certificate.check_signature(None)?;
        let Some(hashes) = &certificate.hashes else { return fail("the run has not ended".to_owned()) };
        let bound = [
            (DRAWS_CSV, &hashes.draws_csv),
            (DRAWS_PARQUET, &hashes.draws_parquet),
            (SUMMARY, &hashes.summary),
        ];
        for (name, hash) in bound {
            if self.manifest.files.get(name) != Some(hash) {
                return fail(format!("{name} is not the file that the certificate binds"));
            }
        }
        let request =
            Request::parse(self.text(REQUEST)?).map_err(|reason| Error::Certificate(reason.to_owned()))?;
        if !request.is_of(&certificate) {
            return fail("the certificate is of another spec than the request's".to_owned());
        }
        let verified = certificate.verify_while(keep)?;
        Ok((certificate, verified))
    }

    /// Who signed it.
    #[must_use]
    pub fn signed_by(&self) -> Option<&str> {
        self.manifest.signature.as_ref().map(|signature| signature.key.as_str())
    }

    fn text(&self, wanted: &str) -> Result<&str, Error> {
        let bytes = self.files.iter().find(|(name, _)| name == wanted).map(|(_, bytes)| bytes.as_slice());
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.ok_or_else(|| Error::Certificate(format!("{wanted} is no text")))
    }
}
