//! Moves atoms of privacy loss onto a lattice: apart for an upper bound, together for a lower one.
//!
//! Let P and Q put masses p and q = p·e^(−ℓ) on an atom. The privacy curve H_x = Σ max(0, p − x·q) of a pair is
//!
//! - *raised* by moving an atom between two nodes a ≤ ℓ ≤ b to both of them, p and q kept: the share
//!   (1 − e^(−(ℓ−a)))/(1 − e^(−(b−a))) of p goes to b. (The split pair can be merged back into the first, and merging is
//!   post-processing.) This is connecting the dots at the nodes. Mass below the lowest node is moved up to it, which keeps
//!   p and lowers q; mass above the highest, b, is split between b and infinity, where q is nothing: p·e^(b−ℓ) stays at b.
//! - *lowered* by merging atoms whose barycentre ln(Σp/Σq) is a node. Going outward from the middle, each node takes what is
//!   left on its inner side and then as much of the atoms on its outer side as balances them, the last one in part
//!   (a random part of an atom is post-processing too). With atoms half a cell apart and thinning outward, as
//!   on both sides of a mode, a disturbance shrinks to a third from node to node, and nearly every atom goes to the nearest node.
//!   What cannot be balanced at the ends goes to the next node inward, balanced by nodes further in, or else down to a node, which
//!   lowers p.
//!   Where nearly all losses lie within a cell and the rest are rare and large, that would use up the rare ones to balance the many.
//!   Then a node is put at the barycentre of the many, which takes the cells on both its sides, and no node draws upon
//!   atoms beyond the next; what it cannot balance so is treated like the ends.
//!
//! Above the highest node b a lower bound too is made by splitting, which raises the curve, but by next to nothing: p − x·q is linear, so as
//! long as all other losses sum to at least ε − b, the positive part of the whole is the same whether a loss above b is split or not.
//! The difference, at most the chance of a loss above b times that of such a low sum, is taken off at the end
//! (one split step after the other, k of them). How large a rare loss is, is then no longer of interest, only that it is.
//!
//! Both survive composition, since they hold for the pair and not just for one curve. Weights are tilted from the start: the
//! weight of a node at ℓ with mass p is p·e^(sℓ−κ).
//!
//! **Rounding.** Every weight is raised (or lowered) by a bound on its own relative error, and every loss moved by its slack
//! before it is split, so that the finished weights bound the true ones from above (or below), one by one; since H is
//! a sum of non-negative terms linear in each mass, so is every composition. An atom within its slack of a node is put on the
//! node; by how much its loss may then be wrong is returned and charged to ε for every step.

use super::atoms::{Atom, Atoms};
use barkeep_num::vector::scalar::{exp, exp_m1};
use barkeep_num::{log_add_exp, log1m_exp};

/// Relative error charged to a weight per unit of the terms in its exponent, 8·2⁻⁵³.
const EXPONENT_ERROR: f64 = 4.0 * f64::EPSILON;

/// Relative error charged to the few operations besides, per atom that went into a weight.
const SUM_ERROR: f64 = 8.0 * f64::EPSILON;

/// By how much atoms are balanced to the safe side, relative: far above rounding, far below anything that matters.
const WHISKER: f64 = 1e-12;

/// Weights are not let fall below e^(−this) where an upper bound is wanted, for fear of underflow.
const LOWEST_EXPONENT: f64 = 690.0;

/// Nodes of a lattice, ascending, not necessarily all of them.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    pub(super) offset: f64,
    pub(super) step: f64,
    pub(super) indices: Vec<i64>,
    /// Whether most losses lie within a step of the offset.
    pub(super) concentrated: bool,
}

impl Nodes {
    /// Loss of the lattice point `index`.
    pub(super) fn position(&self, index: i64) -> f64 {
        self.offset + index as f64 * self.step
    }

    /// The nodes' losses and the middles between them.
    pub(super) fn boundaries(&self) -> Vec<f64> {
        let mut boundaries = Vec::with_capacity(2 * self.indices.len());
        for (number, index) in self.indices.iter().enumerate() {
            let position = self.position(*index);
            if number > 0 {
                boundaries.push(0.5 * (self.position(self.indices[number - 1]) + position));
            }
            boundaries.push(position);
        }
        boundaries
    }
}

/// s and κ: a mass p at loss ℓ is held as p·e^(sℓ−κ).
#[derive(Debug, Clone, Copy)]
pub(super) struct Tilt {
    pub(super) rate: f64,
    pub(super) log_scale: f64,
}

impl Tilt {
    /// At least (`sign` 1) or at most (−1) the weight of a mass at a loss.
    fn weight(&self, log_mass: f64, loss: f64, sign: f64) -> f64 {
        let lean = self.rate * loss;
        let exponent = log_mass + lean - self.log_scale;
        let slack = EXPONENT_ERROR * (4.0 + log_mass.abs() + 2.0 * lean.abs() + self.log_scale.abs());
        if sign > 0.0 {
            exp(exponent.max(-LOWEST_EXPONENT)) * (1.0 + slack)
        } else {
            (exp(exponent) * (1.0 - slack)).max(0.0)
        }
    }
}

/// Tilted weights of the nodes, bounding the true ones from one side.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    pub(super) values: Vec<f64>,
    /// ln of the mass at infinity, bounded from the same side.
    pub(super) infinite: f64,
    /// ln of the mass that was put at infinity besides, in [`merge`].
    pub(super) capped: f64,
    /// By how much losses may be wrong.
    pub(super) shift: f64,
}

/// Whether an atom lies on a node as far as rounding shows.
fn on_node(atom: &Atom, position: f64) -> bool {
    (atom.loss - position).abs() <= 2.0 * atom.loss_slack
}

/// The upper bound: see the [module](self) documentation.
pub(super) fn split(atoms: &Atoms, nodes: &Nodes, tilt: Tilt) -> Weights {
    let positions: Vec<f64> = nodes.indices.iter().map(|index| nodes.position(*index)).collect();
    let mut values = vec![0.0; positions.len()];
    let (mut infinite, mut shift, mut cell, mut run, mut longest) = (atoms.above, 0.0_f64, 0, 0_u32, 0_u32);
    if atoms.below > f64::NEG_INFINITY && !values.is_empty() {
        values[0] += tilt.weight(atoms.below, positions[0], 1.0);
    }
    for atom in &atoms.atoms {
        while cell + 1 < positions.len() && positions[cell + 1] <= atom.loss {
            cell += 1;
            run = 0;
        }
        run += 1;
        longest = longest.max(run);
        let log_mass = atom.log_mass + atom.log_slack;
        let loss = atom.loss + atom.loss_slack;
        let near =
            [cell, cell + 1].into_iter().find(|node| positions.get(*node).is_some_and(|p| on_node(atom, *p)));
        if let Some(node) = near {
            shift = shift.max((atom.loss - positions[node]).abs() + atom.loss_slack);
            values[node] += tilt.weight(log_mass, positions[node], 1.0);
        } else if positions.first().is_some_and(|lowest| loss <= *lowest) {
            values[0] += tilt.weight(log_mass, positions[0], 1.0);
        } else if cell + 1 >= positions.len() {
            // Between the highest node and infinity.
            let above = positions[cell] - loss;
            values[cell] += tilt.weight(log_mass + above, positions[cell], 1.0);
            infinite = log_add_exp(infinite, log_mass + log1m_exp(above));
        } else {
            let (low, high) = (positions[cell], positions[cell + 1]);
            let width = high - low;
            let step = (loss - low).clamp(0.0, width);
            values[cell] += tilt.weight(log_mass, low, 1.0) * (exp_m1(width - step) / exp_m1(width));
            values[cell + 1] += tilt.weight(log_mass, high, 1.0) * (exp_m1(-step) / exp_m1(-width));
        }
    }
    // Two cells' atoms meet in a node.
    let rounding = 1.0 + SUM_ERROR * (8.0 + 2.0 * f64::from(longest));
    values.iter_mut().for_each(|value| *value *= rounding);
    Weights { values, infinite: infinite + 1e-12, capped: f64::NEG_INFINITY, shift }
}

/// The lower bound: see the [module](self) documentation.
pub(super) fn merge(atoms: &Atoms, nodes: &Nodes, tilt: Tilt) -> Weights {
    let positions: Vec<f64> = nodes.indices.iter().map(|index| nodes.position(*index)).collect();
    let (right, middle) = if nodes.concentrated {
        let right = nodes.indices.partition_point(|index| *index < 0);
        (right, right.checked_sub(1).map_or(nodes.position(-1), |left| positions[left]))
    } else {
        // The cell that holds the mode is cut in its middle; each half goes outward.
        let mode = densest(&atoms.atoms);
        let right =
            positions.partition_point(|position| *position <= mode).clamp(1, positions.len().max(2) - 1);
        let middle = match (positions.get(right - 1), positions.get(right)) {
            (Some(low), Some(high)) => 0.5 * (low + high),
            _ => f64::INFINITY,
        };
        (right, middle)
    };
    let start = atoms.atoms.partition_point(|atom| atom.loss < middle);
    let mut merger = Merger {
        tilt,
        values: vec![0.0; positions.len()],
        rests: Vec::new(),
        capped: 0.0,
        shift: 0.0,
        longest: 0,
        local: nodes.concentrated,
    };
    merger.ascend(&atoms.atoms[start..], &positions, right);
    merger.descend(&atoms.atoms[..start], &positions, right);
    merger.place_rests(&positions, right);
    let rounding = (1.0 - SUM_ERROR * (16.0 + 4.0 * f64::from(merger.longest))).max(0.0);
    merger.values.iter_mut().for_each(|value| *value *= rounding);
    // Back from a weight at the highest node to a mass.
    let highest = positions.last().copied().unwrap_or(0.0);
    let capped = libm::log(merger.capped * rounding) + tilt.log_scale - tilt.rate * highest - 1e-12;
    Weights { values: merger.values, infinite: atoms.infinite - 1e-12, capped, shift: merger.shift }
}

/// About the loss around which atoms are heaviest for the room they have.
fn densest(atoms: &[Atom]) -> f64 {
    let density = |index: usize| {
        let before = atoms[index.saturating_sub(1)].loss;
        let after = atoms[(index + 1).min(atoms.len() - 1)].loss;
        atoms[index].log_mass - libm::log(after - before)
    };
    // Every few atoms will do where there are many.
    (0..atoms.len())
        .step_by(1 + atoms.len() / 1000)
        .map(|index| (density(index), atoms[index].loss))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(0.0, |(_, loss)| loss)
}

struct Merger {
    tilt: Tilt,
    values: Vec<f64>,
    /// What is left at the ends, with the number of the node it was weighed at.
    rests: Vec<(usize, Gathered)>,
    /// What was put at infinity, as a weight at the highest node.
    capped: f64,
    shift: f64,
    longest: u32,
    /// Whether atoms beyond the next node are left alone.
    local: bool,
}

/// What has been gathered on one node: p in `mass`, and e^node·q − p in `excess`, both as weights there.
struct Gathered {
    mass: f64,
    excess: f64,
    /// The excess without its signs, for its rounding.
    gross: f64,
    count: u32,
}

impl Merger {
    /// The weight at a node of an atom's mass, and what it adds to e^node·q − p.
    fn pull(&self, atom: &Atom, node: f64) -> (f64, f64) {
        let weight = self.tilt.weight(atom.log_mass - atom.log_slack, node, -1.0);
        (weight, weight * exp_m1(node - atom.loss + atom.loss_slack))
    }

    /// Puts a part of an atom that lies on a node there. It has its barycentre already and must not be drawn away with what
    /// is gathered around it.
    fn rest_on(&mut self, number: usize, node: f64, atom: &Atom, part: f64) {
        self.shift = self.shift.max((atom.loss - node).abs() + atom.loss_slack);
        self.values[number] += self.tilt.weight(atom.log_mass - atom.log_slack, node, -1.0) * part;
    }

    /// Charges the rounding of the excess to the loss.
    fn settle(&mut self, gathered: &Gathered) {
        self.longest = self.longest.max(gathered.count);
        if gathered.mass > 0.0 {
            let rounding = SUM_ERROR * f64::from(gathered.count) * gathered.gross / gathered.mass;
            self.shift = self.shift.max(rounding);
        }
    }

    /// Nodes from `first` up, atoms above the node before it.
    fn ascend(&mut self, atoms: &[Atom], positions: &[f64], first: usize) {
        let (mut next, mut left) = (0, 1.0);
        for (number, &node) in positions.iter().enumerate().skip(first) {
            let limit = positions.get(number + 1).copied().filter(|_| self.local).unwrap_or(f64::INFINITY);
            let mut gathered = Gathered { mass: 0.0, excess: 0.0, gross: 0.0, count: 0 };
            while let Some(atom) = atoms.get(next) {
                if on_node(atom, node) {
                    self.rest_on(number, node, atom, left);
                    (next, left) = (next + 1, 1.0);
                    continue;
                }
                let inner = atom.loss <= node;
                if !inner && (gathered.excess <= 0.0 || atom.loss >= limit) {
                    break;
                }
                let (weight, excess) = self.pull(atom, node);
                // A whisker more than needed, so that the barycentre ends on the node or above it.
                let part =
                    if inner { left } else { left * part(gathered.excess * (1.0 + WHISKER), -excess * left) };
                gathered.add(weight * part, excess * part);
                left -= part;
                if left > 0.0 {
                    break;
                }
                (next, left) = (next + 1, 1.0);
            }
            if number + 1 == positions.len() {
                // Beyond the highest node: e^node·q there, and the rest of p at infinity.
                while let Some(atom) = atoms.get(next) {
                    let (weight, excess) = self.pull(atom, node);
                    gathered.add((weight + excess) * left, 0.0);
                    self.capped -= excess * left;
                    (next, left) = (next + 1, 1.0);
                }
            }
            self.settle(&gathered);
            if gathered.excess > 0.0 {
                // No atoms are left above, or none near, and the barycentre is below the node.
                self.rests.push((number, gathered));
            } else {
                self.values[number] += gathered.balanced();
            }
        }
    }

    /// Nodes below `first` downward, atoms below the node at `first`.
    fn descend(&mut self, atoms: &[Atom], positions: &[f64], first: usize) {
        let (mut next, mut left) = (atoms.len(), 1.0);
        for (number, &node) in positions.iter().enumerate().take(first).rev() {
            let lower = number.checked_sub(1).filter(|_| self.local);
            let limit = lower.map_or(f64::NEG_INFINITY, |lower| positions[lower]);
            let mut gathered = Gathered { mass: 0.0, excess: 0.0, gross: 0.0, count: 0 };
            while let Some(atom) = next.checked_sub(1).and_then(|index| atoms.get(index)) {
                if on_node(atom, node) {
                    self.rest_on(number, node, atom, left);
                    (next, left) = (next - 1, 1.0);
                    continue;
                }
                let inner = atom.loss >= node;
                if !inner && (gathered.excess >= 0.0 || atom.loss <= limit) {
                    break;
                }
                let (weight, excess) = self.pull(atom, node);
                let part =
                    if inner { left } else { left * part(-gathered.excess * (1.0 - WHISKER), excess * left) };
                gathered.add(weight * part, excess * part);
                left -= part;
                if left > 0.0 {
                    break;
                }
                (next, left) = (next - 1, 1.0);
            }
            self.settle(&gathered);
            if gathered.excess < -2.0 * WHISKER * gathered.gross {
                // No atoms are left below, or none near, and the barycentre is above the node.
                self.rests.push((number, gathered));
            } else {
                self.values[number] += gathered.balanced();
            }
        }
    }
}

impl Merger {
    /// Places what was left: on the nearest node inward, balanced by the nodes further in, from below up to `middle` only: rare large
    /// losses are not given up for it.
    fn place_rests(&mut self, positions: &[f64], middle: usize) {
        for (number, rest) in std::mem::take(&mut self.rests) {
            let (rate, local) = (self.tilt.rate, self.local);
            let from = positions[number];
            // The barycentre is between the node and the next one inward, its target.
            let upward = rest.excess < 0.0;
            let inward = |node: usize| if upward { Some(node + 1) } else { node.checked_sub(1) };
            let inside = |node: &usize| *node < positions.len();
            let Some(target) = inward(number).filter(inside) else {
                self.values[number] += rest.balanced();
                continue;
            };
            let way = positions[target] - from;
            // p and e^target·q, as weights at the target.
            let mut first = rest.mass * exp(rate * way) * (1.0 - 1e-12);
            let mut second = (rest.mass + rest.excess) * exp((rate + 1.0) * way) * (1.0 + 1e-12);
            let giving = |node: &usize| inside(node) && !(local && upward && *node > middle);
            let mut donor = inward(target).filter(giving);
            while let Some(node) = donor {
                let missing = if upward { second - first } else { first - second };
                if missing <= 0.0 {
                    break;
                }
                let way = positions[target] - positions[node];
                let weight = self.values[node] * exp(rate * way);
                let offered = weight * exp_m1(way).abs();
                let overshoot = if upward { 1.0 + WHISKER } else { 1.0 - WHISKER };
                let share = part(missing * overshoot, offered);
                first += share * weight;
                second += share * weight * exp(way);
                self.values[node] *= 1.0 - share;
                donor = inward(node).filter(giving);
            }
            if second <= first {
                self.values[target] += second * (1.0 - 1e-12);
            } else if let Some(below) = target.checked_sub(1) {
                // Nothing balances it: down to the next node, which keeps q.
                let fall = (rate + 1.0) * (positions[below] - positions[target]);
                self.values[below] += second * exp(fall) * (1.0 - 1e-11);
            }
        }
    }
}

/// The part of an atom, at most all of it, that balances what was gathered.
fn part(needed: f64, offered: f64) -> f64 {
    if offered <= needed { 1.0 } else { needed / offered }
}

impl Gathered {
    fn add(&mut self, weight: f64, excess: f64) {
        self.mass += weight;
        self.excess += excess;
        self.gross += excess.abs();
        self.count += 1;
    }

    /// The weight on the node: p, or e^node·q if that is less.
    fn balanced(&self) -> f64 {
        (self.mass + self.excess.min(0.0)).max(0.0)
    }
}
