//! Bounds Rényi divergences, order by order, and composes them: the accountant of last resort, valid for everything.
//!
//! A [`Curve`] bounds the divergence of one step at each order α; divergences of adaptively chosen steps add (Mironov
//! 2017, Proposition 1; NeurIPS supplement Proposition 1 and Corollary 1), and [`RenyiComposition`] converts the sum at
//! the order that proves the most. All bounds are rounded up.

mod sampled;

use std::collections::BTreeMap;

use barkeep_num::{log_add_exp, up_by};

pub use sampled::{Amplified, PoissonGaussian, WithoutReplacementGaussian};

use crate::engines::double::Double;
use crate::engines::orders::{smallest_over_real_orders, smallest_over_whole_orders};
use crate::{Bracket, Delta, Epsilon, Error, Order, Ratio, Renyi, Rho, Steps};

/// The largest whole order a sum over orders is carried to; higher ones matter for ε below about 0.01 only.
pub const LARGEST_WHOLE_ORDER: u32 = 2048;

/// At which orders a curve bounds anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// Every real order above 1.
    Real,
    /// Whole orders from 2.
    Whole {
        /// To this one.
        largest: u32,
    },
}

/// An upper bound on the Rényi divergence of one step between any two neighbours, in both directions.
pub trait Curve {
    /// At which orders it holds.
    fn orders(&self) -> Orders;

    /// The bound at one of these orders, rounded up; infinite where there is none.
    fn at(&self, order: Order) -> f64;
}

/// ε(α) = ρα: Gaussian mechanisms, where it is exact, and everything that is ρ-zCDP.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Linear(Double);

impl Linear {
    /// A zero-concentrated mechanism.
    #[must_use]
    pub fn new(rho: Rho) -> Self {
        Self(rho.get().into())
    }

    /// The Gaussian mechanism, ρ = 1/(2s²) (thesis Theorem 2.11); also bounds the discrete Gaussian of the same
    /// parameters (Canonne, Kamath, Steinke 2020, Theorem 4). Infinite slope if s² underflows.
    #[must_use]
    pub fn gaussian(ratio: Ratio) -> Self {
        let ratio = ratio.get();
        if (1e-70..=1e70).contains(&ratio) {
            Self(Double::from(0.5).over(Double::product(ratio, ratio)))
        } else {
            Self(up_by(0.5 / ratio / ratio, 2).into())
        }
    }

    /// The slope ρ, rounded up.
    #[must_use]
    pub fn rho(&self) -> Rho {
        Rho::trusted(self.0.rounded_up())
    }
}

impl Curve for Linear {
    fn orders(&self) -> Orders {
        Orders::Real
    }

    fn at(&self, order: Order) -> f64 {
        // Far from the middle of the range the doubled product is not exact, and does not matter.
        let product = self.0.times(order.get().into()).rounded_up();
        if product.is_nan() { f64::INFINITY } else { product }
    }
}

/// Any (ε, 0)-private mechanism: no more than randomised response with the same ε.
///
/// ε(α) = ln[(e^(αε) + e^((1−α)ε))/(1+e^ε)]/(α−1), and never above ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pure(pub Epsilon);

impl Curve for Pure {
    fn orders(&self) -> Orders {
        Orders::Real
    }

    fn at(&self, order: Order) -> f64 {
        let (epsilon, order) = (self.0.get(), order.get());
        let powers = [order * epsilon, (1.0 - order) * epsilon];
        let moment = log_add_exp(powers[0], powers[1]) - log_add_exp(0.0, epsilon);
        let rounding = 8.0 * f64::EPSILON * (powers[0] + epsilon + 1.0);
        let bound = up_by((moment + rounding) / (order - 1.0), 2);
        // NaN from overflow falls to ε as well.
        if bound < epsilon { bound.max(0.0) } else { epsilon }
    }
}

/// What a round of steps costs in Rényi divergence; remembers what it has computed.
pub struct RenyiComposition {
    parts: Vec<(Box<dyn Curve>, Steps)>,
    /// Divergence of one round by order, as bits of the order.
    known: BTreeMap<u64, f64>,
}

impl RenyiComposition {
    /// One round of steps at each curve.
    #[must_use]
    pub fn new(parts: Vec<(Box<dyn Curve>, Steps)>) -> Self {
        Self { parts, known: BTreeMap::new() }
    }

    /// ε of `rounds` rounds at the best order, by the improved conversion.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if no order has a finite divergence.
    pub fn epsilon(&mut self, rounds: Steps, delta: Delta) -> Result<Bracket, Error> {
        self.best(|renyi| renyi.epsilon(delta).upper, rounds)
    }

    /// ε of `rounds` rounds at the best order, by the classical conversion of the papers.
    ///
    /// # Errors
    /// As [`RenyiComposition::epsilon`].
    pub fn epsilon_classical(&mut self, rounds: Steps, delta: Delta) -> Result<Bracket, Error> {
        self.best(|renyi| renyi.epsilon_classical(delta).upper, rounds)
    }

    /// δ of `rounds` rounds at the best order; 1 if no order proves anything.
    #[must_use]
    pub fn delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Bracket {
        self.best(|renyi| renyi.delta(epsilon).upper, rounds).unwrap_or(Bracket::at_most(1.0))
    }

    /// δ of `rounds` rounds at the best order, by the classical conversion: δ = e^((α−1)(ε(α)−ε)).
    #[must_use]
    pub fn delta_classical(&mut self, rounds: Steps, epsilon: Epsilon) -> Bracket {
        self.best(|renyi| renyi.delta_classical(epsilon).upper, rounds).unwrap_or(Bracket::at_most(1.0))
    }

    fn best(&mut self, convert: impl Fn(Renyi) -> f64, rounds: Steps) -> Result<Bracket, Error> {
        if rounds.0 == 0 || self.parts.iter().all(|(_, steps)| steps.0 == 0) {
            return Ok(Bracket::exact(0.0));
        }
        let orders = self.orders();
        let mut value = |order: Order| {
            let total = up_by(self.at(order) * rounds.0 as f64, 2);
            Renyi::new(order, total).map_or(f64::INFINITY, &convert)
        };
        let least = match orders {
            Orders::Real => smallest_over_real_orders(value),
            Orders::Whole { largest } => {
                smallest_over_whole_orders(largest, |order| value(Order::trusted(f64::from(order))))
            }
        };
        if least.is_finite() {
            Ok(Bracket::at_most(least))
        } else {
            Err(Error::Unbounded("the Rényi divergence is not bounded at any order tried"))
        }
    }

    /// The orders at which every part has a bound.
    fn orders(&self) -> Orders {
        self.parts.iter().fold(Orders::Real, |common, (curve, _)| match (common, curve.orders()) {
            (Orders::Real, other) | (other, Orders::Real) => other,
            (Orders::Whole { largest }, Orders::Whole { largest: other }) => {
                Orders::Whole { largest: largest.min(other) }
            }
        })
    }

    /// The divergence of one round.
    fn at(&mut self, order: Order) -> f64 {
        let Self { parts, known } = self;
        *known.entry(order.get().to_bits()).or_insert_with(|| {
            parts
                .iter()
                .filter(|(_, steps)| steps.0 > 0)
                .fold(0.0, |sum, (curve, steps)| up_by(sum + up_by(curve.at(order) * steps.0 as f64, 2), 1))
        })
    }
}
