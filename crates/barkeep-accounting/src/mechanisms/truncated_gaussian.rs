//! A sum over a Poisson batch of limited size plus normal noise.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, NOT_GAUSSIAN, SAMPLED, Suits};
use crate::renyi::{PoissonGaussian, WithoutReplacementGaussian};
use crate::{Error, Mu, Neighbours, Rate, Ratio, Rho, Sampling, pld, renyi};

/// A sum over a Poisson batch plus normal noise, where of more than `most` records drawn a random `most` are kept.
///
/// Every batch then fits a buffer of fixed size. What the cut costs is proved beside
/// [`DominatingPair::truncated_gaussian`](pld::DominatingPair::truncated_gaussian); Ganesh 2025 (arXiv:2508.15089) prices the same mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TruncatedGaussian {
    /// Noise standard deviation over ℓ₂ sensitivity of the sum over a batch that is not cut.
    pub ratio: Ratio,
    /// The probability with which each record is drawn.
    pub rate: Rate,
    /// The most records in a batch.
    pub most: u64,
    /// Records in all; under add/remove, at most this many in either data set.
    pub records: u64,
}

impl Entry for TruncatedGaussian {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        for (name, value) in [("most", self.most), ("records", self.records)] {
            if value == 0 {
                return Err(Error::Argument {
                    name,
                    requirement: "a whole number of at least 1",
                    value: 0.0,
                });
            }
        }
        if sampling == (Sampling::Poisson { rate: self.rate }) {
            return Ok(());
        }
        Err(Error::Mismatch(
            "batches of limited size are Poisson batches; the sampling must say the same rate",
        ))
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        Err(SAMPLED)
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        Err(NOT_GAUSSIAN)
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    /// Nothing is known of batches cut elsewhere.
    fn covers(&self, other: &Self) -> bool {
        self.ratio <= other.ratio && *self == Self { ratio: self.ratio, ..*other }
    }

    fn losses(&self, _: Sampling, neighbours: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::truncated_gaussian(self.ratio, self.rate, (self.most, self.records), neighbours)
    }

    /// As if every batch were cut: the pair of cut batches dominates the other.
    fn divergences(&self, _: Sampling, neighbours: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        let Self { ratio, rate, .. } = *self;
        Ok(match neighbours {
            Neighbours::AddRemove => {
                Box::new(PoissonGaussian { rate, ratio: Ratio::new(0.5 * ratio.get())? })
            }
            Neighbours::Substitute => Box::new(WithoutReplacementGaussian { rate, ratio }),
        })
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Losses
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("every noisy sum over a batch of limited size that was asked for")
    }
}
