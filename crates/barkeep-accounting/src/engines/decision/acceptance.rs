//! Says what the accountant must know of an acceptance function: its values, their error, and its shape.

use super::mixture::Prepared;
use crate::{Error, Rule};

/// Below this a computed probability counts as anything between 0 and itself.
pub(super) const FLOOR: f64 = 1e-290;

/// What is known of the curve t ↦ (a(t−Δ), a(t)) beyond that it rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// a is the distribution function of a variable with a log-concave density, so a'(t)/a'(t−Δ) falls in t: the curve
    /// is concave, for every Δ.
    Concave,
    /// a has a positive derivative, and [`Acceptance::slopes`] bounds a'(t)/a'(t−Δ) over intervals.
    Smooth,
    /// Nothing more. PriceOf only for sensitivities that are not small: the cells must be much smaller.
    Monotone,
}

/// A non-decreasing function a from log-ratios to [0, 1]; a step accepts with probability `keep`·a(t).
///
/// Implemented by [`Rule`]; implement it for an acceptance function of your own to have it priced. What it states is
/// taken as proved: a wrong statement makes the answers wrong.
pub trait Acceptance {
    /// a(t), for every t.
    fn probability(&self, log_ratio: f64) -> f64;

    /// 1 − a(t), with the same relative precision.
    fn complement(&self, log_ratio: f64) -> f64;

    /// Relative error of the two functions above where their value is about `probability` ≥ 10⁻²⁹⁰.
    fn error(&self, probability: f64) -> f64;

    /// Refuses what has no price.
    ///
    /// # Errors
    /// Whatever the caller should hear.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// κ in (0, 1]: the share of steps on which the function is asked at all.
    fn keep(&self) -> f64 {
        1.0
    }

    /// The shape of the curve t ↦ (a(t−Δ), a(t)).
    fn shape(&self) -> Shape {
        Shape::Monotone
    }

    /// Whether a(−t) = 1 − a(t).
    fn odd(&self) -> bool {
        false
    }

    /// A bound on ln a(t)/a(t−Δ) over all t; infinite if there is none.
    fn accept_range(&self, sensitivity: f64) -> f64 {
        let _ = sensitivity;
        f64::INFINITY
    }

    /// A bound on ln (1−a(t−Δ))/(1−a(t)) over all t; infinite if there is none.
    fn reject_range(&self, sensitivity: f64) -> f64 {
        let _ = sensitivity;
        f64::INFINITY
    }

    /// Whether the logarithms of the two outcomes' probability ratios are at most the sensitivity apart, for every t.
    fn bounded_range(&self) -> bool {
        false
    }

    /// Bounds a'(t)/a'(t−Δ) for t in [left, right], below and above; asked of [`Shape::Smooth`] functions. If `mirrored`, the
    /// function is 1 − a(−t) instead.
    fn slopes(&self, left: f64, right: f64, sensitivity: f64, mirrored: bool) -> (f64, f64) {
        let _ = (left, right, sensitivity, mirrored);
        (0.0, f64::INFINITY)
    }

    /// A lower bound on (ln a)' at t and everywhere to its left, or on (ln(1−a(−t)))' if `mirrored`; asked of functions
    /// that are not [`Shape::Concave`], for those are bounded by their chords.
    fn steepness(&self, t: f64, mirrored: bool) -> f64 {
        let _ = (t, mirrored);
        0.0
    }

    /// The same function, ready to be asked many times, where that is worth while.
    fn prepared(&self) -> Option<Box<dyn Acceptance + '_>> {
        None
    }

    /// The variance of an independent normal part of the variable whose distribution function a is, if it has one.
    ///
    /// Then the bit is computed from a Gaussian release of λ, and cannot cost more than that release.
    fn smoothing(&self) -> Option<f64> {
        None
    }

    /// A proved ρ such that one step is ρ-zCDP, if one is known in closed form.
    fn zcdp(&self, sensitivity: f64) -> Option<f64> {
        // The Gaussian mechanism of ratio s/Δ is Δ²/(2s²)-zCDP (Bun and Steinke 2016, Proposition 1.6).
        self.smoothing().map(|variance| sensitivity * sensitivity / (2.0 * variance))
    }
}

/// The lazy rule is its inside with a `keep`: everything but `keep` speaks of the inside.
///
/// *Shapes.* The logistic, normal and exponential densities are log-concave, and so are sums of independent variables
/// with log-concave densities (Prékopa 1973): Barker's variable is logistic, Metropolis' is −E with E exponential of
/// rate 1, the penalty's is σ²/2 + N(0, σ²) − E.
///
/// *Ranges.* Detailed balance a(t) = e^t a(−t) makes ln a(t) − t = ln a(−t) fall in t, so ln a(t)/a(t−Δ) ≤ Δ. Barker's
/// complement is its mirror image.
impl Acceptance for Rule {
    fn probability(&self, log_ratio: f64) -> f64 {
        inside(self).accept(log_ratio)
    }

    fn complement(&self, log_ratio: f64) -> f64 {
        inside(self).reject(log_ratio)
    }

    /// Four times the error of a coin down to 10⁻¹⁸, eighty times below.
    ///
    /// A coin's log-ratio is clamped to ±64 and this one is not: the rounding of z is then at most u(2|z| + σ/2) with σ ≤ 64,
    /// against 21u to 24u in the proof for coins, a factor of at most 2.4. At 10⁻²⁹⁰ |z| is below 37, where the terms that grow
    /// like z, z² and κ·z are up to 18 times what they are at 9.05.
    fn error(&self, probability: f64) -> f64 {
        let coin = inside(self).coin_error();
        if probability >= 1e-18 { 4.0 * coin } else { 80.0 * coin }
    }

    fn check(&self) -> Result<(), Error> {
        self.validate()?;
        match self {
            Self::Metropolis => {
                Err(Error::Mismatch("Metropolis' rule is a baseline without privacy: use barker or penalty"))
            }
            Self::Barker | Self::Penalty { .. } | Self::Corrected { .. } | Self::Lazy { .. } => Ok(()),
        }
    }

    fn keep(&self) -> f64 {
        if let Self::Lazy { keep, .. } = self { *keep } else { 1.0 }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Corrected { .. } => Shape::Smooth,
            Self::Metropolis | Self::Barker | Self::Penalty { .. } => Shape::Concave,
            Self::Lazy { rule, .. } => rule.shape(),
        }
    }

    fn odd(&self) -> bool {
        matches!(self, Self::Barker | Self::Corrected { .. })
    }

    fn accept_range(&self, sensitivity: f64) -> f64 {
        match self {
            Self::Metropolis | Self::Barker | Self::Penalty { .. } => sensitivity,
            Self::Corrected { .. } => f64::INFINITY,
            Self::Lazy { rule, .. } => rule.accept_range(sensitivity),
        }
    }

    fn reject_range(&self, sensitivity: f64) -> f64 {
        match self {
            Self::Barker => sensitivity,
            Self::Metropolis | Self::Penalty { .. } | Self::Corrected { .. } => f64::INFINITY,
            Self::Lazy { rule, .. } => rule.reject_range(sensitivity),
        }
    }

    fn bounded_range(&self) -> bool {
        matches!(self, Self::Barker)
    }

    fn slopes(&self, left: f64, right: f64, sensitivity: f64, mirrored: bool) -> (f64, f64) {
        self.prepared()
            .map_or((0.0, f64::INFINITY), |prepared| prepared.slopes(left, right, sensitivity, mirrored))
    }

    fn prepared(&self) -> Option<Box<dyn Acceptance + '_>> {
        let Self::Corrected { variance, correction } = inside(self) else { return None };
        Some(Box::new(Prepared::new(self, *variance, correction)))
    }

    /// A mixture's (ln a)' is a mean of its components' φ(y)/(sΦ(y)) ≥ −y/s with y = (t+μ)/s < 0, and it is odd.
    fn steepness(&self, t: f64, _mirrored: bool) -> f64 {
        let Self::Corrected { variance, correction } = inside(self) else { return 0.0 };
        let mut least = f64::INFINITY;
        for component in correction.components() {
            let spread = variance + component.sd * component.sd;
            least = least.min(-(t + component.mean) / spread);
        }
        (least * (1.0 - 1e-12)).max(0.0)
    }

    fn smoothing(&self) -> Option<f64> {
        match self {
            Self::Metropolis | Self::Barker => None,
            Self::Penalty { sigma } => Some(sigma * sigma),
            Self::Corrected { variance, .. } => Some(*variance),
            Self::Lazy { rule, .. } => rule.smoothing(),
        }
    }

    /// Barker's range is bounded, hence Δ²/8 (proved beside [`divergence`](super::divergence)). Laziness is post-processing.
    fn zcdp(&self, sensitivity: f64) -> Option<f64> {
        match self {
            Self::Metropolis => None,
            Self::Barker => Some(sensitivity * sensitivity / 8.0),
            Self::Penalty { sigma } => Some(sensitivity * sensitivity / (2.0 * (sigma * sigma))),
            Self::Corrected { variance, .. } => Some(sensitivity * sensitivity / (2.0 * variance)),
            Self::Lazy { rule, .. } => rule.zcdp(sensitivity),
        }
    }
}

fn inside(rule: &Rule) -> &Rule {
    if let Rule::Lazy { rule, .. } = rule { rule } else { rule }
}
