//! A value plus Laplace noise, on all records or on a batch.

use barkeep_num::{log_add_exp, up_by};
use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, SAMPLED, Suits, pure_mu, pure_rho};
use crate::renyi::Orders;
use crate::{Epsilon, Error, Mu, Neighbours, Order, Ratio, Rho, Sampling, pld, renyi};

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
    fn check(&self, sampling: Sampling, neighbours: Neighbours) -> Result<(), Error> {
        match pld::DominatingPair::subsampled_laplace(self.ratio, sampling, neighbours) {
            Err(error @ Error::Mismatch(_)) => Err(error),
            _ => Ok(()),
        }
    }

    fn rho(&self, sampling: Sampling) -> Result<Rho, Error> {
        if sampling.is_full() { pure_rho(self.worst_loss()) } else { Err(SAMPLED) }
    }

    fn mu(&self, sampling: Sampling) -> Result<Mu, Error> {
        if sampling.is_full() { pure_mu(self.worst_loss()) } else { Err(SAMPLED) }
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        self.ratio <= other.ratio
    }

    fn losses(&self, sampling: Sampling, neighbours: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::subsampled_laplace(self.ratio, sampling, neighbours)
    }

    /// On a batch, that of any mechanism (ln(1 + q(e^(1/r) − 1)), 0)-private.
    fn divergences(&self, sampling: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        if sampling.is_full() {
            return Ok(Box::new(*self));
        }
        let amplified = libm::log1p(sampling.rate() * libm::expm1(self.worst_loss()));
        Ok(Box::new(renyi::Pure(Epsilon::new(up_by(amplified, 4))?)))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Losses
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("every value with Laplace noise that a chain asked for")
    }
}
