//! Anything (ε, δ)-private of which nothing else is known.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, Suits, full_batches_only, pure_mu, pure_rho};
use crate::{Delta, Epsilon, Error, Mu, Neighbours, Ratio, Rho, Sampling, pld, renyi};

/// Anything (ε, δ)-private: another program's release, known by its certificate alone.
///
/// **Privacy.** The pair with losses ±ε and, with probability δ, ∞ dominates every such mechanism (Kairouz, Oh, Viswanath 2015):
/// compositions of it are optimal for what is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approximate {
    /// ε.
    pub epsilon: Epsilon,
    /// δ; absent for pure differential privacy.
    pub delta: Option<Delta>,
}

impl Approximate {
    fn pure(self) -> Result<Epsilon, Error> {
        match self.delta {
            None => Ok(self.epsilon),
            Some(_) => Err(Error::Mismatch(
                "(epsilon, delta) privacy with delta above 0 bounds no Rényi divergence; compose it by contract",
            )),
        }
    }
}

impl Entry for Approximate {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling)
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        pure_rho(self.pure()?.get())
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        pure_mu(self.pure()?.get())
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        let delta = |one: &Self| one.delta.map_or(0.0, Delta::get);
        self.epsilon >= other.epsilon && delta(self) >= delta(other)
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::black_box(self.epsilon, self.delta)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(renyi::Pure(self.pure()?)))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        if self.epsilon.get() == 0.0 && self.delta.is_none() { Suits::Free } else { Suits::Losses }
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("what another (epsilon, delta)-private release says")
    }
}
