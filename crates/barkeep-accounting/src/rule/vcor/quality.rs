//! Measures how far N(0, C) + V is from the logistic law, with proved bounds and without simulation.

use crate::rule::Smoothed;
use crate::{Bracket, Correction};
use serde::{Deserialize, Serialize};
use std::f64::consts::{E, PI};

/// How well a correction V serves a noise variance C; S' is the law of N(0, C) + V, S the logistic law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// sup_y |S'(y) − S(y)|: the most by which an acceptance probability is off.
    pub cdf_error: Bracket,
    /// sup over |y| ≤ 3 of |logit S'(y) − y|: the most by which detailed balance is off where chains live.
    pub logit_error_3: Bracket,
    /// The same over |y| ≤ 6.
    pub logit_error_6: Bracket,
}

impl Quality {
    /// Measures a correction.
    ///
    /// **Precision.** The upper ends are proved. On a cell of width h, a function with |f''| ≤ M exceeds its larger end value by
    /// at most Mh²/8; cells that may hold the maximum are halved until the bound is within 10⁻⁵ of the value attained,
    /// or 10⁻¹¹ absolute (logit: 10⁻², or 10⁻⁵ absolute). A normal density of variance ≥ v is at most D = 1/√(2πv) and has slope at most
    /// D' = 1/(v√(2πe)), the logistic density slope at most 1/(6√3): M = D' + 1/(6√3) for S' − S. With T = 1 − S' falling,
    /// T(1−T) ≥ p on a cell with right end T, p = T(1−T) there, and |(logit S')''| ≤ D'/p + D²/p²; also
    /// logit S' grows, so logit S' − y exceeds its larger end value by at most h. By symmetry y ≥ 0 suffices; beyond
    /// y = 50 both upper tails only fall. Rounding is covered by n + 16 units, n the number of components.
    #[must_use]
    pub fn of(variance: f64, correction: &Correction) -> Self {
        let law = Law::new(variance, correction);
        let rounding = (correction.components().len() as f64 + 16.0) * f64::EPSILON;
        let curvature = law.steepest() + 1.0 / (6.0 * 3.0_f64.sqrt());
        let (attained, bound) = largest(50.0, |y| law.error(y).abs(), curvature, 1e-5, 1e-11);
        let far = law.tail(50.0).max(logistic_tail(50.0));
        let logit = |reach: f64| {
            let excess = |width: f64, tail: f64| {
                let product = tail * (1.0 - tail);
                let relative = law.densest() / product;
                let curvature = law.steepest() / product + relative * relative;
                width.min(curvature * width * width / 8.0)
            };
            let (attained, bound) = branch(reach, |y| law.logit_error(y), excess, 1e-2, 1e-5);
            // The tail's relative rounding becomes absolute in its logarithm.
            Bracket::new((attained - 16.0 * rounding).max(0.0), bound + 16.0 * rounding)
        };
        Self {
            cdf_error: Bracket::new((attained - rounding).max(0.0), bound.max(far) + rounding),
            logit_error_3: logit(3.0),
            logit_error_6: logit(6.0),
        }
    }
}

/// The law of N(0, C) + V.
struct Law {
    /// The least variance of a component: none is denser or steeper than a normal law of this variance.
    least: f64,
    smoothed: Smoothed,
}

impl Law {
    fn new(variance: f64, correction: &Correction) -> Self {
        let narrowest = correction.components().iter().fold(f64::INFINITY, |least, c| least.min(c.sd));
        Self { least: variance + narrowest * narrowest, smoothed: Smoothed::new(variance, correction) }
    }

    /// 1 − S'(y): the law is symmetric.
    fn tail(&self, y: f64) -> f64 {
        self.smoothed.upper_tail(-y)
    }

    /// S'(y) − S(y), as a difference of upper tails so that it stays precise where both are small.
    fn error(&self, y: f64) -> f64 {
        logistic_tail(y) - self.tail(y)
    }

    /// |logit S'(y) − y|, and the upper tail it was computed from.
    fn logit_error(&self, y: f64) -> (f64, f64) {
        let tail = self.tail(y);
        ((libm::log1p(-tail) - libm::log(tail) - y).abs(), tail)
    }

    /// A bound on the density of the law.
    fn densest(&self) -> f64 {
        1.0 / (2.0 * PI * self.least).sqrt()
    }

    /// A bound on the slope of the density.
    fn steepest(&self) -> f64 {
        1.0 / (self.least * (2.0 * PI * E).sqrt())
    }
}

/// 1 − S(y) = 1/(1 + e^y).
pub(super) fn logistic_tail(y: f64) -> f64 {
    1.0 / (1.0 + libm::exp(y))
}

/// The largest value of f ≥ 0 over [0, `reach`]: attained, and a bound within a factor 1 + `relative` or `absolute` of it.
///
/// `curvature` bounds |f''| wherever f > 0 (f may be the modulus of a smooth function).
pub(super) fn largest(
    reach: f64,
    f: impl Fn(f64) -> f64,
    curvature: f64,
    relative: f64,
    absolute: f64,
) -> (f64, f64) {
    let excess = |width: f64, ()| curvature * width * width / 8.0;
    branch(reach, |y| (f(y), ()), excess, relative, absolute)
}

/// Branch and bound over [0, `reach`]: on a cell, f is at most its larger end value plus an excess that may depend on the
/// cell's width and on what f found at its right end.
fn branch<Found: Copy>(
    reach: f64,
    f: impl Fn(f64) -> (f64, Found),
    excess: impl Fn(f64, Found) -> f64,
    relative: f64,
    absolute: f64,
) -> (f64, f64) {
    /// Cells to start from: about as narrow as the bumps of the functions asked about.
    const CELLS: usize = 512;
    let ends: Vec<(f64, Found)> = (0..=CELLS).map(|i| f(reach * i as f64 / CELLS as f64)).collect();
    let mut attained = ends.iter().fold(0.0_f64, |most, end| most.max(end.0));
    let mut bound = 0.0_f64;
    for (i, pair) in ends.windows(2).enumerate() {
        let left = reach * i as f64 / CELLS as f64;
        // Depth first: the pending right halves of one starting cell.
        let mut pending = vec![(left, reach / CELLS as f64, pair[0], pair[1])];
        while let Some((left, width, at_left, at_right)) = pending.pop() {
            let most = at_left.0.max(at_right.0) + excess(width, at_right.1);
            if most <= (attained * (1.0 + relative)).max(attained + absolute) {
                bound = bound.max(most);
                continue;
            }
            let half = 0.5 * width;
            let middle = f(left + half);
            attained = attained.max(middle.0);
            pending.push((left + half, half, middle, at_right));
            pending.push((left, half, at_left, middle));
        }
    }
    (attained, bound.max(attained))
}
