//! Adds what it costs that decisions are flipped with computed probabilities, not the ideal ones.
//!
//! If in every step both outcomes' probabilities are within a factor e^(±ρ) and an absolute β of the ideal ones, k steps turn
//! (ε, δ) into
//!
//! > (ε + 2kρ, e^(kρ)·(δ + kβ(1 + e^(ε+2kρ)))).
//!
//! **Proof.** Replace the ideal coins by the flipped ones, one step at a time: the probability of any event of the run moves from p
//! to at most e^ρ·p + β each time, so to e^(kρ)(p + kβ) in all, and back likewise. For the events of one data set and those
//! of its neighbour, P' ≤ e^(kρ)(P + kβ) ≤ e^(kρ)(e^ε·Q + δ + kβ) and Q ≤ e^(kρ)(Q' + kβ).

use barkeep_num::{down, down_by, up, up_by};

use crate::{Bracket, Cost, Delta, Epsilon, Error, Mechanism, Rule, Steps};

/// How far the flipped coins of a run may be from the ideal ones, all steps together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coins {
    /// kρ.
    relative: f64,
    /// kβ.
    absolute: f64,
}

impl Coins {
    /// No coin is flipped.
    pub const NONE: Self = Self { relative: 0.0, absolute: 0.0 };

    /// The coin of one step at this cost, if it flips one.
    ///
    /// A noisy decision's σ may vary from step to step, so the worst of all rules with noise is taken.
    #[must_use]
    pub fn of(cost: &Cost) -> Self {
        let flipped =
            |rule: &Rule| Self { relative: rule.coin_error(), absolute: rule.coin_absolute_error() };
        match cost.mechanism() {
            Mechanism::Decision { rule, .. } => flipped(rule),
            Mechanism::NoisyDecision { .. } | Mechanism::BarkerMinibatch { .. } => {
                let penalty = Box::new(Rule::Penalty { sigma: crate::SMALLEST_SIGMA });
                flipped(&Rule::Lazy { keep: 1.0, rule: penalty })
            }
            Mechanism::Gaussian { .. }
            | Mechanism::DiscreteGaussian { .. }
            | Mechanism::Laplace { .. }
            | Mechanism::Bernoulli { .. } => Self::NONE,
        }
    }

    /// The same coin so many times.
    #[must_use]
    pub fn times(self, steps: Steps) -> Self {
        let product = |value: f64| if value == 0.0 { 0.0 } else { up_by(value * steps.0 as f64, 2) };
        if steps.0 == 0 {
            return Self::NONE;
        }
        Self { relative: product(self.relative), absolute: product(self.absolute) }
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let sum = |a: f64, b: f64| if b == 0.0 { a } else { up(a + b) };
        Self { relative: sum(self.relative, other.relative), absolute: sum(self.absolute, other.absolute) }
    }

    /// Whether these coins may be at least as far from the ideal ones as `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.relative >= other.relative && self.absolute >= other.absolute
    }

    /// ε at δ with these coins, from that with ideal ones.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if the rounding of the coins alone costs more than δ; those of `ideal`.
    pub fn epsilon(
        &self,
        delta: Delta,
        mut ideal: impl FnMut(Delta) -> Result<Bracket, Error>,
    ) -> Result<Bracket, Error> {
        if *self == Self::NONE {
            return ideal(delta);
        }
        let shift = up(2.0 * self.relative);
        // Most of δ for the ideal run, the rest for what coins add; half of it if that is not enough.
        for share in [1.0 / 1_048_576.0, 0.5] {
            let left = delta.get() * (1.0 - share) * libm::exp(-self.relative);
            let Ok(left) = Delta::new(down_by(left, 4)) else { continue };
            let upper = up(ideal(left)?.upper + shift);
            let extra = self.extra_delta(upper);
            if extra <= delta.get() * share {
                let raised = up(up_by(delta.get() * libm::exp(self.relative), 4) + extra);
                let lower = match Delta::new(raised) {
                    Ok(raised) => ideal(raised)?.lower,
                    Err(_) => Some(0.0),
                };
                return Ok(Bracket { lower: lower.map(|lower| down(lower - shift).max(0.0)), upper });
            }
        }
        Err(Error::Unbounded("delta is below what the rounding of the coins alone costs"))
    }

    /// δ at ε with these coins, from that with ideal ones.
    ///
    /// # Errors
    /// Those of `ideal`.
    pub fn delta(
        &self,
        epsilon: Epsilon,
        mut ideal: impl FnMut(Epsilon) -> Result<Bracket, Error>,
    ) -> Result<Bracket, Error> {
        if *self == Self::NONE {
            return ideal(epsilon);
        }
        let shift = up(2.0 * self.relative);
        let upper = match Epsilon::new(down(epsilon.get() - shift)) {
            Ok(left) => {
                let scaled = up_by(ideal(left)?.upper * libm::exp(self.relative), 4);
                up(scaled + self.extra_delta(epsilon.get())).min(1.0)
            }
            // ε does not even cover the coins.
            Err(_) => 1.0,
        };
        let lower = match Epsilon::new(up(epsilon.get() + shift)) {
            Ok(raised) => ideal(raised)?.lower.map(|lower| {
                let scaled = down_by(lower * libm::exp(-self.relative), 4);
                down(scaled - self.extra_delta(raised.get())).max(0.0)
            }),
            Err(_) => Some(0.0),
        };
        Ok(Bracket { lower, upper })
    }

    /// (ε', δ') such that ideal coins within it mean these coins within (ε, δ); None if nothing is left.
    pub(crate) fn reduced(&self, epsilon: Epsilon, delta: Delta) -> Option<(Epsilon, Delta)> {
        let left = down(delta.get() - self.extra_delta(epsilon.get()));
        let epsilon = Epsilon::new(down(epsilon.get() - up(2.0 * self.relative))).ok()?;
        Some((epsilon, Delta::new(down_by(left * libm::exp(-self.relative), 4)).ok()?))
    }

    /// kβ·e^(kρ)·(1 + e^ε), ε that of the flipped coins.
    fn extra_delta(&self, epsilon: f64) -> f64 {
        if self.absolute == 0.0 {
            return 0.0;
        }
        up_by(self.absolute * libm::exp(self.relative) * (1.0 + libm::exp(epsilon)), 8)
    }
}
