//! Says why a run did not happen, by what the caller can do about it.

use crate::keys::SpecError;
use crate::shape::ShapeError;
use barkeep_files::WriteError;
use std::path::PathBuf;

/// Why there is no result.
///
/// **Privacy.** Carries public words only: spec keys, column names, paths, budgets.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spec must be fixed.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// The records' file must be fixed, or the spec that describes it.
    #[error("{0}")]
    Data(#[from] barkeep_data::Error),
    /// The budget does not pay for what was asked.
    #[error("{0}")]
    Budget(String),
    /// The accountant has no answer.
    #[error("the accountant has no answer: {0}")]
    Accounting(#[from] barkeep_accounting::Error),
    /// The curator refused a question although the budget was not spent.
    #[error("the curator refused: {0}")]
    Refused(#[from] barkeep_curator::Refused),
    /// A result could not be written.
    #[error("{0}")]
    Write(#[from] WriteError),
    /// A chain handed over a state of the wrong dimension: a defect in a sampler.
    #[error("{0}")]
    Shape(#[from] ShapeError),
    /// A file other than the records could not be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// A journal cannot be continued; nothing was asked.
    #[error("{}: {reason}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The custodian's ledger does not pay, or cannot be used.
    #[error("{0}")]
    Ledger(#[from] barkeep_ledger::Error),
    /// A profile, or a question about profiles, must be fixed. Profiles are public.
    #[error("{0}")]
    Profile(String),
    /// A certificate does not hold what it says.
    #[error("{0}")]
    Certificate(String),
}
