//! One bit, drawn by an acceptance rule from a secret log-ratio; nothing else leaves.

use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, NOT_GAUSSIAN, PriceOf, Suits, full_batches_only};
use crate::{
    CoinError, Error, Mu, Neighbours, Ratio, Rho, Rule, Sampling, Sensitivity, decision, pld, renyi,
};

/// One bit, drawn by an acceptance rule from a secret log-ratio; nothing else leaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The rule.
    pub rule: Rule,
    /// The most a neighbouring change moves the log-ratio.
    pub sensitivity: Sensitivity,
}

impl Entry for Decision {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling)?;
        self.rule.validate()
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        decision::zcdp(&self.rule, self.sensitivity)
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        Err(NOT_GAUSSIAN)
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    /// What an adversary can do within a sensitivity, he can do within a larger one.
    fn covers(&self, other: &Self) -> bool {
        self.rule == other.rule && self.sensitivity >= other.sensitivity
    }

    /// The optimal attack on one step, as a fixed pair: looser than composing decisions, and always valid.
    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        decision::single(&self.rule, self.sensitivity)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(decision::Divergences::new(self.rule.clone(), self.sensitivity)?))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Decisions { rule: &self.rule, sensitivity: self.sensitivity }
    }

    fn leaves(&self) -> Leaves {
        Leaves {
            words: "the accept/reject bit of every step",
            coin_error: CoinError::from(&self.rule),
            price_of: PriceOf::WhatLeaves,
        }
    }
}
