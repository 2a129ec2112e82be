//! Counts records, and says whether their number is fixed or secret.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A number of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Records(pub u64);

impl Records {
    /// The number as a float, for scales; exact below 2⁵³.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "data sets are far smaller than 2^53 records")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The number as a length in memory; the largest one where it does not fit.
    #[must_use]
    pub fn as_len(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// How many records a file, or whoever hands them over, may bring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// This many, a public number; any other is refused.
    Exactly(usize),
    /// Any number, none included, all of them used: neighbours may differ in it, so nothing shows it. The number given
    /// is a public guess, for which memory is reserved.
    About(usize),
}

impl Count {
    /// The number declared, or the guess.
    #[must_use]
    pub fn declared(self) -> usize {
        match self {
            Self::Exactly(records) | Self::About(records) => records,
        }
    }

    /// How many more records are taken after this many.
    pub(crate) fn left(self, taken: usize) -> usize {
        match self {
            Self::Exactly(records) => records - taken.min(records),
            Self::About(_) => usize::MAX,
        }
    }

    /// Whether there may be this many in all.
    pub(crate) fn admits(self, records: usize) -> bool {
        match self {
            Self::Exactly(declared) => records == declared,
            Self::About(_) => true,
        }
    }

    /// The number read so far, where it may be shown.
    pub(crate) fn shown(self, read: usize) -> Option<usize> {
        match self {
            Self::Exactly(_) => Some(read),
            Self::About(_) => None,
        }
    }
}

impl fmt::Display for Records {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
