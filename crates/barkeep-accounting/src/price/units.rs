//! Gives every quantity of the accountant its own type, checked once where it enters.

use crate::Error;
use serde::{Deserialize, Serialize};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident, $text:literal, $requirement:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Checks the range.
            ///
            /// # Errors
            /// [`Error::Argument`] outside the range, including not-a-number.
            pub fn new(value: f64) -> Result<Self, Error> {
                let check: fn(f64) -> bool = $check;
                if check(value) {
                    Ok(Self(value))
                } else {
                    Err(Error::Argument { name: $text, requirement: $requirement, value })
                }
            }

            /// Trusts the caller, who has just computed a value in range.
            #[allow(dead_code, reason = "not every unit is computed inside the crate")]
            pub(crate) const fn trusted(value: f64) -> Self {
                Self(value)
            }

            /// The number itself.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = Error;
            fn try_from(value: f64) -> Result<Self, Error> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(unit: $name) -> f64 {
                unit.0
            }
        }
    };
}

unit!(
    /// ε of (ε, δ)-differential privacy: a bound on the privacy loss. Zero is allowed.
    Epsilon, "epsilon", "a finite number of at least 0", |x| x.is_finite() && x >= 0.0
);
unit!(
    /// δ of (ε, δ)-differential privacy, strictly between 0 and 1.
    Delta, "delta", "strictly between 0 and 1", |x| x > 0.0 && x < 1.0
);
unit!(
    /// ρ of zero-concentrated differential privacy: the Rényi divergence of order α is at most ρα.
    Rho, "rho", "a finite number of at least 0", |x| x.is_finite() && x >= 0.0
);
unit!(
    /// μ of Gaussian differential privacy: as hard to tell apart as N(0, 1) and N(μ, 1).
    Mu, "mu", "a finite number of at least 0", |x| x.is_finite() && x >= 0.0
);
unit!(
    /// Noise standard deviation divided by sensitivity, under the stated neighbouring relation.
    Ratio, "ratio", "a finite number above 0", |x| x.is_finite() && x > 0.0
);
unit!(
    /// Probability that one record enters a batch.
    Rate, "rate", "above 0 and at most 1", |x| x > 0.0 && x <= 1.0
);
unit!(
    /// The most that one neighbouring change moves a secret quantity.
    Sensitivity, "sensitivity", "a finite number above 0", |x| x.is_finite() && x > 0.0
);
unit!(
    /// A probability, the ends included.
    Probability, "probability", "between 0 and 1", |x| (0.0..=1.0).contains(&x)
);
unit!(
    /// A variance, or the parameter σ² that takes its place on a lattice.
    Variance, "variance", "a finite number above 0", |x| x.is_finite() && x > 0.0
);
unit!(
    /// Order α of a Rényi divergence.
    Order, "order", "a finite number above 1", |x| x.is_finite() && x > 1.0
);

/// How often a mechanism is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Steps(pub u64);

impl Steps {
    /// The steps of `rounds` rounds of this many steps each.
    pub(crate) fn times(self, rounds: Self) -> Result<Self, Error> {
        self.0
            .checked_mul(rounds.0)
            .map(Self)
            .ok_or(Error::Unresolved { what: "the composition", reason: "it has more than 2^64 steps" })
    }
}

/// Which pairs of data sets must be hard to tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Neighbours {
    /// One record is replaced by any other; the number of records is public.
    Substitute,
    /// One record is added or removed; the number of records is secret.
    AddRemove,
}

/// Which records one question touches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// Every record.
    Full,
    /// Each record on its own with the given probability.
    Poisson {
        /// The probability.
        rate: Rate,
    },
    /// A uniformly random subset of fixed size.
    WithoutReplacement {
        /// Records in a batch.
        batch: u64,
        /// Records in all.
        records: u64,
    },
}

impl Sampling {
    /// Probability that one record enters a batch; 1 for full batches.
    #[must_use]
    pub fn rate(&self) -> f64 {
        match self {
            Self::Full => 1.0,
            Self::Poisson { rate } => rate.get(),
            Self::WithoutReplacement { batch, records } => *batch as f64 / *records as f64,
        }
    }

    /// Whether every record is drawn, whatever the scheme is called.
    pub(crate) fn is_full(&self) -> bool {
        self.rate() == 1.0
    }

    /// Whether batches drawn this way are at least as revealing as those of `other`: each of `other` could be drawn from
    /// one of these without looking at it.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Full, _) => true,
            (Self::Poisson { rate }, Self::Poisson { rate: other }) => rate >= other,
            (
                Self::WithoutReplacement { batch, records },
                Self::WithoutReplacement { batch: other_batch, records: other_records },
            ) => records == other_records && batch >= other_batch,
            // Nothing is known to turn a batch of one scheme into a batch of another, or into all records.
            (Self::Poisson { .. }, Self::Full | Self::WithoutReplacement { .. })
            | (Self::WithoutReplacement { .. }, Self::Full | Self::Poisson { .. }) => false,
        }
    }
}

/// An interval that contains the true value. `lower` is absent where only an upper bound is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bracket {
    /// Proved lower end, if one is known.
    pub lower: Option<f64>,
    /// Proved upper end: the value to certify.
    pub upper: f64,
}

impl Bracket {
    /// Both ends known.
    #[must_use]
    pub fn new(lower: f64, upper: f64) -> Self {
        Self { lower: Some(lower), upper }
    }

    /// A value known without error, as one that was given.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self::new(value, value)
    }

    /// Only an upper bound is known.
    #[must_use]
    pub fn at_most(upper: f64) -> Self {
        Self { lower: None, upper }
    }

    /// A non-negative value computed to within `ulps` units in the last place.
    #[must_use]
    pub(crate) fn around(value: f64, ulps: u32) -> Self {
        Self::new(barkeep_num::down_by(value, ulps).max(0.0), barkeep_num::up_by(value, ulps))
    }

    /// Whether `value` may be the true one.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lower.is_none_or(|lower| lower <= value) && value <= self.upper
    }
}
