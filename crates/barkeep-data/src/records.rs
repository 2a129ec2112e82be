//! Counts records.

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

impl fmt::Display for Records {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
