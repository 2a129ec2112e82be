//! A value plus Laplace noise.

use barkeep_num::{log_add_exp, up_by};
use serde::{Deserialize, Serialize};

use super::{Entry, PriceOf, Suits, full_batches_only, pure_mu, pure_rho};
use crate::renyi::Orders;
use crate::{CoinError, Error, Mu, Neighbours, Order, Ratio, Rho, Sampling, pld, renyi};

/// A value plus Laplace noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Laplace {
    /// Noise scale over ℓ₁ sensitivity.
    pub ratio: Ratio,
}

impl Laplace {
    /// The largest privacy loss, rounded up.
    fn worst_loss(self) -> f64 {
        up_by(1.0 / self.ratio.get(), 1)
    }
}

/// ε(α) = ln[α/(2α−1)·e^((α−1)/r) + (α−1)/(2α−1)·e^(−α/r)]/(α−1), and never above 1/r (Mironov 2017, Proposition 6).
impl renyi::Curve for Laplace {
    fn orders(&self) -> Orders {
        Orders::Real
    }

    fn at(&self, order: Order) -> f64 {
        let (ratio, order, ceiling) = (self.ratio.get(), order.get(), self.worst_loss());
        let share = libm::log(order) - libm::log(2.0 * order - 1.0);
        let rest = libm::log(order - 1.0) - libm::log(2.0 * order - 1.0);
        let powers = [(order - 1.0) / ratio, -order / ratio];
        let moment = log_add_exp(share + powers[0], rest + powers[1]);
        let rounding = 8.0 * f64::EPSILON * (powers[0] + share.abs() + 1.0);
        let bound = up_by((moment + rounding) / (order - 1.0), 2);
        if bound < ceiling { bound.max(0.0) } else { ceiling }
    }
}

impl Entry for Laplace {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling)
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        pure_rho(self.worst_loss())
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        pure_mu(self.worst_loss())
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        self.ratio <= other.ratio
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::Curve, Error> {
        pld::Curve::laplace(self.ratio)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(*self))
    }

    fn coin_error(&self) -> CoinError {
        CoinError::NONE
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Losses
    }

    fn price_of(&self) -> PriceOf {
        PriceOf::WhatLeaves
    }

    fn released(&self) -> &'static str {
        "every value with Laplace noise that a chain asked for"
    }
}
