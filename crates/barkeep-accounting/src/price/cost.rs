//! Names what one question costs: a mechanism, the records it touches, and the neighbours it is private for.
//!
//! The combination is checked once, where a [`Cost`] is made: a sampling scheme or neighbouring relation for which no
//! proof is known is refused there, and never priced as if it were another.

use serde::{Deserialize, Serialize};

use crate::mechanisms::Suits;
use crate::{Error, Mechanism, Mu, Neighbours, Rho, Sampling, pld, renyi};

/// The price of one use of a mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Cost {
    mechanism: Mechanism,
    sampling: Sampling,
    neighbours: Neighbours,
}

/// A cost as it is written down, before the combination is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    mechanism: Mechanism,
    sampling: Sampling,
    neighbours: Neighbours,
}

impl TryFrom<Unchecked> for Cost {
    type Error = Error;
    fn try_from(cost: Unchecked) -> Result<Self, Error> {
        Self::new(cost.mechanism, cost.sampling, cost.neighbours)
    }
}

impl From<Cost> for Unchecked {
    fn from(Cost { mechanism, sampling, neighbours }: Cost) -> Self {
        Self { mechanism, sampling, neighbours }
    }
}

impl Cost {
    /// Checks that the parts go together.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a combination without a proof; [`Error::Argument`] for an impossible batch or
    /// a sensitivity of zero.
    pub fn new(
        mechanism: impl Into<Mechanism>,
        sampling: Sampling,
        neighbours: Neighbours,
    ) -> Result<Self, Error> {
        let mechanism = mechanism.into();
        if let Sampling::WithoutReplacement { batch, records } = sampling {
            check_batch(batch, records)?;
            if neighbours == Neighbours::AddRemove {
                return Err(Error::Mismatch(
                    "batches of fixed size drawn without replacement need neighbours = substitute: \
                     their size would reveal the number of records",
                ));
            }
        }
        mechanism.entry().check(sampling, neighbours)?;
        Ok(Self { mechanism, sampling, neighbours })
    }

    /// What leaves, and how it is protected.
    #[must_use]
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// Which records it touches.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The neighbours it is private for.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// The engine that prices one step most tightly.
    pub(crate) fn suits(&self) -> Suits<'_> {
        self.mechanism.entry().suits(self.sampling)
    }

    /// A pair of distributions that dominates one step.
    pub(crate) fn losses(&self) -> Result<pld::DominatingPair, Error> {
        self.mechanism.entry().losses(self.sampling, self.neighbours)
    }

    /// The Rényi curve of one step.
    pub(crate) fn divergences(&self) -> Result<Box<dyn renyi::Curve>, Error> {
        self.mechanism.entry().divergences(self.sampling, self.neighbours)
    }

    /// ρ with which a zCDP filter charges one step, ideal coins assumed.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for sampled batches, whose Rényi divergence no multiple of the order bounds tightly;
    /// [`Error::Unbounded`] if the loss has no such bound.
    pub fn rho(&self) -> Result<Rho, Error> {
        self.mechanism.entry().rho(self.sampling)
    }

    /// μ with which a GDP filter charges one step, ideal coins assumed.
    ///
    /// # Errors
    /// As [`Cost::rho`]; [`Error::Mismatch`] for mechanisms not known to be Gaussian-private.
    pub fn mu(&self) -> Result<Mu, Error> {
        self.mechanism.entry().mu(self.sampling)
    }

    /// Whether this cost is at least as much as `other`, whatever it is composed with.
    ///
    /// True only where one mechanism provably dominates the other: equal kinds, and every number on the more expensive side. A
    /// budget may then charge `other` as `self`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.neighbours == other.neighbours
            && self.sampling.covers(&other.sampling)
            && self.mechanism.covers(&other.mechanism)
    }
}

fn check_batch(batch: u64, records: u64) -> Result<(), Error> {
    if batch == 0 || batch > records {
        return Err(Error::Argument {
            name: "batch",
            requirement: "at least 1 and at most the number of records",
            value: batch as f64,
        });
    }
    Ok(())
}
