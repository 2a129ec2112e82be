//! Whitens a posterior by public facts: a frame S(θ) with S·Sᵀ = (nT·F(θ) + prior precision)⁻¹, in whose coordinates the
//! posterior is about standard normal, constant or following the position.
//!
//! Dynamics that move along the frame's columns S_k with random coefficients w leave the posterior π dθ invariant as
//! continuous time sees it, whatever smooth frame is taken, if each coefficient is driven by the force
//! f_k = S_k·∇ln π + div S_k:
//!
//! * overdamped, dθ = ½S·f dt + S∘dW (Stratonovich). In Itô's form the drift is ½(S·Sᵀ∇ln π + S·div S + Σ_k (S_k·∇)S_k), and
//!   S·div S + Σ_k (S_k·∇)S_k = div(S·Sᵀ): the Langevin diffusion of the metric. Moving along the *flow* of the field
//!   S·w for unit time, w = (h/2)f + √h·z held fixed, is the Stratonovich step;
//! * underdamped, dθ = S·v dt, dv = (f − γv)dt + √(2γ)dW: for ρ = π·e^(−‖v‖²/2) the transport terms add up to
//!   ρ·(v·div S + v·Sᵀ∇ln π − v·f) = 0, and friction and noise keep N(0, I).
//!
//! Where columns commute, as in the frame of a bent Gaussian, the flow is a change of coordinates, and the step in θ is the
//! step of a straight Gaussian with nothing lost. That chooses between the two roots a frame can take.
//!
//! **Privacy.** F, the prior and θ are public, so the frame is; it enters a question as its preconditioner.

use barkeep_model::Model;
use barkeep_model::terms::Precondition;
use barkeep_num::linear::{Cholesky, Spectrum, dot, product, transpose};
use std::sync::Arc;

/// How a frame is chosen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WhiteningChoice {
    /// From the model's expected Fisher information, times `scale`.
    Fisher {
        /// Whether it follows the position; `None`: where the information does.
        local: Option<bool>,
        /// What the information is multiplied by: 1, unless the model is known to be off.
        scale: f64,
    },
    /// This S everywhere, row by row.
    Given(Vec<f64>),
}

/// S(θ) and its divergence at the position it was last moved to.
pub(crate) struct Whitening {
    model: Arc<dyn Model>,
    local: Option<Metric>,
    /// S, row-major.
    factor: Vec<f64>,
    /// Sᵀ, row-major: what the curator multiplies gradients by.
    transposed: Vec<f64>,
    /// div S_k for each column.
    divergence: Vec<f64>,
    diagonal: Option<Vec<f64>>,
}

/// A precision that follows the position.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Metric {
    /// nT times the scale of the information.
    weight: f64,
    /// Whether directions nothing is known of are given the length of θ.
    floor: bool,
    root: Root,
}

/// Which S of the many with the same S·Sᵀ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// Lower triangular: columns commute where later parameters are bent along earlier ones.
    Triangular,
    /// Symmetric: turns with the problem.
    Symmetric,
}

/// A precision whose eigenvalues are farther apart than this is singular.
const SINGULAR: f64 = 1e-10;
/// How far the whitened information may vary for a frame to be taken as constant.
const CONSTANT: f64 = 1e-6;
/// How far the information is looked at around a position, in whitened units.
const PROBE: f64 = 2.0;
/// More parameters than this have one frame for all positions unless a spec asks for others: each costs as many roots.
const MOST_LOCAL: usize = 64;
/// Along how many columns two roots are compared.
const PROBED: usize = 4;
/// Step of a central difference, in whitened units: its error is about the square of it, rounding 1e-12.
const DIFFERENCE: f64 = 1e-4;

impl Whitening {
    /// The frame at `at` for `records` records tempered by `temper`, `weight` = records·temper.
    ///
    /// `None` where the model does not know its information, or where it and the prior say nothing about θ.
    #[must_use]
    pub(crate) fn new(
        whitening: &WhiteningChoice,
        model: &Arc<dyn Model>,
        weight: f64,
        theta: &[f64],
    ) -> Option<Self> {
        let (factor, local) = match whitening {
            WhiteningChoice::Given(factor) => (factor.clone(), None),
            WhiteningChoice::Fisher { local, scale } => {
                Metric::choose(&**model, weight * scale, *local, theta)?
            }
        };
        let mut frame = Self {
            model: Arc::clone(model),
            local,
            transposed: factor.clone(),
            divergence: vec![0.0; theta.len()],
            diagonal: None,
            factor,
        };
        frame.finish();
        frame.move_to(theta);
        Some(frame)
    }

    /// Whether S follows the position.
    #[must_use]
    pub(crate) fn is_local(&self) -> bool {
        self.local.is_some()
    }

    /// S, row by row.
    #[must_use]
    pub(crate) fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// Sᵀ, row by row.
    #[must_use]
    pub(crate) fn transposed(&self) -> &[f64] {
        &self.transposed
    }

    /// Computes S and its divergence at `at`; where that fails, those before stay.
    pub(crate) fn move_to(&mut self, theta: &[f64]) {
        let Some(metric) = self.local else { return };
        let Some(factor) = metric.factor(&*self.model, theta) else { return };
        let Some(changes) = metric.changes(&*self.model, theta, &factor) else { return };
        let d = theta.len();
        for (k, divergence) in self.divergence.iter_mut().enumerate() {
            *divergence = changes.iter().enumerate().map(|(l, change)| change[l * d + k]).sum();
        }
        self.factor = factor;
        self.finish();
    }

    /// Derives what follows from S.
    fn finish(&mut self) {
        let d = self.divergence.len();
        for (k, entry) in self.transposed.iter_mut().enumerate() {
            *entry = self.factor[(k % d) * d + k / d];
        }
        let diagonal = (0..d * d).all(|k| k / d == k % d || self.factor[k] == 0.0);
        self.diagonal = diagonal.then(|| self.factor.iter().step_by(d + 1).copied().collect());
    }

    /// Sᵀ, as the curator takes it.
    #[must_use]
    pub(crate) fn precondition(&self) -> Precondition<'_> {
        match &self.diagonal {
            Some(entries) if entries.iter().all(|entry| *entry == 1.0) => Precondition::Identity,
            Some(entries) => Precondition::Diagonal(entries),
            None => Precondition::Dense(&self.transposed),
        }
    }

    /// Sᵀ·`matrix`·S: a precision in the frame's coordinates.
    pub(crate) fn whitened(&self, matrix: &[f64]) -> Vec<f64> {
        let d = self.divergence.len();
        product(&self.transposed, &product(matrix, &self.factor, d), d)
    }

    /// Adds Sᵀ·`gradient` + div S to `force`.
    pub(crate) fn add_force(&self, gradient: &[f64], force: &mut [f64]) {
        let rows = self.transposed.chunks_exact(gradient.len());
        for ((force, row), divergence) in force.iter_mut().zip(rows).zip(&self.divergence) {
            *force += dot(row, gradient) + divergence;
        }
    }

    /// Moves `at` along the flow of S·w for half a unit of time; returns false, with `at` unspecified, where that fails.
    ///
    /// **Precision.** Exact for a constant frame; else by the classical Runge–Kutta method in steps of at most a
    /// quarter of a whitened unit. The flow uses public numbers alone, so its steps cost nothing.
    #[must_use]
    pub(crate) fn half_flow(&self, theta: &mut [f64], w: &[f64]) -> bool {
        let Some(metric) = self.local else {
            let rows = self.factor.chunks_exact(theta.len());
            theta.iter_mut().zip(rows).for_each(|(theta, row)| *theta += 0.5 * dot(row, w));
            return true;
        };
        let length = dot(w, w).sqrt();
        let steps = (2.0 * length).ceil().clamp(1.0, 64.0);
        let h = 0.5 / steps;
        let field = |theta: &[f64]| -> Option<Vec<f64>> {
            let factor = metric.factor(&*self.model, theta)?;
            Some(factor.chunks_exact(theta.len()).map(|row| dot(row, w)).collect())
        };
        let moved = |theta: &[f64], by: &[f64], h: f64| -> Vec<f64> {
            theta.iter().zip(by).map(|(theta, by)| theta + h * by).collect()
        };
        for _ in 0..steps as u32 {
            let stages = || {
                let one = field(theta)?;
                let two = field(&moved(theta, &one, 0.5 * h))?;
                let three = field(&moved(theta, &two, 0.5 * h))?;
                let four = field(&moved(theta, &three, h))?;
                Some([one, two, three, four])
            };
            let Some([one, two, three, four]) = stages() else { return false };
            for (j, theta) in theta.iter_mut().enumerate() {
                *theta += h / 6.0 * (one[j] + 2.0 * two[j] + 2.0 * three[j] + four[j]);
            }
        }
        theta.iter().all(|coordinate| coordinate.is_finite())
    }
}

impl Metric {
    /// Decides, around a public position, whether a floor is needed, whether the frame follows the position (`local`, or
    /// where the information varies), and which root commutes better; returns S there and what follows the position.
    fn choose(
        model: &dyn Model,
        weight: f64,
        local: Option<bool>,
        theta: &[f64],
    ) -> Option<(Vec<f64>, Option<Self>)> {
        let known = Self { weight, floor: false, root: Root::Symmetric };
        let (low, high) = Spectrum::new(&known.precision(model, theta)?, theta.len())?.range();
        let symmetric = Self { floor: low <= SINGULAR * high, ..known };
        let triangular = Self { root: Root::Triangular, ..symmetric };
        let factor = symmetric.factor(model, theta)?;
        let local = local.or((theta.len() > MOST_LOCAL).then_some(false));
        if !local.unwrap_or_else(|| !symmetric.is_constant(model, theta, &factor)) {
            return Some((triangular.factor(model, theta)?, None));
        }
        let around: Vec<Vec<f64>> = probes(theta, &factor, PROBED).collect();
        let torsion = |metric: &Self| -> Option<f64> {
            let torsion = |theta: &Vec<f64>| metric.torsion(model, theta);
            Some(metric.torsion(model, theta)? + around.iter().map(torsion).sum::<Option<f64>>()?)
        };
        let metric = match (torsion(&triangular), torsion(&symmetric)) {
            // Which direction is unknown turns with θ, and so must the frame.
            _ if symmetric.floor => symmetric,
            (Some(lower), Some(even)) if lower > even + CONSTANT => symmetric,
            (None, Some(_)) => symmetric,
            _ => triangular,
        };
        Some((metric.factor(model, theta)?, Some(metric)))
    }

    /// How far columns are from commuting.
    fn torsion(&self, model: &dyn Model, theta: &[f64]) -> Option<f64> {
        let factor = self.factor(model, theta)?;
        Some(torsion(&self.changes(model, theta, &factor)?, theta.len()))
    }

    /// nT·F(θ) + prior precision, and, where that is singular, 1/(‖θ‖² + 1/λ_max) besides: in directions nothing is
    /// known of, a parameter is taken to be known up to its own size.
    fn precision(&self, model: &dyn Model, theta: &[f64]) -> Option<Vec<f64>> {
        let d = theta.len();
        let mut precision = public_precision(model, self.weight, theta)?;
        if self.floor {
            let (_, most) = Spectrum::new(&precision, d)?.range();
            let known = 1.0 / (dot(theta, theta) + 1.0 / most);
            precision.iter_mut().step_by(d + 1).for_each(|entry| *entry += known);
        }
        precision.iter().all(|entry| entry.is_finite()).then_some(precision)
    }

    /// S.
    fn factor(&self, model: &dyn Model, theta: &[f64]) -> Option<Vec<f64>> {
        let (precision, d) = (self.precision(model, theta)?, theta.len());
        match self.root {
            Root::Triangular => {
                let covariance = Cholesky::new(&precision, d)?.inverse();
                Some(Cholesky::new(&covariance, d)?.lower().to_vec())
            }
            Root::Symmetric => {
                let spectrum = Spectrum::new(&precision, d)?;
                (spectrum.range().0 > 0.0).then(|| spectrum.map(|value| 1.0 / value.sqrt()))
            }
        }
    }

    /// For each column S_l the change S⁻¹·(S_l·∇)S of the frame along it, by central differences; S⁻¹ = Sᵀ·precision.
    fn changes(&self, model: &dyn Model, theta: &[f64], factor: &[f64]) -> Option<Vec<Vec<f64>>> {
        let d = theta.len();
        let precision = self.precision(model, theta)?;
        let inverse = product(&transpose(factor, d), &precision, d);
        (0..d)
            .map(|l| {
                let shifted = |h: f64| -> Vec<f64> {
                    theta.iter().enumerate().map(|(j, theta)| theta + h * factor[j * d + l]).collect()
                };
                let ahead = self.factor(model, &shifted(DIFFERENCE))?;
                let behind = self.factor(model, &shifted(-DIFFERENCE))?;
                let slope: Vec<f64> = ahead
                    .iter()
                    .zip(&behind)
                    .map(|(ahead, behind)| (ahead - behind) / (2.0 * DIFFERENCE))
                    .collect();
                Some(product(&inverse, &slope, d))
            })
            .collect()
    }

    /// Whether the precision a few whitened units away is the same in every direction.
    fn is_constant(&self, model: &dyn Model, theta: &[f64], factor: &[f64]) -> bool {
        let d = theta.len();
        probes(theta, factor, d).all(|there| {
            let Some(precision) = self.precision(model, &there) else { return false };
            let whitened = product(&transpose(factor, d), &product(&precision, factor, d), d);
            whitened.iter().enumerate().all(|(k, entry)| {
                let expected = f64::from(u8::from(k / d == k % d));
                (entry - expected).abs() <= CONSTANT
            })
        })
    }
}

/// Points [`PROBE`] away from `at` along at most `most` columns of a frame, on either side.
fn probes(theta: &[f64], factor: &[f64], most: usize) -> impl Iterator<Item = Vec<f64>> {
    let d = theta.len();
    let count = d.min(most);
    (0..count).flat_map(move |k| {
        [PROBE, -PROBE].map(|h| {
            theta.iter().enumerate().map(|(j, theta)| theta + h * factor[j * d + k * d / count]).collect()
        })
    })
}

/// Σ_{k<l} ‖S⁻¹[S_k, S_l]‖²: how far columns are from commuting.
fn torsion(changes: &[Vec<f64>], d: usize) -> f64 {
    let mut total = 0.0;
    for (k, along) in changes.iter().enumerate() {
        for (l, across) in changes.iter().enumerate().skip(k + 1) {
            for j in 0..d {
                let bracket = along[j * d + l] - across[j * d + k];
                total += bracket * bracket;
            }
        }
    }
    total
}

/// weight·F(θ) + prior precision, row by row; `None` where the model does not know F.
pub(crate) fn public_precision(model: &dyn Model, weight: f64, theta: &[f64]) -> Option<Vec<f64>> {
    let entries = theta.len() * theta.len();
    let (mut precision, mut prior) = (vec![0.0; entries], vec![0.0; entries]);
    if !model.fisher(theta, &mut precision) {
        return None;
    }
    model.prior_precision(theta, &mut prior);
    precision.iter_mut().zip(&prior).for_each(|(entry, prior)| *entry = weight * *entry + prior);
    Some(precision)
}
