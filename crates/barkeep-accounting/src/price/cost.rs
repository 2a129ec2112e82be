//! Names what one question costs: a mechanism, the records it touches, and the neighbours it is private for.
//!
//! The combination is checked once, where a [`Cost`] is made: a sampling scheme or neighbouring relation for which no
//! proof is known is refused there, and never priced as if it were another.

use serde::{Deserialize, Serialize};

use barkeep_num::up_by;

use crate::{
    Epsilon, Error, Gaussian, Mu, Neighbours, Probability, Ratio, Rho, Rule, Sampling, Sensitivity, Steps,
    Variance, decision,
};

/// What leaves the curator in one step, and how it is protected.
///
/// Ratios and sensitivities are those under the neighbouring relation of the [`Cost`] they stand in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
pub enum Mechanism {
    /// A value plus normal noise, in any dimension.
    Gaussian {
        /// Noise standard deviation over ℓ₂ sensitivity.
        ratio: Ratio,
    },
    /// One bit, priced as if the noisy log-ratio behind it had been released (the papers' accounting).
    ///
    /// A Gaussian mechanism followed by post-processing: the coin is flipped after the noise was added.
    NoisyDecision {
        /// Noise standard deviation over sensitivity of the log-ratio.
        ratio: Ratio,
    },
    /// One bit, drawn by an acceptance rule from a secret log-ratio; nothing else leaves.
    Decision {
        /// The rule.
        rule: Rule,
        /// The most a neighbouring change moves the log-ratio.
        sensitivity: Sensitivity,
    },
    /// An integer plus discrete Gaussian noise (Canonne, Kamath, Steinke 2020).
    DiscreteGaussian {
        /// The parameter σ² of the noise, in squared lattice units.
        variance: Variance,
        /// The most a neighbouring change moves the integer.
        sensitivity: u64,
    },
    /// A value plus Laplace noise.
    Laplace {
        /// Noise scale over ℓ₁ sensitivity.
        ratio: Ratio,
    },
    /// One bit that is 1 with probability p on one data set and q on its neighbour.
    Bernoulli {
        /// On the first.
        p: Probability,
        /// On the second.
        q: Probability,
    },
    /// The corrected Barker test on a batch: Theorem 2 of Heikkilä et al. 2019.
    ///
    /// Per-record log-ratios are clipped to √b/N₀ and the noise has variance 2 minus the batch's own.
    BarkerMinibatch {
        /// Records in a batch, b.
        batch: u64,
        /// Records in all, n.
        records: u64,
        /// Which proved bound on the Rényi divergence is used.
        bound: BarkerBound,
    },
}

/// Which bound on the Rényi divergence of the minibatch Barker test is used; all three are proved, each tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarkerBound {
    /// As published.
    Paper,
    /// As published, without the term that does not vanish for large batches.
    Fixed,
    /// The supremum over all batches, certified by branch and bound.
    Tight,
}

/// The price of one use of a mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked", into = "Unchecked")]
pub struct Cost {
    mechanism: Mechanism,
    sampling: Sampling,
    neighbours: Neighbours,
}

/// A cost as it is written down, before the combination is checked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    mechanism: Mechanism,
    sampling: Sampling,
    neighbours: Neighbours,
}

impl TryFrom<Unchecked> for Cost {
    type Error = Error;
    fn try_from(cost: Unchecked) -> Result<Self, Error> {
        Self::new(cost.mechanism, cost.sampling, cost.neighbours)
    }
}

impl From<Cost> for Unchecked {
    fn from(Cost { mechanism, sampling, neighbours }: Cost) -> Self {
        Self { mechanism, sampling, neighbours }
    }
}

impl Cost {
    /// Checks that the parts go together.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for a combination without a proof; [`Error::Argument`] for an impossible batch or
    /// a sensitivity of zero.
    pub fn new(mechanism: Mechanism, sampling: Sampling, neighbours: Neighbours) -> Result<Self, Error> {
        if let Sampling::WithoutReplacement { batch, records } = sampling {
            check_batch(batch, records)?;
            if neighbours == Neighbours::AddRemove {
                return Err(Error::Mismatch(
                    "batches of fixed size drawn without replacement need neighbours = substitute: \
                     their size would reveal the number of records",
                ));
            }
        }
        match (&mechanism, sampling) {
            (Mechanism::BarkerMinibatch { batch, records, .. }, sampling) => {
                if sampling != (Sampling::WithoutReplacement { batch: *batch, records: *records }) {
                    return Err(Error::Mismatch(
                        "the minibatch Barker test draws its own batch without replacement; \
                         the sampling must say the same batch and records",
                    ));
                }
            }
            (Mechanism::Gaussian { .. } | Mechanism::NoisyDecision { .. }, _) | (_, Sampling::Full) => {}
            (_, Sampling::Poisson { .. } | Sampling::WithoutReplacement { .. }) => {
                return Err(Error::Mismatch(
                    "amplification by sampling is proved here for Gaussian noise only; \
                     use full batches with this mechanism",
                ));
            }
        }
        if let Mechanism::Decision { rule, .. } = &mechanism {
            rule.validate()?;
        }
        if matches!(mechanism, Mechanism::DiscreteGaussian { sensitivity: 0, .. }) {
            return Err(Error::Argument {
                name: "sensitivity",
                requirement: "a whole number of at least 1",
                value: 0.0,
            });
        }
        Ok(Self { mechanism, sampling, neighbours })
    }

    /// What leaves, and how it is protected.
    #[must_use]
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// Which records it touches.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// The neighbours it is private for.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// Whether every record is drawn, whatever the scheme is called.
    pub(crate) fn is_full(&self) -> bool {
        self.sampling.rate() == 1.0
    }

    /// The ratio, if this is a Gaussian mechanism on all records.
    pub(crate) fn full_gaussian(&self) -> Option<Ratio> {
        match self.mechanism {
            Mechanism::Gaussian { ratio } | Mechanism::NoisyDecision { ratio } if self.is_full() => {
                Some(ratio)
            }
            _ => None,
        }
    }

    /// ρ with which a zCDP filter charges one step, ideal coins assumed.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for sampled batches, whose Rényi divergence no multiple of the order bounds tightly;
    /// [`Error::Unbounded`] if the loss has no such bound.
    pub fn rho(&self) -> Result<Rho, Error> {
        let none =
            Error::Unbounded("the mechanism is not zero-concentrated: an outcome can be certain on one side");
        let pure = |epsilon: f64| Epsilon::new(epsilon).map(Epsilon::pure_rho).map_err(|_| none.clone());
        match &self.mechanism {
            Mechanism::Gaussian { ratio } | Mechanism::NoisyDecision { ratio } if self.is_full() => {
                Rho::new(Gaussian::new(*ratio, Steps(1))?.rho().upper)
            }
            Mechanism::DiscreteGaussian { variance, sensitivity } => {
                let sensitivity = *sensitivity as f64;
                Rho::new(up_by(0.5 * sensitivity * sensitivity / variance.get(), 4))
            }
            Mechanism::Laplace { ratio } => pure(up_by(1.0 / ratio.get(), 1)),
            Mechanism::Bernoulli { p, q } => pure(worst_loss(p.get(), q.get())),
            Mechanism::Decision { rule, sensitivity } => decision::zcdp(rule, *sensitivity),
            Mechanism::Gaussian { .. }
            | Mechanism::NoisyDecision { .. }
            | Mechanism::BarkerMinibatch { .. } => {
                Err(Error::Mismatch("a filter cannot charge sampled batches; buy them with a contract"))
            }
        }
    }

    /// μ with which a GDP filter charges one step, ideal coins assumed.
    ///
    /// # Errors
    /// As [`Cost::rho`]; [`Error::Mismatch`] for mechanisms not known to be Gaussian-private.
    pub fn mu(&self) -> Result<Mu, Error> {
        let pure = |epsilon: f64| Epsilon::new(epsilon).map(Epsilon::pure_mu);
        match &self.mechanism {
            Mechanism::Gaussian { ratio } | Mechanism::NoisyDecision { ratio } if self.is_full() => {
                Mu::new(Gaussian::new(*ratio, Steps(1))?.mu().upper)
            }
            Mechanism::Laplace { ratio } => pure(up_by(1.0 / ratio.get(), 1)),
            Mechanism::Bernoulli { p, q } => pure(worst_loss(p.get(), q.get())),
            _ => Err(Error::Mismatch(
                "this mechanism has no known bound in Gaussian privacy; charge its rho instead",
            )),
        }
    }

    /// Whether this cost is at least as much as `other`, whatever it is composed with.
    ///
    /// True only where one mechanism provably dominates the other: equal kinds, and every number on the dearer side. A
    /// budget may then charge `other` as `self`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.neighbours == other.neighbours
            && self.sampling.covers(&other.sampling)
            && self.mechanism.covers(&other.mechanism)
    }
}

impl Mechanism {
    fn covers(&self, other: &Self) -> bool {
        use Mechanism::{
            BarkerMinibatch, Bernoulli, Decision, DiscreteGaussian, Gaussian, Laplace, NoisyDecision,
        };
        match (self, other) {
            // A noisy decision is a post-processing of the Gaussian mechanism.
            (
                Gaussian { ratio } | NoisyDecision { ratio },
                Gaussian { ratio: other } | NoisyDecision { ratio: other },
            )
            | (Laplace { ratio }, Laplace { ratio: other }) => ratio <= other,
            // What an adversary can do within a sensitivity, he can do within a larger one.
            (
                Decision { rule, sensitivity },
                Decision { rule: other_rule, sensitivity: other_sensitivity },
            ) => rule == other_rule && sensitivity >= other_sensitivity,
            // Log-concave noise: a larger shift is easier to see. Nothing so simple holds for the variance.
            (
                DiscreteGaussian { variance, sensitivity },
                DiscreteGaussian { variance: other_variance, sensitivity: other_sensitivity },
            ) => variance == other_variance && sensitivity >= other_sensitivity,
            (Bernoulli { p, q }, Bernoulli { p: other_p, q: other_q }) => p == other_p && q == other_q,
            // The mechanism is the same; the bounds are all true of it.
            (
                BarkerMinibatch { batch, records, .. },
                BarkerMinibatch { batch: other_batch, records: other_records, .. },
            ) => batch == other_batch && records == other_records,
            _ => false,
        }
    }
}

/// The largest privacy loss of a bit, rounded up; infinite if an outcome is impossible on one side only.
fn worst_loss(p: f64, q: f64) -> f64 {
    let loss = |p: f64, q: f64| {
        let difference = if p == q { 0.0 } else { (libm::log(p) - libm::log(q)).abs() };
        let not = if p == q { 0.0 } else { (libm::log1p(-p) - libm::log1p(-q)).abs() };
        difference.max(not)
    };
    let size = [libm::log(p), libm::log(q), libm::log1p(-p), libm::log1p(-q)];
    let rounding = size.iter().filter(|ln| ln.is_finite()).map(|ln| ln.abs()).fold(0.0, f64::max);
    loss(p, q) + 4.0 * f64::EPSILON * rounding
}

fn check_batch(batch: u64, records: u64) -> Result<(), Error> {
    if batch == 0 || batch > records {
        return Err(Error::Argument {
            name: "batch",
            requirement: "at least 1 and at most the number of records",
            value: batch as f64,
        });
    }
    Ok(())
}
