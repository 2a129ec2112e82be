//! One bit that is kept as it is with odds e^ε to 1. A toy that shows what adding a mechanism takes.

use serde::{Deserialize, Serialize};

use super::{Bernoulli, Entry, Leaves, Suits, full_batches_only, pure_mu, pure_rho};
use crate::{Epsilon, Error, Mu, Neighbours, Probability, Ratio, Rho, Sampling, pld, renyi};

/// One bit that is released as it is with odds e^ε to 1, and turned over otherwise (Warner 1965).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomisedResponse {
    /// ln of the odds.
    pub epsilon: Epsilon,
}

impl RandomisedResponse {
    /// The bit by its probabilities, the odds rounded up.
    fn bit(self) -> Result<Bernoulli, Error> {
        let q = 1.0 / (1.0 + libm::exp(self.epsilon.get() + 1e-12));
        Ok(Bernoulli { p: Probability::new(1.0 - q)?, q: Probability::new(q)? })
    }
}

impl Entry for RandomisedResponse {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling).and(self.bit().map(drop))
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        pure_rho(self.epsilon.get())
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        pure_mu(self.epsilon.get())
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        self.epsilon >= other.epsilon
    }

    fn losses(&self, sampling: Sampling, neighbours: Neighbours) -> Result<pld::DominatingPair, Error> {
        self.bit()?.losses(sampling, neighbours)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(self.bit()?))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        self.bit().map_or(Suits::Losses, Suits::Bits)
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("one randomised answer for each question")
    }
}
