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
//!
//! # Gradients on batches
//! The proof uses of ε_j only that its law does not depend on θ. So it holds with ξ_j = (S_j, ε_j) in the place of ε_j, S_j a batch drawn
//! uniformly without replacement and afresh for each gradient, and G(θ_j) = (n/b)·g_(S_j)(θ_j) + ε_j: given ξ_j that is a fixed function of
//! the position, and T meets the same batches backwards. Batches of gradients cost acceptances, not correctness, whatever
//! their size. The test asks all records. (The thesis leaves this open in its chapter 7.)
//!
//! # Friction
//! Noise of standard deviation σ on every gradient heats the momentum: a path ends with more kinetic energy than it began with, and few
//! proposals are accepted. Friction takes up what the noise brings. A kick of time t becomes
//! p' + B(p + p') = p + tG(θ), with B = t²σ²/4·M⁻¹, hence p' = ((1 − B)p + tG)/(1 + B) by coordinates.
//!
//! Given θ, p' is normal: (1 + B)p' − (1 − B)p ~ N(t·g, t²σ²). The way back from −p' to −p has the density of
//! (1 − B)p' − (1 + B)p under the same law. With A and A' for the two, A − A' = 2B(p + p') and A + A' = 2(p' − p), so
//! ln(back/forth) = (‖A − tg‖² − ‖A' − tg‖²)/(2t²σ²) = (2/(t²σ²))·(p'ᵀBp' − pᵀBp) − (2/(tσ²))·gᵀB(p + p')
//! = ½p'ᵀM⁻¹p' − ½pᵀM⁻¹p − (t/2)·g·M⁻¹(p + p').
//! The first two terms are what the kick adds to the kinetic energy, so they cancel against ln N(p'; 0, M)/N(p; 0, M). Drifts keep
//! momentum and volume. For a whole path, forth and back, what is left is
//! λ = ln π(θ_L)/π(θ_0) − Σ_j w_j·g(θ_j), w_j = (t_j/2)·M⁻¹(p_j + p_j'),
//! and moving with probability a(λ) satisfies detailed balance for paths, hence, with a fresh momentum each time, for θ: the posterior
//! is stationary. The thesis (section 4.3) gives friction up because the test would no longer be right; this is the right test. λ is the
//! error of the trapezoidal rule for ∫∇ln π along the path, so noise lowers acceptance only by how far it takes the path.
//! (Zhang, Cooper and De Sa 2020 correct stochastic gradients so; there the noise is added, here privacy brings it.)
//!
//! g in λ is the sum without noise, which nobody may see. But λ is a sum over records too, of ln p(xᵢ|θ_L) − ln p(xᵢ|θ_0) −
//! Σ_j w_j·clip_b(∇ln p(xᵢ|θ_j)), plus the same of the prior. The curator clips that as one term ([`along`](barkeep_model::terms::along)), and the test costs what it
//! costs without friction. Where gradients are not clipped a record's term is small, so `clip` may be.
//! Noise lies on a lattice, of 2^31 steps times its ratio to the sensitivity in a standard deviation; its law is taken for the normal one.

use super::metropolis::Along;
use crate::public_rng::PublicRng;
use crate::samplers::asker::Asker;
use crate::samplers::kernels::metropolis::Judgement;
use crate::samplers::{Kernel, State};
use crate::step::Outcome;
use barkeep_accounting::Sampling;
use barkeep_curator::{Asked, Clip, Refused, Shape, Sum, Temper, Term};
use barkeep_model::Model;
use barkeep_model::terms::Precondition;
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
    /// Which records a gradient asks.
    pub(crate) batch: Sampling,
    /// Whether friction takes up the gradients' noise. All records are asked then, nothing is reused, and masses are diagonal.
    pub(crate) friction: bool,
}

impl Path {
    /// What a batch's sum is multiplied by: n/b.
    pub(crate) fn scale(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "records is at most 2^32")]
        match self.batch {
            Sampling::WithoutReplacement { batch, records } => records as f64 / batch as f64,
            Sampling::Full | Sampling::Poisson { .. } => 1.0,
        }
    }

    /// B of a kick of this time, by coordinates; absent without friction.
    pub(crate) fn friction(&self, time: f64) -> Option<Vec<f64>> {
        let noise = 0.25 * (time * self.sigma).powi(2);
        match &self.mass {
            Mass::Diagonal(masses) if self.friction => Some(masses.iter().map(|mass| noise / mass).collect()),
            Mass::Diagonal(_) | Mass::Dense { .. } => None,
        }
    }
}

/// Where a path with friction kicked, and how: what its test takes off log-ratios.
#[derive(Default)]
struct Kicks {
    points: Vec<f64>,
    weights: Vec<f64>,
    /// −Σ_j w_j·∇ln prior(θ_j).
    prior: f64,
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
    kicks: Kicks,
}

impl Hamiltonian {
    /// A chain at rest.
    #[must_use]
    pub(crate) fn new(model: Arc<dyn Model>, path: Path, judgement: Judgement) -> Self {
        let zeros = || vec![0.0; model.dimension()];
        let (position, momentum, velocity, gradient, prior) = (zeros(), zeros(), zeros(), zeros(), zeros());
        let kicks = Kicks::default();
        Self { model, path, judgement, here: None, position, momentum, velocity, gradient, prior, kicks }
    }

    /// Asks for the gradient at `self.position`.
    fn look(&mut self, ask: &mut Asker<'_>) -> Result<(), Refused> {
        let term = ask.gradient(&self.position, Precondition::Identity)?;
        let question = Sum {
            term: Term::Program(Asked { term: &term, shape: Shape::Ball }),
            temper: self.path.temper,
            clip: self.path.clip,
            batch: self.path.batch,
            sigma: self.path.sigma,
        };
        ask.sum(&question, &mut self.gradient)?;
        self.model.prior_gradient(&self.position, &mut self.prior);
        let scale = self.path.scale();
        self.gradient.iter_mut().zip(&self.prior).for_each(|(g, prior)| *g = scale * *g + prior);
        Ok(())
    }

    /// p ← p + `time`·G, or with friction.
    fn kick(&mut self, time: f64) {
        let Some(frictions) = self.path.friction(time) else {
            self.momentum.iter_mut().zip(&self.gradient).for_each(|(p, g)| *p += time * g);
            return;
        };
        self.path.mass.velocity(&self.momentum, &mut self.velocity);
        for ((p, g), friction) in self.momentum.iter_mut().zip(&self.gradient).zip(frictions) {
            *p = ((1.0 - friction) * *p + time * g) / (1.0 + friction);
        }
        // M⁻¹(p + p') from both velocities.
        let before = self.kicks.weights.len();
        self.kicks.weights.extend_from_slice(&self.velocity);
        self.path.mass.velocity(&self.momentum, &mut self.velocity);
        let weights = self.kicks.weights.iter_mut().skip(before);
        for ((weight, velocity), prior) in weights.zip(&self.velocity).zip(&self.prior) {
            *weight = 0.5 * time * (*weight + velocity);
            self.kicks.prior -= *weight * prior;
        }
        self.kicks.points.extend_from_slice(&self.position);
    }

    /// ½pᵀM⁻¹p.
    fn kinetic(&mut self) -> f64 {
        self.path.mass.velocity(&self.momentum, &mut self.velocity);
        0.5 * self.momentum.iter().zip(&self.velocity).map(|(p, v)| p * v).sum::<f64>()
    }

    /// Simulates a path from `self.position` and returns the kinetic energy it used up, or with friction what the prior's gradients take off;
    /// nothing if it left the range of numbers.
    ///
    /// **Privacy.** Whether a path goes on depends on its positions, which follow from answers already given.
    fn simulate(&mut self, ask: &mut Asker<'_>) -> Result<Option<f64>, Refused> {
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
        Ok(Some(if self.path.friction { self.kicks.prior } else { before - self.kinetic() }))
    }
}

impl Kernel for Hamiltonian {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
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
        self.kicks = Kicks::default();
        let Some(kinetic) = self.simulate(ask)? else { return Ok(Outcome::Rejected) };
        let log_prior = self.model.log_prior(&self.position);
        let offset = log_prior - state.log_prior + kinetic;
        let Kicks { points, weights, .. } = &self.kicks;
        let finite = weights.iter().all(|weight| weight.is_finite());
        let along = self.path.friction.then_some(Along { points, weights, clip: self.path.clip.get() });
        if !finite || !self.judgement.accepts(ask, &state.theta, &self.position, offset, along)? {
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
