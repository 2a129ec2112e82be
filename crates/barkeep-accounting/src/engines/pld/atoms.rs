//! Holds privacy losses as finitely many atoms, the common form in which every mechanism reaches the lattice.

use std::fmt::Debug;

use barkeep_num::{log_sum_exp, log1m_exp};

use super::characteristic::Branches;
use super::tabulated::Tabulated;

/// Mass at one privacy loss ℓ = ln(P/Q), as seen under P; under Q it is e^(−ℓ) times that.
///
/// The true logarithm of the mass is within `log_slack` of `log_mass`, the true loss within `loss_slack` of `loss`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Atom {
    pub(super) loss: f64,
    pub(super) log_mass: f64,
    pub(super) loss_slack: f64,
    pub(super) log_slack: f64,
}

impl Atom {
    /// An atom known up to the rounding of its two numbers.
    pub(super) fn rounded(loss: f64, log_mass: f64) -> Self {
        let unit = 8.0 * f64::EPSILON;
        Self { loss, log_mass, loss_slack: unit * loss.abs(), log_slack: unit * (1.0 + log_mass.abs()) }
    }
}

/// Relative error charged to a sum over atoms, far above rounding.
const SUM_SLACK: f64 = 1e-12;

/// Bounds of ln Σ p·(1 − e^(ε−ℓ)) over the atoms above ε, from below and from above.
pub(super) fn log_excess(atoms: &[Atom], epsilon: f64) -> (f64, f64) {
    let sum = |sign: f64| {
        let terms: Vec<f64> = atoms
            .iter()
            .map(|atom| (atom.log_mass + sign * atom.log_slack, atom.loss + sign * atom.loss_slack))
            .filter(|(_, loss)| *loss > epsilon)
            .map(|(log_mass, loss)| log_mass + log1m_exp(epsilon - loss))
            .collect();
        if terms.is_empty() { f64::NEG_INFINITY } else { log_sum_exp(&terms) + sign * SUM_SLACK }
    };
    (sum(-1.0), sum(1.0))
}

/// A privacy-loss distribution: atoms by ascending loss, and what lies outside them.
#[derive(Debug, Clone)]
pub(super) struct Atoms {
    pub(super) atoms: Vec<Atom>,
    /// ln of at least the mass at losses below the atoms.
    pub(super) below: f64,
    /// ln of at least the mass at losses above the atoms, infinity included.
    pub(super) above: f64,
    /// ln of at most the mass at infinity.
    pub(super) infinite: f64,
}

impl Atoms {
    /// Atoms outside which there is nothing.
    pub(super) fn complete(atoms: Vec<Atom>) -> Self {
        Self { atoms, below: f64::NEG_INFINITY, above: f64::NEG_INFINITY, infinite: f64::NEG_INFINITY }
    }
}

/// The atoms from which upper and lower bounds are made.
#[derive(Debug, Clone)]
pub(super) enum Sides {
    /// The same for both: each atom is the barycentre of the part of the distribution between two boundaries.
    Both(Atoms),
    /// A distribution that dominates the true one, and one that it dominates, where known.
    Apart { upper: Atoms, lower: Option<Atoms> },
}

/// Losses that all atoms of a distribution have: `offset` plus multiples of `spacing`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Anchor {
    pub(super) offset: f64,
    pub(super) spacing: f64,
    /// Whether the distribution consists of nothing else.
    pub(super) exact: bool,
}

/// One direction of a mechanism's dominating pair (P, Q), as the distribution of its privacy loss under P.
pub(super) trait Losses: Debug + Send + Sync {
    /// A few hundred atoms down to masses of about e^(−depth), ascending: enough to plan by, without a guarantee.
    fn outline(&self, depth: f64) -> Vec<Atom>;

    /// Cuts the distribution at the boundaries (ascending losses).
    ///
    /// For [`Sides::Both`] every atom stands for mass that lies between two neighbouring boundaries, or beyond the last, so that
    /// splitting the atom between them, or merging it with others, is the same as splitting or merging that mass.
    fn atoms(&self, boundaries: &[f64]) -> Sides;

    /// About the barycentre ln(ΣP/ΣQ) of the losses between two, if there are any.
    fn barycentre(&self, low: f64, high: f64) -> Option<f64> {
        let (Sides::Both(atoms) | Sides::Apart { upper: atoms, .. }) = self.atoms(&[low, high]);
        let inside = || atoms.atoms.iter().filter(|atom| (low..=high).contains(&atom.loss));
        let sum: f64 = inside().map(|atom| libm::exp(atom.log_mass)).sum();
        let excess: f64 = inside().map(|atom| libm::exp(atom.log_mass) * libm::expm1(-atom.loss)).sum();
        (sum > 0.0).then(|| -libm::log1p(excess / sum))
    }

    /// Bounds of ln δ(ε) of one use by itself, from below and from above, for ε ≥ 0; None where only a lattice tells.
    ///
    /// No lattice loses anything then, however rare and large the losses are.
    fn alone(&self, _: f64) -> Option<(f64, f64)> {
        None
    }

    /// The same losses as branches with a density, if they are such.
    fn branches(&self) -> Option<Branches> {
        None
    }

    /// The losses themselves, if all that is known of them are atoms, and that from above only.
    fn upper_alone(&self) -> Option<&Tabulated> {
        None
    }

    /// At least the largest finite loss, if those are bounded.
    fn largest(&self) -> Option<f64> {
        None
    }

    /// ln of the mass at the largest finite loss, if it has any: known to 10⁻¹⁵ of itself.
    fn log_top(&self) -> Option<f64> {
        None
    }

    /// ln of the mass at infinity, at most 10⁻¹² below it.
    fn infinite(&self) -> f64 {
        f64::NEG_INFINITY
    }

    /// Where the atoms are, if there are any besides one at loss 0.
    fn anchor(&self) -> Option<Anchor> {
        None
    }
}
