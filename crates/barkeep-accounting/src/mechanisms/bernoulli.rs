//! One bit that is 1 with probability p on one data set and q on its neighbour: randomised response, and choices.

use barkeep_num::{log_add_exp, up_by};
use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, Suits, full_batches_only, pure_mu, pure_rho};
use crate::renyi::Orders;
use crate::{Error, Mu, Neighbours, Order, Probability, Ratio, Rho, Sampling, pld, renyi};

/// One bit that is 1 with probability p on one data set and q on its neighbour.
///
/// A choice from a public list is priced by the bit that dominates it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {
    /// On the first.
    pub p: Probability,
    /// On the second.
    pub q: Probability,
}

impl Bernoulli {
    /// The largest privacy loss, rounded up; infinite if an outcome is impossible on one side only.
    fn worst_loss(self) -> f64 {
        let (p, q) = (self.p.get(), self.q.get());
        let loss = |p: f64, q: f64| {
            let difference = if p == q { 0.0 } else { (libm::log(p) - libm::log(q)).abs() };
            let not = if p == q { 0.0 } else { (libm::log1p(-p) - libm::log1p(-q)).abs() };
            difference.max(not)
        };
        let size = [libm::log(p), libm::log(q), libm::log1p(-p), libm::log1p(-q)];
        let rounding = size.iter().filter(|ln| ln.is_finite()).map(|ln| ln.abs()).fold(0.0, f64::max);
        loss(p, q) + 4.0 * f64::EPSILON * rounding
    }
}

/// ε(α) = ln[p^α·q^(1−α) + (1−p)^α·(1−q)^(1−α)]/(α−1), the worse direction.
impl renyi::Curve for Bernoulli {
    fn orders(&self) -> Orders {
        Orders::Real
    }

    fn at(&self, order: Order) -> f64 {
        let (p, q) = (self.p.get(), self.q.get());
        divergence(p, q, order.get()).max(divergence(q, p, order.get()))
    }
}

fn divergence(p: f64, q: f64, order: f64) -> f64 {
    let (ln_p, ln_q, ln_not_p, ln_not_q) = (libm::log(p), libm::log(q), libm::log1p(-p), libm::log1p(-q));
    let term = |ln_p: f64, ln_q: f64| {
        if ln_p == f64::NEG_INFINITY { f64::NEG_INFINITY } else { order * ln_p + (1.0 - order) * ln_q }
    };
    let moment = log_add_exp(term(ln_p, ln_q), term(ln_not_p, ln_not_q));
    let finite = |ln: f64| if ln.is_finite() { ln.abs() } else { 0.0 };
    let size = order * (finite(ln_p) + finite(ln_q) + finite(ln_not_p) + finite(ln_not_q) + 1.0);
    up_by((moment + 8.0 * f64::EPSILON * size) / (order - 1.0), 2).max(0.0)
}

impl Entry for Bernoulli {
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
        self.p == other.p && self.q == other.q
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        Ok(pld::DominatingPair::bernoulli(self.p, self.q))
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(*self))
    }

    /// A bit with the same chances on both sides tells nothing.
    fn suits(&self, _: Sampling) -> Suits<'_> {
        if self.p == self.q { Suits::Free } else { Suits::Bits(*self) }
    }

    fn leaves(&self) -> Leaves {
        Leaves::drawn("the point of a public grid that was chosen for each draw")
    }
}
