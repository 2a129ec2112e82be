//! Follows Hamiltonian dynamics along noisy gradients and asks once whether to stay where they lead.
//!
//! One step draws a momentum p ~ N(0, M) and simulates L leapfrog steps, p ← p + ½ηG(θ), θ ← θ + ηM⁻¹p,
//! p ← p + ½ηG(θ), where G is the curator's noisy sum of clipped gradients plus the prior's gradient. The end point is
//! judged on ΔH = ln π(θ_L)/π(θ_0) + ½p_0ᵀM⁻¹p_0 − ½p_LᵀM⁻¹p_L (thesis, Algorithm 4, with η in the position's step
//! and ln u in the test).
//!
//! # Why noise and clipping of gradients leave the posterior in place
//! Write G(θ_j) = g(θ_j) + ε_j, g any fixed function of the position and ε_0, …, ε_L independent draws from one law, that
//! of the curator's noise. On z = (θ, p, ε_0, …, ε_L) let μ be the posterior times N(p; 0, M) times the noise's law,
//! and let T(z) = (θ_L, −p_L, ε_L, …, ε_0).
//!
//! *T undoes itself*: from (θ_L, −p_L) the first half kick with ε_L leads to −p_(L−½), so the path runs backwards through
//! the same positions, meeting at each of them the noise it met before. *T keeps volumes*: given the noise it is a
//! composition of shears. *μ does not mind the order of the noise*, so ln μ(Tz)/μ(z) = ΔH. Hence for every rule with
//! a(λ) = e^λ·a(−λ), moving from z to Tz with probability a(ΔH) satisfies detailed balance: μ(z)a(ΔH(z)) = μ(Tz)a(ΔH(Tz)).
//! Drawing p and the noise afresh between moves keeps μ as well, because μ has them independent of θ. So the posterior is
//! stationary whatever the noise and the clipping *of gradients* are; they cost acceptances, not correctness (thesis,
//! Lemmas 4.4 to 4.6, by another way). Clipping *of log-ratios* biases, as in every sampler here.
//!
//! # Reusing the last gradient
//! ε_0 need not be drawn afresh. Keep, of the moved or unmoved z, the first noise (ε_L after T, ε_0 otherwise), and redraw
//! p and ε_1, …, ε_L only: that is a Gibbs step of the same μ, in which they are independent of (θ, ε_0). The positions
//! alone are then no Markov chain, but positions with their gradient are, and the posterior is still the stationary law
//! of θ. A proposal costs L gradients instead of L + 1, and one more at the very start. An unlucky gradient is kept until
//! a proposal is accepted, so chains may stick where gradients are very noisy.

use crate::public_rng::PublicRng;
use crate::run::draws::Outcome;
use crate::samplers::kernels::metropolis::Judgement;
use crate::samplers::{Kernel, State};
use barkeep_accounting::Sampling;
use barkeep_curator::{Ask, Clip, Precondition, Refused, Sum, Temper, Term};
use barkeep_model::Model;
use barkeep_num::linear::Cholesky;
use std::sync::Arc;

/// The mass matrix M.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Mass {
    /// One mass for each coordinate.
    Diagonal(Vec<f64>),
    /// A full matrix.
    Dense {
        /// Its lower triangular factor, row by row.
        factor: Vec<f64>,
        /// Its inverse, row by row.
        inverse: Vec<f64>,
    },
}

impl Mass {
    /// Checks that a matrix, given row by row, can be a mass.
    #[must_use]
    pub(crate) fn new(matrix: &[f64], dimension: usize) -> Option<Self> {
        let factor = Cholesky::new(matrix, dimension)?;
        let diagonal = matrix.iter().enumerate().all(|(k, x)| k % (dimension + 1) == 0 || *x == 0.0);
        Some(if diagonal {
            Self::Diagonal(matrix.iter().copied().step_by(dimension + 1).collect())
        } else {
            Self::Dense { factor: factor.lower().to_vec(), inverse: factor.inverse() }
        })
    }

    /// Draws a momentum.
    fn draw(&self, momentum: &mut [f64], rng: &mut PublicRng) {
        match self {
            Self::Diagonal(masses) => {
                momentum.iter_mut().zip(masses).for_each(|(p, mass)| *p = mass.sqrt() * rng.normal());
            }
            Self::Dense { factor, .. } => {
                let standard: Vec<f64> = momentum.iter().map(|_| rng.normal()).collect();
                multiply(factor, &standard, momentum);
            }
        }
    }

    /// Writes M⁻¹p.
    fn velocity(&self, momentum: &[f64], velocity: &mut [f64]) {
        match self {
            Self::Diagonal(masses) => {
                let speeds = momentum.iter().zip(masses).map(|(p, mass)| p / mass);
                velocity.iter_mut().zip(speeds).for_each(|(v, speed)| *v = speed);
            }
            Self::Dense { inverse, .. } => multiply(inverse, momentum, velocity),
        }
    }
}

/// Writes a square matrix times a vector.
fn multiply(matrix: &[f64], vector: &[f64], out: &mut [f64]) {
    for (row, out) in matrix.chunks_exact(vector.len()).zip(out) {
        *out = row.iter().zip(vector).map(|(a, b)| a * b).sum();
    }
}

/// How a path is simulated; all of it public.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Path {
    /// M.
    pub(crate) mass: Mass,
    /// η.
    pub(crate) step: f64,
    /// L.
    pub(crate) leapfrog: u64,
    /// Tempering of the likelihood.
    pub(crate) temper: Temper,
    /// Clip bound of one record's gradient.
    pub(crate) clip: Clip,
    /// Standard deviation of a gradient's noise, per coordinate.
    pub(crate) sigma: f64,
    /// Whether a path starts with the gradient the last one ended with.
    pub(crate) reuse: bool,
}

/// Hamiltonian Monte Carlo.
pub(crate) struct Hamiltonian {
    model: Arc<dyn Model>,
    path: Path,
    judgement: Judgement,
    /// The gradient at the state, if it may be used.
    here: Option<Vec<f64>>,
    position: Vec<f64>,
    momentum: Vec<f64>,
    velocity: Vec<f64>,
    gradient: Vec<f64>,
    prior: Vec<f64>,
}

impl Hamiltonian {
    /// A chain at rest.
    #[must_use]
    pub(crate) fn new(model: Arc<dyn Model>, path: Path, judgement: Judgement) -> Self {
        let zeros = || vec![0.0; model.dimension()];
        let (position, momentum, velocity, gradient, prior) = (zeros(), zeros(), zeros(), zeros(), zeros());
        Self { model, path, judgement, here: None, position, momentum, velocity, gradient, prior }
    }

    /// Asks for the gradient at `self.position`.
    fn look(&mut self, ask: &mut dyn Ask) -> Result<(), Refused> {
        let question = Sum {
            term: Term::Gradient { theta: &self.position, precondition: Precondition::Identity },
            temper: self.path.temper,
            clip: self.path.clip,
            batch: Sampling::Full,
            sigma: self.path.sigma,
        };
        ask.sum(&question, &mut self.gradient)?;
        self.model.prior_gradient(&self.position, &mut self.prior);
        self.gradient.iter_mut().zip(&self.prior).for_each(|(g, prior)| *g += prior);
        Ok(())
    }

    /// p ← p + `time`·G.
    fn kick(&mut self, time: f64) {
        self.momentum.iter_mut().zip(&self.gradient).for_each(|(p, g)| *p += time * g);
    }

    /// ½pᵀM⁻¹p.
    fn kinetic(&mut self) -> f64 {
        self.path.mass.velocity(&self.momentum, &mut self.velocity);
        0.5 * self.momentum.iter().zip(&self.velocity).map(|(p, v)| p * v).sum::<f64>()
    }

    /// Simulates a path from `self.position` and returns the kinetic energy it used up, or nothing if it left the
    /// range of numbers.
    ///
    /// **Privacy.** Whether a path goes on depends on its positions, which follow from answers already given.
    fn simulate(&mut self, ask: &mut dyn Ask) -> Result<Option<f64>, Refused> {
        let before = self.kinetic();
        self.kick(0.5 * self.path.step);
        for left in (0..self.path.leapfrog).rev() {
            self.path.mass.velocity(&self.momentum, &mut self.velocity);
            let moves = self.velocity.iter().map(|v| self.path.step * v);
            self.position.iter_mut().zip(moves).for_each(|(x, dx)| *x += dx);
            if !self.position.iter().all(|x| x.is_finite()) {
                return Ok(None);
            }
            self.look(ask)?;
            self.kick(if left == 0 { 0.5 } else { 1.0 } * self.path.step);
        }
        Ok(Some(before - self.kinetic()))
    }
}

impl Kernel for Hamiltonian {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut dyn Ask,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        self.position.copy_from_slice(&state.theta);
        match &self.here {
            Some(known) => self.gradient.copy_from_slice(known),
            None => self.look(ask)?,
        }
        if self.path.reuse && self.here.is_none() {
            self.here = Some(self.gradient.clone());
        }
        self.path.mass.draw(&mut self.momentum, rng);
        let Some(kinetic) = self.simulate(ask)? else { return Ok(Outcome::Rejected) };
        let log_prior = self.model.log_prior(&self.position);
        let offset = log_prior - state.log_prior + kinetic;
        if !self.judgement.accepts(ask, &state.theta, &self.position, offset)? {
            return Ok(Outcome::Rejected);
        }
        state.theta.copy_from_slice(&self.position);
        state.log_prior = log_prior;
        if let Some(here) = &mut self.here {
            here.copy_from_slice(&self.gradient);
        }
        Ok(Outcome::Accepted)
    }
}

#[cfg(test)]
mod tests;
