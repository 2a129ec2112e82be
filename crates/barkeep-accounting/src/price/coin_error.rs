//! Adds what it costs that decisions are flipped with computed probabilities, not the ideal ones.
//!
//! Let in every step each outcome have probability p' where the ideal one is p, with p ≤ e^ρ·p' always, and p' ≤ e^r·p + b. Then k
//! steps turn (ε, δ) into
//!
//! > (ε + kρ + kr, e^(kr)·(δ + kb)).
//!
//! **Proof.** Replace the ideal coins by the flipped ones, one step at a time: the probability of any event of the run moves from p
//! to at most e^r·p + b each time, so to e^(kr)(p + kb) in all. It is b, and not b for either outcome: given the past, let the event
//! have probability x after one outcome, of probability p, and y ≤ x after the other. Then p'x + (1−p')y = y + p'(x−y) ≤
//! y + (e^r·p + b)(x−y) ≤ e^r(px + (1−p)y) + b(x−y), the last since y ≤ e^r·y. And x − y ≤ 1; a mean over pasts keeps the bound. The probability of a whole run of outcomes falls by a factor e^ρ
//! at most in each step, so that of any event by e^(kρ) at most. For an event's probabilities P on one data set and Q on
//! its neighbour, P' ≤ e^(kr)(P + kb) ≤ e^(kr)(e^ε·Q + δ + kb) and Q ≤ e^(kρ)·Q'. ∎
//!
//! [`Rule::coin`] keeps this with two pairs (r, b): a near one, (ρ, β), whose β is the most that rare outcomes are lifted by,
//! and a far one, (ρ', β'), whose β' is as good as nothing. The far one is for δ too small for β. That no ideal probability is missed
//! by an absolute amount matters: such an amount would cost e^ε times itself.
//!
//! Noisy decisions are flipped after their noise was added, and cost nothing here: [`Rule::coin_after_noise`].

use barkeep_num::{down, down_by, up, up_by};

use crate::rule::Rounding;
use crate::{Bracket, Cost, Delta, Epsilon, Error, Rule, Steps};

/// How far the flipped coins of a run may be from the ideal ones, all steps together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoinError {
    /// (kρ, kβ).
    near: Excess,
    /// (kρ', kβ').
    far: Excess,
}

/// The most by which outcomes may be too likely: a factor e^relative, and an absolute amount.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Excess {
    relative: f64,
    absolute: f64,
}

/// The part of δ up to which the near pair is used: below, it hardly costs anything.
const NEAR_SHARE: f64 = 1.0 / 1_048_576.0;

impl Excess {
    const NONE: Self = Self { relative: 0.0, absolute: 0.0 };

    fn times(self, steps: f64) -> Self {
        let product = |value: f64| if value == 0.0 { 0.0 } else { up_by(value * steps, 2) };
        Self { relative: product(self.relative), absolute: product(self.absolute) }
    }

    fn and(self, other: Self) -> Self {
        let sum = |a: f64, b: f64| if b == 0.0 { a } else { up(a + b) };
        Self { relative: sum(self.relative, other.relative), absolute: sum(self.absolute, other.absolute) }
    }

    fn covers(&self, other: &Self) -> bool {
        self.relative >= other.relative && self.absolute >= other.absolute
    }

    /// e^r·(δ + b), rounded up.
    fn raised(&self, delta: f64) -> f64 {
        up_by((delta + self.absolute) * libm::exp(self.relative), 4)
    }

    /// The δ of which [`Excess::raised`] makes no more than this one.
    fn lowered(&self, delta: Delta) -> Option<Delta> {
        Delta::new(down_by(delta.get() * libm::exp(-self.relative) - self.absolute, 8)).ok()
    }
}

impl CoinError {
    /// No coin is flipped, or only such as are flipped after the noise was added.
    pub const NONE: Self = Self { near: Excess::NONE, far: Excess::NONE };

    /// The coin of one step at this cost, if it flips one.
    #[must_use]
    pub fn of(cost: &Cost) -> Self {
        cost.mechanism().entry().leaves().coin_error
    }

    /// The same coin, flipped once a step.
    #[must_use]
    pub fn times(self, steps: Steps) -> Self {
        let steps = steps.0 as f64;
        Self { near: self.near.times(steps), far: self.far.times(steps) }
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { near: self.near.and(other.near), far: self.far.and(other.far) }
    }

    /// Whether these coins may be at least as far from the ideal ones as `other`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.near.covers(&other.near) && self.far.covers(&other.far)
    }

    /// The pair that serves this δ better.
    fn excess(&self, delta: f64) -> Excess {
        if self.near.absolute <= NEAR_SHARE * delta { self.near } else { self.far }
    }

    /// By how much ε and δ may rise under the far pair, whatever δ is: kρ + kρ' and kβ'.
    pub(crate) fn far(&self) -> (f64, f64) {
        (if *self == Self::NONE { 0.0 } else { self.shift(&self.far) }, self.far.absolute)
    }

    /// kρ + kr.
    fn shift(&self, excess: &Excess) -> f64 {
        up(self.near.relative + excess.relative)
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
        let upper = self.epsilon_above(delta, |left| Ok(ideal(left)?.upper))?;
        Ok(Bracket { lower: self.epsilon_below(delta, upper, ideal)?, upper })
    }

    /// The lower end of [`epsilon`](CoinError::epsilon), given the upper one.
    ///
    /// # Errors
    /// Those of `ideal`.
    fn epsilon_below(
        &self,
        delta: Delta,
        upper: f64,
        ideal: impl FnOnce(Delta) -> Result<Bracket, Error>,
    ) -> Result<Option<f64>, Error> {
        // Read the proof backwards: ideal coins are (ε + kρ + kρ', e^(kρ)·(δ + e^(ε+kρ')·kβ'))-private.
        let missed = up_by(self.far.absolute * libm::exp(upper + self.far.relative), 8);
        let raised = Delta::new(up_by((delta.get() + missed) * libm::exp(self.near.relative), 8));
        match raised {
            Ok(raised) => {
                let shift = self.shift(&self.far);
                Ok(ideal(raised)?.lower.map(|lower| down(lower - shift).clamp(0.0, upper)))
            }
            Err(_) => Ok(Some(0.0)),
        }
    }

    /// The upper end of [`epsilon`](CoinError::epsilon), from that with ideal coins.
    ///
    /// # Errors
    /// As [`epsilon`](CoinError::epsilon).
    pub(crate) fn epsilon_above(
        &self,
        delta: Delta,
        ideal: impl FnOnce(Delta) -> Result<f64, Error>,
    ) -> Result<f64, Error> {
        if *self == Self::NONE {
            return ideal(delta);
        }
        let excess = self.excess(delta.get());
        let left = excess
            .lowered(delta)
            .ok_or(Error::Unbounded("delta is below what the rounding of the coins alone costs"))?;
        Ok(up(ideal(left)? + self.shift(&excess)))
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
        let upper = self.delta_above(epsilon, |epsilon| Ok(ideal(epsilon)?.upper))?;
        let lower = match Epsilon::new(up(epsilon.get() + self.shift(&self.far))) {
            Ok(raised) => ideal(raised)?.lower.map(|lower| {
                let missed = up_by(self.far.absolute * libm::exp(raised.get()), 8);
                let left = down_by(lower * libm::exp(-self.near.relative), 4) - missed;
                if left > 0.0 { down(left).clamp(0.0, upper) } else { 0.0 }
            }),
            Err(_) => Some(0.0),
        };
        Ok(Bracket { lower, upper })
    }

    /// The upper end of [`delta`](CoinError::delta), from that with ideal coins.
    ///
    /// # Errors
    /// Those of `ideal`.
    pub(crate) fn delta_above(
        &self,
        epsilon: Epsilon,
        mut ideal: impl FnMut(Epsilon) -> Result<f64, Error>,
    ) -> Result<f64, Error> {
        if *self == Self::NONE {
            return ideal(epsilon);
        }
        let mut upper: f64 = 1.0;
        for excess in [self.near, self.far] {
            let found = below_zero_too(down(epsilon.get() - self.shift(&excess)), &mut ideal)?;
            upper = upper.min(excess.raised(found));
            if excess.absolute <= NEAR_SHARE * found {
                break;
            }
        }
        Ok(upper)
    }

    /// (ε', δ') such that ideal coins within it mean these coins within (ε, δ); None if nothing is left.
    pub(crate) fn reduced(&self, epsilon: Epsilon, delta: Delta) -> Option<(Epsilon, Delta)> {
        let excess = self.excess(delta.get());
        let epsilon = Epsilon::new(down(epsilon.get() - self.shift(&excess))).ok()?;
        Some((epsilon, excess.lowered(delta)?))
    }
}

/// δ with ideal coins at an ε that the coins may have brought below 0.
///
/// For an event S, its complement T and η > 0, P(S) − e^(−η)·Q(S) = 1 − e^(−η) + e^(−η)·(Q(T) − e^η·P(T)), and the last bracket is at most
/// δ(η): what is private is so in both orders of two neighbours.
fn below_zero_too(epsilon: f64, mut ideal: impl FnMut(Epsilon) -> Result<f64, Error>) -> Result<f64, Error> {
    if epsilon >= 0.0 {
        return ideal(Epsilon::new(epsilon)?);
    }
    let mirrored = ideal(Epsilon::new(-epsilon)?)?;
    Ok(up_by(libm::exp(epsilon) * mirrored - libm::expm1(epsilon), 8).min(1.0))
}

impl From<Rounding> for CoinError {
    fn from(coin: Rounding) -> Self {
        Self {
            near: Excess { relative: coin.error(), absolute: coin.absolute_error() },
            far: Excess { relative: coin.far_error(), absolute: coin.far_absolute_error() },
        }
    }
}

impl From<&Rule> for CoinError {
    fn from(rule: &Rule) -> Self {
        Self::from(Rounding::of(rule))
    }
}

#[cfg(test)]
mod tests;
