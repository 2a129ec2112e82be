//! Composes steps whose losses lie on one lattice, and bounds δ(ε) of the composition from one side.
//!
//! # What is computed
//! Let one step of kind a have tilted weights w_a (see [`lattice`](super::lattice)), taken k_a times. The weights of the sum of
//! all losses are the convolution Πw_a^(k_a), computed by a cyclic convolution of length N, that is, in a window of N lattice
//! points around the losses of interest. With W its entries, s the tilt and C = Σk_aκ_a,
//!
//! > δ(ε) = m_∞ + Σ_{j: ε_j > ε} W_j·e^(C−sε_j)·(1 − e^(ε−ε_j)).
//!
//! # What is added, what is taken away
//! - *Infinity.* m_∞ = 1 − Π(1−m_a)^(k_a) ≤ Σk_a·m_a, and not less than 1 − e^(−Σk_a·m_a).
//! - *Outside the window.* A sum beyond the window appears inside it, so entries are too large, never too small. The upper bound
//!   adds what lies above the window, by Chernoff: P(S ≥ T) ≤ e^(−(s+θ)T)·Π(E e^((s+θ)L_a))^(k_a), with the
//!   moments summed over the lattice weights themselves. The lower bound takes away what may have come from outside to above
//!   ε, that is, from below the window or from above ε plus its length: tilted mass A at most, by Chernoff again, each unit
//!   of which adds at most max_y e^(−s(ε+y))(1−e^(−y)) = e^(−sε)·s^s/(s+1)^(s+1).
//! - *Transform.* Every entry is raised or lowered by the proved error of
//!   [`Cyclic::powers`](barkeep_num::convolution::Cyclic::powers).
//! - *Sums and exponentials.* Relative rounding of the sum over j, of e^(−sε_j) and of C, each times a small multiple of 2⁻⁵³.
//! - *Losses.* If lattice losses may be wrong by η in one step, ε is moved by k·η.

use barkeep_num::convolution::{Cyclic, Estimate, Spectrum};
use barkeep_num::log_add_exp;

use super::lattice::{Nodes, Tilt, Weights};
use super::plan::Window;

/// Entries summed together.
const BLOCK: usize = 64;

/// Terms larger than e^(this) times those at the reference ε are left alone: δ is not asked for there.
const LARGEST_EXPONENT: f64 = 300.0;

/// Which way bounds are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Upper,
    Lower,
}

/// One kind of step on the lattice, transformed.
pub(super) struct Part {
    spectrum: Spectrum,
    offset: f64,
    /// Lattice index that was moved to the origin.
    centre: i64,
    tilt: Tilt,
    infinite: f64,
    shift: f64,
    /// ln Σ w·e^(θℓ) for the tilts of the window.
    moments: Moments,
    /// The largest loss with any weight.
    highest: f64,
}

/// One number for each of the bounds on what is outside a [`Window`].
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    below: f64,
    above: f64,
    returning: f64,
}

/// What is common to all parts.
pub(super) struct Engine {
    pub(super) cyclic: Cyclic,
    pub(super) step: f64,
    pub(super) window: Window,
    /// s.
    pub(super) rate: f64,
    /// Where precision is wanted.
    pub(super) reference: f64,
}

impl Engine {
    pub(super) fn part(&self, nodes: &Nodes, weights: &Weights, tilt: Tilt) -> Part {
        let length = self.cyclic.length() as i64;
        let (mut sum, mut moment) = (0.0, 0.0);
        for (index, weight) in nodes.indices.iter().zip(&weights.values) {
            sum += weight;
            moment += weight * (*index as f64);
        }
        let centre = if sum > 0.0 { (moment / sum).round() as i64 } else { 0 };
        let mut values = vec![0.0; self.cyclic.length()];
        for (index, weight) in nodes.indices.iter().zip(&weights.values) {
            values[(index - centre).rem_euclid(length) as usize] += weight;
        }
        let occupied = nodes.indices.iter().zip(&weights.values).rev().find(|(_, weight)| **weight > 0.0);
        let highest = occupied.map_or(f64::NEG_INFINITY, |(index, _)| nodes.position(*index));
        let moment = |lean: f64| {
            let logs: Vec<f64> = (nodes.indices.iter().zip(&weights.values))
                .filter(|(_, weight)| **weight > 0.0)
                .map(|(index, weight)| libm::log(*weight) + lean * nodes.position(*index))
                .collect();
            barkeep_num::log_sum_exp(&logs)
        };
        Part {
            spectrum: self.cyclic.spectrum(values),
            offset: nodes.offset,
            centre,
            tilt,
            infinite: weights.infinite,
            shift: weights.shift,
            moments: Moments {
                below: moment(self.window.below),
                above: moment(self.window.above),
                returning: moment(self.window.returning),
            },
            highest,
        }
    }

    /// The composition of each part with its number of steps.
    pub(super) fn compose(&self, parts: &[(&Part, u64)], side: Side) -> Composed {
        let factors: Vec<(&Spectrum, u64)> =
            parts.iter().map(|(part, steps)| (&part.spectrum, *steps)).collect();
        let estimate = self.cyclic.powers(&factors);
        let length = self.cyclic.length() as i128;
        let mut totals = Totals::none();
        for (part, steps) in parts {
            totals.add(part, *steps);
        }
        // Lattice index of the first entry of the window.
        let first = ((self.window.low - totals.offset) / self.step).floor();
        let origin = (first as i128 - totals.centre).rem_euclid(length) as usize;
        let mut values = estimate.values;
        values.rotate_left(origin);
        let low = totals.offset + first * self.step;
        let high = totals.offset + (first + length as f64) * self.step;
        let span = low.abs().max(high.abs());
        Composed::new(
            Estimate { values, error: estimate.error },
            side,
            &totals,
            &Frame {
                low,
                high,
                step: self.step,
                rate: self.rate,
                reference: self.reference,
                window: self.window,
                shift: totals.shift + 4.0 * f64::EPSILON * (span + totals.travelled),
            },
        )
    }
}

/// Sums over all steps.
struct Totals {
    offset: f64,
    centre: i128,
    log_scale: f64,
    moments: Moments,
    /// ln Σk·m, at least or at most.
    infinite: f64,
    shift: f64,
    /// Σk·|κ|, Σk·|offset| and Σk, for rounding.
    scales: f64,
    travelled: f64,
    steps: f64,
    highest: f64,
}

impl Totals {
    fn none() -> Self {
        Self {
            offset: 0.0,
            centre: 0,
            log_scale: 0.0,
            moments: Moments::default(),
            infinite: f64::NEG_INFINITY,
            shift: 0.0,
            scales: 0.0,
            travelled: 0.0,
            steps: 0.0,
            highest: 0.0,
        }
    }

    fn add(&mut self, part: &Part, steps: u64) {
        let times = steps as f64;
        self.offset += times * part.offset;
        self.centre += i128::from(part.centre) * i128::from(steps);
        self.log_scale += times * part.tilt.log_scale;
        let Moments { below, above, returning } = part.moments;
        self.moments.below += times * below;
        self.moments.above += times * above;
        self.moments.returning += times * returning;
        self.infinite = log_add_exp(self.infinite, libm::log(times) + part.infinite);
        self.shift += times * part.shift;
        self.scales += times * (part.tilt.log_scale.abs() + below.abs() + above.abs() + returning.abs());
        self.travelled += times * part.offset.abs();
        self.steps += times;
        self.highest += times * part.highest;
    }
}

/// Where a composition lies.
struct Frame {
    low: f64,
    high: f64,
    step: f64,
    rate: f64,
    reference: f64,
    window: Window,
    shift: f64,
}

/// A composition, ready to be asked for a bound on δ at any ε.
pub(super) struct Composed {
    side: Side,
    values: Vec<f64>,
    low: f64,
    step: f64,
    rate: f64,
    reference: f64,
    /// C − s·reference: δ is e^this times what the sums give.
    log_unit: f64,
    /// Factors e^(−s·step·i) and e^(−(s+1)·step·i) within a block.
    fade: Vec<(f64, f64)>,
    /// Sums over all entries from the start of each block on.
    suffixes: Vec<(f64, f64)>,
    /// First block whose exponentials are within range.
    first_block: usize,
    /// Relative rounding of the sums.
    rounding: f64,
    /// Rounding of `log_unit`.
    log_slack: f64,
    /// To be added to δ, in units (upper), or to be taken from it in units and per e^(−s(ε−reference)) (lower).
    outside: f64,
    /// ln of what may come back from above the window, were ε at its lower end, and how fast that falls with ε (lower).
    returning: (f64, f64),
    /// ln of the mass at infinity, added to δ as it is.
    infinite: f64,
    shift: f64,
}

impl Composed {
    fn new(estimate: Estimate, side: Side, totals: &Totals, frame: &Frame) -> Self {
        let Frame { low, high, step, rate, reference, window, shift } = *frame;
        let mut values = estimate.values;
        let error = estimate.error;
        for value in &mut values {
            *value = match side {
                Side::Upper => value.max(0.0) + error,
                Side::Lower => (*value - error).max(0.0),
            };
        }
        // No sum is larger than all losses at their largest; half a lattice step covers the rounding of its place.
        let end = ((totals.highest - low) / step + 1.5).clamp(0.0, values.len() as f64) as usize;
        values[end..].fill(0.0);
        if !error.is_finite() {
            values.fill(if side == Side::Upper { f64::INFINITY } else { 0.0 });
        }
        let log_unit = totals.log_scale - rate * reference;
        let unit = 8.0 * f64::EPSILON;
        let log_slack = unit * (totals.scales + (rate * reference).abs() + 4.0);
        // A moment near 1 has a logarithm known to a few units only.
        let Window { below, above, returning, .. } = window;
        let leans = (above * high).abs() + (below * low).abs() + (returning * high).abs();
        let slack = log_slack + unit * (totals.steps + leans);
        let moments = totals.moments;
        let (outside, returning, infinite) = match side {
            Side::Upper => {
                let overflow = if totals.highest < high {
                    0.0
                } else {
                    let log = moments.above - (above + rate) * high + rate * reference + slack;
                    libm::exp(log) + f64::MIN_POSITIVE
                };
                (overflow, (f64::NEG_INFINITY, 0.0), totals.infinite + 1e-12)
            }
            Side::Lower => {
                let peak =
                    if rate > 0.0 { rate * libm::log(rate) - (rate + 1.0) * libm::log1p(rate) } else { 0.0 };
                let under = moments.below - below * low + slack + peak;
                // At the lower end of the window, so that ε plus its length is its upper end.
                let back = moments.returning - returning * high + slack + peak;
                (libm::exp(under), (back, returning), log_occurs(totals.infinite))
            }
        };
        let fade = (0..BLOCK)
            .map(|i| i as f64 * step)
            .map(|way| (libm::exp(-rate * way), libm::exp(-(rate + 1.0) * way)));
        let rounding = unit * (values.len() as f64 + 2.0 * (rate + 1.0) * (high - low) + 64.0);
        let mut composed = Self {
            side,
            values,
            low,
            step,
            rate,
            reference,
            log_unit,
            fade: fade.collect(),
            suffixes: Vec::new(),
            first_block: 0,
            rounding,
            log_slack,
            outside,
            returning,
            infinite,
            shift,
        };
        composed.sum_up();
        composed
    }

    /// ε of the first entry of a block.
    fn block_start(&self, block: usize) -> f64 {
        self.low + (block * BLOCK) as f64 * self.step
    }

    /// e^(−s(ε−reference)) and e^(−(s+1)(ε−reference)).
    fn scale(&self, epsilon: f64) -> (f64, f64) {
        let way = epsilon - self.reference;
        (libm::exp(-self.rate * way), libm::exp(-(self.rate + 1.0) * way))
    }

    /// Sums of the entries of one block from `from` on.
    fn block_sum(&self, block: usize, from: usize) -> (f64, f64) {
        let entries = &self.values[block * BLOCK..((block + 1) * BLOCK).min(self.values.len())];
        let (mut plain, mut faded) = (0.0, 0.0);
        for (value, fade) in entries.iter().zip(&self.fade).skip(from).rev() {
            plain += value * fade.0;
            faded += value * fade.1;
        }
        let scale = self.scale(self.block_start(block));
        (plain * scale.0, faded * scale.1)
    }

    fn sum_up(&mut self) {
        let blocks = self.values.len().div_ceil(BLOCK);
        let mut suffixes = vec![(0.0, 0.0); blocks + 1];
        self.first_block = blocks;
        for block in (0..blocks).rev() {
            if (self.rate + 1.0) * (self.reference - self.block_start(block)) > LARGEST_EXPONENT {
                break;
            }
            let (plain, faded) = self.block_sum(block, 0);
            suffixes[block] = (suffixes[block + 1].0 + plain, suffixes[block + 1].1 + faded);
            self.first_block = block;
        }
        self.suffixes = suffixes;
    }

    /// ln of the bound on δ at ε.
    pub(super) fn log_delta(&self, epsilon: f64) -> f64 {
        let epsilon = match self.side {
            Side::Upper => epsilon - self.shift,
            Side::Lower => epsilon + self.shift,
        };
        let lowest = self.block_start(self.first_block);
        let epsilon = match self.side {
            // δ falls: its bound further up is a bound here, or there is none.
            Side::Lower => epsilon.max(lowest),
            Side::Upper if epsilon < lowest => return 0.0,
            Side::Upper => epsilon,
        };
        let entry = ((epsilon - self.low) / self.step).max(0.0);
        let (mut plain, mut faded) = (0.0, 0.0);
        if entry < self.values.len() as f64 {
            let entry = entry.floor() as usize;
            let (block, within) = (entry / BLOCK, entry % BLOCK);
            // Entry `within` is at or below ε, or its term vanishes there: a term of the wrong sign would spoil the bound.
            let at = self.low + entry as f64 * self.step;
            let from = if at < epsilon { within + 1 } else { within };
            (plain, faded) = self.block_sum(block, from);
            plain += self.suffixes[block + 1].0;
            faded += self.suffixes[block + 1].1;
        }
        let grown = libm::exp(epsilon - self.reference) * faded;
        let units = match self.side {
            Side::Upper => {
                let sum = (plain - grown).max(0.0) + self.rounding * (plain + grown);
                sum + self.outside
            }
            Side::Lower => {
                let sum = (plain - grown) - self.rounding * (plain + grown);
                let (log_returning, fall) = self.returning;
                let returning = libm::exp(log_returning - fall * (epsilon - self.low));
                sum - (self.outside + returning) * self.scale(epsilon).0
            }
        };
        let slack = if self.side == Side::Upper { self.log_slack } else { -self.log_slack };
        let finite = if units > 0.0 { libm::log(units) + self.log_unit + slack } else { f64::NEG_INFINITY };
        let log_delta = log_add_exp(finite, self.infinite);
        if log_delta.is_nan() {
            return if self.side == Side::Upper { 0.0 } else { f64::NEG_INFINITY };
        }
        log_delta.min(0.0)
    }

    /// ln of the mass at infinity.
    pub(super) fn log_infinite(&self) -> f64 {
        self.infinite
    }
}

/// ln(1 − e^(−m)) from ln m, at most: the chance that one of many rare things occurs.
fn log_occurs(log_expected: f64) -> f64 {
    libm::log(-libm::expm1(-libm::exp(log_expected))) - 1e-12
}
