//! Describes a family's law by nodes: a fixed number of responses with weights, for expectations given a predictor.

use std::sync::LazyLock;

use barkeep_num::vector::scalar::{exp, sigmoid};
use barkeep_num::{normal_cdf, normal_quantile};

use crate::gamma::{ln_gamma, trigamma};
use crate::soft::softplus;

/// The law of a response given its predictor η, as far as expectations need it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// 1 with probability 1/(1 + e^(−η)), else 0.
    Logit,
    /// 1 with probability Φ(η), else 0.
    Probit,
    /// Successes out of a record's trials, each with probability 1/(1 + e^(−η)).
    Binomial,
    /// A count of mean e^η.
    Poisson,
    /// A count of mean e^η and variance μ + μ²/r, r the nuisance.
    NegativeBinomial,
    /// N(η, σ²), σ the nuisance.
    Normal,
    /// (y − η)/s follows Student's t, s the nuisance.
    StudentT {
        /// The degrees of freedom.
        degrees: f64,
    },
    /// Gamma of mean e^η whose shape is the nuisance.
    Gamma,
}

/// Nodes of a count: as many whole numbers around the mean, or every k-th of them where the law is wide.
const COUNTS: usize = 128;
/// Nodes of a continuous response: the kinks of a clip need a fine rule.
const CONTINUOUS: usize = 121;

impl Law {
    /// Whether single scores can be far longer than they are on average under the law, so that records which do not
    /// follow it matter. Student's slope is bounded, but at more than twice its average, and features lengthen it: a clip
    /// between the two moves fits by several standard deviations where records are many.
    #[must_use]
    pub fn has_long_scores(self) -> bool {
        match self {
            Self::Logit | Self::Probit => false,
            Self::StudentT { .. }
            | Self::Binomial
            | Self::Poisson
            | Self::NegativeBinomial
            | Self::Normal
            | Self::Gamma => true,
        }
    }

    /// Whether the law of a score does not depend on η, the nuisance given.
    pub(crate) fn is_free_of_predictor(self) -> bool {
        match self {
            Self::Normal | Self::StudentT { .. } | Self::Gamma => true,
            Self::Logit | Self::Probit | Self::Binomial | Self::Poisson | Self::NegativeBinomial => false,
        }
    }

    /// Whether the law of ∂ℓ/∂η is symmetric around 0.
    pub(crate) fn is_symmetric(self) -> bool {
        match self {
            Self::Normal | Self::StudentT { .. } => true,
            Self::Logit
            | Self::Probit
            | Self::Binomial
            | Self::Poisson
            | Self::NegativeBinomial
            | Self::Gamma => false,
        }
    }

    /// Whether responses are whole numbers.
    #[must_use]
    pub fn is_discrete(self) -> bool {
        match self {
            Self::Logit | Self::Probit | Self::Binomial | Self::Poisson | Self::NegativeBinomial => true,
            Self::Normal | Self::StudentT { .. } | Self::Gamma => false,
        }
    }

    /// The mean response at a predictor, of a binomial law out of these trials; of Student's t its centre, which is its
    /// mean where there is one.
    #[must_use]
    pub fn mean(self, predictor: f64, trials: f64) -> f64 {
        match self {
            Self::Logit => sigmoid(predictor),
            Self::Probit => normal_cdf(predictor),
            Self::Binomial => trials * sigmoid(predictor),
            Self::Poisson | Self::NegativeBinomial | Self::Gamma => libm::exp(predictor),
            Self::Normal | Self::StudentT { .. } => predictor,
        }
    }

    /// What η counts, in words; `None` where it is the response itself.
    #[must_use]
    pub fn predictor_words(self) -> Option<&'static str> {
        match self {
            Self::Logit | Self::Binomial => Some("log-odds"),
            Self::Probit => Some("probits"),
            Self::Poisson | Self::NegativeBinomial | Self::Gamma => Some("log of the mean"),
            Self::Normal | Self::StudentT { .. } => None,
        }
    }

    /// What e to a difference of η is, in words; `None` where it is nothing that people use.
    #[must_use]
    pub fn ratio_words(self) -> Option<&'static str> {
        match self {
            Self::Logit | Self::Binomial => Some("odds ratio"),
            Self::Poisson | Self::NegativeBinomial => Some("rate ratio"),
            Self::Gamma => Some("ratio of means"),
            Self::Probit | Self::Normal | Self::StudentT { .. } => None,
        }
    }

    /// The predictor at which a probability is `share`, for a law of probabilities.
    #[must_use]
    pub fn predictor_of_share(self, share: f64) -> Option<f64> {
        match self {
            Self::Logit | Self::Binomial => Some(libm::log(share / (1.0 - share))),
            Self::Probit => Some(normal_quantile(share)),
            Self::Poisson | Self::NegativeBinomial | Self::Normal | Self::StudentT { .. } | Self::Gamma => {
                None
            }
        }
    }
}

/// Responses and weights that stand for a law at one nuisance; a record's are [filled in](NodeRule::fill).
///
/// Every record gets the same number of nodes, whatever it says: the work does not depend on it.
pub struct NodeRule {
    law: Law,
    nuisance: f64,
    /// The largest response the schema admits; the mass beyond it is counted there.
    top: f64,
    /// Standardised nodes of a continuous response, or one placeholder for each node of a discrete one.
    standard: Vec<f64>,
    weights: Vec<f64>,
}

impl NodeRule {
    /// The rule of a law at a nuisance, for responses of at most `top`.
    #[must_use]
    pub fn new(law: Law, log_nuisance: f64, top: f64) -> Self {
        let nuisance = libm::exp(log_nuisance);
        let (standard, weights) = match law {
            Law::Logit | Law::Probit => (vec![0.0, 1.0], vec![0.0; 2]),
            Law::Binomial | Law::Poisson | Law::NegativeBinomial => (vec![0.0; COUNTS], vec![0.0; COUNTS]),
            Law::Normal => trapezoid((-6.0, 6.0), |z| (z, -0.5 * z * z)),
            // z = √ν·sinh t, whose density in t is cosh(t)^−ν up to a constant.
            Law::StudentT { degrees } => {
                let reach = (14.0 / degrees + 0.7).max(6.0 / degrees.sqrt());
                trapezoid((-reach, reach), |t| {
                    (degrees.sqrt() * libm::sinh(t), -degrees * libm::log(libm::cosh(t)))
                })
            }
            // g = e^t has density e^(k(t − e^t)) in t up to a constant.
            Law::Gamma => {
                let shape = nuisance.clamp(1e-3, 1e8);
                let low = -(14.0 / shape).max(6.5 * trigamma(shape).sqrt());
                let high = libm::log(1.0 + 14.0 / shape + (28.0 / shape).sqrt());
                trapezoid((low, high), |t| (libm::exp(t), shape * (t - libm::exp(t) + 1.0)))
            }
        };
        Self { law, nuisance, top, standard, weights }
    }

    /// The number of nodes of every record.
    #[must_use]
    pub fn len(&self) -> usize {
        self.standard.len()
    }

    /// Whether there are none; never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.standard.is_empty()
    }

    /// Writes the nodes of a record with this predictor and, for a binomial law, these trials; weights add up to 1.
    pub fn fill(&self, predictor: f64, trials: f64, responses: &mut [f64], weights: &mut [f64]) {
        let located = |responses: &mut [f64], weights: &mut [f64], centre: f64, scale: f64| {
            for (y, z) in responses.iter_mut().zip(&self.standard) {
                *y = centre + scale * z;
            }
            weights.copy_from_slice(&self.weights);
        };
        let binary = |responses: &mut [f64], weights: &mut [f64], share: f64| {
            responses.copy_from_slice(&[0.0, 1.0]);
            weights.copy_from_slice(&[1.0 - share, share]);
        };
        match self.law {
            Law::Logit => binary(responses, weights, sigmoid(predictor)),
            Law::Probit => binary(responses, weights, normal_cdf(predictor)),
            Law::Normal | Law::StudentT { .. } => located(responses, weights, predictor, self.nuisance),
            Law::Gamma => located(responses, weights, 0.0, exp(predictor.clamp(-600.0, 600.0))),
            Law::Poisson => {
                let mean = exp(predictor.clamp(-30.0, 40.0));
                let log_mean = predictor.clamp(-30.0, 40.0);
                counts(mean, mean.sqrt(), self.top, responses, weights, |y| {
                    y * log_mean - mean - ln_factorial(y)
                });
            }
            Law::NegativeBinomial => {
                let (size, log_mean) = (self.nuisance, predictor.clamp(-30.0, 40.0));
                let (mean, t) = (exp(log_mean), log_mean - libm::log(self.nuisance));
                let (fail, success) = (-size * softplus(t), t - softplus(t));
                let (sd, at_size) = ((mean + mean * mean / size).sqrt(), ln_gamma(size));
                counts(mean, sd, self.top, responses, weights, |y| {
                    ln_gamma(y + size) - at_size - ln_factorial(y) + fail + y * success
                });
            }
            Law::Binomial => {
                let (share, trials) = (sigmoid(predictor), trials.max(0.0));
                let (success, fail) = (-softplus(-predictor), -softplus(predictor));
                let (sd, ways) = ((trials * share * (1.0 - share)).sqrt(), ln_gamma(trials + 1.0));
                counts(trials * share, sd, self.top.min(trials), responses, weights, |y| {
                    let left = (trials - y).max(0.0);
                    y * success + left * fail + ways - ln_factorial(y) - ln_factorial(left)
                });
            }
        }
    }
}

/// ln Γ(y + 1), looked up where 2y is a small whole number, as it is for nodes of counts.
#[inline(always)]
fn ln_factorial(y: f64) -> f64 {
    static HALVES: LazyLock<Vec<f64>> =
        LazyLock::new(|| (0..8192).map(|k| ln_gamma(0.5 * f64::from(k) + 1.0)).collect());
    let twice = 2.0 * y;
    match HALVES.get(twice as usize) {
        Some(known) if twice.trunc() == twice && twice >= 0.0 => *known,
        _ => ln_gamma(y + 1.0),
    }
}

/// Nodes at equal distances of a parameter, which `law` maps to a node and the logarithm of its density.
fn trapezoid((low, high): (f64, f64), law: impl Fn(f64) -> (f64, f64)) -> (Vec<f64>, Vec<f64>) {
    let step = (high - low) / (CONTINUOUS - 1) as f64;
    let (nodes, mut weights): (Vec<f64>, Vec<f64>) =
        (0..CONTINUOUS).map(|k| law(low + step * k as f64)).map(|(node, log)| (node, libm::exp(log))).unzip();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    (nodes, weights)
}

/// Whole numbers around a mean, each with its share, or every k-th of them; what lies beyond `top` is counted there.
fn counts(
    mean: f64,
    sd: f64,
    top: f64,
    responses: &mut [f64],
    weights: &mut [f64],
    log_share: impl Fn(f64) -> f64,
) {
    let start = (mean - 8.0 * sd - 2.0).floor().clamp(0.0, top.max(0.0));
    let end = mean + 9.0 * sd + 16.0;
    let stride = ((end.min(top) - start) / (COUNTS - 1) as f64).ceil().max(1.0);
    let mut largest = f64::NEG_INFINITY;
    for (k, (y, weight)) in responses.iter_mut().zip(weights.iter_mut()).enumerate() {
        // The middle of the whole numbers that a node stands for.
        *y = (start + stride * k as f64 + 0.5 * (stride - 1.0)).min(top);
        *weight = log_share(*y);
        largest = if *weight > largest { *weight } else { largest };
    }
    // Nodes beyond the top repeat it and count once.
    let (mut before, mut total) = (-1.0, 0.0);
    for (y, weight) in responses.iter().zip(weights.iter_mut()) {
        let is_new = *y > before;
        *weight = if is_new { exp(*weight - largest) } else { 0.0 };
        total += *weight;
        before = *y;
    }
    let cut = end > top;
    let mass = if cut { stride * exp(largest) * total } else { 1.0 };
    let beyond = (1.0 - mass).max(0.0);
    let scale = (1.0 - beyond) / total.max(f64::MIN_POSITIVE);
    weights.iter_mut().for_each(|weight| *weight *= scale);
    if let Some(last) = weights.last_mut() {
        // The last node is at the top wherever the law is cut.
        *last += beyond;
    }
}

#[cfg(test)]
mod tests;
