//! Plans a composition by its cumulants: which tilt, which window of losses, which nodes. Nothing here carries a guarantee.

use super::atoms::Atom;

/// The losses of one step in outline, and how many such steps there are.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    atoms: Vec<(f64, f64)>,
    steps: f64,
}

/// ln E e^(sL) of a sum of losses and its first two derivatives in s.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cumulants {
    pub(super) value: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Sketch {
    pub(super) fn new(outline: &[Atom], steps: f64) -> Self {
        let logs: Vec<f64> = outline.iter().map(|atom| atom.log_mass).collect();
        let total = barkeep_num::log_sum_exp(&logs);
        Self { atoms: outline.iter().map(|atom| (atom.loss, atom.log_mass - total)).collect(), steps }
    }

    pub(super) fn steps(&self) -> f64 {
        self.steps
    }

    /// Of one step.
    pub(super) fn cumulants(&self, tilt: f64) -> Cumulants {
        let largest =
            self.atoms.iter().map(|(loss, log)| log + tilt * loss).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
        for (loss, log) in &self.atoms {
            let exponent = log + tilt * loss - largest;
            if exponent > -60.0 {
                let weight = libm::exp(exponent);
                sum += weight;
                first += weight * loss;
                second += weight * loss * loss;
            }
        }
        let mean = first / sum;
        Cumulants { value: largest + libm::log(sum), mean, variance: (second / sum - mean * mean).max(0.0) }
    }

    /// The largest and the smallest loss.
    pub(super) fn extent(&self) -> (f64, f64) {
        let losses = self.atoms.iter().map(|(loss, _)| *loss);
        (losses.clone().fold(f64::INFINITY, f64::min), losses.fold(f64::NEG_INFINITY, f64::max))
    }

    /// The loss above which less than e^`log_mass` lies, untilted.
    pub(super) fn reach(&self, log_mass: f64) -> f64 {
        let mut tail = f64::NEG_INFINITY;
        let mut above = f64::INFINITY;
        for (loss, log) in self.atoms.iter().rev() {
            tail = barkeep_num::log_add_exp(tail, *log);
            if tail > log_mass {
                return above;
            }
            above = *loss;
        }
        above
    }

    /// The loss below which less than e^`log_mass` lies, after a tilt no smaller than there.
    pub(super) fn floor(&self, tilt: f64, log_mass: f64) -> f64 {
        let Cumulants { value, .. } = self.cumulants(tilt);
        let mut tail = f64::NEG_INFINITY;
        let mut below = f64::NEG_INFINITY;
        for (loss, log) in &self.atoms {
            tail = barkeep_num::log_add_exp(tail, *log);
            if tail + tilt * loss - value > log_mass {
                return below;
            }
            below = *loss;
        }
        below
    }

    /// How much of δ at ε depends on losses up to, and from, each one: e^(sℓ) times their mass below ε, and less and less above,
    /// where δ is certain already.
    fn tails(&self, tilt: f64, epsilon: f64) -> Vec<Tail> {
        let logs: Vec<f64> = (self.atoms.iter())
            .map(|(loss, log)| log + tilt * loss.min(epsilon) - (loss - epsilon).max(0.0))
            .collect();
        let total = barkeep_num::log_sum_exp(&logs);
        let mut below = 0.0;
        let mut tails: Vec<Tail> = Vec::with_capacity(self.atoms.len());
        for ((loss, _), log) in self.atoms.iter().zip(&logs) {
            below += libm::exp(log - total);
            tails.push(Tail { loss: *loss, below, above: 0.0 });
        }
        let mut above = 0.0;
        for (log, tail) in logs.iter().zip(&mut tails).rev() {
            above += libm::exp(log - total);
            tail.above = above;
        }
        tails
    }
}

struct Tail {
    loss: f64,
    below: f64,
    above: f64,
}

/// All steps of a composition.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) sketches: Vec<Sketch>,
}

/// What is asked of the composition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// ε, for this ln δ.
    LogDelta(f64),
    /// δ, for this ε.
    Epsilon(f64),
}

/// A tilt s with the ε and ln δ it is the saddle point of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Saddle {
    pub(super) tilt: f64,
    pub(super) epsilon: f64,
    pub(super) log_delta: f64,
    pub(super) deviation: f64,
}

impl Saddle {
    /// The same tilt for a target that is known better.
    pub(super) fn moved(self, epsilon: f64, log_delta: f64) -> Self {
        Self { epsilon, log_delta: log_delta.min(0.0), ..self }
    }

    /// δ(ε) = (1/2πi)∫ exp(K(z) − zε)/(z(z+1)) dz, whose integrand is stationary at s where K'(s) = ε + 1/s + 1/(s+1);
    /// to first order ln δ = K(s) − sε − ln(s(s+1)) − ½ln(2π(K''(s) + 1/s² + 1/(s+1)²)).
    fn new(cumulants: Cumulants, tilt: f64) -> Self {
        let Cumulants { value, mean, variance } = cumulants;
        let epsilon = mean - 1.0 / tilt - 1.0 / (tilt + 1.0);
        let curvature = variance + 1.0 / (tilt * tilt) + 1.0 / ((tilt + 1.0) * (tilt + 1.0));
        let log_delta = value
            - tilt * epsilon
            - libm::log(tilt)
            - libm::log1p(tilt)
            - 0.5 * libm::log(2.0 * std::f64::consts::PI * curvature);
        Self { tilt, epsilon, log_delta: log_delta.min(0.0), deviation: variance.sqrt() }
    }
}

/// The tilt to compute with, the losses to keep, and the tilts of the Chernoff bounds on the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// s: at most that of the saddle point.
    pub(super) tilt: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Tilts, relative to `tilt`, that bound what lies below the window (negative), above it, and above ε plus its length.
    pub(super) below: f64,
    pub(super) above: f64,
    pub(super) returning: f64,
}

impl Model {
    pub(super) fn cumulants(&self, tilt: f64) -> Cumulants {
        let mut total = Cumulants { value: 0.0, mean: 0.0, variance: 0.0 };
        for sketch in &self.sketches {
            let one = sketch.cumulants(tilt);
            total.value += sketch.steps * one.value;
            total.mean += sketch.steps * one.mean;
            total.variance += sketch.steps * one.variance;
        }
        total
    }

    /// The ε and δ of which a tilt is the saddle point.
    pub(super) fn saddle_at(&self, tilt: f64) -> Saddle {
        Saddle::new(self.cumulants(tilt), tilt)
    }

    /// The saddle point for a target, by bisection on ln s; at ε ≥ 0.
    pub(super) fn saddle(&self, target: Target) -> Saddle {
        let beyond = |log_tilt: f64| {
            let saddle = self.saddle_at(libm::exp(log_tilt));
            match target {
                Target::Epsilon(epsilon) => saddle.epsilon >= epsilon,
                Target::LogDelta(log_delta) => saddle.epsilon >= 0.0 && saddle.log_delta <= log_delta,
            }
        };
        let (mut low, mut high) = self.log_tilts();
        while high - low > 1e-3 {
            let middle = 0.5 * (low + high);
            if beyond(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        self.saddle_at(libm::exp(high))
    }

    /// Logarithms of tilts far too flat for the whole sum and far too steep for any single step.
    fn log_tilts(&self) -> (f64, f64) {
        let whole = self.cumulants(0.0).variance.sqrt();
        let single = self.sketches.iter().map(|sketch| sketch.cumulants(0.0).variance.sqrt());
        let smallest = single.fold(whole, |a, b| if b > 0.0 { a.min(b) } else { a });
        (libm::log(1e-6 / whole), libm::log(1e4 / smallest))
    }

    /// About how often everything can be repeated before δ at ε is `log_delta`, by bisection on the saddle point: a tilt s is that of
    /// ε after n = (ε + 1/s + 1/(s+1))/K'(s) repetitions.
    pub(super) fn repetitions(&self, epsilon: f64, log_delta: f64) -> f64 {
        let at = |log_tilt: f64| {
            let tilt = libm::exp(log_tilt);
            let Cumulants { value, mean, variance } = self.cumulants(tilt);
            let times = (epsilon + 1.0 / tilt + 1.0 / (tilt + 1.0)) / mean;
            let repeated = Cumulants { value: value * times, mean: mean * times, variance: variance * times };
            (times, Saddle::new(repeated, tilt).log_delta)
        };
        let (mut low, mut high) = self.log_tilts();
        while high - low > 1e-4 {
            let middle = 0.5 * (low + high);
            let (times, log) = at(middle);
            // A flat tilt stands for many repetitions, a mean of zero or less for more than any number.
            if times > 0.0 && log <= log_delta {
                high = middle;
            } else {
                low = middle;
            }
        }
        at(high).0
    }

    /// Everything so many times.
    pub(super) fn repeated(&self, times: f64) -> Self {
        let repeat = |sketch: &Sketch| Sketch { atoms: sketch.atoms.clone(), steps: sketch.steps * times };
        Self { sketches: self.sketches.iter().map(repeat).collect() }
    }

    /// The shortest window in which δ near a saddle point can be computed to `tolerance`, relative.
    ///
    /// The saddle point's own tilt makes δ the most precise, but where single losses are rare and large it also makes them
    /// common, and the window long. A smaller tilt t leaves the entries near ε smaller than the largest by e^gap,
    /// gap = K(t) − tε − (K(s) − sε), and the transform's relative error, `noise`, larger by as much. Of those that afford it,
    /// the tilt with the shortest window is taken. Sums above the window come back at its lower end, below ε, where they do no
    /// harm; so only P(S > high) itself must be small, and what lies beyond ε plus the window's length.
    pub(super) fn window(&self, saddle: &Saddle, tolerance: f64, noise: f64) -> Window {
        let Saddle { tilt: steepest, epsilon, log_delta, deviation } = *saddle;
        let log_tolerance = libm::log(tolerance);
        let peak = self.cumulants(steepest).value - steepest * epsilon;
        let powers = |from: i32, to: i32, base: f64| {
            (from..=to).map(move |step| base * libm::exp2(0.25 * f64::from(step)))
        };
        // P(S ≥ T) ≤ e^(K(z) − zT) for any z > 0.
        let (mut high, mut outer) = (f64::INFINITY, steepest);
        for tilt in powers(-8, 12, steepest) {
            let above = (self.cumulants(tilt).value - log_delta - log_tolerance) / tilt;
            if above < high {
                (high, outer) = (above, tilt);
            }
        }
        let high = high.max(epsilon + 0.1 * deviation);
        let mut best: Option<Window> = None;
        for share in [1.0, 0.8, 0.65, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0] {
            let tilt = share * steepest;
            let Cumulants { value, variance, .. } = self.cumulants(tilt);
            let gap = value - tilt * epsilon - peak;
            if share < 1.0 && gap > log_tolerance - libm::log(noise) {
                break;
            }
            // ln δ in tilted units, and what may be lost of it.
            let allowed = log_delta + tilt * epsilon - value + log_tolerance;
            let usual = (-2.0 * allowed).sqrt() / variance.sqrt().max(f64::MIN_POSITIVE);
            // P(S ≤ T) ≤ e^(K(t−z) − K(t) + zT), and likewise above.
            let reach = |lean: f64| (self.cumulants(tilt + lean).value - value - allowed) / lean;
            let (mut low, mut below, mut far, mut returning) =
                (f64::NEG_INFINITY, -usual, f64::INFINITY, usual);
            for lean in powers(-12, 8, usual) {
                let (least, most) = (reach(-lean), reach(lean));
                if least > low {
                    (low, below) = (least, -lean);
                }
                if most < far {
                    (far, returning) = (most, lean);
                }
            }
            let low = low.min(epsilon - 0.1 * deviation);
            let high = high.max(low + (far - epsilon));
            if best.is_none_or(|best| high - low < best.high - best.low) {
                best = Some(Window { tilt, low, high, below, above: outer - tilt, returning });
            }
        }
        // The first share is never refused.
        best.unwrap_or(Window { tilt: steepest, low: high, high, below: 0.0, above: 0.0, returning: 0.0 })
    }
}

/// How lattice nodes are chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) saddle: Saddle,
    pub(super) offset: f64,
    pub(super) step: f64,
    /// Lowest and highest loss to cover.
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Cells with a tail of less than this beyond them are widened: 4ˡ times less mass, 2ˡ times the width.
const WIDEN_BELOW: f64 = 0.01;

/// The most nodes a step may have.
const MOST_NODES: usize = 1 << 21;

impl Sketch {
    /// Lattice indices from `low` to `high`, close together where the tilted mass is and wider in the tails.
    ///
    /// A cell of width w with mass m adds about m·w² to the error, so a cell may be 2ˡ steps wide where its tail is 4ˡ
    /// times lighter than the bulk; never so wide that e^((1+s)w) is far from 1. None if there would be too many.
    pub(super) fn nodes(&self, spread: &Spread) -> Option<Vec<i64>> {
        let Spread { saddle, offset, step, low, high } = *spread;
        let index = |loss: f64| (loss - offset) / step;
        let (first, last) = (index(low).floor(), index(high).ceil());
        if !(first.abs().max(last.abs()) < 9e15 && first < last) {
            return None;
        }
        let (first, last) = (first as i64, last as i64);
        let tails = self.tails(saddle.tilt, saddle.epsilon);
        // Loss offset is a node: mechanisms have an atom there.
        let start = 0_i64.clamp(first, last);
        let widest = (0.5 / ((1.0 + saddle.tilt) * step)).clamp(1.0, (1_i64 << 40) as f64);
        let tail = |position: i64| {
            let loss = offset + position as f64 * step;
            let after = tails.partition_point(|tail| tail.loss < loss);
            // The coarse outline knows the tail only at its atoms: take the heavier neighbour.
            let above = tails.get(after.saturating_sub(1)).map_or(0.0, |tail| tail.above);
            let below = tails.get(after.min(tails.len() - 1)).map_or(0.0, |tail| tail.below);
            above.min(below)
        };
        let width = |position: i64, direction: i64, before: i64| {
            let mut width = before.saturating_mul(2).min(widest as i64).max(1);
            while width > 1 {
                let heavier = tail(position).max(tail(position + direction * width));
                let times = width as f64;
                if heavier * times * times <= WIDEN_BELOW {
                    break;
                }
                width /= 2;
            }
            width
        };
        let walk = |from: i64, direction: i64, until: i64| {
            let (mut position, mut cell, mut nodes) = (from, 1 << 40, Vec::new());
            while position != until && nodes.len() <= MOST_NODES {
                cell = width(position, direction, cell).min((until - position).abs());
                position += direction * cell;
                nodes.push(position);
            }
            nodes
        };
        let mut nodes = walk(start, -1, first);
        nodes.reverse();
        nodes.push(start);
        nodes.extend(walk(start, 1, last));
        (nodes.len() <= MOST_NODES && !tails.is_empty()).then_some(nodes)
    }
}
