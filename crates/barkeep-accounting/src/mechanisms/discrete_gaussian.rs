//! An integer plus discrete Gaussian noise (Canonne, Kamath, Steinke 2020).

use barkeep_num::{down_by, up_by};
use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, NOT_GAUSSIAN, Suits, full_batches_only, some_sensitivity};
use crate::renyi::Linear;
use crate::{Error, Mu, Neighbours, Ratio, Rho, Sampling, Variance, pld, renyi};

/// An integer plus discrete Gaussian noise (Canonne, Kamath, Steinke 2020).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscreteGaussian {
    /// The parameter σ² of the noise, in squared lattice units.
    pub variance: Variance,
    /// The most a neighbouring change moves the integer.
    pub sensitivity: u64,
}

impl Entry for DiscreteGaussian {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling).and(some_sensitivity(self.sensitivity))
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        let sensitivity = self.sensitivity as f64;
        Rho::new(up_by(0.5 * sensitivity * sensitivity / self.variance.get(), 4))
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        Err(NOT_GAUSSIAN)
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    /// Log-concave noise: a larger shift is easier to see. Nothing so simple holds for the variance.
    fn covers(&self, other: &Self) -> bool {
        self.variance == other.variance && self.sensitivity >= other.sensitivity
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::discrete_gaussian(self.variance, self.sensitivity)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        let ratio = Ratio::new(down_by(self.variance.get().sqrt() / self.sensitivity as f64, 2))?;
        Ok(Box::new(Linear::gaussian(ratio)))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Losses
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("every integer with discrete Gaussian noise that a chain asked for")
    }
}
