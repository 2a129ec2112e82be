//! Takes mechanisms that are known by their privacy curve alone: as dots, or as a function.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::atoms::{Atom, Atoms, Losses, Sides};
use super::blocks::Made;
use super::knots::{dominated, dominating};
use crate::Delta;

/// Atoms of an outline, at most.
const OUTLINE_ATOMS: usize = 1000;

/// |ε| at which a function is outlined: the first, the factor from one to the next, and the largest.
const OUTLINE_GRID: (f64, f64, f64) = (1e-12, 1.05, 700.0);

/// A curve bounded by dots.
#[derive(Debug, Clone)]
pub(super) struct Tabulated {
    pub(super) upper: Arc<Atoms>,
    pub(super) lower: Option<Atoms>,
    made: Made,
    /// Its outline, once it was asked for.
    outline: Arc<OnceLock<Vec<Atom>>>,
}

impl Tabulated {
    pub(super) fn new(upper: Atoms, lower: Option<Atoms>) -> Self {
        Self { upper: Arc::new(upper), lower, made: Made::default(), outline: Arc::default() }
    }

    /// Known from above only.
    pub(super) fn from_above(upper: Atoms) -> Self {
        Self::new(upper, None)
    }

    /// As many steps as one, for about this δ.
    pub(super) fn block(&self, each: u64, delta: Delta) -> Option<Self> {
        self.made.block(&self.upper, each, delta)
    }
}

impl Losses for Tabulated {
    fn outline(&self, _: f64) -> Vec<Atom> {
        self.outline.get_or_init(|| thinned(&self.upper.atoms)).clone()
    }

    fn atoms(&self, _: &[f64]) -> Sides {
        Sides::Apart { upper: Atoms::clone(&self.upper), lower: self.lower.clone() }
    }

    fn upper_alone(&self) -> Option<&Tabulated> {
        self.lower.is_none().then_some(self)
    }
}

/// A function of ε that returns a lower and an upper bound of δ(ε), for ε of either sign.
pub(super) type Function = Arc<dyn Fn(f64) -> (f64, f64) + Send + Sync>;

/// A curve given by a function.
#[derive(Clone)]
pub(super) struct Sampled {
    pub(super) function: Function,
}

impl fmt::Debug for Sampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sampled")
    }
}

impl Sampled {
    /// (ε, lower, upper), made consistent; trivial bounds where the function has none.
    fn dot(&self, epsilon: f64) -> (f64, f64, f64) {
        let (lower, upper) = (self.function)(epsilon);
        let trivial = (1.0 - libm::exp(epsilon)).max(0.0);
        let lower = if lower.is_nan() { trivial } else { lower.clamp(trivial, 1.0) };
        let upper = if upper.is_nan() { 1.0 } else { upper.clamp(0.0, 1.0) };
        (epsilon, lower, upper.max(lower))
    }
}

impl Losses for Sampled {
    fn outline(&self, _: f64) -> Vec<Atom> {
        let (first, factor, last) = OUTLINE_GRID;
        let mut sizes = vec![first];
        while let Some(size) = sizes.last().map(|size| size * factor).filter(|size| *size < last) {
            sizes.push(size);
        }
        let dots: Vec<(f64, f64)> = (sizes.iter().rev().map(|size| -size))
            .chain(sizes.iter().copied())
            .map(|epsilon| self.dot(epsilon))
            .map(|(epsilon, _, upper)| (epsilon, upper))
            .collect();
        dominating(&dots).map_or_else(Vec::new, |atoms| atoms.atoms)
    }

    fn alone(&self, epsilon: f64) -> Option<(f64, f64)> {
        let (_, lower, upper) = self.dot(epsilon);
        Some((libm::log(lower) - 1e-12, libm::log(upper) + 1e-12))
    }

    fn atoms(&self, boundaries: &[f64]) -> Sides {
        let dots: Vec<(f64, f64, f64)> = boundaries.iter().map(|epsilon| self.dot(*epsilon)).collect();
        let above: Vec<(f64, f64)> = dots.iter().map(|(epsilon, _, upper)| (*epsilon, *upper)).collect();
        // No dots: everything at infinity.
        let nothing =
            Atoms { atoms: Vec::new(), below: f64::NEG_INFINITY, above: 0.0, infinite: f64::NEG_INFINITY };
        Sides::Apart { upper: dominating(&above).unwrap_or_else(|| nothing.clone()), lower: dominated(&dots) }
    }
}

/// Neighbouring atoms put together until few are left.
pub(super) fn thinned(atoms: &[Atom]) -> Vec<Atom> {
    let together = atoms.len().div_ceil(OUTLINE_ATOMS).max(1);
    let barycentre = |group: &[Atom]| {
        let first: Vec<f64> = group.iter().map(|atom| atom.log_mass).collect();
        let second: Vec<f64> = group.iter().map(|atom| atom.log_mass - atom.loss).collect();
        let log_mass = barkeep_num::log_sum_exp(&first);
        Atom::rounded(log_mass - barkeep_num::log_sum_exp(&second), log_mass)
    };
    atoms.chunks(together).map(barycentre).collect()
}
