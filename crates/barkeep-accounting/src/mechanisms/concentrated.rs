//! Anything ρ-zero-concentrated of which nothing else is known.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, NOT_GAUSSIAN, Suits, full_batches_only};
use crate::{Error, Mu, Neighbours, Ratio, Rho, Sampling, pld, renyi};

/// Anything ρ-zero-concentrated: another program's release, known by its ρ alone.
///
/// **Privacy.** Its Rényi divergence of every order α is at most ρα (Bun and Steinke 2016). No single pair of distributions is
/// known to dominate all of them, so whatever it is composed with is priced by Rényi divergences.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Concentrated {
    /// ρ.
    pub rho: Rho,
}

impl Entry for Concentrated {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling)
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        Ok(self.rho)
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        Err(NOT_GAUSSIAN)
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        self.rho >= other.rho
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        Err(Error::Mismatch("rho alone bounds Rényi divergences, not privacy losses"))
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(renyi::Linear::new(self.rho)))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        if self.rho.get() == 0.0 { Suits::Free } else { Suits::Divergences { as_published: false } }
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("what another zero-concentrated release says")
    }
}
