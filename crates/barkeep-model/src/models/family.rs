//! Lists the laws of a response given its predictor η, each with its density, derivatives, information and bound.

use barkeep_num::vector::scalar::{exp, ln, sigmoid};
use barkeep_num::{erfcx, ln_binomial, ln_normal_cdf, normal_cdf};

use crate::error::require_positive;
use crate::gamma::{digamma, trigamma};
use crate::soft::softplus;
use crate::variates::{gamma, normal, poisson, student_t};
use crate::{Belief, Error, Prior, Transform};

/// What is known of a family's one parameter beside η: a spread, a shape, a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Nuisance {
    /// It is this.
    Known(f64),
    /// It is a parameter of the model, held as its logarithm, with this prior on itself.
    Unknown(Prior),
}

/// How a probability follows from η.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// p = 1/(1 + e^(−η)).
    Logit,
    /// p = Φ(η).
    Probit,
}

/// The law of a response y given η.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Family {
    /// y ~ N(η, σ²); the parameter is `log_sd`.
    Gaussian {
        /// σ.
        sd: Nuisance,
    },
    /// (y − η)/s ~ Student's t; the parameter is `log_scale`.
    StudentT {
        /// The degrees of freedom ν.
        degrees: f64,
        /// s.
        scale: Nuisance,
    },
    /// y is 1 with probability p(η), else 0.
    Bernoulli(Link),
    /// y successes of the design's trials, each with probability 1/(1 + e^(−η)). More successes than trials count as
    /// so many as trials.
    Binomial,
    /// y ~ Poisson(e^η).
    Poisson,
    /// A count of mean μ = e^η and variance μ + μ²/r; the parameter is `log_size`.
    NegativeBinomial {
        /// r.
        size: Nuisance,
    },
    /// A positive number of mean μ = e^η and variance μ²/α; α = 1 is the exponential law. The parameter is `log_shape`.
    Gamma {
        /// α.
        shape: Nuisance,
    },
}

impl Family {
    /// The family, if its constants make it one.
    ///
    /// **Errors** unless a known nuisance and ν are finite and above 0.
    pub(crate) fn checked(self) -> Result<Self, Error> {
        if let Self::StudentT { degrees, .. } = self {
            require_positive("degrees", &[degrees])?;
        }
        if let Some((key, _, Nuisance::Known(value))) = self.nuisance() {
            require_positive(key, &[value])?;
        }
        Ok(self)
    }

    /// The nuisance: its key in the spec, the name of its logarithm as a parameter, and what is known of it.
    pub(crate) fn nuisance(self) -> Option<(&'static str, &'static str, Nuisance)> {
        match self {
            Self::Gaussian { sd } => Some(("sd", "log_sd", sd)),
            Self::StudentT { scale, .. } => Some(("scale", "log_scale", scale)),
            Self::NegativeBinomial { size } => Some(("size", "log_size", size)),
            Self::Gamma { shape } => Some(("shape", "log_shape", shape)),
            Self::Bernoulli(_) | Self::Binomial | Self::Poisson => None,
        }
    }

    /// The belief in an unknown nuisance, as a density of its logarithm.
    pub(crate) fn belief(self) -> Result<Option<Belief>, Error> {
        match self.nuisance() {
            Some((key, _, Nuisance::Unknown(prior))) => {
                Belief::new(prior, Transform::Positive, key).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The expected information of one record about η at μ(η), where a law's spread about η is σ = `nuisance`.
    ///
    /// For a probability it is the largest it can be, which is at η = 0.
    pub(crate) fn information(self, predictor: f64, nuisance: f64, trials: f64) -> f64 {
        match self {
            Self::Gaussian { .. } => nuisance.powi(-2),
            Self::StudentT { degrees, .. } => (degrees + 1.0) / (degrees + 3.0) * nuisance.powi(-2),
            Self::Bernoulli(Link::Logit) => 0.25,
            Self::Bernoulli(Link::Probit) => std::f64::consts::FRAC_2_PI,
            Self::Binomial => 0.25 * trials,
            Self::Poisson => libm::exp(predictor),
            Self::NegativeBinomial { .. } => nuisance * sigmoid(predictor - libm::log(nuisance)),
            Self::Gamma { .. } => nuisance,
        }
    }

    /// The expected information of one record about the logarithm of the nuisance; η and it do not inform each other.
    pub(crate) fn nuisance_information(self, predictor: f64, nuisance: f64) -> f64 {
        match self {
            Self::Gaussian { .. } => 2.0,
            Self::StudentT { degrees, .. } => 2.0 * degrees / (degrees + 3.0),
            Self::NegativeBinomial { .. } => size_information(predictor, nuisance),
            Self::Gamma { .. } => nuisance * (nuisance * trigamma(nuisance) - 1.0),
            Self::Bernoulli(_) | Self::Binomial | Self::Poisson => 0.0,
        }
    }

    /// A bound on |∂ℓ/∂η| for every η, given the largest response and number of trials, where there is one.
    pub(crate) fn slope(self, response: (f64, f64), trials: f64) -> Option<f64> {
        match self {
            Self::Bernoulli(Link::Logit) => Some(response.1.max(1.0 - response.0)),
            Self::Binomial => Some(trials),
            // (ν+1)·|e|/(νs² + e²) is largest at |e| = √ν·s.
            Self::StudentT { degrees, scale: Nuisance::Known(scale) } => {
                Some((degrees + 1.0) / (2.0 * degrees.sqrt() * scale))
            }
            // y − (y + r)·p with p in (0, 1).
            Self::NegativeBinomial { size: Nuisance::Known(size) } => {
                Some(response.1.max(size - response.0.min(0.0)))
            }
            // The others grow with η: a probit's tail, a normal's residual, a mean e^η.
            _ => None,
        }
    }

    /// Draws a response.
    pub(crate) fn simulate(
        self,
        predictor: f64,
        nuisance: f64,
        trials: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        let mut flip = |share: f64| f64::from(u8::from(uniform() < share));
        match self {
            Self::Gaussian { .. } => predictor + nuisance * normal(uniform),
            Self::StudentT { degrees, .. } => predictor + nuisance * student_t(degrees, uniform),
            Self::Bernoulli(Link::Logit) => flip(sigmoid(predictor)),
            Self::Bernoulli(Link::Probit) => flip(normal_cdf(predictor)),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a public, small number"
            )]
            Self::Binomial => (0..trials as u64).map(|_| flip(sigmoid(predictor))).sum(),
            Self::Poisson => poisson(libm::exp(predictor), uniform),
            Self::NegativeBinomial { .. } => {
                let rate = gamma(nuisance, uniform) / nuisance;
                poisson(libm::exp(predictor) * rate, uniform)
            }
            Self::Gamma { .. } => libm::exp(predictor) * gamma(nuisance, uniform) / nuisance,
        }
    }

    /// The part of ln p(y|θ) that depends on y alone, added where a density rather than a ratio is asked.
    pub(crate) fn base(self, y: f64, trials: f64) -> f64 {
        match self {
            Self::Binomial => ln_binomial(trials.max(0.0), successes(y, trials)),
            Self::Poisson | Self::NegativeBinomial { .. } => -barkeep_num::ln_gamma(y + 1.0),
            _ => 0.0,
        }
    }
}

/// Successes, never more than trials.
#[inline(always)]
pub(crate) fn successes(y: f64, trials: f64) -> f64 {
    if y < trials { y } else { trials }
}

/// d ln Φ(t)/dt = φ(t)/Φ(t), about −t far below.
pub(crate) fn hazard(t: f64) -> f64 {
    /// √(2/π).
    const SCALE: f64 = 0.797_884_560_802_865_4;
    if t < 0.0 {
        SCALE / erfcx(-t * std::f64::consts::FRAC_1_SQRT_2)
    } else {
        0.5 * SCALE * libm::exp(-0.5 * t * t) / normal_cdf(t)
    }
}

/// ln Φ of the predictor towards the response.
pub(crate) fn probit(predictor: f64, y: f64) -> f64 {
    ln_normal_cdf((2.0 * y - 1.0) * predictor)
}

/// ∂ℓ/∂ ln r of a negative binomial, from t = η − ln r.
#[inline(always)]
pub(crate) fn size_score(t: f64, y: f64, size: f64, at_size: f64) -> f64 {
    (y + size) * sigmoid(t) - y - size * softplus(t) + size * (digamma(y + size) - at_size)
}

/// E[(∂ℓ/∂ ln r)²] of a negative binomial, summed over counts until what is left does not matter.
fn size_information(predictor: f64, size: f64) -> f64 {
    let t = predictor - libm::log(size);
    let (mut log_share, at_size) = (-size * softplus(t), digamma(size));
    let log_success = t - softplus(t);
    let (mut sum, mut total, mut y) = (0.0, 0.0, 0.0);
    // A million terms are enough for means up to a hundred thousand; beyond, the information is nearly ½.
    while total < 1.0 - 1e-12 && y < 1e6 {
        let share = exp(log_share);
        sum += share * size_score(t, y, size, at_size).powi(2);
        total += share;
        log_share += log_success + ln((y + size) / (y + 1.0));
        y += 1.0;
    }
    if sum.is_finite() { sum } else { 0.0 }
}
