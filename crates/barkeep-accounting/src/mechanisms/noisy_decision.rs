//! One bit, priced as if the noisy log-ratio behind it had been released: the papers' accounting.

use serde::{Deserialize, Serialize};

use super::{Entry, Gaussian, Leaves, PriceOf, Suits};
use crate::{CoinError, Error, Mu, Neighbours, Ratio, Rho, Sampling, pld, renyi};

/// One bit, priced as if the noisy log-ratio behind it had been released.
///
/// A Gaussian mechanism followed by post-processing: the coin is flipped after the noise was added.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyDecision {
    /// Noise standard deviation over sensitivity of the log-ratio.
    pub ratio: Ratio,
}

impl NoisyDecision {
    /// The release behind the bit.
    fn behind(self) -> Gaussian {
        Gaussian { ratio: self.ratio }
    }
}

impl Entry for NoisyDecision {
    fn check(&self, sampling: Sampling, neighbours: Neighbours) -> Result<(), Error> {
        self.behind().check(sampling, neighbours)
    }

    fn rho(&self, sampling: Sampling) -> Result<Rho, Error> {
        self.behind().rho(sampling)
    }

    fn mu(&self, sampling: Sampling) -> Result<Mu, Error> {
        self.behind().mu(sampling)
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        Some(self.ratio)
    }

    fn covers(&self, other: &Self) -> bool {
        self.behind().covers(&other.behind())
    }

    fn losses(&self, sampling: Sampling, neighbours: Neighbours) -> Result<pld::DominatingPair, Error> {
        self.behind().losses(sampling, neighbours)
    }

    fn divergences(
        &self,
        sampling: Sampling,
        neighbours: Neighbours,
    ) -> Result<Box<dyn renyi::Curve>, Error> {
        self.behind().divergences(sampling, neighbours)
    }

    fn suits(&self, sampling: Sampling) -> Suits<'_> {
        if sampling.is_full() { Suits::ClosedForm(self.ratio) } else { Suits::Losses }
    }

    /// Its coin has no error: see [`Rule::coin_after_noise`](crate::Rule::coin_after_noise).
    fn leaves(&self) -> Leaves {
        Leaves {
            words: "the accept/reject bit of every step",
            coin_error: CoinError::NONE,
            price_of: PriceOf::WhatStaysInside,
        }
    }
}
