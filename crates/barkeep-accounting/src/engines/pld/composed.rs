//! Answers for δ(ε) of one composition, bounded from one side; what is added and taken away is explained in [`engine`](super::engine).

use barkeep_num::convolution::Estimate;
use barkeep_num::{log_add_exp, log_sub_exp, vector};

use super::atoms::{Atom, Atoms};
use super::engine::{Frame, Side, Totals};
use super::plan::Window;

/// Entries summed together.
const BLOCK: usize = 64;

/// Terms larger than e^(this) times those at the reference ε are left alone: δ is not asked for there.
const LARGEST_EXPONENT: f64 = 300.0;

/// With a larger error of each entry, tilted weights of a distribution being about 1 in all, they say nothing about δ. Up to it they
/// sum to less than 10²⁶, however long the lattice.
const LARGEST_ERROR: f64 = 1e-3;

/// For an upper bound no entry fades further within its block, so that none is lost to underflow before the block is scaled,
/// by up to e^300: all of them are at least as large as their error.
const FAINTEST: f64 = 1e-280;

/// More than all blocks together can lose to the underflow of their scales.
const UNDERFLOW: f64 = 1e-290;

/// A composition, ready to be asked for a bound on δ at any ε.
pub(super) struct Composed {
    side: Side,
    /// Whether the entries say anything.
    known: bool,
    values: Vec<f64>,
    low: f64,
    step: f64,
    rate: f64,
    reference: f64,
    /// C − s·reference: δ is e^this times what the sums give.
    log_unit: f64,
    /// Factors e^(−s·step·i) and 1 − e^(−step·i) within a block.
    fade: Vec<(f64, f64)>,
    /// Σ a and Σ a·(1 − e^(ε−ε_j)) over all entries a = W_j·e^(−sε_j) from the start ε of each block on.
    suffixes: Vec<(f64, f64)>,
    /// First block whose exponentials are within range.
    first_block: usize,
    /// Relative rounding of the sums.
    rounding: f64,
    /// Rounding of `log_unit`.
    log_slack: f64,
    /// To be added to δ (upper), or to be taken from it (lower), in units.
    outside: f64,
    /// ln of at least the chance of a sum below the window, in units.
    beneath: f64,
    /// ln of what may come back from above the window, were ε at its lower end, per e^(−s(ε−reference)), and how fast that falls with
    /// ε (lower).
    returning: (f64, f64),
    /// ln of the mass at infinity, added to δ as it is: by nature, and with what was capped.
    infinite: f64,
    capped: f64,
    /// ln of what must be taken off for capping, were ε 0, how fast that grows with ε, and what it does not exceed (lower).
    sunk: (f64, f64, f64),
    shift: f64,
}

impl Composed {
    pub(super) fn new(estimate: Estimate, side: Side, totals: &Totals, frame: &Frame) -> Self {
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
        // Written so that a NaN is not known.
        let known = error <= LARGEST_ERROR;
        let log_unit = totals.log_scale - rate * reference;
        let unit = 8.0 * f64::EPSILON;
        let log_slack = unit * (totals.scales + (rate * reference).abs() + 4.0);
        // A moment near 1 has a logarithm known to a few units only.
        let Window { below, above, returning, sinking, .. } = window;
        let leans = (above * high).abs() + (below * low).abs() + (returning * high).abs();
        let slack = log_slack + unit * (totals.steps + leans);
        let moments = totals.moments;
        let beneath = moments.below - (below + rate) * low + rate * reference + slack;
        let (outside, returning, infinite, capped, sunk) = match side {
            Side::Upper => {
                let overflow = if totals.highest < high {
                    0.0
                } else {
                    let log = moments.above - (above + rate) * high + rate * reference + slack;
                    libm::exp(log) + f64::MIN_POSITIVE
                };
                let infinite = totals.infinite.log() + 1e-12;
                (
                    overflow,
                    (f64::NEG_INFINITY, 0.0),
                    infinite,
                    infinite,
                    (f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY),
                )
            }
            Side::Lower => {
                let peak =
                    if rate > 0.0 { rate * libm::log(rate) - (rate + 1.0) * libm::log1p(rate) } else { 0.0 };
                let under = moments.below - (below + rate) * low - rate * ((high - low) - reference) + slack;
                // At the lower end of the window, so that ε plus its length is its upper end.
                let back = moments.returning - returning * high + slack + peak;
                // P(all other losses sum to less than ε − top) ≤ e^(θ(ε−top))·Π(E e^(−θL))^k, with one step left out.
                let growth = -(sinking + rate);
                let low = totals.moments.sinking - totals.least_sinking + slack;
                let sunk = if totals.capped > f64::NEG_INFINITY {
                    (totals.capped + low - growth * totals.top, growth, totals.capped)
                } else {
                    (f64::NEG_INFINITY, 0.0, f64::NEG_INFINITY)
                };
                let infinite = totals.infinite.log() - 1e-12;
                let capped = totals.unbounded.log() - 1e-12;
                (libm::exp(under), (back, returning), infinite, capped, sunk)
            }
        };
        let faintest = if side == Side::Upper { FAINTEST } else { 0.0 };
        let fade = (0..BLOCK)
            .map(|index| index as f64 * step)
            .map(|way| (libm::exp(-rate * way).max(faintest), -libm::expm1(-way)))
            .collect();
        let rounding = unit * (values.len() as f64 + 2.0 * (rate + 1.0) * (high - low) + 64.0);
        let mut composed = Self {
            side,
            known,
            values,
            low,
            step,
            rate,
            reference,
            log_unit,
            fade,
            suffixes: Vec::new(),
            first_block: 0,
            rounding,
            log_slack,
            outside,
            beneath,
            returning,
            infinite,
            capped,
            sunk,
            shift,
        };
        composed.sum_up();
        composed
    }

    /// ε of the first entry of a block.
    fn block_start(&self, block: usize) -> f64 {
        self.low + (block * BLOCK) as f64 * self.step
    }

    /// e^(−s(ε−reference)).
    fn scale(&self, epsilon: f64) -> f64 {
        libm::exp(-self.rate * (epsilon - self.reference))
    }

    /// Σ a and Σ a·(1 − e^(ε_from−ε_j)) over the entries of one block from `from` on.
    fn block_sum(&self, block: usize, from: usize) -> (f64, f64) {
        let entries = &self.values[block * BLOCK..((block + 1) * BLOCK).min(self.values.len())];
        let (mut whole, mut lifted) = (0.0, 0.0);
        let entries = entries.get(from..).unwrap_or_default();
        let fades = self.fade[from..].iter().zip(&self.fade);
        for (value, ((fade, _), (_, lift))) in entries.iter().zip(fades) {
            let weight = value * fade;
            whole += weight;
            lifted += weight * lift;
        }
        let scale = self.scale(self.block_start(block));
        (whole * scale, lifted * scale)
    }

    /// Sums from an entry `way` below another on, from those of the latter: 1 − e^(−x−y) = (1 − e^(−x)) + e^(−x)(1 − e^(−y)), all of
    /// it positive.
    fn lowered((whole, lifted): (f64, f64), way: f64) -> (f64, f64) {
        let lift = -libm::expm1(-way);
        (whole, whole * lift + (1.0 - lift) * lifted)
    }

    fn sum_up(&mut self) {
        let blocks = self.values.len().div_ceil(BLOCK);
        let mut suffixes = vec![(0.0, 0.0); blocks + 1];
        self.first_block = blocks;
        for block in (0..blocks).rev() {
            if (self.rate + 1.0) * (self.reference - self.block_start(block)) > LARGEST_EXPONENT {
                break;
            }
            let (whole, lifted) = self.block_sum(block, 0);
            let rest = Self::lowered(suffixes[block + 1], BLOCK as f64 * self.step);
            suffixes[block] = (rest.0 + whole, rest.1 + lifted);
            self.first_block = block;
        }
        self.suffixes = suffixes;
    }

    /// Σ W_j·e^(−s(ε_j−reference))·(1 − e^(ε−ε_j)) over the entries above ε.
    fn sum_above(&self, epsilon: f64) -> f64 {
        let entry = ((epsilon - self.low) / self.step).max(0.0).ceil();
        if entry >= self.values.len() as f64 {
            return 0.0;
        }
        let entry = entry as usize;
        let (block, within) = (entry / BLOCK, entry % BLOCK);
        let position = |entry: usize| self.low + entry as f64 * self.step;
        let (whole, lifted) = self.block_sum(block, within);
        let rest = Self::lowered(self.suffixes[block + 1], (BLOCK - within) as f64 * self.step);
        // Rounding may have put ε slightly above the entry.
        Self::lowered((whole + rest.0, lifted + rest.1), (position(entry) - epsilon).max(0.0)).1
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
        let sum = self.sum_above(epsilon);
        let units = match self.side {
            Side::Upper => sum * (1.0 + self.rounding) + self.outside + UNDERFLOW,
            Side::Lower => {
                let (log_returning, fall) = self.returning;
                let returning = libm::exp(log_returning - fall * (epsilon - self.low));
                sum * (1.0 - self.rounding) - self.outside - returning * self.scale(epsilon)
            }
        };
        let slack = if self.side == Side::Upper { self.log_slack } else { -self.log_slack };
        if !self.known || units.is_nan() {
            return if self.side == Side::Upper { 0.0 } else { self.infinite };
        }
        let finite = if units > 0.0 { libm::log(units) + self.log_unit + slack } else { f64::NEG_INFINITY };
        let (log_sunk, growth, most) = self.sunk;
        let sunk = (log_sunk + growth * epsilon).min(most);
        let whole = log_add_exp(finite, self.capped);
        let log_delta = if sunk < whole { log_sub_exp(whole, sunk) } else { f64::NEG_INFINITY };
        if log_delta.is_nan() {
            return if self.side == Side::Upper { 0.0 } else { f64::NEG_INFINITY };
        }
        log_delta.min(0.0)
    }

    /// An upper bound as atoms, of which any composition bounds that of what was composed; none where the entries say nothing.
    ///
    /// The mass of an entry is W_j·e^(C−sε_j). What lies below the window is moved up to its first entry, what lies above it to
    /// infinity, both by Chernoff's bound.
    pub(super) fn into_atoms(self) -> Option<Atoms> {
        if self.side != Side::Upper || !self.known {
            return None;
        }
        let unit = 8.0 * f64::EPSILON;
        let in_units =
            |log: f64| log + self.log_unit + self.log_slack + unit * (1.0 + log.abs() + self.log_unit.abs());
        let infinite = log_add_exp(self.infinite, in_units(libm::log(self.outside + UNDERFLOW)));
        let mut logs = self.values;
        vector::ln(&mut logs);
        let atom = |(index, log): (usize, &f64)| {
            let loss = self.low + index as f64 * self.step;
            let log_mass = log - self.rate * (loss - self.reference) + self.log_unit;
            let terms = log.abs() + (self.rate * loss).abs() + (self.rate * self.reference).abs();
            Atom {
                loss: loss + self.shift,
                log_mass,
                loss_slack: unit * (loss.abs() + self.shift),
                log_slack: self.log_slack + unit * (4.0 + terms + self.log_unit.abs()),
            }
        };
        // An entry that is left out has no mass, and the first has at least its error.
        let occupied = logs.iter().enumerate().filter(|(_, log)| **log > f64::NEG_INFINITY);
        let mut atoms: Vec<Atom> = occupied.map(atom).collect();
        let first = atoms.first_mut()?;
        first.log_mass = log_add_exp(first.log_mass, in_units(self.beneath));
        Some(Atoms { atoms, below: f64::NEG_INFINITY, above: infinite, infinite: f64::NEG_INFINITY })
    }

    /// ln of the mass at infinity.
    pub(super) fn log_infinite(&self) -> f64 {
        self.infinite
    }
}
