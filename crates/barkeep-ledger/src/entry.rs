//! Lays out what a ledger holds: one event an entry, each bound to all before it by a hash.

use barkeep_accounting::{Bill, Delta, Epsilon, Neighbours, RunCharge};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// A whole hash.
pub(crate) type Hash = [u8; 32];

/// Keeps hashes of entries apart from hashes of anything else.
const DOMAIN: &[u8] = b"barkeep ledger entry\n";

/// What a neighbouring data set differs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// One record.
    Record,
    /// All rows of one person.
    Person,
}

impl fmt::Display for Unit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Record => "record",
            Self::Person => "person",
        })
    }
}

/// How a custodian declares a data set, as far as runs on it are held to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The column that says whose row it is; none where a neighbouring data set differs in one record.
    pub person: Option<String>,
    /// The most rows a person counts with; none where all do.
    pub most_rows: Option<u64>,
    /// How many records there are, or persons; none where that is secret.
    pub number: Option<u64>,
}

impl Declared {
    /// What a neighbouring data set differs in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        if self.person.is_some() { Unit::Person } else { Unit::Record }
    }

    /// What a run declares otherwise, in words; none where all is the same.
    pub(crate) fn differs(&self, run: &Self) -> Option<String> {
        let person = |own: &Self| match &own.person {
            Some(column) => format!("persons by column \"{column}\""),
            None => "records".to_owned(),
        };
        let rows =
            |own: &Self| own.most_rows.map_or("all rows".to_owned(), |most| format!("at most {most} rows"));
        let number =
            |own: &Self| own.number.map_or("a secret number".to_owned(), |number| number.to_string());
        let words: [&dyn Fn(&Self) -> String; 3] = [&person, &rows, &number];
        let facts = ["protects ", "counts a person with ", "has, as its number of units, "];
        let other = words.iter().zip(facts).find(|(words, _)| words(self) != words(run))?;
        Some(format!("{}{}; the run's is {}", other.1, other.0(self), other.0(run)))
    }
}

/// Whose runs a cap bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whom {
    /// An analyst's.
    Analyst,
    /// A project's.
    Project,
}

impl fmt::Display for Whom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Analyst => "analyst",
            Self::Project => "project",
        })
    }
}

/// An account is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// Its name, never used again.
    pub account: String,
    /// ε of its total.
    pub epsilon: Epsilon,
    /// δ of its total.
    pub delta: Delta,
    /// Which data sets are hard to tell apart.
    pub neighbours: Neighbours,
    /// What they differ in.
    pub unit: Unit,
    /// Orders of the filter that adds its runs up; fixed here, whatever a later version would choose.
    pub orders: Vec<u32>,
    /// Why, in words: needed once an account of this ledger was closed.
    pub reason: Option<String>,
}

/// A file of records, or a new version of one, is put under an account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    /// The account.
    pub account: String,
    /// What the custodian calls the data set.
    pub data: String,
    /// Its version, from 1.
    pub version: u32,
    /// The keyed hash of its admitted cells. It stays in the ledger.
    pub identity: String,
    /// The keyed hash of its files' bytes, by which a run knows it again; absent for a frame. It stays in the ledger.
    #[serde(default)]
    pub bytes: Option<String>,
    /// How it is declared; absent in ledgers of an earlier version, where `identity` is that of the bytes.
    #[serde(default)]
    pub declared: Option<Declared>,
    /// Why the same records are counted anew, where a closed account had them.
    pub reason: Option<String>,
}

/// A part of an account's total is the most that an analyst or a project may spend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// The account.
    pub account: String,
    /// Whose runs.
    pub whom: Whom,
    /// Their name.
    pub name: String,
    /// ε of the cap.
    pub epsilon: Epsilon,
    /// δ of the cap.
    pub delta: Delta,
    /// Orders of its filter.
    pub orders: Vec<u32>,
}

/// A run reserves what its bill costs: from here on it is spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The account.
    pub account: String,
    /// The run, 32 hexadecimal digits drawn at random.
    pub run: String,
    /// The data set.
    pub data: String,
    /// Its version.
    pub version: u32,
    /// Who asks.
    pub analyst: Option<String>,
    /// For which project.
    pub project: Option<String>,
    /// SHA-256 of the run's certificate as it stands before the first answer.
    pub certificate: String,
    /// Mechanisms and counts.
    pub bill: Bill,
    /// What the account's filter charges for it.
    pub charge: RunCharge,
    /// What the caps' filters charge for it: the analyst's, then the project's.
    pub cap_charges: Vec<RunCharge>,
    /// The lease under which it asks, where it was killed before it reserved and is continued; else its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<String>,
}

/// A run was refused; nothing was spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// What would have been reserved.
    pub asked: Reservation,
    /// Why not, in public words.
    pub reason: String,
}

/// A run ended or was interrupted. What it reserved stays spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closing {
    /// The run.
    pub run: String,
    /// Answers it was given.
    pub answers: u64,
    /// Whether it ended; else it may be continued.
    pub ended: bool,
    /// SHA-256 of its certificate as it is now.
    pub certificate: String,
    /// The lease under which it ran last; absent in ledgers of an earlier version.
    #[serde(default)]
    pub lease: Option<String>,
}

/// A run is continued: from here on by nobody but whoever holds this lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The run.
    pub run: String,
    /// What the journal that continues it holds, and no copy made before.
    pub token: String,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// An account is opened.
    Open(Opening),
    /// Records are put under an account.
    Add(Addition),
    /// An analyst or a project gets a cap.
    Cap(Cap),
    /// A run reserves its bill.
    Reserve(Reservation),
    /// A run is refused.
    Refuse(Refusal),
    /// A run is continued.
    Lease(Lease),
    /// A run ended or was interrupted.
    Close(Closing),
    /// A key signs for an analyst.
    Analyst {
        /// The analyst.
        name: String,
        /// The public key, in hexadecimal digits.
        key: String,
    },
    /// An account is closed for ever.
    CloseAccount {
        /// The account.
        account: String,
        /// Why, in words.
        reason: String,
    },
}

/// One entry of a ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its place, from 1.
    pub number: u64,
    /// When it was written, as whoever wrote it says; no decision depends on it.
    pub at: Option<String>,
    /// What it says.
    pub event: Event,
    /// Its hash, in hexadecimal digits.
    pub hash: String,
}

impl Entry {
    /// The entry as JSON, without the identity of records: that stays in the ledger.
    #[must_use]
    pub fn shown(&self) -> serde_json::Value {
        let mut event = serde_json::to_value(&self.event).unwrap_or_default();
        if let Some(addition) = event.get_mut("add").and_then(serde_json::Value::as_object_mut) {
            ["identity", "bytes"].iter().for_each(|hash| drop(addition.remove(*hash)));
        }
        serde_json::json!({ "number": self.number, "at": self.at, "event": event, "hash": self.hash })
    }
}

/// What an entry's text holds.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Body {
    pub(crate) at: Option<String>,
    pub(crate) event: Event,
}

impl Body {
    /// The text that is stored and hashed.
    pub(crate) fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }
}

/// The hash of an entry, which covers all before it.
pub(crate) fn hash(number: u64, previous: &Hash, body: &str) -> Hash {
    let mut hash = Sha256::new();
    for part in [DOMAIN, &number.to_le_bytes(), previous, body.as_bytes()] {
        hash.update(part);
    }
    hash.finalize().into()
}
