//! Lists the privacy losses of mechanisms with atoms: coins, categorical answers, black boxes, discrete and Laplace noise.

use std::f64::consts::{LN_2, PI};

use barkeep_num::{log_add_exp, log1m_exp};

use super::atoms::{Anchor, Atom, Atoms, Losses, Sides, log_excess};

/// Atoms of an outline, at most.
const OUTLINE_ATOMS: u64 = 2000;

/// Atoms lighter than e^(−this) are not listed.
const FARTHEST: f64 = 1000.0;

/// Losses that are a short list: coins, categorical answers, discrete Laplace noise, black boxes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Listed {
    /// (loss, ln P), ascending.
    atoms: Vec<(f64, f64)>,
    /// ln of the mass at infinity.
    infinite: f64,
    /// What all losses are apart by whole multiples of.
    spacing: f64,
}

impl Listed {
    /// One bit, 1 with probability p under P and q under Q.
    pub(super) fn coin(p: f64, q: f64) -> Self {
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
        // A single atom fits any spacing.
        let spacing = match atoms[..] {
            [(first, _), (last, _)] if last > first => last - first,
            _ => 1.0,
        };
        Self { atoms, infinite, spacing }
    }

    /// One of k answers, the true one e^ε times as likely as each other; ε > 0, k ≥ 2.
    ///
    /// Of k answers two are the true one of either data set, with losses ±ε. The others say nothing: loss 0.
    pub(super) fn categorical(epsilon: f64, options: f64) -> Self {
        let log_sum = epsilon + libm::log1p((options - 1.0) * libm::exp(-epsilon));
        let mut atoms = vec![(-epsilon, -log_sum), (epsilon, epsilon - log_sum)];
        if options > 2.0 {
            atoms.insert(1, (0.0, libm::log(options - 2.0) - log_sum));
        }
        Self {
            atoms,
            infinite: f64::NEG_INFINITY,
            spacing: if options > 2.0 { epsilon } else { 2.0 * epsilon },
        }
    }

    /// Anything (ε, δ)-private: infinite with probability δ, otherwise a coin of losses ±ε.
    ///
    /// No (ε, δ)-private mechanism tells more (Kairouz, Oh, Viswanath 2015, Theorem 3.1 and its proof).
    pub(super) fn black_box(epsilon: f64, delta: f64) -> Self {
        let rest = libm::log1p(-delta);
        if epsilon == 0.0 {
            return Self { atoms: vec![(0.0, rest)], infinite: libm::log(delta), spacing: 1.0 };
        }
        let coin = Self::categorical(epsilon, 2.0);
        let atoms = coin.atoms.iter().map(|(loss, log_mass)| (*loss, log_mass + rest)).collect();
        Self { atoms, infinite: libm::log(delta), ..coin }
    }

    /// Noise z with P(z) ∝ e^(−|z|/b) on an integer, against the same moved by Δ: losses (|z − Δ| − |z|)/b.
    ///
    /// With r = e^(−1/b), P(z) = (1−r)/(1+r)·r^|z|: Δ/b for z ≤ 0, of mass 1/(1+r); −Δ/b for z ≥ Δ, of mass r^Δ/(1+r).
    pub(super) fn discrete_laplace(scale: f64, sensitivity: u32) -> Self {
        let (least, span) = (1.0 / scale, f64::from(sensitivity));
        let log_sum = libm::log1p(libm::exp(-least));
        let log_middle = log1m_exp(-least) - log_sum;
        let atom = |place: u32| {
            let below = f64::from(sensitivity - place);
            let log_mass = match place {
                0 => -below * least - log_sum,
                _ if place == sensitivity => -log_sum,
                _ => log_middle - below * least,
            };
            ((2.0 * f64::from(place) - span) * least, log_mass)
        };
        Self {
            atoms: (0..=sensitivity).map(atom).collect(),
            infinite: f64::NEG_INFINITY,
            spacing: 2.0 * least,
        }
    }
}

impl Losses for Listed {
    fn outline(&self, _: f64) -> Vec<Atom> {
        // A loss may be known to more digits than its place on the common lattice.
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

    fn alone(&self, epsilon: f64) -> Option<(f64, f64)> {
        let (lower, upper) = log_excess(&self.outline(0.0), epsilon);
        Some((log_add_exp(lower, self.infinite - 1e-12), log_add_exp(upper, self.infinite + 1e-12)))
    }

    fn largest(&self) -> Option<f64> {
        Some(self.atoms.iter().map(|(loss, _)| loss * (1.0 + 1e-14)).fold(0.0, f64::max))
    }

    fn log_top(&self) -> Option<f64> {
        self.atoms.last().map(|(_, log_mass)| *log_mass)
    }

    fn infinite(&self) -> f64 {
        self.infinite - 1e-13
    }

    fn anchor(&self) -> Option<Anchor> {
        Some(Anchor { offset: self.atoms.first()?.0, spacing: self.spacing, exact: true })
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

    /// ln of 1 − 2·Q(loss > 0) = 1 − e^(−λ/2).
    pub(super) fn log_middle(&self) -> f64 {
        log1m_exp(-0.5 * self.largest)
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

    fn alone(&self, epsilon: f64) -> Option<(f64, f64)> {
        let Sides::Both(atoms) = self.atoms(&[epsilon]) else { return None };
        Some(log_excess(&atoms.atoms, epsilon))
    }

    fn largest(&self) -> Option<f64> {
        Some(self.largest * (1.0 + 1e-15))
    }

    fn log_top(&self) -> Option<f64> {
        Some(-LN_2)
    }

    fn anchor(&self) -> Option<Anchor> {
        Some(Anchor { offset: self.largest, spacing: 2.0 * self.largest, exact: false })
    }
}
