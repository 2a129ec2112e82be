//! An answer out of k: the true one more likely than each other, by the same factor.

use barkeep_num::{log_sum_exp, up_by};
use serde::{Deserialize, Serialize};

use super::{Entry, Leaves, Suits, full_batches_only, pure_mu, pure_rho};
use crate::renyi::Orders;
use crate::{Epsilon, Error, Mu, Neighbours, Order, Ratio, Rho, Sampling, pld, renyi};

/// Randomised response among k answers: the true one with probability e^ε/(e^ε + k − 1), each other with 1/(e^ε + k − 1).
///
/// **Privacy.** Substituting the answer exchanges two of the k probabilities: losses ±ε for the two answers, 0 for all others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoricalResponse {
    /// k, at least 2.
    pub options: u64,
    /// ε of one answer.
    pub epsilon: Epsilon,
}

/// ε(α) = ln[(e^(αε) + e^((1−α)ε) + k − 2)/(e^ε + k − 1)]/(α−1), and never above ε.
impl renyi::Curve for CategoricalResponse {
    fn orders(&self) -> Orders {
        Orders::Real
    }

    fn at(&self, order: Order) -> f64 {
        let (epsilon, order, others) = (self.epsilon.get(), order.get(), self.options as f64 - 2.0);
        let moment = log_sum_exp(&[order * epsilon, (1.0 - order) * epsilon, libm::log(others)]);
        let whole = log_sum_exp(&[epsilon, libm::log(others + 1.0)]);
        let rounding = 16.0 * f64::EPSILON * (moment.abs() + whole.abs() + 1.0);
        let bound = up_by((moment - whole + rounding) / (order - 1.0), 2);
        // NaN from overflow falls to ε as well.
        if bound < epsilon { bound.max(0.0) } else { epsilon }
    }
}

impl Entry for CategoricalResponse {
    fn check(&self, sampling: Sampling, _: Neighbours) -> Result<(), Error> {
        full_batches_only(sampling)?;
        if self.options < 2 {
            let value = self.options as f64;
            return Err(Error::Argument { name: "options", requirement: "at least 2", value });
        }
        Ok(())
    }

    fn rho(&self, _: Sampling) -> Result<Rho, Error> {
        pure_rho(self.epsilon.get())
    }

    fn mu(&self, _: Sampling) -> Result<Mu, Error> {
        pure_mu(self.epsilon.get())
    }

    fn gaussian_ratio(&self) -> Option<Ratio> {
        None
    }

    fn covers(&self, other: &Self) -> bool {
        self.options == other.options && self.epsilon == other.epsilon
    }

    fn losses(&self, _: Sampling, _: Neighbours) -> Result<pld::DominatingPair, Error> {
        pld::DominatingPair::categorical(self.epsilon, self.options)
    }

    fn divergences(&self, _: Sampling, _: Neighbours) -> Result<Box<dyn renyi::Curve>, Error> {
        Ok(Box::new(*self))
    }

    fn suits(&self, _: Sampling) -> Suits<'_> {
        if self.epsilon.get() == 0.0 { Suits::Free } else { Suits::Losses }
    }

    /// The answer is taken as drawn ideally.
    fn leaves(&self) -> Leaves {
        Leaves::drawn("every randomised answer")
    }
}
