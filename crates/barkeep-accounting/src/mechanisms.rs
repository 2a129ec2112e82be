//! Lists the mechanisms: what may leave the curator in one step, one file for each.
//!
//! A mechanism is one file here and one item of the list below. Its file says everything the rest of the program asks: with
//! which samples of records it has a proof, its ρ and μ, what it covers, its privacy losses, its Rényi curve, the error of
//! its coin, the engine that prices it most tightly, and what it releases, in words. The list declares the modules and makes
//! [`Mechanism`] and its dispatch; costs, contracts, filters, accountants and certificates follow.

use serde::{Deserialize, Serialize};

use crate::{CoinError, Epsilon, Error, Mu, Neighbours, Ratio, Rho, Rule, Sampling, Sensitivity, pld, renyi};

/// Declares the modules of the mechanisms, and the enum with one variant for each.
macro_rules! mechanisms {
    ($($module:ident::$Kind:ident),+ $(,)?) => {
        $(
            mod $module;
            pub use $module::$Kind;

            impl From<$Kind> for Mechanism {
                fn from(mechanism: $Kind) -> Self {
                    Self::$Kind(mechanism)
                }
            }
        )+

        /// What leaves the curator in one step, and how it is protected.
        ///
        /// Ratios and sensitivities are those under the neighbouring relation of the [`Cost`](crate::Cost) they stand in.
        ///
        /// Ask a mechanism what you want to know, rather than matching its kind: the list grows with its registry.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Mechanism {
            $(
                #[doc = concat!("See [`", stringify!($Kind), "`].")]
                $Kind($Kind),
            )+
        }

        impl Mechanism {
            /// What the mechanism's file says of it.
            pub(crate) fn entry(&self) -> &dyn Entry {
                match self {
                    $(Self::$Kind(mechanism) => mechanism,)+
                }
            }

            /// Whether one of two mechanisms of the same kind dominates the other.
            ///
            /// Mechanisms of different kinds do not, as far as is known here. That is the safe side: a question that is
            /// not covered is refused, never underpriced.
            fn covers_its_kind(&self, other: &Self) -> bool {
                match (self, other) {
                    $((Self::$Kind(mechanism), Self::$Kind(other)) => mechanism.covers(other),)+
                    _ => false,
                }
            }

            /// The place of its kind in the list, for a fixed order of words.
            fn place(&self) -> usize {
                let kinds = [$(matches!(self, Self::$Kind(_)),)+];
                kinds.iter().position(|kind| *kind).unwrap_or(kinds.len())
            }
        }
    };
}

// Bits come first, then noisy values, then choices: the order in which a certificate names them.
mechanisms![
    decision::Decision,
    noisy_decision::NoisyDecision,
    barker_minibatch::BarkerMinibatch,
    gaussian::Gaussian,
    truncated_gaussian::TruncatedGaussian,
    discrete_gaussian::DiscreteGaussian,
    laplace::Laplace,
    discrete_laplace::DiscreteLaplace,
    bernoulli::Bernoulli,
    categorical_response::CategoricalResponse,
    exponential::Exponential,
    noisy_max::NoisyMax,
    approximate::Approximate,
    concentrated::Concentrated,
];

/// What a mechanism's file says of it. Nothing has a default: a new mechanism answers every question.
pub(crate) trait Entry {
    /// Refuses samples and neighbours without a proof, and impossible parameters.
    fn check(&self, sampling: Sampling, neighbours: Neighbours) -> Result<(), Error>;

    /// ρ of one step, ideal coins assumed; fast, since a filter asks at every step.
    fn rho(&self, sampling: Sampling) -> Result<Rho, Error>;

    /// μ of one step, ideal coins assumed.
    fn mu(&self, sampling: Sampling) -> Result<Mu, Error>;

    /// The ratio of a Gaussian mechanism with exactly the same price, whatever the batch, if there is one.
    fn gaussian_ratio(&self) -> Option<Ratio>;

    /// Whether it costs at least as much as another of its kind, on the same records, whatever it is composed with.
    fn covers(&self, other: &Self) -> bool
    where
        Self: Sized;

    /// A pair of distributions that dominates one step.
    fn losses(&self, sampling: Sampling, neighbours: Neighbours) -> Result<pld::DominatingPair, Error>;

    /// The Rényi curve of one step.
    fn divergences(&self, sampling: Sampling, neighbours: Neighbours)
    -> Result<Box<dyn renyi::Curve>, Error>;

    /// The engine that prices it most tightly.
    fn suits(&self, sampling: Sampling) -> Suits<'_>;

    /// What leaves the curator, and how far its coin and its price are from that.
    fn leaves(&self) -> Leaves;
}

/// What leaves the curator, and how far a mechanism's coin and its price are from that.
pub(crate) struct Leaves {
    /// In words, for a certificate.
    pub(crate) words: &'static str,
    /// How far the coin it flips may be from the ideal one.
    pub(crate) coin_error: CoinError,
    /// Whether its price is that of what leaves, or of a number that stays inside the curator.
    pub(crate) price_of: PriceOf,
}

impl Leaves {
    /// What is drawn from exactly the law that is priced.
    fn drawn(words: &'static str) -> Self {
        Self { words, coin_error: CoinError::NONE, price_of: PriceOf::WhatLeaves }
    }
}

/// The engine that prices a mechanism most tightly, and what that engine needs to know.
pub(crate) enum Suits<'a> {
    /// None: nothing is revealed.
    Free,
    /// The closed form of the Gaussian mechanism.
    ClosedForm(Ratio),
    /// Optimal adaptive composition of decisions.
    Decisions {
        /// The rule.
        rule: &'a Rule,
        /// The most a neighbouring change moves the log-ratio.
        sensitivity: Sensitivity,
    },
    /// The exact sum over the number of ones.
    Bits(Bernoulli),
    /// Privacy-loss distributions.
    Losses,
    /// Rényi divergences: it has no other curve.
    Divergences {
        /// Whether a run of nothing else is converted to (ε, δ) as the paper did.
        as_published: bool,
    },
}

/// Which number a price belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceOf {
    /// What leaves the curator: an attack that reaches the price may exist.
    WhatLeaves,
    /// A noisy number that stays inside; what leaves is a function of it and tells less.
    WhatStaysInside,
}

impl Mechanism {
    /// What leaves the curator, in words.
    #[must_use]
    pub fn released(&self) -> &'static str {
        self.entry().leaves().words
    }

    /// What leaves the curator under any of these, in words: each once, in a fixed order.
    pub fn all_released<'a>(mechanisms: impl IntoIterator<Item = &'a Self>) -> Vec<&'static str> {
        let mut kinds: Vec<(usize, &'static str)> =
            mechanisms.into_iter().map(|mechanism| (mechanism.place(), mechanism.released())).collect();
        kinds.sort_unstable();
        let mut words: Vec<&'static str> = Vec::new();
        for (_, released) in kinds {
            if !words.contains(&released) {
                words.push(released);
            }
        }
        words
    }

    /// Whether its price is that of what leaves the curator, or of a number that stays inside.
    #[must_use]
    pub fn price_of(&self) -> PriceOf {
        self.entry().leaves().price_of
    }

    /// Whether this mechanism costs at least as much as `other` on the same records, whatever it is composed with.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (self.entry().gaussian_ratio(), other.entry().gaussian_ratio()) {
            (Some(ratio), Some(other)) => ratio <= other,
            (None, None) => self.covers_its_kind(other),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// Refuses batches.
fn full_batches_only(sampling: Sampling) -> Result<(), Error> {
    match sampling {
        Sampling::Full => Ok(()),
        Sampling::Poisson { .. } | Sampling::WithoutReplacement { .. } => Err(Error::Mismatch(
            "amplification by sampling is proved here for Gaussian and Laplace noise only; \
             use full batches with this mechanism",
        )),
    }
}

/// Refuses a question that no change moves.
fn some_sensitivity(sensitivity: u64) -> Result<(), Error> {
    if sensitivity > 0 {
        return Ok(());
    }
    Err(Error::Argument { name: "sensitivity", requirement: "a whole number of at least 1", value: 0.0 })
}

/// Why a sampled batch has no ρ or μ: no multiple of the order bounds its Rényi divergence tightly.
const SAMPLED: Error = Error::Mismatch("a filter cannot charge sampled batches; buy them with a contract");

/// Why a mechanism has no μ.
const NOT_GAUSSIAN: Error =
    Error::Mismatch("this mechanism has no known bound in Gaussian privacy; charge its rho instead");

/// ρ of a mechanism whose privacy loss is at most this much.
fn pure_rho(loss: f64) -> Result<Rho, Error> {
    Epsilon::new(loss).map(Epsilon::pure_rho).map_err(|_| {
        Error::Unbounded("the mechanism is not zero-concentrated: an outcome can be certain on one side")
    })
}

/// μ of a mechanism whose privacy loss is at most this much.
fn pure_mu(loss: f64) -> Result<Mu, Error> {
    Epsilon::new(loss).map(Epsilon::pure_mu)
}

#[cfg(test)]
mod tests;
