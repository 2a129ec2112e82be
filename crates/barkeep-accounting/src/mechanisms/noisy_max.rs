//! The place of the largest of several scores with Laplace or exponential noise; the scores stay inside.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, Suits, full_batches_only, pure_mu, pure_rho};
use crate::{Epsilon, Error, Mu, Neighbours, Ratio, Rho, Sampling, Sensitivity, pld, renyi};

/// The place of the largest of several scores with Laplace or exponential noise of scale 1.
///
/// **Privacy.** (r, 0): Dwork and Roth 2014, Claim 3.9, for Laplace noise; McKenna and Sheldon 2020 for exponential noise, which is
/// permute-and-flip. Losses have no bounded range, so it is priced as anything (r, 0)-private is. With Gumbel noise it is
/// [`Exponential`](super::Exponential), which costs less.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyMax {
    /// r: twice the sensitivity of a score; once, where a change moves all scores in the same direction.
    pub range: Sensitivity,
}

impl Entry for NoisyMax {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling)
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        pure_rho(self.range.get())
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        pure_mu(self.range.get())
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        self.range >= other.range
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::black_box(Epsilon::new(self.range.get())?, None)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(renyi::Pure(Epsilon::new(self.range.get())?)))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Losses
    }

    /// The noise is taken as ideal.
    fn leaves(&self) -> Leaves {
        Leaves::drawn("the place of the largest noisy score of every list")
    }
}
