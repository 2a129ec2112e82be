//! Translates between the measures of privacy: (ε, δ), Rényi, zero-concentrated, Gaussian, and trade-off curves.
//!
//! Every translation is an implication that holds for all mechanisms, and is rounded to its safe side: ε and δ up,
//! budgets and the errors of an adversary down.

use barkeep_num::{down_by, largest_real, normal_quantile, up_by};

use crate::engines::orders::smallest_over_real_orders;
use crate::gaussian::ln_bracket;
use crate::{Bracket, Delta, Epsilon, Error, GaussianRun, Mu, Order, Rho};

/// No budget is translated into more than this ρ, so that conversions stay finite.
const LARGEST_BUDGET: f64 = 1e300;

/// A bound on the Rényi divergence of one order α: (α, ε(α))-RDP (Mironov 2017, Definition 4).
///
/// ```
/// use barkeep_accounting::{Delta, Order, Renyi};
/// let bound = Renyi::new(Order::new(8.0)?, 1.0)?;
/// let delta = Delta::new(1e-6)?;
/// assert!(bound.epsilon(delta).upper < bound.epsilon_classical(delta).upper);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Renyi {
    order: Order,
    divergence: f64,
}

impl Renyi {
    /// The bound `divergence` at `order`.
    ///
    /// # Errors
    /// [`Error::Argument`] unless the divergence is at least 0; infinity is allowed and means no bound.
    pub fn new(order: Order, divergence: f64) -> Result<Self, Error> {
        if divergence >= 0.0 {
            Ok(Self { order, divergence })
        } else {
            Err(Error::Argument { name: "divergence", requirement: "at least 0", value: divergence })
        }
    }

    /// ε = ε(α) + ln(1/δ)/(α−1), by Markov's inequality.
    ///
    /// Mironov 2017, Proposition 3; thesis Theorem 2.5; NeurIPS supplement Proposition 3.
    #[must_use]
    pub fn epsilon_classical(&self, delta: Delta) -> Bracket {
        let excess = -ln_bracket(delta).0 / (self.order.get() - 1.0);
        Bracket::at_most(up_by(self.divergence + excess, 2))
    }

    /// ε = max(0, ε(α) + ln(1−1/α) − (ln δ + ln α)/(α−1)): never more than the classical one.
    ///
    /// Canonne, Kamath, Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21.
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> Bracket {
        let order = self.order.get();
        let terms = [
            self.divergence,
            libm::log1p(-1.0 / order),
            -libm::log(delta.get()) / (order - 1.0),
            -libm::log(order) / (order - 1.0),
        ];
        Bracket::at_most(sum_upward(&terms).max(0.0))
    }

    /// δ = e^((α−1)(ε(α)−ε)), at most 1: the inverse of [`Renyi::epsilon_classical`].
    #[must_use]
    pub fn delta_classical(&self, epsilon: Epsilon) -> Bracket {
        let gain = self.order.get() - 1.0;
        ln_delta_bracket(sum_upward(&[gain * self.divergence, -gain * epsilon.get()]))
    }

    /// The least δ this order proves at ε, at most 1: the inverse of [`Renyi::epsilon`].
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> Bracket {
        let order = self.order.get();
        let gain = order - 1.0;
        let terms = [
            gain * self.divergence,
            -gain * epsilon.get(),
            gain * libm::log1p(-1.0 / order),
            -libm::log(order),
        ];
        ln_delta_bracket(sum_upward(&terms))
    }
}

/// δ from an upper bound on its logarithm; 1 if that says nothing, as ∞ − ∞ does not.
fn ln_delta_bracket(ln_delta: f64) -> Bracket {
    Bracket::at_most(if ln_delta.is_nan() { 1.0 } else { up_by(libm::exp(ln_delta), 2).min(1.0) })
}

/// A sum with the rounding of its terms (two units each) and of the additions added to it.
fn sum_upward(terms: &[f64]) -> f64 {
    let (sum, magnitude) = terms.iter().fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
    up_by(sum + 4.0 * f64::EPSILON * magnitude, 1)
}

impl Rho {
    /// ε = ρ + 2√(ρ·ln(1/δ)), as the papers convert: thesis Theorem 2.5; Bun and Steinke 2016, Proposition 1.3.
    #[must_use]
    pub fn epsilon_classical(self, delta: Delta) -> Bracket {
        if self.get() == 0.0 {
            return Bracket::at_most(0.0);
        }
        let root = (self.get() * -ln_bracket(delta).0).sqrt();
        Bracket::at_most(up_by(self.get() + 2.0 * root, 4))
    }

    /// ε through the improved Rényi conversion at the best real order, ε(α) = ρα: never more than the classical one.
    #[must_use]
    pub fn epsilon(self, delta: Delta) -> Bracket {
        let at = |order: Order| self.at(order).map_or(f64::INFINITY, |renyi| renyi.epsilon(delta).upper);
        Bracket::at_most(smallest_over_real_orders(at).min(self.epsilon_classical(delta).upper))
    }

    /// δ at a given ε, through the improved Rényi conversion at the best real order.
    #[must_use]
    pub fn delta(self, epsilon: Epsilon) -> Bracket {
        let at = |order: Order| self.at(order).map_or(1.0, |renyi| renyi.delta(epsilon).upper);
        Bracket::at_most(smallest_over_real_orders(at).min(1.0))
    }

    /// The Rényi divergence of order α: at most ρα.
    fn at(self, order: Order) -> Result<Renyi, Error> {
        Renyi::new(order, up_by(self.get() * order.get(), 1))
    }

    /// The largest ρ whose classical conversion stays within (ε, δ): ρ = (√(ε−ln δ) − √(−ln δ))².
    ///
    /// Thesis Theorem 3.1; formed as (ε/(√(ε−ln δ) + √(−ln δ)))², which does not cancel.
    #[must_use]
    pub fn largest_within_classical(epsilon: Epsilon, delta: Delta) -> Self {
        let surprise = -ln_bracket(delta).0;
        let root = epsilon.get() / ((epsilon.get() + surprise).sqrt() + surprise.sqrt());
        Self::trusted(down_by(root * root, 24).clamp(0.0, LARGEST_BUDGET))
    }

    /// The largest ρ whose conversion through Rényi orders stays within (ε, δ).
    #[must_use]
    pub fn largest_within(epsilon: Epsilon, delta: Delta) -> Self {
        let fits = |rho: f64| Self::trusted(rho).epsilon(delta).upper <= epsilon.get();
        let floor = Self::largest_within_classical(epsilon, delta).get();
        largest_real(floor, LARGEST_BUDGET, 1e-13, fits).map_or(Self::trusted(floor), Self::trusted)
    }
}

impl Epsilon {
    /// Every (ε, 0)-private mechanism is ε²/2-zCDP: Bun and Steinke 2016, Proposition 1.4.
    #[must_use]
    pub fn pure_rho(self) -> Rho {
        Rho::trusted(up_by(0.5 * self.get() * self.get(), 2).min(f64::MAX))
    }

    /// Every (ε, 0)-private mechanism is μ-GDP with μ = −2Φ⁻¹(1/(1+e^ε)).
    ///
    /// The trade-off curve of (ε, 0) is two chords meeting at the fixed point (a, a), a = 1/(1+e^ε); the convex curve of
    /// μ-GDP through (0, 1), (a, a) and (1, 0) lies below them.
    #[must_use]
    pub fn pure_mu(self) -> Mu {
        let fixed_point = libm::exp(-self.get()) / (1.0 + libm::exp(-self.get()));
        // Beyond ε ≈ 745 the fixed point is no longer an f64; Φ⁻¹(a) > −√(2 ln(1/a)) > −√(2(ε+1)) always.
        let ceiling = 2.0 * (2.0 * (self.get() + 1.0)).sqrt();
        let mu = (-2.0 * normal_quantile(fixed_point)).clamp(0.0, ceiling);
        Mu::trusted(mu * (1.0 + 1e-12))
    }
}

impl Mu {
    /// The largest μ for which μ-GDP implies (ε, δ), rounded down: the exact translation of a budget.
    ///
    /// Dong, Roth, Su 2022.
    #[must_use]
    pub fn largest_within(epsilon: Epsilon, delta: Delta) -> Self {
        Self::trusted(GaussianRun::largest_within(epsilon, delta).mu().lower.unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests;
