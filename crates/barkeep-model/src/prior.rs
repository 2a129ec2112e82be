//! Describes what is believed of one parameter before any record: a density, its derivatives, a draw.

use std::f64::consts::{LN_2, PI, TAU};

use barkeep_num::ln_gamma;

use crate::Error;
use crate::variates::{normal, student_t};

/// A prior of one real parameter.
///
/// Densities are normalised, except the flat one, which is 1 everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// N(mean, sd²).
    Normal {
        /// The centre.
        mean: f64,
        /// The standard deviation.
        sd: f64,
    },
    /// Student's t around `location`, stretched by `scale`.
    StudentT {
        /// The degrees of freedom ν.
        degrees: f64,
        /// The centre.
        location: f64,
        /// The stretch.
        scale: f64,
    },
    /// Cauchy: Student's t with ν = 1.
    Cauchy {
        /// The centre.
        location: f64,
        /// The half width at half height.
        scale: f64,
    },
    /// |N(0, scale²)|, for positive parameters.
    HalfNormal {
        /// The standard deviation of the normal that is folded.
        scale: f64,
    },
    /// Density rate·e^(−rate·x), for positive parameters.
    Exponential {
        /// The inverse of the mean.
        rate: f64,
    },
    /// No preference; improper.
    Flat,
}

impl Prior {
    /// This prior, if its constants make it one; `key` names it in the spec.
    ///
    /// # Errors
    /// A location is not finite, or a scale, rate or ν is not finite and above 0.
    pub fn checked(self, key: &'static str) -> Result<Self, Error> {
        let (location, scale, degrees) = match self {
            Self::Normal { mean, sd } => (mean, sd, 1.0),
            Self::StudentT { degrees, location, scale } => (location, scale, degrees),
            Self::Cauchy { location, scale } => (location, scale, 1.0),
            Self::HalfNormal { scale } => (0.0, scale, 1.0),
            Self::Exponential { rate } => (0.0, rate, 1.0),
            Self::Flat => (0.0, 1.0, 1.0),
        };
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !location.is_finite() {
            return Err(Error::Key { key, requirement: "must have a finite centre" });
        }
        if !positive(scale) || !positive(degrees) {
            let requirement = "must have a finite scale (and degrees of freedom) above 0";
            return Err(Error::Key { key, requirement });
        }
        Ok(self)
    }

    /// Whether negative values have probability zero.
    pub fn is_positive(&self) -> bool {
        matches!(self, Self::HalfNormal { .. } | Self::Exponential { .. })
    }

    /// ln p(x); −∞ outside the support.
    pub fn log_density(&self, x: f64) -> f64 {
        if self.is_positive() && x < 0.0 {
            return f64::NEG_INFINITY;
        }
        match *self {
            Self::Normal { mean, sd } => {
                -0.5 * square((x - mean) / sd) - libm::log(sd) - 0.5 * libm::log(TAU)
            }
            Self::StudentT { degrees, location, scale } => {
                let z = (x - location) / scale;
                let shape = 0.5 * (degrees + 1.0);
                ln_gamma(shape)
                    - ln_gamma(0.5 * degrees)
                    - 0.5 * libm::log(degrees * PI)
                    - libm::log(scale)
                    - shape * libm::log1p(z * z / degrees)
            }
            Self::Cauchy { location, scale } => {
                -libm::log1p(square((x - location) / scale)) - libm::log(PI) - libm::log(scale)
            }
            Self::HalfNormal { scale } => {
                LN_2 - 0.5 * square(x / scale) - libm::log(scale) - 0.5 * libm::log(TAU)
            }
            Self::Exponential { rate } => libm::log(rate) - rate * x,
            Self::Flat => 0.0,
        }
    }

    /// d ln p(x)/dx inside the support.
    pub fn derivative(&self, x: f64) -> f64 {
        match *self {
            Self::Normal { mean, sd } => -(x - mean) / (sd * sd),
            Self::StudentT { degrees, location, scale } => {
                tail_derivative(degrees, (x - location) / scale) / scale
            }
            Self::Cauchy { location, scale } => tail_derivative(1.0, (x - location) / scale) / scale,
            Self::HalfNormal { scale } => -x / (scale * scale),
            Self::Exponential { rate } => -rate,
            Self::Flat => 0.0,
        }
    }

    /// d² ln p(x)/dx² inside the support.
    pub fn second_derivative(&self, x: f64) -> f64 {
        match *self {
            Self::Normal { sd, .. } => -1.0 / (sd * sd),
            Self::StudentT { degrees, location, scale } => {
                tail_second_derivative(degrees, (x - location) / scale) / (scale * scale)
            }
            Self::Cauchy { location, scale } => {
                tail_second_derivative(1.0, (x - location) / scale) / (scale * scale)
            }
            Self::HalfNormal { scale } => -1.0 / (scale * scale),
            Self::Exponential { .. } | Self::Flat => 0.0,
        }
    }

    /// A draw, from variates uniform on (0, 1); `None` if the prior is improper.
    pub fn sample(&self, uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
        match *self {
            Self::Normal { mean, sd } => Some(mean + sd * normal(uniform)),
            Self::StudentT { degrees, location, scale } => {
                Some(location + scale * student_t(degrees, uniform))
            }
            Self::Cauchy { location, scale } => Some(location + scale * libm::tan(PI * (uniform() - 0.5))),
            Self::HalfNormal { scale } => Some(scale * normal(uniform).abs()),
            Self::Exponential { rate } => Some(-libm::log(uniform()) / rate),
            Self::Flat => None,
        }
    }
}

fn square(z: f64) -> f64 {
    z * z
}

/// d/dz of −½(ν+1)·ln(1 + z²/ν).
fn tail_derivative(degrees: f64, z: f64) -> f64 {
    -(degrees + 1.0) * z / (degrees + z * z)
}

/// d²/dz² of −½(ν+1)·ln(1 + z²/ν).
fn tail_second_derivative(degrees: f64, z: f64) -> f64 {
    (degrees + 1.0) * (z * z - degrees) / square(degrees + z * z)
}

#[cfg(test)]
mod tests;
