//! Turns a log-ratio into a coin: the acceptance rules, evaluated so that both outcomes keep a relative
//! precision proved from that of tested special functions.
//!
//! The curator flips the very coin the accountant analysed: [`Rule::coin`] is the only place where a secret
//! log-ratio becomes a probability.
//!
//! | rule | a(λ) | law it keeps |
//! | --- | --- | --- |
//! | [`Rule::Metropolis`] | min(1, e^λ) | exact; **not private**, a baseline |
//! | [`Rule::Barker`] | 1/(1+e^−λ) | exact |
//! | [`Rule::Penalty`] | Φ(λ/σ − σ/2) + e^λ Φ(−λ/σ − σ/2) | exact |
//! | [`Rule::Corrected`] | P(λ + N(0, C) + V > 0) | approximate: only a(λ) + a(−λ) = 1 |
//! | [`Rule::Lazy`] | κ·a(λ) | that of the rule inside |
//!
//! "Exact" means detailed balance, a(λ) = e^λ·a(−λ).

mod correction;
mod precision;
mod probability;
#[cfg(test)]
mod tests;
pub mod vcor;

pub use correction::{Component, Correction};
pub(crate) use correction::{Numbers, Smoothed, TOGETHER, numbers};
pub(crate) use precision::Rounding;

use crate::Error;
use probability::Sides;
use serde::{Deserialize, Serialize};

/// λ_max: log-ratios are clamped to ±64 before they meet a coin.
///
/// The clamp is odd and 1-Lipschitz, so neither the sensitivity nor detailed balance is touched; e^−64 is far below
/// anything a chain or a δ can notice.
pub const CLAMP: f64 = 64.0;

/// Smallest σ of [`Rule::Penalty`]: below, the rejection probability cancels too much, and nothing is tested.
pub const SMALLEST_SIGMA: f64 = 1.0 / 1024.0;

/// Largest σ of [`Rule::Penalty`]: there, acceptances have probability below 10⁻²⁰⁰.
pub const LARGEST_SIGMA: f64 = 64.0;

/// A randomised test that turns a log-ratio λ into "move" or "stay".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// Accept with min(1, e^λ).
    ///
    /// **Privacy.** None worth the name: one step is (0, 1−e^−Δ)-DP and never pure. Baseline only.
    Metropolis,
    /// Accept with 1/(1+e^−λ).
    ///
    /// **Privacy.** Without any noise: the exponential mechanism on {accept, reject}.
    Barker,
    /// Accept with E min(1, e^{λ+ξ−σ²/2}), ξ ~ N(0, σ²); no noise is drawn, the expectation has a closed form.
    Penalty {
        /// Standard deviation of the noise the rule integrates out, [`SMALLEST_SIGMA`] to [`LARGEST_SIGMA`].
        sigma: f64,
    },
    /// Accept when λ + N(0, C) + V > 0, V the correction that makes the sum nearly logistic.
    Corrected {
        /// C, below π²/3 for the correction to exist.
        variance: f64,
        /// The law of V.
        correction: Correction,
    },
    /// With probability κ apply the rule inside, otherwise stay.
    Lazy {
        /// κ, above 0 and at most 1.
        keep: f64,
        /// The rule inside; not lazy itself.
        rule: Box<Rule>,
    },
}

/// Which outcome a [`Coin`] describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The proposal is taken.
    Accept,
    /// The chain stays.
    Reject,
}

/// A biased coin: `side` comes up with probability exactly `smaller`.
///
/// `smaller` is a finite f64 in [0, ½], hence a dyadic rational, so a stream of fair bits can flip it exactly.
///
/// **Privacy.** A coin is computed from records: it is as secret as they are, and has no Debug.
#[derive(Clone, Copy, PartialEq)]
pub struct Coin {
    /// Probability of `side`.
    pub smaller: f64,
    /// The less likely outcome.
    pub side: Side,
}

impl Coin {
    /// The probability that the proposal is accepted.
    #[must_use]
    pub fn accept(self) -> f64 {
        match self.side {
            Side::Accept => self.smaller,
            Side::Reject => 1.0 - self.smaller,
        }
    }
}

impl Rule {
    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Argument`] names the parameter; [`Error::Mismatch`] refuses a lazy rule inside a lazy rule.
    pub fn validate(&self) -> Result<(), Error> {
        match self {
            Self::Metropolis | Self::Barker => Ok(()),
            Self::Penalty { sigma } => {
                if *sigma >= SMALLEST_SIGMA && *sigma <= LARGEST_SIGMA {
                    Ok(())
                } else {
                    Err(Error::Argument {
                        name: "sigma",
                        requirement: "between 1/1024 and 64",
                        value: *sigma,
                    })
                }
            }
            Self::Corrected { variance, .. } => {
                // π²/3 is the variance of the logistic law: nothing could be left for the correction.
                if *variance >= 1.0 / 64.0 && *variance < std::f64::consts::PI.powi(2) / 3.0 {
                    Ok(())
                } else {
                    Err(Error::Argument {
                        name: "variance",
                        requirement: "at least 1/64 and below pi^2/3",
                        value: *variance,
                    })
                }
            }
            Self::Lazy { keep, rule } => {
                if matches!(**rule, Self::Lazy { .. }) {
                    return Err(Error::Mismatch("a lazy rule inside a lazy rule: multiply the two `keep`s"));
                }
                if *keep > 0.0 && *keep <= 1.0 {
                    rule.validate()
                } else {
                    Err(Error::Argument { name: "keep", requirement: "above 0 and at most 1", value: *keep })
                }
            }
        }
    }

    /// a(λ), without the clamp: ±∞ give the limits, NaN what −∞ gives. The rule must be valid.
    ///
    /// **Precision.** For |λ| ≤ [`CLAMP`] that of [`Rule::coin`] and one rounding.
    #[must_use]
    pub fn accept(&self, log_ratio: f64) -> f64 {
        self.sides(log_ratio, 0.0).accept
    }

    /// 1 − a(λ), computed on its own where it is small.
    ///
    /// Limits and precision as for [`Rule::accept`].
    #[must_use]
    pub fn reject(&self, log_ratio: f64) -> f64 {
        self.sides(log_ratio, 0.0).reject
    }

    /// The coin to flip for a log-ratio λ, clamped to ±[`CLAMP`]; NaN counts as −[`CLAMP`].
    ///
    /// `batch_variance` is the variance of a log-ratio estimated from a batch, 0 for full data (and what is negative
    /// or NaN counts as 0). [`Rule::Penalty`] lowers λ by half of it, which turns
    /// Φ(m/σ) + e^{m+σ²/2}Φ(−m/σ−σ) with m = λ − ½(σ²+σ_b²) into the full-data formula. [`Rule::Corrected`] takes
    /// it off C, at most C/2 of it (clips of the published sampler keep it below). The other rules have no use
    /// for it.
    ///
    /// **Privacy.** λ, the batch variance and the returned coin are secrets; only the flipped outcome may leave.
    ///
    /// **Precision.** Each outcome's probability p̂ and its ideal p obey p ≤ e^ρ p̂, p̂ ≤ e^ρ p + β and p̂ ≤ e^ρ' p + β' with
    /// ρ = [`Rule::coin_error`], β = [`Rule::coin_absolute_error`], ρ' = [`Rule::coin_far_error`] and
    /// β' = [`Rule::coin_far_absolute_error`], at λ after the clamp and, for a penalty with batches, after a subtraction
    /// rounded by at most 2⁻⁴⁷, the only addition here. A caller that passes a batch variance adds that to the rounding of its log-ratio.
    ///
    /// A rule that does not [`validate`](Rule::validate) always rejects.
    ///
    /// ```
    /// use barkeep_accounting::{Rule, Side};
    /// let coin = Rule::Barker.coin(3.0, 0.0);
    /// assert_eq!(coin.side, Side::Reject);
    /// assert!((coin.smaller - 0.047425873177566781).abs() < 1e-17);
    /// ```
    #[must_use]
    pub fn coin(&self, log_ratio: f64, batch_variance: f64) -> Coin {
        let log_ratio = if log_ratio.is_nan() { -CLAMP } else { log_ratio };
        let batch_variance = if batch_variance > 0.0 { batch_variance } else { 0.0 };
        let sides = self.sides_clamped(log_ratio, batch_variance);
        if (0.0..=0.5).contains(&sides.accept) {
            Coin { smaller: self.lifted(sides.accept), side: Side::Accept }
        } else if (0.0..=0.5).contains(&sides.reject) {
            Coin { smaller: self.lifted(sides.reject), side: Side::Reject }
        } else {
            // Neither is a probability: the rule was never valid.
            Coin { smaller: 0.0, side: Side::Accept }
        }
    }

    /// The coin that is left to flip once normal noise of standard deviation `drawn` has been added to the log-ratio.
    ///
    /// λ̃ = λ + ξ (for a penalty with batches, λ − ½σ_b² + ξ) with ξ ~ N(0, d²), d at most the rule's σ (√C for [`Rule::Corrected`]).
    /// With r² = σ² − d², a penalty accepts with E min(1, e^{λ̃+N(0,r²)−σ²/2}), which is the penalty with r at λ̃ − d²/2 and
    /// Metropolis' rule there if r = 0; a correction with P(λ̃ + N(0, r²) + V > 0). On average over ξ that is [`Rule::coin`] without its
    /// clamp.
    ///
    /// **Privacy.** A function of λ̃ alone: a post-processing of the Gaussian mechanism, whatever its rounding.
    ///
    /// None for rules without noise.
    #[must_use]
    pub fn coin_after_noise(&self, noisy: f64, drawn: f64) -> Option<Coin> {
        let sides = self.sides_after_noise(if noisy.is_nan() { f64::NEG_INFINITY } else { noisy }, drawn)?;
        Some(if sides.accept <= 0.5 {
            Coin { smaller: sides.accept, side: Side::Accept }
        } else {
            Coin { smaller: sides.reject, side: Side::Reject }
        })
    }

    fn sides_after_noise(&self, noisy: f64, drawn: f64) -> Option<Sides> {
        match self {
            Self::Metropolis | Self::Barker => None,
            Self::Penalty { sigma } => {
                // As a product, exactly 0 where all was drawn; a rest this small is none.
                let rest = libm::sqrt(((sigma - drawn) * (sigma + drawn)).max(0.0));
                let lowered = noisy - 0.5 * drawn * drawn;
                Some(if rest < SMALLEST_SIGMA * sigma {
                    probability::metropolis(lowered)
                } else {
                    probability::penalty(lowered, rest)
                })
            }
            Self::Corrected { variance, correction } => {
                let rest = (variance - drawn * drawn).max(0.0);
                let rest = if rest < 1e-12 { 0.0 } else { rest };
                Some(probability::corrected(noisy, rest, correction))
            }
            Self::Lazy { keep, rule } => {
                Some(probability::lazy(*keep, rule.sides_after_noise(noisy, drawn)?))
            }
        }
    }

    /// Both probabilities at a λ clamped after the batch's share is taken off.
    fn sides_clamped(&self, log_ratio: f64, batch_variance: f64) -> Sides {
        match self {
            Self::Penalty { .. } => {
                let lowered = (log_ratio - 0.5 * batch_variance).clamp(-CLAMP, CLAMP);
                self.sides(lowered, 0.0)
            }
            Self::Lazy { keep, rule } => {
                probability::lazy(*keep, rule.sides_clamped(log_ratio, batch_variance))
            }
            Self::Metropolis | Self::Barker | Self::Corrected { .. } => {
                self.sides(log_ratio.clamp(-CLAMP, CLAMP), batch_variance)
            }
        }
    }

    /// Both probabilities at any λ.
    fn sides(&self, log_ratio: f64, batch_variance: f64) -> Sides {
        let log_ratio = if log_ratio.is_nan() { f64::NEG_INFINITY } else { log_ratio };
        match self {
            Self::Metropolis => probability::metropolis(log_ratio),
            Self::Barker => probability::barker(log_ratio),
            Self::Penalty { sigma } => probability::penalty(log_ratio, *sigma),
            Self::Corrected { variance, correction } => {
                let left = variance - batch_variance.min(0.5 * variance);
                probability::corrected(log_ratio, left, correction)
            }
            Self::Lazy { keep, rule } => probability::lazy(*keep, rule.sides(log_ratio, batch_variance)),
        }
    }
}
