//! States what a run guarantees, before its first answer, so that anyone can compute the bill again.

#[cfg(test)]
mod tests;
mod verify;
mod words;

pub use self::verify::Verified;
use self::words::{ModelCode, guarantee, premises, public, released, stated};
use crate::Error;
use crate::check::Independently;
use crate::plan::{Bill, Plan};
use crate::run::folder::{DRAWS_CSV, DRAWS_PARQUET, SUMMARY};
use crate::run::journal::{self, JOURNAL};
use crate::signature::{PublicKey, Signature, SigningKey};
use crate::spec::Privacy;
use barkeep_accounting::{Neighbours, Risk};
use barkeep_data::{Records, Unit};
use barkeep_files::hex::digits;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What a run guarantees and under which premises. Written before the first answer; steps actually used are
/// noted afterwards as information, never as a smaller ε: whoever stops a run has seen part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of this file's layout.
    pub format: u32,
    /// The guarantee in one sentence, or that there is none.
    pub statement: String,
    /// Whether there is a guarantee at all.
    pub private: bool,
    /// Whether the protecting randomness was seeded, so that anyone can replay it.
    pub insecure_seed: bool,
    /// ε, an upper bound; absent without a guarantee.
    pub epsilon: Option<f64>,
    /// δ; absent without a guarantee.
    pub delta: Option<f64>,
    /// Which data sets are hard to tell apart; absent without a guarantee.
    pub neighbours: Option<Neighbours>,
    /// What is accounted for: the bits alone, or the noisy numbers behind them; absent where nothing is decided.
    pub level: Option<String>,
    /// The costs the run may charge, from which ε follows; absent without a guarantee.
    pub bill: Option<Bill>,
    /// What the bill means for one person; absent without a guarantee, and where no accountant follows its curve.
    pub meaning: Option<Risk>,
    /// ε as the independent checker bounds it, or that it has not; absent without a guarantee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked: Option<Independently>,
    /// What leaves the curator.
    pub released: Vec<String>,
    /// What was assumed public.
    pub public: Vec<String>,
    /// What the guarantee rests on.
    pub premises: Vec<String>,
    /// What a neighbouring data set differs in.
    pub unit: Unit,
    /// The column that says whose row it is; absent where a row is a record by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// Which data set it is, as its custodian calls it; absent where the spec does not say.
    pub data_id: Option<String>,
    /// The account of a custodian's ledger that paid; absent where the spec names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged: Option<Charged>,
    /// Number of records, or of persons; the number of their rows is not public.
    pub records: Records,
    /// The model's name; of a model of one's own, its type's.
    pub model: String,
    /// The sampler's name.
    pub sampler: String,
    /// Number of chains.
    pub chains: u64,
    /// Steps each chain may make.
    pub steps_per_chain: u64,
    /// Steps each chain made; absent until the run has ended.
    pub steps_used: Option<Vec<u64>>,
    /// The program that ran.
    pub program: Program,
    /// The spec, word for word, or with the columns of its schema file written in.
    pub spec: String,
    /// Binds the files beside it; absent until the run has ended or was interrupted.
    pub hashes: Option<Hashes>,
    /// Who vouches for all of the above; absent where no key was given.
    pub signature: Option<Signature>,
}

/// Which reservation of which account pays for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charged {
    /// The account.
    pub account: String,
    /// The run's name in the ledger, 32 hexadecimal digits.
    pub run: String,
}

/// SHA-256 of each file a run leaves, in hexadecimal digits: an edited file does not fit its certificate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hashes {
    /// Of `draws.csv`.
    pub draws_csv: String,
    /// Of `draws.parquet`.
    pub draws_parquet: String,
    /// Of `summary.json`.
    pub summary: String,
    /// The digest of `journal.bin`, which does not depend on which chain was faster; absent where none was kept.
    pub journal: Option<String>,
}

impl Hashes {
    /// The files that are bound.
    const FILES: [&'static str; 4] = [DRAWS_CSV, DRAWS_PARQUET, SUMMARY, JOURNAL];

    /// Of the files in a folder.
    ///
    /// # Errors
    /// [`Error::Read`] if one cannot be read.
    pub(crate) fn of(folder: &Path, journal: Option<String>) -> Result<Self, Error> {
        Ok(Self {
            draws_csv: file_hash(&folder.join(DRAWS_CSV))?,
            draws_parquet: file_hash(&folder.join(DRAWS_PARQUET))?,
            summary: file_hash(&folder.join(SUMMARY))?,
            journal,
        })
    }
}

/// SHA-256 of a file, or a journal's digest.
fn file_hash(path: &Path) -> Result<String, Error> {
    if path.ends_with(JOURNAL) {
        return match journal::digest(path) {
            // One that is torn or damaged is not what the run left.
            Err(Error::Journal { .. }) => Ok(String::new()),
            other => other,
        };
    }
    let fail =
        |error: io::Error| Error::Read { path: path.display().to_string(), reason: error.kind().to_string() };
    let (mut file, mut hash) = (File::open(path).map_err(fail)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(fail)? {
            0 => return Ok(digits(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Name and version.
    pub version: String,
    /// Processor architecture and operating system.
    pub target: String,
    /// `release`, or `debug` when built with debug assertions.
    pub build: String,
    /// The commit it was built from, with `-modified` where files differed; `unknown` outside a checkout and in debug
    /// builds.
    pub commit: String,
    /// Features it was built with.
    pub features: Vec<String>,
}

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({}, {}, commit {}", self.version, self.target, self.build, self.commit)?;
        for feature in &self.features {
            write!(out, ", {feature}")?;
        }
        out.write_str(")")
    }
}

impl Program {
    fn this() -> Self {
        Self {
            version: concat!("barkeep ", env!("CARGO_PKG_VERSION")).to_owned(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            commit: env!("BARKEEP_COMMIT").to_owned(),
            features: env!("BARKEEP_FEATURES").split_terminator(',').map(str::to_owned).collect(),
        }
    }
}

const FORMAT: u32 = 4;

impl Certificate {
    /// The certificate of a plan, as it stands before the first answer.
    ///
    /// **Privacy.** ε is that of the bill, rounded up; nothing else can set it.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self::with_randomness(plan, false)
    }

    /// The certificate of a plan whose protecting randomness is good, or seeded and so worth nothing.
    pub(crate) fn with_randomness(plan: &Plan, insecure_seed: bool) -> Self {
        Self {
            meaning: plan.meaning().filter(|_| !insecure_seed),
            checked: (plan.is_private() && !insecure_seed).then(|| Independently::of(plan.checked())),
            ..Self::without_meaning(plan, insecure_seed)
        }
    }

    /// The same, without what it means for one person and the checker's word, which take longer than the rest.
    fn without_meaning(plan: &Plan, insecure_seed: bool) -> Self {
        let guaranteed = match (plan.bill(), plan.epsilon(), plan.spec().privacy()) {
            (Some(bill), Some(upper), Privacy::Budget { epsilon, delta, neighbours }) if !insecure_seed => {
                Some((bill.clone(), stated(upper.get(), epsilon.get()), delta.get(), neighbours))
            }
            _ => None,
        };
        let (unit, person) = (plan.spec().data().unit(), plan.spec().data().person().map(str::to_owned));
        let statement = match &guaranteed {
            Some((_, epsilon, delta, neighbours)) => {
                guarantee(*epsilon, *delta, *neighbours, unit, person.as_deref())
            }
            None if insecure_seed => {
                "NOT PRIVATE: the protecting randomness was seeded and can be replayed.".to_owned()
            }
            None => "NOT PRIVATE: a baseline that protects nothing.".to_owned(),
        };
        let private = guaranteed.is_some();
        let (bill, epsilon, delta, neighbours) = match guaranteed {
            Some((bill, epsilon, delta, neighbours)) => {
                (Some(bill), Some(epsilon), Some(delta), Some(neighbours))
            }
            None => (None, None, None, None),
        };
        Self {
            format: FORMAT,
            statement,
            private,
            insecure_seed,
            epsilon,
            delta,
            neighbours,
            level: plan.level().filter(|_| private).map(|level| level.name().to_owned()),
            bill,
            meaning: None,
            checked: None,
            released: released(plan.bill()),
            public: public(unit),
            premises: premises(unit, ModelCode::of(plan.spec()), plan.spec().charged_to().is_some()),
            unit,
            person,
            data_id: plan.spec().data().id().map(str::to_owned),
            charged: None,
            records: plan.spec().data().records(),
            model: plan.spec().model_name().to_owned(),
            sampler: plan.sampler().name.to_owned(),
            chains: plan.chains(),
            steps_per_chain: plan.steps().0,
            steps_used: None,
            program: Program::this(),
            spec: plan.spec().text(),
            hashes: None,
            signature: None,
        }
    }

    /// The certificate as it stood before the first answer.
    pub(crate) fn before_answers(&self) -> Self {
        Self { steps_used: None, hashes: None, signature: None, ..self.clone() }
    }

    /// SHA-256 of the certificate's file as it stands, in hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        digits(&Sha256::digest(self.text().as_bytes()))
    }

    /// Whether it says which reservation pays exactly where its spec names an account, and that account.
    fn names_account(&self, account: Option<&str>) -> bool {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let named = |charged: &Charged| charged.run.len() == 32 && charged.run.bytes().all(digit);
        self.charged.as_ref().map(|charged| charged.account.as_str()) == account
            && self.charged.as_ref().is_none_or(named)
    }

    /// The certificate signed, or as it is without a key.
    pub(crate) fn signed_by(self, key: Option<&SigningKey>) -> Self {
        let unsigned = Self { signature: None, ..self };
        let signature = key.map(|key| key.sign(unsigned.text().as_bytes()));
        Self { signature, ..unsigned }
    }

    /// The certificate's file, to the byte.
    pub(crate) fn text(&self) -> String {
        // A certificate holds numbers, words and lists, all of which JSON can write.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a certificate, which must be the file as barkeep wrote it: an edited blank is an edit.
    ///
    /// # Errors
    /// [`Error::Read`] if there is no such file or it is no certificate; [`Error::Certificate`] if it was written by
    /// somebody else.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| Error::Read { path: path.display().to_string(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| fail(error.kind().to_string()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads the text of a certificate; `name` is the file's in messages.
    ///
    /// # Errors
    /// As [`Certificate::read`].
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, Error> {
        // By place, not by content: a file named by mistake may hold records.
        let certificate: Self = serde_json::from_str(text).map_err(|error| Error::Read {
            path: name.to_owned(),
            reason: format!("not a certificate: line {}, column {}", error.line(), error.column()),
        })?;
        if certificate.text() == text {
            Ok(certificate)
        } else {
            Err(Error::Certificate(
                "the file is not as barkeep writes certificates: it was edited".to_owned(),
            ))
        }
    }

    /// Checks the signature: that it is there and this key's if `key` is given, and that it holds if it is there.
    ///
    /// # Errors
    /// [`Error::Certificate`] if it is not.
    pub fn check_signature(&self, key: Option<&PublicKey>) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Certificate(reason.to_owned()));
        match (&self.signature, key) {
            (None, None) => Ok(()),
            (None, Some(_)) => fail("the certificate is not signed"),
            (Some(signature), Some(key)) if signature.key != key.digits() => {
                fail("the certificate is signed by another key")
            }
            (Some(signature), _) => {
                let unsigned = Self { signature: None, ..self.clone() };
                if signature.holds(unsigned.text().as_bytes()) {
                    Ok(())
                } else {
                    fail("the signature does not fit the certificate: one of them was edited")
                }
            }
        }
    }

    /// Compares the files in a folder with their hashes in the certificate, and gives the names of those that are not there.
    ///
    /// No name in the certificate is opened: the files have the names that every run gives them.
    ///
    /// # Errors
    /// [`Error::Certificate`] for a file that is not the one the run left; [`Error::Read`] if it cannot be read.
    pub fn check_files(&self, folder: &Path) -> Result<Vec<&'static str>, Error> {
        let Some(hashes) = &self.hashes else {
            // Nothing is bound yet; steps are counted when files are.
            return match self.steps_used {
                None => Ok(Hashes::FILES.to_vec()),
                Some(_) => Err(Error::Certificate("the hashes of the files are missing".to_owned())),
            };
        };
        let mut absent = Vec::new();
        let (csv, parquet, summary) = (&hashes.draws_csv, &hashes.draws_parquet, &hashes.summary);
        let stated = [Some(csv), Some(parquet), Some(summary), hashes.journal.as_ref()];
        for (name, stated) in Hashes::FILES.into_iter().zip(stated) {
            let path = folder.join(name);
            match stated {
                Some(_) if !path.exists() => absent.push(name),
                None if !path.exists() => {}
                Some(stated) if *stated == file_hash(&path)? => {}
                _ => {
                    let reason = format!("{name} is not the file this run left: it was edited or replaced");
                    return Err(Error::Certificate(reason));
                }
            }
        }
        Ok(absent)
    }
}
