//! Says how a response's mean follows from η, and which priors follow from that and from public ranges.

use crate::Prior;

/// How a response's mean follows from η.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// η itself.
    Identity,
    /// e^η.
    Log,
    /// A probability 1/(1 + e^(−η)).
    Logit,
    /// A probability Φ(η).
    Probit,
}

/// Half the width of a range, above 0.
fn half((low, high): (f64, f64)) -> f64 {
    (0.5 * high - 0.5 * low).max(f64::MIN_POSITIVE)
}

impl Link {
    /// The link as a spec spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Log => "log",
            Self::Logit => "logit",
            Self::Probit => "probit",
        }
    }

    /// The unit default priors count in: half the width of the response's range where η is on its scale, else 1.
    #[must_use]
    pub fn unit(self, response: (f64, f64)) -> f64 {
        match self {
            Self::Identity => half(response),
            Self::Log | Self::Logit | Self::Probit => 1.0,
        }
    }

    /// The default prior of an intercept, given the ranges of the response and the mean of the offset.
    #[must_use]
    pub fn intercept_prior(self, (low, high): (f64, f64), offset: f64) -> Prior {
        let (middle, sd) = match self {
            Self::Identity => (0.5 * low + 0.5 * high, 2.5 * self.unit((low, high))),
            Self::Log => {
                // A count of 0 has no logarithm; half a count has.
                let (low, high) = (low.max(0.5_f64.min(high)).ln(), high.ln());
                (0.5 * (low + high), half((low, high)).max(2.5))
            }
            Self::Logit | Self::Probit => (0.0, 2.5),
        };
        Prior::Normal { mean: middle - offset, sd }
    }

    /// The default prior of a slope, given the ranges of the response and of the feature.
    #[must_use]
    pub fn slope_prior(self, response: (f64, f64), feature: (f64, f64)) -> Prior {
        Prior::Normal { mean: 0.0, sd: 2.5 * self.unit(response) / half(feature) }
    }
}
