//! Lists the privacy losses of mechanisms with atoms: coins, discrete Gaussian and Laplace noise.

use std::f64::consts::{LN_2, PI};

use barkeep_num::log1m_exp;

use super::atoms::{Anchor, Atom, Atoms, Losses, Sides};

/// Atoms of an outline, at most.
const OUTLINE_ATOMS: u64 = 2000;

/// Atoms lighter than e^(−this) are not listed.
const FARTHEST: f64 = 1000.0;

/// One bit, 1 with probability p under P and q under Q.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coin {
    atoms: Vec<(f64, f64)>,
    infinite: f64,
}

impl Coin {
    pub(super) fn new(p: f64, q: f64) -> Self {
        let mut atoms = Vec::new();
        let mut infinite = f64::NEG_INFINITY;
        // (P, ln P, Q, ln(P/Q)) of the two outcomes; the ratio of close probabilities keeps its digits.
        let outcomes = [
            (p, libm::log(p), q, libm::log1p((p - q) / q)),
            (1.0 - p, libm::log1p(-p), 1.0 - q, libm::log1p((q - p) / (1.0 - q))),
        ];
        for (first, log_first, second, loss) in outcomes {
            if first > 0.0 && second > 0.0 {
                // Far apart, (p − q)/q may round to −1 or overflow.
                let apart = libm::log(first) - libm::log(second);
                atoms.push((if loss.abs() < 1.0 { loss } else { apart }, log_first));
            } else if first > 0.0 {
                infinite = log_first;
            }
        }
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { atoms, infinite }
    }
}

impl Losses for Coin {
    fn outline(&self, _: f64) -> Vec<Atom> {
        // One of the two losses may be known to more digits than its place on their common lattice.
        let largest = self.atoms.iter().map(|(loss, _)| loss.abs()).fold(0.0, f64::max);
        let atom = |(loss, log_mass): &(f64, f64)| Atom {
            loss_slack: 8.0 * f64::EPSILON * largest,
            ..Atom::rounded(*loss, *log_mass)
        };
        self.atoms.iter().map(atom).collect()
    }

    fn atoms(&self, _: &[f64]) -> Sides {
        let above = self.infinite + 1e-13;
        let atoms = self.outline(0.0);
        Sides::Both(Atoms { atoms, below: f64::NEG_INFINITY, above, infinite: self.infinite() })
    }

    fn largest(&self) -> Option<f64> {
        Some(self.atoms.iter().map(|(loss, _)| loss * (1.0 + 1e-14)).fold(0.0, f64::max))
    }

    fn infinite(&self) -> f64 {
        self.infinite - 1e-13
    }

    fn anchor(&self) -> Option<Anchor> {
        let (first, last) = (self.atoms.first()?.0, self.atoms.last()?.0);
        // A single atom fits any spacing.
        let spacing = if last > first { last - first } else { 1.0 };
        Some(Anchor { offset: first, spacing, exact: true })
    }
}

/// Discrete Gaussian noise of parameter σ² against the same moved by Δ: P(z) ∝ e^(−z²/2σ²), loss (Δ² − 2zΔ)/(2σ²).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DiscreteGaussian {
    variance: f64,
    sensitivity: f64,
    log_normaliser: f64,
}

impl DiscreteGaussian {
    /// `variance` between 1e-6 and 1e9.
    pub(super) fn new(variance: f64, sensitivity: f64) -> Self {
        // Poisson summation: Σ e^(−z²/2σ²) = √(2πσ²)·(1 + 2e^(−2π²σ²) + …).
        let sum = if variance > 8.0 {
            (2.0 * PI * variance).sqrt()
        } else {
            1.0 + 2.0 * (1..60).rev().map(|z| libm::exp(-f64::from(z * z) / (2.0 * variance))).sum::<f64>()
        };
        Self { variance, sensitivity, log_normaliser: libm::log(sum) }
    }

    /// The atom of z = −index, and ln P(−z ≥ index) at most.
    fn atom(&self, index: f64) -> Atom {
        let Anchor { offset, spacing, .. } = self.lattice();
        let mut atom = Atom::rounded(
            offset + index * spacing,
            -index * index / (2.0 * self.variance) - self.log_normaliser,
        );
        atom.loss_slack += 8.0 * f64::EPSILON * (offset + (index * spacing).abs());
        atom
    }

    fn lattice(&self) -> Anchor {
        let spacing = self.sensitivity / self.variance;
        Anchor { offset: 0.5 * self.sensitivity * spacing, spacing, exact: true }
    }

    /// ln P(z ≥ reach) at most: P(z ≥ t) ≤ e^(−t²/2σ²) (Canonne, Kamath, Steinke 2020, Proposition 25).
    fn log_tail(&self, reach: f64) -> f64 {
        if reach > 0.0 { -reach * reach / (2.0 * self.variance) * (1.0 - 1e-13) } else { 0.0 }
    }
}

impl Losses for DiscreteGaussian {
    fn outline(&self, depth: f64) -> Vec<Atom> {
        let reach = (2.0 * self.variance * depth).sqrt().ceil();
        let stride = (2.0 * reach / OUTLINE_ATOMS as f64).ceil().max(1.0);
        let count = (reach / stride).ceil() as i64;
        (-count..=count)
            .map(|step| {
                let mut atom = self.atom(step as f64 * stride);
                atom.log_mass += libm::log(stride);
                atom
            })
            .collect()
    }

    fn atoms(&self, boundaries: &[f64]) -> Sides {
        let Anchor { offset, spacing, .. } = self.lattice();
        let index = |loss: &f64| (loss - offset) / spacing;
        let (low, high) = (boundaries.first().map_or(0.0, index), boundaries.last().map_or(0.0, index));
        // Half a step of tolerance, so that atoms on the lowest boundary are inside; above, all that f64 can tell from nothing.
        let far = (2.0 * self.variance * FARTHEST).sqrt();
        let (low, high) = ((low - 0.5).ceil(), high.max(far).ceil());
        let atoms = (low as i64..=high as i64).map(|index| self.atom(index as f64)).collect();
        let (below, above) = (self.log_tail(1.0 - low), self.log_tail(high + 1.0));
        Sides::Both(Atoms { atoms, below, above, infinite: f64::NEG_INFINITY })
    }

    fn anchor(&self) -> Option<Anchor> {
        Some(self.lattice())
    }
}

/// Laplace noise of scale b against the same moved by 1, λ = 1/b.
///
/// The loss is λ with mass ½, −λ with mass ½e^(−λ), and between a and b it has mass ½e^(−(λ−b)/2)·(1 − e^(−(b−a)/2)) under P and
/// e^(−(a+b)/2) times that under Q: the barycentre is the middle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Laplace {
    largest: f64,
}

impl Laplace {
    /// `largest` is λ.
    pub(super) fn new(largest: f64) -> Self {
        Self { largest }
    }

    fn between(&self, low: f64, high: f64) -> Atom {
        let log_mass = -LN_2 - 0.5 * (self.largest - high) + log1m_exp(-0.5 * (high - low));
        let mut atom = Atom::rounded(0.5 * (low + high), log_mass);
        atom.loss_slack = 8.0 * f64::EPSILON * self.largest;
        // The width of a narrow range is known to the rounding of its ends.
        atom.log_slack += 8.0 * f64::EPSILON * (1.0 + self.largest);
        atom
    }
}

impl Losses for Laplace {
    fn outline(&self, _: f64) -> Vec<Atom> {
        let steps = 256;
        let edge = |index: i32| self.largest * (f64::from(2 * index) / f64::from(steps) - 1.0);
        let mut atoms = vec![Atom::rounded(-self.largest, -LN_2 - self.largest)];
        atoms.extend((0..steps).map(|index| self.between(edge(index), edge(index + 1))));
        atoms.push(Atom::rounded(self.largest, -LN_2));
        atoms
    }

    fn atoms(&self, boundaries: &[f64]) -> Sides {
        let mut atoms = vec![Atom::rounded(-self.largest, -LN_2 - self.largest)];
        let mut edges = vec![-self.largest];
        edges.extend(boundaries.iter().map(|loss| loss.clamp(-self.largest, self.largest)));
        edges.push(self.largest);
        let cells = edges.windows(2).filter(|pair| pair[1] > pair[0]);
        atoms.extend(cells.map(|pair| self.between(pair[0], pair[1])));
        atoms.push(Atom::rounded(self.largest, -LN_2));
        Sides::Both(Atoms::complete(atoms))
    }

    fn largest(&self) -> Option<f64> {
        Some(self.largest * (1.0 + 1e-15))
    }

    fn anchor(&self) -> Option<Anchor> {
        Some(Anchor { offset: self.largest, spacing: 2.0 * self.largest, exact: false })
    }
}
