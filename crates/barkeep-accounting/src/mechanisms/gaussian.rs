//! A value plus normal noise, in any dimension, on all records or on a batch.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, SAMPLED, Suits};
use crate::renyi::{Linear, PoissonGaussian, WithoutReplacementGaussian};
use crate::theorems::thesis;
use crate::{Error, GaussianRun, Mu, Neighbours, Ratio, Rho, Sampling, Steps, pld, renyi};

/// A value plus normal noise, in any dimension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gaussian {
    /// Noise standard deviation over ℓ₂ sensitivity.
    pub ratio: Ratio,
}

impl Gaussian {
    /// One step on all records, in closed form.
    fn once(self, sampling: Sampling) -> Result<GaussianRun, Error> {
        if sampling.is_full() { GaussianRun::new(self.ratio, Steps(1)) } else { Err(SAMPLED) }
    }
}

impl Entry for Gaussian {
    fn check(&self, _: Sampling, _: Neighbours) -> Result<(), Error> {
        Ok(())
    }

    fn rho(&self, sampling: Sampling) -> Result<Rho, Error> {
        Rho::new(self.once(sampling)?.rho().upper)
    }

    fn mu(&self, sampling: Sampling) -> Result<Mu, Error> {
        Mu::new(self.once(sampling)?.mu().upper)
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        Some(self.ratio)
    }

    fn covers(&self, other: &Self) -> bool {
        self.ratio <= other.ratio
    }

    fn losses(&self, sampling: Sampling, neighbours: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::subsampled_gaussian(self.ratio, sampling, neighbours)
    }

    fn divergences(
        &self,
        sampling: Sampling,
        neighbours: Neighbours,
    ) -> Result<Box<dyn renyi::Curve>, Error> {
        let ratio = self.ratio;
        if sampling.is_full() {
            return Ok(Box::new(Linear::gaussian(ratio)));
        }
        Ok(match (sampling, neighbours) {
            (Sampling::Full, _) => Box::new(Linear::gaussian(ratio)),
            (Sampling::Poisson { rate }, Neighbours::AddRemove) => Box::new(PoissonGaussian { rate, ratio }),
            (Sampling::Poisson { rate }, Neighbours::Substitute) => {
                Box::new(WithoutReplacementGaussian { rate, ratio })
            }
            (Sampling::WithoutReplacement { batch, records }, _) => {
                Box::new(WithoutReplacementGaussian { rate: thesis::batch_rate(batch, records)?, ratio })
            }
        })
    }

    fn suits(&self, sampling: Sampling) -> Suits<'_> {
        if sampling.is_full() { Suits::ClosedForm(self.ratio) } else { Suits::Losses }
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("every noisy sum over records that a chain asked for")
    }
}
