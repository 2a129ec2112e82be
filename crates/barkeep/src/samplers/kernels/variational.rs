//! Fits a mean-field normal to the posterior by clipped noisy gradients, then draws from it for free.
//!
//! q = N(m, diag s²) maximises E_q[ln p(θ) + T Σᵢ ln p(xᵢ|θ)] + entropy (Jälkö, Dikmen and Honkela 2017). Each iteration asks
//! for one noisy gradient G at θ = m + s·z, z standard normal, and both halves of q learn from it. With Λ the public
//! precision nT·F(m) + prior precision, F the expected information of one record under the model, and Λ = LLᵀ:
//!
//! * each record's L⁻¹∇ℓᵢ is clipped, so that the clip has the posterior's shape;
//! * G + Λ(θ − m) has the mean of G, and for a normal posterior none of its spread: m ← m + rate·Λ⁻¹(G + Λ(θ − m));
//! * −E_q[∂²/∂θ_j²] = Λ_jj − E[(G + Λ(θ − m))_j z_j]/s_j (Stein's identity) is 1/s_j² at the optimum.
//!
//! The first half of the iterations moves to where the posterior is. Far from it the curvature differs between θ and m and would
//! throw m off. So the first half takes Λ at θ: m moves towards the Newton step from θ, which tends to the same place. The
//! second half takes Λ at m, since only then the mean of G vanishes where the objective is largest, and is averaged. Its steps
//! have a largest length, which a normal posterior hardly ever reaches.
//!
//! Free draws carry the known noise of the mean beside s; a start drawn from the fit does not.
//!
//! The public guess of 1/s² from Λ has a weight, counted in iterations: as many as leave a relative error of one quarter by
//! noise alone. With a small budget the public guess therefore stands.

use crate::public_rng::PublicRng;
use crate::samplers::asker::Asker;
use crate::samplers::parts::whitening::public_precision;
use crate::samplers::{Kernel, Report, State};
use crate::step::Outcome;
use barkeep_accounting::{Cost, Sampling};
use barkeep_curator::{Asked, Clip, Refused, Shape, Sum, Temper, Term};
use barkeep_model::Model;
use barkeep_model::terms::Precondition;
use barkeep_num::linear::Cholesky;
use std::sync::Arc;

/// How a normal is fitted; all of it public.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// Where the mean starts.
    pub from: Vec<f64>,
    pub(crate) iterations: u64,
    pub(crate) rate: f64,
    pub(crate) temper: Temper,
    /// n·T.
    pub(crate) information: f64,
    pub(crate) batch: Sampling,
    pub(crate) clip: Clip,
    pub(crate) sigma: f64,
    /// Precisions given instead of the model's.
    pub(crate) given: Option<Vec<f64>>,
    pub(crate) cost: Cost,
}

/// Least weight, in iterations, of the public guess of a precision during the fit: the first few iterations learn too little to
/// draw from.
const CAUTION: f64 = 10.0;

/// A normal law with independent coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Approximation {
    /// m.
    pub(crate) mean: Vec<f64>,
    /// s.
    pub(crate) sd: Vec<f64>,
}

impl Approximation {
    /// A draw.
    #[must_use]
    pub(crate) fn draw(&self, rng: &mut PublicRng) -> Vec<f64> {
        self.mean.iter().zip(&self.sd).map(|(m, s)| m + s * rng.normal()).collect()
    }
}

impl Fit {
    /// How many records one of a batch stands for.
    fn weight(&self) -> f64 {
        1.0 / self.batch.rate()
    }

    /// The spread of one gradient in posterior standard deviations: its noise and the error of a batch.
    ///
    /// A whitened gradient has variance 1/(nT) under the model, so T·n/b times the sum of b of them, drawn from n
    /// without replacement, has variance T·(n/b − 1).
    pub(crate) fn noise(&self) -> f64 {
        (self.sigma * self.weight()).hypot((self.temper.get() * (self.weight() - 1.0)).sqrt())
    }

    /// Λ's factor at a public point, if Λ can be inverted there.
    pub(crate) fn precision(&self, model: &dyn Model, theta: &[f64]) -> Option<Cholesky> {
        let d = model.dimension();
        let matrix = match &self.given {
            None => public_precision(model, self.information, theta)?,
            Some(given) => {
                let mut matrix = vec![0.0; d * d];
                matrix.iter_mut().step_by(d + 1).zip(given).for_each(|(entry, given)| *entry = *given);
                matrix
            }
        };
        Cholesky::new(&matrix, d)
    }

    /// Fits.
    ///
    /// # Errors
    /// The curator's refusal.
    pub(crate) fn run(
        &self,
        model: &dyn Model,
        ask: &mut Asker<'_>,
        rng: &mut PublicRng,
    ) -> Result<Approximation, Refused> {
        let d = model.dimension();
        let mut mean = self.from.clone();
        let Some(mut factor) = self.precision(model, &mean) else {
            return Err(Refused::Question { name: "scale", requirement: "given for this model" });
        };
        let (mut answer, mut prior) = (vec![0.0; d], vec![0.0; d]);
        let warm_up = self.iterations / 2;
        // This many iterations of noise alone leave a relative error of one quarter.
        let trust = (self.noise() / 0.25).powi(2).max(1.0);
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let longest = 3.0 * (d as f64).sqrt() * (1.0 + self.noise());
        let (mut means, mut learned, mut averaged) = (vec![0.0; d], vec![0.0; d], 0.0);
        let mut sd = standard_deviations(&factor, &learned, trust, averaged);
        for iteration in 0..self.iterations {
            let z: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            let theta: Vec<f64> = (0..d).map(|j| mean[j] + sd[j] * z[j]).collect();
            // If this has no inverse, the last factor stays in use.
            if iteration < warm_up
                && let Some(here) = self.precision(model, &theta)
            {
                factor = here;
            }
            let term = ask.gradient(&theta, Precondition::Dense(factor.inverse_lower()))?;
            ask.sum(
                &Sum {
                    term: Term::Program(Asked { term: &term, shape: Shape::Ball }),
                    temper: self.temper,
                    clip: self.clip,
                    batch: self.batch,
                    sigma: self.sigma,
                },
                &mut answer,
            )?;
            model.prior_gradient(&theta, &mut prior);
            let step: Vec<f64> = z.iter().zip(&sd).map(|(z, s)| z * s).collect();
            // L⁻¹(G + Λ(θ − m)): the answer is whitened already.
            let mut whitened: Vec<f64> = (0..d)
                .map(|j| {
                    let inverse = &factor.inverse_lower()[j * d..(j + 1) * d];
                    let lift: f64 = (j..d).map(|i| factor.lower()[i * d + j] * step[i]).sum();
                    let pull: f64 = inverse.iter().zip(&prior).map(|(a, b)| a * b).sum();
                    self.weight() * answer[j] + pull + lift
                })
                .collect();
            if iteration >= warm_up {
                for j in 0..d {
                    let row = &factor.lower()[j * d..(j + 1) * d];
                    let precision: f64 = row.iter().map(|x| x * x).sum();
                    let slope: f64 = row.iter().zip(&whitened).map(|(a, b)| a * b).sum();
                    // Relative to Λ, which moves with the mean.
                    learned[j] += 1.0 - slope * z[j] / (sd[j] * precision);
                }
            }
            // Steps of a normal posterior are as large as the noise; a few long ones of a bent posterior throw the mean off.
            let length = whitened.iter().map(|x| x * x).sum::<f64>().sqrt();
            if iteration >= warm_up && length > longest {
                whitened.iter_mut().for_each(|x| *x *= longest / length);
            }
            for (j, mean) in mean.iter_mut().enumerate() {
                let newton: f64 = (j..d).map(|i| factor.inverse_lower()[i * d + j] * whitened[i]).sum();
                *mean += self.rate * newton;
            }
            if iteration >= warm_up {
                averaged += 1.0;
                means.iter_mut().zip(&mean).for_each(|(sum, m)| *sum += m);
            }
            if let Some(next) = self.precision(model, &mean) {
                factor = next;
            }
            sd = standard_deviations(&factor, &learned, trust.max(CAUTION), averaged);
        }
        sd = standard_deviations(&factor, &learned, trust, averaged);
        means.iter_mut().for_each(|sum| *sum /= averaged);
        Ok(Approximation { mean: means, sd })
    }

    /// A fit with the known noise of its mean in its widths: averaged over the second half of the iterations, the mean's error
    /// has covariance noise²/iterations·Λ⁻¹.
    pub(crate) fn widened(&self, model: &dyn Model, fitted: Approximation) -> Approximation {
        let Some(factor) = self.precision(model, &fitted.mean) else { return fitted };
        #[expect(clippy::cast_precision_loss, reason = "a count of iterations is small")]
        let averaged = (self.iterations - self.iterations / 2) as f64;
        let variance = self.noise().powi(2) / averaged;
        let inverse = factor.inverse();
        let known = inverse.iter().step_by(fitted.mean.len() + 1);
        let sd = fitted.sd.iter().zip(known).map(|(sd, entry)| sd.hypot((variance * entry).sqrt())).collect();
        Approximation { sd, ..fitted }
    }
}

/// 1/√precision. The precision is Λ's times the average of what was learned and of 1, which has weight `trust`; the factor
/// stays between 1/16 and 16.
fn standard_deviations(factor: &Cholesky, learned: &[f64], trust: f64, averaged: f64) -> Vec<f64> {
    let rows = factor.lower().chunks_exact(factor.dimension());
    rows.zip(learned)
        .map(|(row, learned)| {
            let relative = ((learned + trust) / (averaged + trust)).clamp(1.0 / 16.0, 16.0);
            1.0 / (relative * row.iter().map(|x| x * x).sum::<f64>()).sqrt()
        })
        .collect()
}

/// Fits at its first step, and draws from then on.
pub(crate) struct Variational {
    model: Arc<dyn Model>,
    fit: Arc<Fit>,
    found: Option<Approximation>,
}

impl Variational {
    /// The kernel of a fit that starts where the chain does.
    pub(crate) fn new(model: Arc<dyn Model>, fit: Arc<Fit>) -> Self {
        Self { model, fit, found: None }
    }
}

impl Kernel for Variational {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        let found = match &mut self.found {
            Some(found) => found,
            none => {
                let fit = Fit { from: state.theta.clone(), ..(*self.fit).clone() };
                let fitted = fit.run(&*self.model, ask, rng)?;
                none.insert(fit.widened(&*self.model, fitted))
            }
        };
        state.theta = found.draw(rng);
        state.log_prior = self.model.log_prior(&state.theta);
        Ok(Outcome::Moved)
    }

    fn report(&self) -> Report {
        Report { independent: true, ..Report::default() }
    }
}
