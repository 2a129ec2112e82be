//! An integer plus discrete Laplace noise, also called geometric.

use barkeep_num::{log_add_exp, log1m_exp, up_by};
use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, Suits, full_batches_only, pure_mu, pure_rho, some_sensitivity};
use crate::renyi::Orders;
use crate::{Error, Mu, Neighbours, Order, Ratio, Rho, Sampling, pld, renyi};

/// An integer plus noise z with P(z) ∝ e^(−|z|/scale) (Ghosh, Roughgarden, Sundararajan 2012).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscreteLaplace {
    /// The scale of the noise, in units of the integer.
    pub scale: Ratio,
    /// The most a neighbouring change moves the integer.
    pub sensitivity: u64,
}

impl DiscreteLaplace {
    /// Δ/b, rounded up.
    fn worst_loss(self) -> f64 {
        up_by(self.sensitivity as f64 / self.scale.get(), 1)
    }
}

/// (1+r)·e^((α−1)ε(α)) = e^((α−1)Δ/b) + e^(−αΔ/b) + (1−r)Σ r^z·e^((α−1)(Δ−2z)/b) over 0 < z < Δ, r = e^(−1/b): a geometric
/// sum of ratio e^(−(2α−1)/b). Never above Δ/b.
impl renyi::Curve for DiscreteLaplace {
    fn orders(&self) -> Orders {
        Orders::Real
    }

    fn at(&self, order: Order) -> f64 {
        let (unit, span, order) = (1.0 / self.scale.get(), self.sensitivity as f64, order.get());
        let (worst, gain) = (self.worst_loss(), order - 1.0);
        let fall = (2.0 * order - 1.0) * unit;
        let ends = log_add_exp(gain * span * unit, -order * span * unit);
        let middle = if self.sensitivity > 1 {
            let geometric = log1m_exp(-fall * (span - 1.0)) - log1m_exp(-fall);
            log1m_exp(-unit) + gain * span * unit - fall + geometric
        } else {
            f64::NEG_INFINITY
        };
        let moment = log_add_exp(ends, middle) - libm::log1p(libm::exp(-unit));
        let rounding = 32.0 * f64::EPSILON * (1.0 + (gain + order) * span * unit + libm::log(unit).abs());
        let bound = up_by((moment + rounding) / gain, 2);
        // NaN from overflow falls to the worst loss as well.
        if bound < worst { bound.max(0.0) } else { worst }
    }
}

impl Entry for DiscreteLaplace {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling).and(some_sensitivity(self.sensitivity))
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

    /// Within a smaller sensitivity the adversary can do less.
    fn covers(&self, other: &Self) -> bool {
        self.scale == other.scale && self.sensitivity >= other.sensitivity
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::discrete_laplace(self.scale, self.sensitivity)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(*self))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        Suits::Losses
    }

    /// The noise is taken as ideal.
    fn leaves(&self) -> Leaves {
        Leaves::drawn("every integer with discrete Laplace noise that was asked for")
    }
}
