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
//! - *Outside the window.* A sum outside the window appears inside it, a multiple of its length Λ away, so entries are too large, never
//!   too small. The upper bound adds what lies above the window, by Chernoff: P(S ≥ T) ≤ e^(−zT)·Π(E e^(zL_a))^(k_a) for z > 0,
//!   with the moments summed over the lattice weights themselves. The lower bound takes away what may have come
//!   to above ε from outside. From below: the tilt is undone Λ too high, so at most e^(−sΛ)·P(S < low) is added, with
//!   Chernoff's bound for the latter. From above, only sums above ε + Λ end above ε: tilted mass A at most, by Chernoff
//!   again, each unit of which adds at most max_y e^(−s(ε+y))(1−e^(−y)) = e^(−sε)·s^s/(s+1)^(s+1).
//! - *Transform.* Every entry is raised or lowered by the proved error of
//!   [`Cyclic::powers`](barkeep_num::convolution::Cyclic::powers).
//! - *Sums and exponentials.* Relative rounding of the sum over j, of e^(−sε_j) and of C, each times a small multiple of 2⁻⁵³.
//! - *Capped losses.* The chance that a capped loss meets a sum too low for it is taken off the lower bound; see
//!   [`lattice`](super::lattice).
//! - *Losses.* If lattice losses may be wrong by η in one step, ε is moved by k·η.

use barkeep_num::convolution::{Cyclic, Estimate, Transform};
use barkeep_num::{log_add_exp, vector};

use super::composed::Composed;
use super::lattice::{Nodes, Tilt, Weights};
use super::plan::Window;

/// Relative error charged to a moment: a sum of up to a few million positive terms, each known to a few units.
const MOMENT_SLACK: f64 = 1e-9;

/// Which way bounds are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Upper,
    Lower,
}

/// One kind of step on the lattice, transformed.
pub(super) struct Part {
    spectrum: Transform,
    offset: f64,
    /// Lattice index that was moved to the origin.
    centre: i64,
    tilt: Tilt,
    infinite: f64,
    capped: f64,
    shift: f64,
    /// ln Σ w·e^(θℓ) for the tilts of the window.
    moments: Moments,
    /// The largest loss with any weight.
    highest: f64,
}

/// One number for each of the bounds on what is outside a [`Window`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moments {
    pub(super) below: f64,
    pub(super) above: f64,
    pub(super) returning: f64,
    pub(super) sinking: f64,
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
        let occupied = || nodes.indices.iter().zip(&weights.values).filter(|(_, weight)| **weight > 0.0);
        let losses: Vec<f64> = occupied().map(|(index, _)| nodes.position(*index)).collect();
        let mut logs: Vec<f64> = occupied().map(|(_, weight)| *weight).collect();
        vector::ln(&mut logs);
        let moment = |lean: f64| {
            let mut terms: Vec<f64> = logs.iter().zip(&losses).map(|(log, loss)| log + lean * loss).collect();
            let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            terms.iter_mut().for_each(|term| *term -= largest);
            vector::exp(&mut terms);
            largest + libm::log(terms.iter().sum::<f64>()) + MOMENT_SLACK
        };
        let highest = losses.last().copied().unwrap_or(f64::NEG_INFINITY);
        // Capped losses count as if they were at the highest node, where they sink the sum more than where they were.
        let sinking = self.window.sinking;
        let capped = weights.capped + tilt.rate * highest - tilt.log_scale + sinking * highest;
        Part {
            spectrum: self.cyclic.spectrum(values),
            offset: nodes.offset,
            centre,
            tilt,
            infinite: weights.infinite,
            capped: weights.capped,
            shift: weights.shift,
            moments: Moments {
                below: moment(self.window.below),
                above: moment(self.window.above),
                returning: moment(self.window.returning),
                sinking: log_add_exp(moment(sinking), capped),
            },
            highest,
        }
    }

    /// The composition of each part with its number of steps.
    pub(super) fn compose(&self, parts: &[(&Part, u64)], side: Side) -> Composed {
        let factors: Vec<(&Transform, u64)> =
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
pub(super) struct Totals {
    pub(super) offset: f64,
    pub(super) centre: i128,
    pub(super) log_scale: f64,
    pub(super) moments: Moments,
    /// Of losses infinite by nature.
    pub(super) infinite: Chance,
    pub(super) shift: f64,
    /// Σk·|κ|, Σk·|offset| and Σk, for rounding.
    pub(super) scales: f64,
    pub(super) travelled: f64,
    pub(super) steps: f64,
    pub(super) highest: f64,
    /// Of those and of losses that were capped.
    pub(super) unbounded: Chance,
    /// ln Σk·m of what was capped, and the lowest node it was capped at.
    pub(super) capped: f64,
    pub(super) top: f64,
    /// The least ln E e^(−θL) of one step.
    pub(super) least_sinking: f64,
}

impl Totals {
    fn none() -> Self {
        Self {
            offset: 0.0,
            centre: 0,
            log_scale: 0.0,
            moments: Moments::default(),
            infinite: Chance::NONE,
            unbounded: Chance::NONE,
            shift: 0.0,
            scales: 0.0,
            travelled: 0.0,
            steps: 0.0,
            highest: 0.0,
            capped: f64::NEG_INFINITY,
            top: f64::INFINITY,
            least_sinking: 0.0,
        }
    }

    fn add(&mut self, part: &Part, steps: u64) {
        let times = steps as f64;
        self.offset += times * part.offset;
        self.centre += i128::from(part.centre) * i128::from(steps);
        self.log_scale += times * part.tilt.log_scale;
        let Moments { below, above, returning, sinking } = part.moments;
        self.moments.below += times * below;
        self.moments.above += times * above;
        self.moments.returning += times * returning;
        // Untilted.
        self.moments.sinking += times * (sinking + part.tilt.log_scale);
        self.least_sinking = self.least_sinking.min(sinking + part.tilt.log_scale);
        if part.capped > f64::NEG_INFINITY {
            self.capped = log_add_exp(self.capped, libm::log(times) + part.capped);
            self.top = self.top.min(part.highest);
        }
        self.infinite.add(part.infinite, times);
        self.unbounded.add(log_add_exp(part.infinite, part.capped), times);
        self.shift += times * part.shift;
        self.scales +=
            times * (part.tilt.log_scale.abs() + below.abs() + above.abs() + returning.abs() + sinking.abs());
        self.travelled += times * part.offset.abs();
        self.steps += times;
        self.highest += times * part.highest;
    }
}

/// Where a composition lies.
pub(super) struct Frame {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) step: f64,
    pub(super) rate: f64,
    pub(super) reference: f64,
    pub(super) window: Window,
    pub(super) shift: f64,
}

/// The chance that a rare thing happens at least once in many steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chance {
    /// ln of how often it is expected.
    log_expected: f64,
    /// ln of the chance that it does not happen.
    log_none: f64,
}

impl Chance {
    const NONE: Self = Self { log_expected: f64::NEG_INFINITY, log_none: 0.0 };

    /// `steps` steps, in each of which it happens with the given chance.
    fn add(&mut self, log_chance: f64, steps: f64) {
        self.log_expected = log_add_exp(self.log_expected, libm::log(steps) + log_chance);
        self.log_none += steps * libm::log1p(-libm::exp(log_chance).min(1.0));
    }

    /// 1 − Π(1−m)^k; where that is tiny, Σk·m, from which it then differs less than rounding.
    pub(super) fn log(&self) -> f64 {
        if self.log_expected < -60.0 { self.log_expected } else { libm::log(-libm::expm1(self.log_none)) }
    }
}
