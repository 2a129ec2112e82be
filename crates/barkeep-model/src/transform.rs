//! Maps unconstrained coordinates, in which chains move, to the values a person reads, with log-Jacobians.

use crate::{Error, Prior};

/// A smooth bijection x = x(u) from the real line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transform {
    /// x = u.
    Identity,
    /// x = e^u > 0.
    Positive,
}

/// x(u) and derivatives, and the log-Jacobian ln|dx/du|, which is linear in u for every transform.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mapped {
    /// x(u).
    value: f64,
    /// dx/du.
    slope: f64,
    /// d²x/du².
    curvature: f64,
    /// ln|dx/du|.
    log_jacobian: f64,
    /// d/du of it.
    log_jacobian_slope: f64,
}

impl Transform {
    /// x(u), its derivatives and the log-Jacobian's.
    fn map(self, u: f64) -> Mapped {
        match self {
            Self::Identity => {
                Mapped { value: u, slope: 1.0, curvature: 0.0, log_jacobian: 0.0, log_jacobian_slope: 0.0 }
            }
            Self::Positive => {
                let value = libm::exp(u);
                Mapped { value, slope: value, curvature: value, log_jacobian: u, log_jacobian_slope: 1.0 }
            }
        }
    }

    /// The u with x(u) = x; infinite or NaN if x is not inside the range.
    fn unmap(self, x: f64) -> f64 {
        match self {
            Self::Identity => x,
            Self::Positive => libm::log(x),
        }
    }
}

/// A prior of x = x(u), seen as a density of u: ln p(x(u)) + ln|dx/du|.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Belief {
    prior: Prior,
    transform: Transform,
}

impl Belief {
    /// The belief; `key` names it in the spec.
    ///
    /// # Errors
    /// The prior's constants make no prior, or a positive prior meets a transform that reaches negative values.
    pub fn new(prior: Prior, transform: Transform, key: &'static str) -> Result<Self, Error> {
        if prior.is_positive() && transform == Transform::Identity {
            return Err(Error::Key { key, requirement: "must be a prior on the whole real line" });
        }
        Ok(Self { prior: prior.checked(key)?, transform })
    }

    /// Mean and precision, if u is normal under it; precision 0 where it is flat.
    pub(crate) fn normal(&self) -> Option<(f64, f64)> {
        if self.transform != Transform::Identity {
            return None;
        }
        match self.prior {
            Prior::Normal { mean, sd } => Some((mean, 1.0 / (sd * sd))),
            Prior::Flat => Some((0.0, 0.0)),
            Prior::StudentT { .. }
            | Prior::Cauchy { .. }
            | Prior::HalfNormal { .. }
            | Prior::Exponential { .. } => None,
        }
    }

    /// ln of the density of u.
    pub fn log_density(&self, u: f64) -> f64 {
        let mapped = self.transform.map(u);
        self.prior.log_density(mapped.value) + mapped.log_jacobian
    }

    /// Its derivative.
    pub fn derivative(&self, u: f64) -> f64 {
        let mapped = self.transform.map(u);
        self.prior.derivative(mapped.value) * mapped.slope + mapped.log_jacobian_slope
    }

    /// The negative second derivative, or 0 where that is negative.
    pub fn precision(&self, u: f64) -> f64 {
        let mapped = self.transform.map(u);
        let bend = self.prior.second_derivative(mapped.value) * mapped.slope * mapped.slope
            + self.prior.derivative(mapped.value) * mapped.curvature;
        (-bend).max(0.0)
    }

    /// The precision where the prior's density is largest: of a normal prior its own everywhere, of a heavy-tailed one its
    /// centre's. `None` where u is not x itself.
    pub(crate) fn central_precision(&self) -> Option<f64> {
        let centre = match self.prior {
            Prior::Normal { mean, .. } => mean,
            Prior::StudentT { location, .. } | Prior::Cauchy { location, .. } => location,
            Prior::Flat | Prior::HalfNormal { .. } | Prior::Exponential { .. } => 0.0,
        };
        (self.transform == Transform::Identity).then(|| self.precision(centre))
    }

    /// A draw of u; `None` if the prior is improper or a million draws all fell outside the range of x.
    ///
    /// A prior wider than that range is truncated to it, by drawing again.
    pub fn sample(&self, uniform: &mut dyn FnMut() -> f64) -> Option<f64> {
        for _ in 0..1_000_000 {
            let u = self.transform.unmap(self.prior.sample(uniform)?);
            if u.is_finite() {
                return Some(u);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
