//! Puts Gaussian noise on Poisson batches that are cut down to a largest size.
//!
//! # The mechanism
//! Each of n records is drawn with probability q. Of more than B drawn, B are kept, every B of them with the same chance. Noise is added
//! to the sum over the batch.
//!
//! # The pair
//! Look at one record. X others are drawn, Bin(n−1, q) on both data sets. Let the adversary know whether X ≥ B, which only helps.
//!
//! - *X < B*: nothing is cut, whether the record is drawn or not. The pair is that of plain Poisson batches.
//! - *X ≥ B*: without the record the batch S is a uniform B of the others, whatever X is. With it, it is drawn with chance q and kept
//!   with chance B/(X+1); then it takes the place of a uniform member of S. Since S does not depend on X, that is one exchange with
//!   chance r = E[qB/(X+1) | X ≥ B] = B·P(Bin(n, q) > B)/(n·P(X ≥ B)), which is below q.
//!   *Added or removed*: the sum moves by the difference of two records, twice the norm bound: (1−r)N(0)+rN(2c) against N(0), by
//!   convexity for any S, and either direction. *Substituted*: both data sets have a batch of B that differs in one place, with chance r:
//!   the curve of batches without replacement at rate r.
//!
//! Averages over labels that have one law on both data sets are sums of the curves, weighted with the label's chance: the losses of the
//! two cases are mixed. Under add/remove n is only known to be at most what was declared. There q takes the place of r: then the pair of cut
//! batches, with the same rate and twice the shift, dominates the other, so that the mixture grows with P(X ≥ B), and that with n.
//!
//! # From below
//! Let all other records contribute nothing. Then the record is seen with chance q·P(X < B) + r·P(X ≥ B), an ordinary Poisson rate: a
//! pair that is attained, and whose curve is below that of the mechanism.

use std::sync::Arc;

use super::atoms::{Atom, Atoms, Losses, Sides};
use super::normal::{Kind, NormalPair, WithoutReplacement};
use crate::Neighbours;
use crate::engines::binomial::at_least;
use barkeep_num::log_add_exp;

/// Relative error charged to a rate.
const RATE_SLACK: f64 = 8.0 * f64::EPSILON;

/// Poisson batches cut down to a largest size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Batches {
    /// q.
    pub(super) rate: f64,
    /// B.
    pub(super) most: f64,
    /// n, or what it does not exceed.
    pub(super) records: f64,
}

/// One direction of the pair.
#[derive(Debug, Clone)]
pub(super) struct Truncated {
    /// Batches that were not cut, and those that were, each with bounds of its chance.
    parts: Vec<(Arc<dyn Losses>, (f64, f64))>,
    /// The pair that is attained.
    reached: NormalPair,
}

impl Truncated {
    /// `shift` is 1/ratio under the neighbouring relation; the kind says which direction, [`Kind::Substitute`] for both.
    pub(super) fn new(kind: Kind, shift: f64, batches: Batches) -> Self {
        let Batches { rate, most, records } = batches;
        let cut = at_least(records - 1.0, rate, most);
        // B·P(Bin(n, q) > B)/n: the chance that the record is drawn, kept, and another is not.
        let exchanged = at_least(records, rate, most + 1.0).yes;
        let exchanged = (exchanged.0 * most / records, exchanged.1 * most / records);
        let neighbours =
            if kind == Kind::Substitute { Neighbours::Substitute } else { Neighbours::AddRemove };
        let whole: Arc<dyn Losses> = match neighbours {
            Neighbours::AddRemove => Arc::new(NormalPair::new(kind, shift, rate)),
            Neighbours::Substitute => Arc::new(NormalPair::new(kind, 0.5 * shift, rate)),
        };
        let second: Arc<dyn Losses> = match neighbours {
            Neighbours::AddRemove => Arc::new(NormalPair::new(kind, 2.0 * shift, rate)),
            Neighbours::Substitute => {
                let least = (exchanged.1 / cut.yes.0 * (1.0 + RATE_SLACK)).min(rate);
                // 0/0 where nothing is ever cut.
                Arc::new(WithoutReplacement::new(shift, if least > 0.0 { least } else { rate }))
            }
        };
        let mut parts: Vec<(Arc<dyn Losses>, (f64, f64))> = vec![(whole, cut.no), (second, cut.yes)];
        parts.retain(|(_, (_, most))| *most > 0.0);
        let seen = ((rate * cut.no.0 + exchanged.0) * (1.0 - RATE_SLACK)).clamp(f64::MIN_POSITIVE, rate);
        let shift = if kind == Kind::Substitute { 0.5 * shift } else { shift };
        Self { parts, reached: NormalPair::new(kind, shift, seen) }
    }

    /// The atoms of all parts, each times the most its chance can be, by ascending loss.
    fn mixed(&self, cut: impl Fn(&dyn Losses) -> Vec<Atom>) -> Vec<Atom> {
        let mut all: Vec<Atom> = Vec::new();
        for (losses, (_, most)) in &self.parts {
            let log_chance = libm::log(*most);
            let weighted = |atom: Atom| {
                let log_mass = atom.log_mass + log_chance;
                let rounding = 4.0 * f64::EPSILON * (1.0 + log_chance.abs() + log_mass.abs());
                Atom { log_mass, log_slack: atom.log_slack + rounding, ..atom }
            };
            all.extend(cut(losses.as_ref()).into_iter().map(weighted));
        }
        all.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        all
    }
}

/// The atoms of losses that have nothing outside them.
fn upper_atoms(sides: Sides) -> Vec<Atom> {
    let (Sides::Both(atoms) | Sides::Apart { upper: atoms, .. }) = sides;
    atoms.atoms
}

impl Losses for Truncated {
    fn outline(&self, depth: f64) -> Vec<Atom> {
        self.mixed(|losses| losses.outline(depth))
    }

    fn atoms(&self, boundaries: &[f64]) -> Sides {
        let upper = Atoms::complete(self.mixed(|losses| upper_atoms(losses.atoms(boundaries))));
        let lower = Atoms::complete(upper_atoms(self.reached.atoms(boundaries)));
        Sides::Apart { upper, lower: Some(lower) }
    }

    fn alone(&self, epsilon: f64) -> Option<(f64, f64)> {
        let mut upper = f64::NEG_INFINITY;
        for (losses, (_, most)) in &self.parts {
            upper = log_add_exp(upper, losses.alone(epsilon)?.1 + libm::log(*most) + 1e-14);
        }
        Some((self.reached.alone(epsilon)?.0, upper))
    }

    fn largest(&self) -> Option<f64> {
        let largest = self.parts.iter().map(|(losses, _)| losses.largest());
        largest.collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max))
    }
}
