//! Fits the correction as a symmetric normal mixture, by least squares on the density or its logarithm.

use super::quality::logistic_tail;
use crate::{Component, Correction, Error};
use barkeep_num::linear;
use std::f64::consts::PI;

/// What is fitted: N(0, C) + V against the logistic law at points of [−10, 10].
#[derive(Clone, Copy)]
pub(super) enum Loss {
    /// Squared differences of log-densities, as in the authors' code.
    LogDensity,
    /// Squared differences of densities, as in their text (supplement, eq. 59).
    Density,
}

/// Pairs of mirrored components. The authors use 50; from a dozen on the loss no longer falls.
const PAIRS: usize = 12;

/// The law is compared on [−10, 10].
const EDGE: f64 = 10.0;

/// How much the mass beyond counts, in points.
const OUTSIDE: f64 = 5.0;

/// Points on each side of 0; the grid of 1000 points over [−10, 10] has none at 0.
const POINTS: usize = 500;

/// Components lighter than this are dropped: the loss does not feel them, nor does any error reported.
const NEGLIGIBLE: f64 = 1e-8;

/// The longest step and the range of logits, means and log standard deviations.
///
/// A component the loss cannot feel would wander off; below e⁻¹² a standard deviation makes an atom.
const RANGES: [(f64, f64, f64); 3] = [(2.0, -60.0, 60.0), (10.0, -40.0, 40.0), (2.0, -12.0, 3.0)];

/// Where the optimiser starts: the largest mean, the standard deviation of all components.
const STARTS: [(f64, f64); 5] = [(9.0, 0.5), (9.0, 0.1), (6.0, 0.5), (6.0, 0.1), (12.0, 0.5)];

/// Steps of the optimiser at most.
const STEPS: usize = 400;

/// Minimises the loss by Levenberg–Marquardt from several starts, and keeps the least.
///
/// Unlike the published loss, ours also feels the mass beyond ±10: without it a global optimum hides mass there.
///
/// Component k has weight π_k = e^{a_k}/Σe^{a}, means ±m_k and standard deviation e^{s_k}; with the noise its variance is
/// v_k = C + e^{2s_k}.
///
/// Heikkilä, Jälkö, Dikmen, Honkela, *Differentially Private Markov Chain Monte Carlo*, 2019, supplement section 5.
pub(super) fn fit(variance: f64, loss: Loss) -> Result<Correction, Error> {
    let mut best: Option<(f64, Parameters)> = None;
    for start in STARTS {
        let (reached, parameters) = descend(variance, loss, start);
        if best.as_ref().is_none_or(|(least, _)| reached < *least) {
            best = Some((reached, parameters));
        }
    }
    let components = best.map(|(_, parameters)| parameters.components()).unwrap_or_default();
    super::mirrored(components.into_iter())
}

/// Levenberg–Marquardt from one start: only steps that lower the loss are taken. Returns the loss reached.
fn descend(variance: f64, loss: Loss, start: (f64, f64)) -> (f64, Parameters) {
    let mut best = Parameters::start(start);
    let mut system = System::new(variance, loss);
    let mut least = system.linearise(&best);
    let mut trial = System::new(variance, loss);
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        let Some(step) = system.step(damping) else {
            damping *= 8.0;
            continue;
        };
        let moved = best.moved(&step);
        let reached = trial.linearise(&moved);
        if reached < least {
            let gain = least - reached;
            best = moved;
            least = reached;
            std::mem::swap(&mut system, &mut trial);
            damping = (damping * 0.3).max(1e-12);
            if gain <= 1e-9 * least {
                break;
            }
        } else {
            damping *= 4.0;
            if damping > 1e12 {
                break;
            }
        }
    }
    (least, best)
}

/// Logits, means and log standard deviations, one after the other.
struct Parameters([f64; 3 * PAIRS]);

impl Parameters {
    /// Means evenly spread to `widest`, weights like the logistic density, all of standard deviation `sd`.
    fn start((widest, sd): (f64, f64)) -> Self {
        let mut values = [0.0; 3 * PAIRS];
        for k in 0..PAIRS {
            let mean = widest * k as f64 / (PAIRS - 1) as f64;
            values[k] = -mean;
            values[PAIRS + k] = mean;
            values[2 * PAIRS + k] = libm::log(sd);
        }
        Self(values)
    }

    fn moved(&self, step: &[f64]) -> Self {
        let mut values = self.0;
        for (k, (value, change)) in values.iter_mut().zip(step).enumerate() {
            let (longest, low, high) = RANGES[k / PAIRS];
            *value = (*value + change.clamp(-longest, longest)).clamp(low, high);
        }
        Self(values)
    }

    fn weights(&self) -> [f64; PAIRS] {
        let highest = self.0[..PAIRS].iter().fold(f64::NEG_INFINITY, |most, &a| most.max(a));
        let mut weights = [0.0; PAIRS];
        for (weight, a) in weights.iter_mut().zip(&self.0[..PAIRS]) {
            *weight = libm::exp(a - highest);
        }
        let total: f64 = weights.iter().sum();
        weights.map(|weight| weight / total)
    }

    fn parts(&self, noise: f64) -> Vec<Part> {
        let part = |(k, weight): (usize, f64)| {
            let extra = libm::exp(2.0 * self.0[2 * PAIRS + k]);
            let variance = noise + extra;
            Part { weight, mean: self.0[PAIRS + k], variance, share: extra / variance }
        };
        self.weights().into_iter().enumerate().map(part).collect()
    }

    fn components(&self) -> Vec<Component> {
        let part = |k: usize, weight: f64| Component {
            weight,
            mean: self.0[PAIRS + k].abs(),
            sd: libm::exp(self.0[2 * PAIRS + k]),
        };
        let all = self.weights().into_iter().enumerate().map(|(k, weight)| part(k, weight));
        all.filter(|component| component.weight > NEGLIGIBLE).collect()
    }
}

/// One pair of components after the noise is added.
struct Part {
    weight: f64,
    mean: f64,
    /// v_k.
    variance: f64,
    /// e^{2s_k}/v_k: the derivative of ln v_k by 2s_k.
    share: f64,
}

impl Part {
    /// The pair's density at x and its derivatives by mean and log standard deviation.
    fn density(&self, x: f64) -> [f64; 3] {
        let v = self.variance;
        let scale = 0.5 / (2.0 * PI * v).sqrt();
        let (near, far) = (x - self.mean, x + self.mean);
        let at_near = scale * libm::exp(-0.5 * near * near / v);
        let at_far = scale * libm::exp(-0.5 * far * far / v);
        let spread = at_near * (near * near / v - 1.0) + at_far * (far * far / v - 1.0);
        [at_near + at_far, (at_near * near - at_far * far) / v, spread * self.share]
    }

    /// The pair's mass above x and its derivatives.
    fn mass_beyond(&self, x: f64) -> [f64; 3] {
        let sd = self.variance.sqrt();
        let (near, far) = ((self.mean - x) / sd, (-self.mean - x) / sd);
        let bell = |z: f64| 0.5 * libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt();
        let mass = 0.5 * (barkeep_num::normal_cdf(near) + barkeep_num::normal_cdf(far));
        [mass, (bell(near) - bell(far)) / sd, -(bell(near) * near + bell(far) * far) * self.share]
    }
}

/// The linearised least-squares problem at some parameters.
struct System {
    variance: f64,
    loss: Loss,
    /// JᵀJ.
    gram: Vec<f64>,
    /// −Jᵀr.
    right: Vec<f64>,
}

impl System {
    fn new(variance: f64, loss: Loss) -> Self {
        let count = 3 * PAIRS;
        Self { variance, loss, gram: vec![0.0; count * count], right: vec![0.0; count] }
    }

    /// Forms the normal equations; returns the sum of squared residuals.
    fn linearise(&mut self, parameters: &Parameters) -> f64 {
        self.gram.fill(0.0);
        self.right.fill(0.0);
        let parts = parameters.parts(self.variance);
        let mut sum = 0.0;
        for i in 0..POINTS {
            let x = (2 * i + 1) as f64 * EDGE / (2 * POINTS - 1) as f64;
            let tail = libm::exp(-x);
            let logistic = tail / ((1.0 + tail) * (1.0 + tail));
            sum += self.add(&parts, 1.0, logistic, |part| part.density(x));
        }
        // Beyond the last point no density is compared; the mass there is, so that none can hide.
        sum += self.add(&parts, OUTSIDE, logistic_tail(EDGE), |part| part.mass_beyond(EDGE));
        if sum.is_finite() { sum } else { f64::INFINITY }
    }

    /// Adds one residual, of a quantity linear in the components whose value and derivatives `of` tells; returns its square.
    fn add(&mut self, parts: &[Part], importance: f64, goal: f64, of: impl Fn(&Part) -> [f64; 3]) -> f64 {
        let mut row = [0.0; 3 * PAIRS];
        for (k, part) in parts.iter().enumerate() {
            for (kind, value) in of(part).into_iter().enumerate() {
                row[kind * PAIRS + k] = part.weight * value;
            }
        }
        let value: f64 = row[..PAIRS].iter().sum();
        // A weight's derivative by its logit: what it adds less its share of the whole.
        for (entry, part) in row.iter_mut().zip(parts) {
            *entry -= part.weight * value;
        }
        let (residual, scale) = match self.loss {
            Loss::Density => (importance * (value - goal), importance),
            Loss::LogDensity => (importance * libm::log(value / goal), importance / value),
        };
        let count = row.len();
        for (j, a) in row.iter().map(|a| scale * a).enumerate() {
            self.right[j] -= a * residual;
            for (entry, b) in self.gram[j * count..=j * count + j].iter_mut().zip(&row) {
                *entry += a * scale * b;
            }
        }
        residual * residual
    }

    /// The damped Gauss–Newton step.
    fn step(&self, damping: f64) -> Option<Vec<f64>> {
        let count = self.right.len();
        let mut matrix = self.gram.clone();
        let largest = (0..count).fold(0.0_f64, |most, j| most.max(matrix[j * count + j]));
        for j in 0..count {
            let diagonal = &mut matrix[j * count + j];
            *diagonal += damping * (*diagonal + 1e-6 * largest);
        }
        let mut step = self.right.clone();
        linear::solve(&mut matrix, &mut step).then_some(step)
    }
}
