//! The corrected Barker test on a batch: Theorem 2 of Heikkilä et al. 2019.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, NOT_GAUSSIAN, PriceOf, SAMPLED, Suits};
use crate::rule::Rounding;
use crate::theorems::barker::{BarkerBound, Divergences, corollary_2, curve};
use crate::{CoinError, Error, Mu, Neighbours, Ratio, Rho, Sampling, pld, renyi};

/// The corrected Barker test on a batch: Theorem 2 of Heikkilä et al. 2019.
///
/// Per-record log-ratios are clipped to √b/N₀ and the noise has variance 2 minus the batch's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarkerMinibatch {
    /// Records in a batch, b.
    pub batch: u64,
    /// Records in all, n.
    pub records: u64,
    /// Which proved bound is used.
    pub bound: BarkerBound,
}

impl Entry for BarkerMinibatch {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        if sampling == (Sampling::WithoutReplacement { batch: self.batch, records: self.records }) {
            return Ok(());
        }
        Err(Error::Mismatch(
            "the minibatch Barker test draws its own batch without replacement; \
             the sampling must say the same batch and records",
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

    /// The mechanism is the same; the bounds are all true of it.
    fn covers(&self, other: &Self) -> bool {
        self.batch == other.batch && self.records == other.records
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        match self.bound {
            BarkerBound::Pld => curve(self.batch, self.records),
            BarkerBound::Paper | BarkerBound::Fixed | BarkerBound::Tight => {
                Err(Error::Unresolved { what: "the composition", reason: "a part has no dominating pair" })
            }
        }
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(match self.bound {
            BarkerBound::Pld => Box::new(Divergences::new(self.batch, self.records)?),
            BarkerBound::Paper | BarkerBound::Fixed | BarkerBound::Tight => {
                Box::new(corollary_2(self.batch, self.records, self.bound)?)
            }
        })
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        match self.bound {
            BarkerBound::Paper => Suits::Divergences { as_published: true },
            BarkerBound::Fixed | BarkerBound::Tight => Suits::Divergences { as_published: false },
            BarkerBound::Pld => Suits::Losses,
        }
    }

    /// The correction is not part of the price: the largest one is taken.
    fn leaves(&self) -> Leaves {
        Leaves {
            words: "the accept/reject bit of every step",
            coin_error: CoinError::from(Rounding::largest_corrected()),
            price_of: PriceOf::WhatStaysInside,
        }
    }
}
