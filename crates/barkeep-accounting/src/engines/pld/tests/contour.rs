//! Computes δ(ε) of subsampled Gaussians a second way, by contour integration, to check the lattice against. Carries no guarantee.
//!
//! With L the sum of k independent losses and M(z) = E e^(zL) of one of them, for any s > 0
//!
//! > δ(ε) = E (1 − e^(ε−L))₊ = (1/2π) ∫ M(s+it)^k · e^(−(s+it)ε) / ((s+it)(s+1+it)) dt,
//!
//! since ∫ e^(zx)(1 − e^(x−L))₊ dx = e^(zL)/(z(z+1)) for Re z > 0. The integrand is largest, and oscillates least, on the line through
//! the saddle point s, where K'(s) = ε + 1/s + 1/(s+1) with K = k·ln M. Nothing is discretised here but two smooth integrals: M over the
//! noise, by Gauss–Legendre panels, and the line, by the trapezoidal rule, which for such integrands converges faster
//! than any power of its step (the error is what the sum takes from δ a period 2π/step away). The step is halved until two
//! answers agree.
//!
//! **Precision.** About 1e-12 relative against the reference values where it converges: for some ten steps or more, so that
//! M(s+it)^k dies out.

use std::f64::consts::PI;

use crate::{Delta, Epsilon, Rate, Ratio, Steps};

/// Nodes of a Gauss–Legendre panel.
const NODES: usize = 16;

/// Width of a panel, in noise units.
const PANEL: f64 = 0.5;

/// Terms of the sum along the line, at most.
const MOST_TERMS: u32 = 1 << 20;

/// Terms are summed until they are this much smaller than the largest.
const NEGLIGIBLE: f64 = 1e-19;

/// Which pair of distributions; see [`DominatingPair::subsampled_gaussian`](super::DominatingPair::subsampled_gaussian) for what each stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pair {
    /// (1−q)N(0)+qN(1) against N(0).
    Remove,
    /// N(0) against (1−q)N(0)+qN(1).
    Add,
    /// (1−q)N(0)+qN(½) against (1−q)N(0)+qN(−½).
    Substitute,
    /// The curve of two branches.
    WithoutReplacement,
}

/// A number of steps with one pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contour {
    pair: Pair,
    shift: f64,
    rate: f64,
    steps: f64,
}

/// The loss and ln of the mass of P at nodes of a quadrature over the noise.
pub(super) type Nodes = Vec<(f64, f64)>;

impl Contour {
    /// `steps` steps of noise `ratio` on batches of rate `rate`.
    #[must_use]
    pub(super) fn new(pair: Pair, ratio: Ratio, rate: Rate, steps: Steps) -> Self {
        let shift = if pair == Pair::Substitute { 0.5 / ratio.get() } else { 1.0 / ratio.get() };
        Self { pair, shift, rate: rate.get(), steps: steps.0 as f64 }
    }

    /// ln δ at ε; None if the integral does not converge.
    #[must_use]
    pub(super) fn log_delta(&self, epsilon: Epsilon) -> Option<f64> {
        self.log_delta_of(&self.nodes(), epsilon)
    }

    /// The same for as many steps with other losses, given by nodes.
    pub(super) fn log_delta_of(&self, nodes: &Nodes, epsilon: Epsilon) -> Option<f64> {
        let epsilon = epsilon.get();
        let saddle = self.saddle(nodes, epsilon)?;
        let mut step = 0.25 / self.moments(nodes, saddle).2.sqrt();
        let mut before = f64::NAN;
        for _ in 0..10 {
            let (now, condition) = self.line(nodes, saddle, epsilon, step)?;
            // k·ln M is known to k units in the last place, and the terms of the sum cancel.
            if (now - before).abs() < 1e-15 * (100.0 + self.steps) * condition {
                return Some(now);
            }
            (before, step) = (now, 0.5 * step);
        }
        None
    }

    /// ε at δ; None if an integral on the way does not converge.
    #[must_use]
    pub(super) fn epsilon(&self, delta: Delta) -> Option<f64> {
        let target = delta.get().ln();
        let log_delta = |epsilon: f64| self.log_delta(Epsilon::new(epsilon).ok()?);
        let (mut low, mut high) = (0.0, 1.0);
        while log_delta(high)? > target {
            (low, high) = (high, 2.0 * high);
        }
        let (mut at_low, mut at_high) = (log_delta(low)?, log_delta(high)?);
        if at_low <= target {
            return Some(0.0);
        }
        // ln δ is nearly straight: false position, every third time bisection.
        for round in 0..60 {
            let share = if round % 3 == 2 { 0.5 } else { (at_low - target) / (at_low - at_high) };
            let middle = low + (high - low) * share.clamp(1e-3, 1.0 - 1e-3);
            let at = log_delta(middle)?;
            if at > target {
                (low, at_low) = (middle, at);
            } else {
                (high, at_high) = (middle, at);
            }
            if high - low < 1e-13 * high || (at - target).abs() < 1e-12 {
                break;
            }
        }
        // Where the straight line through the two ends meets the target.
        Some(low + (high - low) * ((at_low - target) / (at_low - at_high)))
    }

    /// ln(1 − q + q·r) with r the likelihood ratio at y.
    fn mixed(&self, y: f64) -> f64 {
        let exponent = self.shift * (y - 0.5 * self.shift);
        if exponent > 0.0 {
            exponent + ((1.0 - self.rate) * (-exponent).exp() + self.rate).ln()
        } else {
            (self.rate * exponent.exp_m1()).ln_1p()
        }
    }

    fn nodes(&self) -> Nodes {
        let rule = gauss_legendre();
        let mut nodes = Vec::new();
        let mut cover = |low: f64, high: f64, point: &dyn Fn(f64) -> (f64, f64)| {
            let panels = ((high - low) / PANEL.min(0.5 / self.shift)).ceil();
            let half = 0.5 * (high - low) / panels;
            for panel in 0..panels as u32 {
                let middle = low + half * (2.0 * f64::from(panel) + 1.0);
                for (node, weight) in &rule {
                    let (loss, log_density) = point(middle + half * node);
                    nodes.push((loss, log_density + (weight * half).ln()));
                }
            }
        };
        let normal = |y: f64| -0.5 * (y * y + (2.0 * PI).ln());
        // Far enough for tilts that reach δ = 1e-300.
        let (far, shift) = (45.0, self.shift);
        let remove = |y: f64| (self.mixed(y), normal(y) + self.mixed(y));
        let add = |y: f64| (-self.mixed(y), normal(y));
        let substitute = |y: f64| (self.mixed(y) - self.mixed(-y), normal(y) + self.mixed(y));
        match self.pair {
            Pair::Remove => cover(-far, far + shift, &remove),
            Pair::Add => cover(-far, far, &add),
            Pair::Substitute => cover(-far, far + shift, &substitute),
            Pair::WithoutReplacement => {
                cover(0.5 * shift, far + shift, &remove);
                cover(0.5 * shift, far, &add);
                let still = (1.0 - self.rate) * libm::erf(shift / 8.0_f64.sqrt());
                nodes.push((0.0, still.ln()));
            }
        }
        nodes
    }

    /// K(s), K'(s) and K''(s).
    fn moments(&self, nodes: &Nodes, tilt: f64) -> (f64, f64, f64) {
        let largest = nodes.iter().map(|(loss, log)| log + tilt * loss).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (loss, log) in nodes {
            let weight = (log + tilt * loss - largest).exp();
            sum += weight;
            first += weight * loss;
            second += weight * loss * loss;
        }
        let mean = first / sum;
        let k = self.steps;
        (k * (largest + sum.ln()), k * mean, k * (second / sum - mean * mean))
    }

    fn saddle(&self, nodes: &Nodes, epsilon: f64) -> Option<f64> {
        let (mut low, mut high) = (-30.0_f64, 30.0_f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let s = middle.exp();
            if self.moments(nodes, s).1 - 1.0 / s - 1.0 / (s + 1.0) < epsilon {
                low = middle;
            } else {
                high = middle;
            }
        }
        (high < 29.0).then(|| high.exp())
    }

    /// ln of the trapezoidal sum along the line through s, and how much its terms cancel.
    fn line(&self, nodes: &Nodes, s: f64, epsilon: f64, step: f64) -> Option<(f64, f64)> {
        let (value, _, _) = self.moments(nodes, s);
        let one = value / self.steps;
        // M(s+it)/M(s) is the mean of e^(itℓ) under these weights.
        let weights: Vec<(f64, f64)> = (nodes.iter())
            .map(|(loss, log)| (*loss, (log + s * loss - one).exp()))
            .filter(|(_, weight)| *weight > 1e-25)
            .collect();
        let (mut total, mut sizes, mut largest, mut quiet) = (0.0_f64, 0.0, 0.0_f64, 0);
        for index in 0..MOST_TERMS {
            let t = f64::from(index) * step;
            let (mut re, mut im) = (0.0, 0.0);
            for (loss, weight) in &weights {
                let (sin, cos) = (t * loss).sin_cos();
                re += weight * cos;
                im += weight * sin;
            }
            // (M(s+it)/M(s))^k · e^(−itε) / ((s+it)(s+1+it)).
            let size = (self.steps * re.hypot(im).ln()).exp() / (s.hypot(t) * (s + 1.0).hypot(t));
            let angle = self.steps * im.atan2(re) - t * epsilon - t.atan2(s) - t.atan2(s + 1.0);
            total += size * angle.cos() * if index == 0 { 0.5 } else { 1.0 };
            sizes += size;
            largest = largest.max(size);
            // A few in a row: the spectrum of rare large losses comes in waves.
            quiet = if size < NEGLIGIBLE * largest { quiet + 1 } else { 0 };
            if quiet > 64 {
                return Some(((total * step / PI).ln() + value - s * epsilon, sizes / total.abs()));
            }
        }
        None
    }
}

/// Nodes and weights on [−1, 1], by Newton's method on the Legendre polynomial.
pub(super) fn gauss_legendre() -> Vec<(f64, f64)> {
    let n = NODES as f64;
    (0..NODES)
        .map(|index| {
            let mut x = (PI * (index as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..20 {
                let (mut before, mut now) = (1.0, x);
                for degree in 2..=NODES {
                    let d = degree as f64;
                    (before, now) = (now, ((2.0 * d - 1.0) * x * now - (d - 1.0) * before) / d);
                }
                slope = n * (x * now - before) / (x * x - 1.0);
                x -= now / slope;
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}
