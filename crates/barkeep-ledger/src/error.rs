//! Says why a ledger did not do what was asked, by what the caller can do about it.

use std::path::{Path, PathBuf};

/// Why a ledger did not do what was asked.
///
/// **Privacy.** Carries public words only: names, paths, totals.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An account does not pay for the run. The refusal is in the ledger, and nothing was spent.
    #[error("{0}")]
    Budget(String),
    /// The request does not go with the books; nothing was written.
    #[error("{0}")]
    Request(String),
    /// The file cannot be used as a ledger; nothing was written.
    #[error("{}: {reason}", path.display())]
    Unusable {
        /// The ledger.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file is not what barkeep left: it was edited, cut or replaced.
    #[error("{}: {reason}", path.display())]
    Edited {
        /// The ledger.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// A file beside the ledger could not be written.
    #[error("{0}")]
    Write(#[from] barkeep_files::WriteError),
    /// The accountant has no answer.
    #[error("the accountant has no answer: {0}")]
    Accounting(#[from] barkeep_accounting::Error),
}

impl Error {
    pub(crate) fn unusable(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unusable { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn edited(path: &Path, reason: impl Into<String>) -> Self {
        Self::Edited { path: path.to_owned(), reason: reason.into() }
    }
}
