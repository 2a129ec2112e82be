//! Puts Laplace noise on random batches: the losses of the noise alone, mixed with the chance that a record is in the batch.
//!
//! Let (P, Q) be the pair of the noise on the batch, whose curve is the same in both directions, and q the sampling rate. A loss
//! ℓ = ln(P/Q) of the pair becomes
//!
//! | kind | pair | loss | mass under the first |
//! | --- | --- | --- | --- |
//! | `Remove` | (1−q)Q+qP against Q | u(ℓ) = ln(1−q+q·e^ℓ) | p·e^(u(ℓ)−ℓ) |
//! | `Add` | P against (1−q)P+qQ | −u(−ℓ) | p |
//!
//! Both maps are increasing, and masses of a range are sums of those of P and Q: the barycentre of a range is mapped to the
//! barycentre of its image. So atoms are mapped one by one. Batches without replacement under substitution take the losses
//! above 0 from the first pair, those below 0 from the second, and the rest of the mass at 0 (Zhu, Dong, Wang 2022,
//! Proposition 30), (1−q)·(1 − 2Q(ℓ > 0)).
//!
//! **A single use.** For a = e^ε ≥ 1, H_a((1−q)Q+qP ‖ Q) = q·H_b(P ‖ Q), b = 1 + (a−1)/q. The other direction is
//! Σ max(0, (1−a(1−q))P − aqQ), and adding d(P − Q), d = (a−1)(1−q), to the terms gives the first: where a term is positive
//! P > Q, since aq ≥ 1−a(1−q). So `Add` costs no more than `Remove` there.

use super::atoms::{Anchor, Atom, Atoms, Losses, Sides};
use super::discrete::Laplace;

/// Which pair, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Batches {
    Remove,
    Add,
    WithoutReplacement,
}

/// Laplace noise on a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Amplified {
    pub(super) base: Laplace,
    /// q.
    pub(super) rate: f64,
    pub(super) batches: Batches,
}

impl Amplified {
    /// u(ℓ).
    fn mixed(&self, loss: f64) -> f64 {
        if loss > 30.0 {
            libm::log(self.rate) + loss + libm::log1p((1.0 - self.rate) / self.rate * libm::exp(-loss))
        } else {
            libm::log1p(self.rate * libm::expm1(loss))
        }
    }

    /// The ℓ of which u makes this loss; −∞ below all of them.
    fn unmixed(&self, loss: f64) -> f64 {
        if loss > 30.0 {
            return loss - libm::log(self.rate) + libm::log1p(-(1.0 - self.rate) * libm::exp(-loss));
        }
        let excess = libm::expm1(loss) / self.rate;
        if excess <= -1.0 { f64::NEG_INFINITY } else { libm::log1p(excess) }
    }

    fn removed(&self, atom: &Atom) -> Atom {
        let loss = self.mixed(atom.loss);
        let log_mass = atom.log_mass - atom.loss + loss;
        // dℓ'/dℓ, at most 1.
        let steepness = libm::exp(libm::log(self.rate) + atom.loss - loss).min(1.0);
        let unit = 8.0 * f64::EPSILON;
        Atom {
            loss,
            log_mass,
            loss_slack: steepness * atom.loss_slack + unit * loss.abs(),
            log_slack: atom.log_slack + atom.loss_slack + unit * (1.0 + log_mass.abs() + atom.loss.abs()),
        }
    }

    fn added(&self, atom: &Atom) -> Atom {
        let mirrored = self.removed(&Atom { loss: -atom.loss, ..*atom });
        Atom { loss: -mirrored.loss, loss_slack: mirrored.loss_slack, ..*atom }
    }

    /// All atoms of the batch, from those of the noise.
    fn map(&self, atoms: &[Atom]) -> Vec<Atom> {
        match self.batches {
            Batches::Remove => atoms.iter().map(|atom| self.removed(atom)).collect(),
            Batches::Add => atoms.iter().map(|atom| self.added(atom)).collect(),
            Batches::WithoutReplacement => {
                let middle = libm::log1p(-self.rate) + self.base.log_middle();
                let negative = atoms.iter().filter(|atom| atom.loss < 0.0).map(|atom| self.added(atom));
                let positive = atoms.iter().filter(|atom| atom.loss > 0.0).map(|atom| self.removed(atom));
                let mut rest = Atom::rounded(0.0, middle);
                // 1 − q and its logarithm round apart for q near 1.
                rest.log_slack += 2.0 * f64::EPSILON / (1.0 - self.rate);
                negative.chain([rest]).chain(positive).collect()
            }
        }
    }

    /// The noise's loss at the place of one of the batch's.
    fn place(&self, loss: f64) -> f64 {
        match self.batches {
            Batches::Remove => self.unmixed(loss),
            Batches::Add => -self.unmixed(-loss),
            Batches::WithoutReplacement if loss < 0.0 => -self.unmixed(-loss),
            Batches::WithoutReplacement => self.unmixed(loss),
        }
    }
}

impl Losses for Amplified {
    fn outline(&self, depth: f64) -> Vec<Atom> {
        self.map(&self.base.outline(depth))
    }

    fn atoms(&self, boundaries: &[f64]) -> Sides {
        let mut places: Vec<f64> = boundaries.iter().map(|loss| self.place(*loss)).collect();
        if self.batches == Batches::WithoutReplacement {
            // Where the branches meet.
            let zero = places.partition_point(|place| *place < 0.0);
            places.insert(zero, 0.0);
        }
        // Rounding may disturb the order of close places.
        for index in 1..places.len() {
            places[index] = places[index].max(places[index - 1]);
        }
        let (Sides::Both(atoms) | Sides::Apart { upper: atoms, .. }) = self.base.atoms(&places);
        Sides::Both(Atoms::complete(self.map(&atoms.atoms)))
    }

    fn alone(&self, epsilon: f64) -> Option<(f64, f64)> {
        let (log_rate, place) = (libm::log(self.rate), self.unmixed(epsilon));
        let unit = 8.0 * f64::EPSILON;
        let (_, upper) = self.base.alone(place * (1.0 - unit))?;
        let (lower, _) = self.base.alone(place * (1.0 + unit))?;
        let lower = if self.batches == Batches::Add { f64::NEG_INFINITY } else { lower };
        Some((lower + log_rate - 1e-12, upper + log_rate + 1e-12))
    }

    fn largest(&self) -> Option<f64> {
        let largest = self.base.largest()?;
        Some(self.mixed(largest).max(-self.mixed(-largest)) * (1.0 + 1e-14))
    }

    fn log_top(&self) -> Option<f64> {
        let largest = self.base.largest()?;
        let top = Atom::rounded(largest, self.base.log_top()?);
        match self.batches {
            Batches::Remove | Batches::WithoutReplacement => Some(self.removed(&top).log_mass),
            Batches::Add => Some(top.log_mass),
        }
    }

    /// The two losses of the noise that have mass of their own.
    fn anchor(&self) -> Option<Anchor> {
        let largest = self.base.largest()?;
        let (low, high) = match self.batches {
            Batches::Remove => (self.mixed(-largest), self.mixed(largest)),
            Batches::Add => (-self.mixed(largest), -self.mixed(-largest)),
            Batches::WithoutReplacement => (-self.mixed(largest), self.mixed(largest)),
        };
        Some(Anchor { offset: high, spacing: high - low, exact: false })
    }
}
