//! Outlines the losses of one step, for planning: cumulants, tails, and the nodes to put it on. Nothing here carries a guarantee.

use barkeep_num::{log_add_exp, vector};

use super::atoms::Atom;
use super::plan::Saddle;

/// The losses of one step in outline, and how many such steps there are.
#[derive(Debug, Clone)]
pub(super) struct Sketch {
    losses: Vec<f64>,
    log_masses: Vec<f64>,
    /// The same in fewer atoms, for moments.
    gathered: Gathered,
    steps: f64,
}

/// Losses and ln of their masses, neighbours as one where there are many: the moments of very many tilts are asked for, and what neighbours differ
/// by adds nothing that matters to a plan.
#[derive(Debug, Clone)]
struct Gathered(Vec<Group>);

/// Atoms worked on side by side; the last ones may have no mass.
#[derive(Debug, Clone)]
struct Group {
    losses: [f64; TOGETHER],
    log_masses: [f64; TOGETHER],
}

const TOGETHER: usize = 8;

/// Atoms that moments are taken of, at most.
const MOST_GATHERED: usize = 512;

impl Gathered {
    fn new(losses: &[f64], log_masses: &[f64]) -> Self {
        let together = losses.len().div_ceil(MOST_GATHERED).max(1);
        let one = |(losses, logs): (&[f64], &[f64])| {
            let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mut mass, mut sum) = (0.0, 0.0);
            for (loss, log) in losses.iter().zip(logs) {
                let part = libm::exp(log - largest);
                (mass, sum) = (mass + part, sum + part * loss);
            }
            (sum / mass, largest + libm::log(mass))
        };
        let atoms: Vec<(f64, f64)> = match together {
            1 => losses.iter().copied().zip(log_masses.iter().copied()).collect(),
            _ => losses.chunks(together).zip(log_masses.chunks(together)).map(one).collect(),
        };
        let group = |atoms: &[(f64, f64)]| {
            let atom = |i: usize| atoms.get(i).copied().unwrap_or((0.0, f64::NEG_INFINITY));
            let (losses, log_masses) = (|i| atom(i).0, |i| atom(i).1);
            Group { losses: std::array::from_fn(losses), log_masses: std::array::from_fn(log_masses) }
        };
        Self(atoms.chunks(TOGETHER).map(group).collect())
    }

    /// The largest e^(sℓ) times a mass, by its logarithm, and Σ, Σℓ and Σℓ² of all, as parts of it.
    #[inline(always)]
    fn moments(&self, tilt: f64) -> (f64, [f64; 3]) {
        let mut most = [f64::NEG_INFINITY; TOGETHER];
        for Group { losses, log_masses } in &self.0 {
            for i in 0..TOGETHER {
                let weight = log_masses[i] + tilt * losses[i];
                most[i] = if weight > most[i] { weight } else { most[i] };
            }
        }
        let largest = most.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut first, mut second) = ([0.0; TOGETHER], [0.0; TOGETHER], [0.0; TOGETHER]);
        for Group { losses, log_masses } in &self.0 {
            for i in 0..TOGETHER {
                let weight = vector::scalar::exp(log_masses[i] + tilt * losses[i] - largest);
                let weighted = weight * losses[i];
                sum[i] += weight;
                first[i] += weighted;
                second[i] += weighted * losses[i];
            }
        }
        (largest, [sum, first, second].map(|parts| parts.iter().sum()))
    }
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
        let mut log_masses: Vec<f64> = outline.iter().map(|atom| atom.log_mass).collect();
        let total = barkeep_num::log_sum_exp(&log_masses);
        log_masses.iter_mut().for_each(|log| *log -= total);
        Self::of(outline.iter().map(|atom| atom.loss).collect(), log_masses, steps)
    }

    fn of(losses: Vec<f64>, log_masses: Vec<f64>, steps: f64) -> Self {
        let gathered = Gathered::new(&losses, &log_masses);
        Self { losses, log_masses, gathered, steps }
    }

    pub(super) fn steps(&self) -> f64 {
        self.steps
    }

    /// Of one step.
    pub(super) fn cumulants(&self, tilt: f64) -> Cumulants {
        let (largest, [sum, first, second]) = vector::dispatch(
            #[inline(always)]
            || self.gathered.moments(tilt),
        );
        let mean = first / sum;
        Cumulants { value: largest + libm::log(sum), mean, variance: (second / sum - mean * mean).max(0.0) }
    }

    /// The largest and the smallest loss.
    pub(super) fn extent(&self) -> (f64, f64) {
        let losses = self.losses.iter().copied();
        (losses.clone().fold(f64::INFINITY, f64::min), losses.fold(f64::NEG_INFINITY, f64::max))
    }

    /// ln of the mass from each loss on.
    pub(super) fn tails_above(&self) -> Vec<f64> {
        let mut tails = self.log_masses.clone();
        for index in (1..tails.len()).rev() {
            tails[index - 1] = log_add_exp(tails[index - 1], tails[index]);
        }
        tails
    }

    /// ln of the mass above `top`, from [`Sketch::tails_above`].
    pub(super) fn log_above(&self, tails: &[f64], top: f64) -> f64 {
        let first = self.losses.partition_point(|loss| *loss <= top);
        tails.get(first).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// With the losses above `top` moved to it and to infinity, and ln of the mass at infinity.
    ///
    /// A mass p at ℓ leaves p·e^(top−ℓ) at the top, which keeps its mass under Q.
    pub(super) fn capped(&self, top: f64) -> (Self, f64) {
        let inside = self.losses.partition_point(|loss| *loss <= top);
        if inside == self.losses.len() {
            return (self.clone(), f64::NEG_INFINITY);
        }
        let (mut at_top, mut beyond) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (loss, log) in self.losses.iter().zip(&self.log_masses).skip(inside) {
            at_top = log_add_exp(at_top, log + top - loss);
            beyond = log_add_exp(beyond, log + barkeep_num::log1m_exp(top - loss));
        }
        let with = |values: &[f64], last: f64| values[..inside].iter().copied().chain([last]).collect();
        (Self::of(with(&self.losses, top), with(&self.log_masses, at_top), self.steps), beyond)
    }

    /// Where most losses are, if more than half of them lie within a lattice spacing: ln ΣP/ΣQ over those.
    ///
    /// A node there keeps a loss that nearly always occurs from being split, or from being balanced by rare large ones.
    pub(super) fn bulk(&self, spacing: f64) -> Option<f64> {
        let mut below = 0.0;
        let median = self.losses.iter().zip(&self.log_masses).find(|(_, log)| {
            below += libm::exp(**log);
            below >= 0.5
        });
        let median = *median?.0;
        let (mut first, mut second) = (0.0, 0.0);
        for (loss, log) in self.losses.iter().zip(&self.log_masses) {
            if (loss - median).abs() <= 0.5 * spacing {
                first += libm::exp(*log);
                second += libm::exp(*log) * libm::expm1(median - loss);
            }
        }
        (first > 0.5).then(|| median - libm::log1p(second / first))
    }

    /// The part of a step, after a tilt, that a lattice moves as much as it would losses anywhere: a loss at a distance d from
    /// its node is split over d(h − d), which is h²/6 on average.
    pub(super) fn off_node(&self, tilt: f64, spacing: f64) -> f64 {
        let Some(node) = self.bulk(spacing) else { return 1.0 };
        let Cumulants { value, .. } = self.cumulants(tilt);
        let part = |(loss, log): (&f64, &f64)| {
            libm::exp(log + tilt * loss - value) * (6.0 * (loss - node).abs() / spacing).min(1.0)
        };
        self.losses.iter().zip(&self.log_masses).map(part).sum()
    }

    /// The same, `times` times as often.
    pub(super) fn repeated(&self, times: f64) -> Self {
        Self { steps: self.steps * times, ..self.clone() }
    }

    /// The loss below which less than e^`log_mass` lies, after a tilt no smaller than there.
    pub(super) fn floor(&self, tilt: f64, log_mass: f64) -> f64 {
        let Cumulants { value, .. } = self.cumulants(tilt);
        let mut tail = f64::NEG_INFINITY;
        let mut below = f64::NEG_INFINITY;
        for (loss, log) in self.losses.iter().zip(&self.log_masses) {
            tail = log_add_exp(tail, *log);
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
        let logs: Vec<f64> = (self.losses.iter().zip(&self.log_masses))
            .map(|(loss, log)| log + tilt * loss.min(epsilon) - (loss - epsilon).max(0.0))
            .collect();
        let total = barkeep_num::log_sum_exp(&logs);
        let mut below = 0.0;
        let mut tails: Vec<Tail> = Vec::with_capacity(self.losses.len());
        for (loss, log) in self.losses.iter().zip(&logs) {
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

/// How lattice nodes are chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    pub(super) saddle: Saddle,
    pub(super) offset: f64,
    pub(super) step: f64,
    /// Lowest and highest loss to cover.
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether most losses are on the node at the offset.
    pub(super) concentrated: bool,
}

/// Cells with a tail of less than this part of what is off its node beyond them are widened: 4ˡ times less mass, 2ˡ times the width.
const WIDEN_BELOW: f64 = 0.02;

/// The most nodes a step may have.
const MOST_NODES: usize = 1 << 21;

impl Sketch {
    /// Lattice indices from `low` to `high`, close together where the tilted mass is and wider in the tails.
    ///
    /// A cell of width w with mass m adds about m·w² to the error, so a cell may be 2ˡ steps wide where its tail is 4ˡ
    /// times lighter than what of the tilted mass reaches ε; never so wide that e^((1+s)w) is far from 1. None if there would be too
    /// many.
    pub(super) fn nodes(&self, spread: &Spread) -> Option<Vec<i64>> {
        let Spread { saddle, offset, step, low, high, concentrated } = *spread;
        let index = |loss: f64| (loss - offset) / step;
        let (first, last) = (index(low).floor(), index(high).ceil());
        if !(first.abs().max(last.abs()) < 9e15 && first < last) {
            return None;
        }
        let (first, last) = (first as i64, last as i64);
        let tails = self.tails(saddle.tilt, saddle.epsilon);
        let off_node = if concentrated { self.off_node(saddle.tilt, step) } else { 1.0 };
        let widen_below = WIDEN_BELOW * off_node * saddle.reaching();
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
                if heavier * times * times <= widen_below {
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
