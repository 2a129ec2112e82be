//! Turns what the engine refuses into Python exceptions with the engine's words.

use barkeep::Error;
use barkeep::spec::SpecError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why there is no result: which class of `barkeep._errors` to raise, and its words.
pub(crate) struct Failure {
    class: &'static str,
    words: String,
}

impl Failure {
    /// Input that a person can fix.
    pub(crate) fn input(words: impl Into<String>) -> Self {
        Self { class: "Error", words: words.into() }
    }

    /// A panic, whose own words may carry a value.
    fn internal() -> Self {
        Self { class: "InternalError", words: "internal error; please report it".to_owned() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let class = match &error {
            Error::Spec(_) => "SpecError",
            Error::Data(_) => "DataError",
            Error::Budget(_) | Error::Accounting(_) | Error::Refused(_) => "BudgetError",
            Error::Ledger(_) => "LedgerError",
            Error::Certificate(_) => "CertificateError",
            Error::Write(_) | Error::Read { .. } | Error::Journal { .. } => "FileError",
            Error::Shape(_) | Error::Profile(_) => "Error",
        };
        Self { class, words: error.to_string() }
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        Error::from(error).into()
    }
}

impl From<barkeep::ledger::Error> for Failure {
    fn from(error: barkeep::ledger::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<barkeep_cli::Failed> for Failure {
    fn from(failed: barkeep_cli::Failed) -> Self {
        let class = match failed.code {
            1 => "CertificateError",
            3 => "BudgetError",
            _ => "Error",
        };
        Self { class, words: failed.words }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| {
            let raised = py
                .import("barkeep._errors")
                .and_then(|module| module.getattr(failure.class))
                .and_then(|class| class.call1((failure.words,)));
            match raised {
                Ok(exception) => PyErr::from_value(exception),
                Err(error) => error,
            }
        })
    }
}

/// Does something that may hold records: a panic becomes an error without a word of it.
pub(crate) fn contained<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Failure::internal()))
}
