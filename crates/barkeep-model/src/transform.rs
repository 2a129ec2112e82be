//! Maps unconstrained coordinates, in which chains move, to the values a person reads, with log-Jacobians.

use crate::{Error, Prior};

/// A smooth bijection x = x(u) from the real line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transform {
    /// x = u.
    Identity,
    /// x = e^u > 0.
    Positive,
    /// x = low + (high − low)/(1 + e^(−u)).
    Interval {
        /// The lower end, not reached.
        low: f64,
        /// The upper end, not reached.
        high: f64,
    },
}

/// x(u) and derivatives, and those of the log-Jacobian ln|dx/du|.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mapped {
    /// x(u).
    pub value: f64,
    /// dx/du.
    pub slope: f64,
    /// d²x/du².
    pub curvature: f64,
    /// ln|dx/du|.
    pub log_jacobian: f64,
    /// d/du of it.
    pub log_jacobian_slope: f64,
    /// d²/du² of it.
    pub log_jacobian_curvature: f64,
}

impl Transform {
    /// This transform, if its interval is one. **Errors** unless low < high, both finite.
    pub fn checked(self, key: &'static str) -> Result<Self, Error> {
        match self {
            Self::Interval { low, high } if !(low < high && low.is_finite() && high.is_finite()) => {
                Err(Error::Key { key, requirement: "must have a finite low below a finite high" })
            }
            _ => Ok(self),
        }
    }

    /// x(u), its derivatives and the log-Jacobian's.
    pub fn map(&self, u: f64) -> Mapped {
        match *self {
            Self::Identity => Mapped {
                value: u,
                slope: 1.0,
                curvature: 0.0,
                log_jacobian: 0.0,
                log_jacobian_slope: 0.0,
                log_jacobian_curvature: 0.0,
            },
            Self::Positive => {
                let value = libm::exp(u);
                Mapped {
                    value,
                    slope: value,
                    curvature: value,
                    log_jacobian: u,
                    log_jacobian_slope: 1.0,
                    log_jacobian_curvature: 0.0,
                }
            }
            Self::Interval { low, high } => {
                // e = e^(−|u|) keeps both shares p and 1 − p accurate in either tail.
                let e = libm::exp(-u.abs());
                let (smaller, larger) = (e / (1.0 + e), 1.0 / (1.0 + e));
                let (share, rest) = if u < 0.0 { (smaller, larger) } else { (larger, smaller) };
                let width = high - low;
                let slope = width * share * rest;
                Mapped {
                    value: if u < 0.0 { low + width * share } else { high - width * rest },
                    slope,
                    curvature: slope * (rest - share),
                    log_jacobian: libm::log(width) - u.abs() - 2.0 * libm::log1p(e),
                    log_jacobian_slope: rest - share,
                    log_jacobian_curvature: -2.0 * share * rest,
                }
            }
        }
    }

    /// The u with x(u) = x; infinite or NaN if x is not inside the range.
    pub fn unmap(&self, x: f64) -> f64 {
        match *self {
            Self::Identity => x,
            Self::Positive => libm::log(x),
            Self::Interval { low, high } => libm::log((x - low) / (high - x)),
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
    /// **Errors** if the prior or the transform is not one, or a positive prior meets a transform that reaches
    /// negative values.
    pub fn new(prior: Prior, transform: Transform, key: &'static str) -> Result<Self, Error> {
        let positive = match transform {
            Transform::Identity => false,
            Transform::Positive => true,
            Transform::Interval { low, .. } => low >= 0.0,
        };
        if prior.is_positive() && !positive {
            return Err(Error::Key { key, requirement: "must be a prior on the whole real line" });
        }
        Ok(Self { prior: prior.checked(key)?, transform: transform.checked(key)? })
    }

    /// Mean and precision, if u is normal under it; precision 0 where it is flat.
    pub(crate) fn normal(&self) -> Option<(f64, f64)> {
        match (self.prior, self.transform) {
            (Prior::Normal { mean, sd }, Transform::Identity) => Some((mean, 1.0 / (sd * sd))),
            (Prior::Flat, Transform::Identity) => Some((0.0, 0.0)),
            _ => None,
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
            + self.prior.derivative(mapped.value) * mapped.curvature
            + mapped.log_jacobian_curvature;
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

    /// A draw of u; `None` if the prior is improper or a million draws all fell outside the interval.
    ///
    /// A prior wider than an interval is truncated to it, by drawing again.
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
mod tests {
    use num_dual::{DualNum, second_derivative};

    use super::*;

    fn oracle<D: DualNum<Primitive = f64> + Copy>(transform: &Transform, u: D) -> D {
        match *transform {
            Transform::Identity => u,
            Transform::Positive => u.exp(),
            Transform::Interval { low, high } => ((-u).exp() + 1.0).recip() * (high - low) + low,
        }
    }

    const ALL: [Transform; 3] =
        [Transform::Identity, Transform::Positive, Transform::Interval { low: -1.5, high: 4.0 }];

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-12 * (1.0 + expected.abs())
    }

    #[test]
    fn derivatives_and_log_jacobians_agree_with_dual_numbers() {
        for transform in ALL {
            for u in [-3.5, -0.4, 0.0, 0.7, 5.25] {
                let mapped = transform.map(u);
                let (value, slope, curvature) = second_derivative(|u| oracle(&transform, u), u);
                assert!(close(mapped.value, value) && close(mapped.slope, slope));
                assert!(close(mapped.curvature, curvature));
                assert!(close(mapped.log_jacobian, slope.ln()));
                assert!(close(mapped.log_jacobian_slope, curvature / slope));
                let h = 1e-4;
                let bend = (transform.map(u + h).log_jacobian_slope
                    - transform.map(u - h).log_jacobian_slope)
                    / (2.0 * h);
                assert!((mapped.log_jacobian_curvature - bend).abs() < 1e-7);
                assert!(close(transform.unmap(mapped.value), u));
            }
        }
    }

    #[test]
    fn far_tails_stay_finite() {
        let interval = Transform::Interval { low: 0.0, high: 1.0 };
        for u in [-700.0, 700.0] {
            let mapped = interval.map(u);
            assert!((mapped.log_jacobian + 700.0).abs() < 1e-12);
            assert!((mapped.log_jacobian_slope.abs() - 1.0).abs() < 1e-15);
        }
        assert_eq!(interval.map(-700.0).value, libm::exp(-700.0));
    }

    #[test]
    fn a_belief_is_the_prior_pushed_back() {
        let belief = Belief::new(Prior::HalfNormal { scale: 2.0 }, Transform::Positive, "sd_prior").unwrap();
        // ln p(e^u) + u = ln 2 − e^(2u)/8 − ln 2 − ½ ln 2π + u, with second derivative −e^(2u)/2.
        for u in [-4.0f64, -0.5, 0.0, 1.3] {
            let expected = -(2.0 * u).exp() / 8.0 - 0.5 * std::f64::consts::TAU.ln() + u;
            assert!(close(belief.log_density(u), expected));
            assert!(close(belief.derivative(u), 1.0 - (2.0 * u).exp() / 4.0));
            assert!(close(belief.precision(u), (2.0 * u).exp() / 2.0));
        }
        let tail =
            Belief::new(Prior::Cauchy { location: 0.0, scale: 1.0 }, Transform::Identity, "prior").unwrap();
        assert_eq!(tail.precision(5.0), 0.0, "a heavy tail bends the other way");
        assert!(tail.precision(0.0) > 0.0);
        let uniform = &mut crate::check::uniform(3);
        let mean: f64 = (0..4000).map(|_| belief.sample(uniform).unwrap().exp()).sum::<f64>() / 4000.0;
        // E|N(0, 4)| = 2√(2/π) ≈ 1.596, standard error 1.206/√4000 = 0.019.
        assert!((mean - 1.596).abs() < 0.08);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(Transform::Interval { low: 1.0, high: 1.0 }.checked("prior").is_err());
        assert!(Transform::Interval { low: 0.0, high: f64::INFINITY }.checked("prior").is_err());
        assert!(Belief::new(Prior::Exponential { rate: 1.0 }, Transform::Identity, "prior").is_err());
    }
}
