//! Moves along noisy gradients: one kernel over the curator's sums for every sampler that diffuses.
//!
//! A step asks one question: the sum of the records' whitened gradients, each clipped, plus an exactly sampled normal. It adds
//! the prior's gradient and the frame's divergence. An [`Integrator`] turns that force into a displacement, and the chain
//! follows the frame along it. The normal in the answer *is* the noise of the dynamics: nothing is drawn on top.
//!
//! **Privacy.** A step is a post-processing of one Gaussian mechanism. A record enters its question as
//! clip_B(Sᵀ∇ln p(x|θ)), of norm at most B whatever x is, so replacing it moves the tempered sum by at most 2TB; S, θ, the
//! prior, the velocity and the step are functions of public numbers and of earlier answers, which are paid for. K
//! questions of ratio s = σ/(2TB) are μ-GDP with μ² = K/s².

use crate::public_rng::PublicRng;
use crate::samplers::kernels::vigil::{Vigil, Watched};
use crate::samplers::parts::scoring::Scoring;
use crate::samplers::parts::whitening::{Whitening, WhiteningChoice};
use crate::samplers::{Kernel, Report, State};
use crate::step::Outcome;
use barkeep_accounting::Sampling;
use barkeep_curator::{Ask, Clip, Precondition, Refused, Sum, Temper, Term, score_width};
use barkeep_model::Model;
use std::sync::Arc;

/// Turns forces into displacements, in whitened units; a force carries the dynamics' noise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Integrator {
    /// w = (h/2)·f, with noise N(0, 4/h) in f.
    Overdamped {
        /// h.
        step: f64,
    },
    /// v' = c·v + h(1+c)/2·f, w = h·v', c = e^(−γh), with noise N(0, 4(1−c²)/((1+c)h)²) in f.
    Underdamped {
        /// h.
        step: f64,
        /// γ.
        friction: f64,
        /// v: a function of answers, so it counts as published.
        velocity: Vec<f64>,
    },
    /// p' = p − ηξp + η·f, w = η·p', ξ' = ξ + η(‖p'‖²/d − 1), with noise N(0, 2A/η) in f: a thermostat that takes up noise of
    /// unknown size, such as a batch's (Ding et al. 2014).
    Thermostat {
        /// η.
        step: f64,
        /// A.
        diffusion: f64,
        /// p: a function of answers.
        momentum: Vec<f64>,
        /// ξ: a function of answers.
        friction: f64,
    },
    /// w = 2(P + Q)⁻¹·f with noise N(0, 4/h) or more in f, P and Q estimated from squared gradients: [`Scoring`].
    Scoring {
        /// h.
        step: f64,
        /// What is known of P and Q.
        scoring: Scoring,
    },
}

impl Integrator {
    /// Standard deviation of the noise a force must carry.
    #[must_use]
    pub(crate) fn noise(&self) -> f64 {
        match self {
            Self::Overdamped { step } | Self::Scoring { step, .. } => 2.0 / step.sqrt(),
            Self::Underdamped { step, friction, .. } => {
                // √(1−c²)/(1+c) = √((1−c)/(1+c)) = √tanh(γh/2).
                2.0 * libm::tanh(0.5 * friction * step).sqrt() / step
            }
            Self::Thermostat { step, diffusion, .. } => (2.0 * diffusion / step).sqrt(),
        }
    }

    /// Steps from here on diverge: on a standard normal the variance of a state is 1/(1 − h/4), with momentum
    /// 1/(1 − h²/4).
    #[must_use]
    pub(crate) fn longest_step(&self) -> f64 {
        match self {
            Self::Overdamped { .. } => 4.0,
            Self::Underdamped { .. } | Self::Thermostat { .. } => 2.0,
            Self::Scoring { .. } => f64::INFINITY,
        }
    }

    /// The longest step, at most 1, that is steady where a posterior is up to `stiffness` times steeper than whitened for: three
    /// quarters of what diverges.
    #[must_use]
    pub(crate) fn steady_step(&self, stiffness: f64) -> f64 {
        let scale = match self {
            Self::Overdamped { .. } | Self::Scoring { .. } => stiffness,
            Self::Underdamped { .. } | Self::Thermostat { .. } => stiffness.sqrt(),
        };
        (0.75 * self.longest_step() / scale).min(1.0)
    }

    /// The length of a step.
    #[must_use]
    pub(crate) fn step(&self) -> f64 {
        match self {
            Self::Overdamped { step }
            | Self::Underdamped { step, .. }
            | Self::Thermostat { step, .. }
            | Self::Scoring { step, .. } => *step,
        }
    }

    /// Continues with steps of another length.
    pub(crate) fn set_step(&mut self, to: f64) {
        match self {
            Self::Overdamped { step }
            | Self::Underdamped { step, .. }
            | Self::Thermostat { step, .. }
            | Self::Scoring { step, .. } => *step = to,
        }
    }

    /// Begins where noise this many times the dynamics' own leads: a thermostat would reach the friction A·m² that balances it, but only after
    /// as many steps as its momentum has to be heated and cooled again. How much noise a budget adds is public.
    pub(crate) fn expect(&mut self, inflation: f64) {
        if let Self::Thermostat { diffusion, friction, .. } = self {
            *friction = *diffusion * inflation * inflation;
        }
    }

    /// How many numbers an answer has.
    fn width(&self, dimension: usize) -> usize {
        if matches!(self, Self::Scoring { .. }) { score_width(dimension) } else { dimension }
    }

    /// What is asked of a record.
    fn term<'a>(&self, theta: &'a [f64], precondition: Precondition<'a>) -> Term<'a> {
        match self {
            Self::Scoring { scoring, .. } => Term::Score { theta, precondition, weight: scoring.weight() },
            Self::Overdamped { .. } | Self::Underdamped { .. } | Self::Thermostat { .. } => {
                Term::Gradient { theta, precondition }
            }
        }
    }

    /// Replaces a force by the displacement it causes; `prior` gives the prior's precision. Returns false where there is none.
    #[must_use]
    fn displace(
        &mut self,
        force: &mut [f64],
        answer: &[f64],
        asking: &Asking,
        prior: impl FnOnce() -> Vec<f64>,
    ) -> bool {
        let noise = self.noise() * asking.inflation;
        match self {
            Self::Overdamped { step } => force.iter_mut().for_each(|force| *force *= 0.5 * *step),
            Self::Underdamped { step, friction, velocity } => {
                let keep = libm::exp(-*friction * *step);
                for (force, velocity) in force.iter_mut().zip(velocity) {
                    *velocity = keep * *velocity + 0.5 * *step * (1.0 + keep) * *force;
                    *force = *step * *velocity;
                }
            }
            Self::Thermostat { step, momentum, friction, .. } => {
                let dimension = momentum.len() as f64;
                for (force, momentum) in force.iter_mut().zip(momentum.iter_mut()) {
                    *momentum += *step * (*force - *friction * *momentum);
                    *force = *step * *momentum;
                }
                let heat = momentum.iter().map(|p| p * p).sum::<f64>() / dimension;
                *friction += *step * (heat - 1.0);
            }
            Self::Scoring { scoring, .. } => {
                let led = scoring.displace(force, noise * noise, &prior(), asking);
                scoring.learn(answer, asking);
                return led;
            }
        }
        true
    }
}

/// What every question of a flow has in common; public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Asking {
    /// Tempering T.
    pub(crate) temper: Temper,
    /// Bound B on a record's whitened gradient.
    pub(crate) clip: Clip,
    /// Number of records.
    pub(crate) records: f64,
    /// Which records are asked; their sum stands for that of all.
    pub(crate) batch: Sampling,
    /// At least 1: how much larger the noise is than the dynamics needs.
    pub(crate) inflation: f64,
}

impl Asking {
    /// Standard deviation of the noise on the asked records' sum, where that of all needs `noise`.
    #[must_use]
    pub(crate) fn sigma(&self, noise: f64) -> f64 {
        noise * self.batch.rate() * self.inflation
    }
}

/// A number of steps of one length and one noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stage {
    /// How many.
    pub(crate) steps: u64,
    /// Their length, as the integrator counts it.
    pub(crate) step: f64,
    /// Their noise over what the dynamics needs.
    pub(crate) inflation: f64,
}

/// The kernel.
pub(crate) struct Flow {
    model: Arc<dyn Model>,
    whitening: WhiteningChoice,
    /// Made where the chain starts.
    frame: Option<Whitening>,
    integrator: Integrator,
    asking: Asking,
    /// Whether the middle of a step is published instead of its end.
    midpoints: bool,
    /// What is still to come, the next last; the last stage goes on for ever.
    stages: Vec<Stage>,
    left: u64,
    answer: Vec<f64>,
    force: Vec<f64>,
    gradient: Vec<f64>,
    middle: Vec<f64>,
    end: Vec<f64>,
    watch: Option<Watched>,
}

impl Flow {
    /// A flow over a model, its frame chosen where it starts.
    #[must_use]
    pub(crate) fn new(
        model: Arc<dyn Model>,
        whitening: WhiteningChoice,
        integrator: Integrator,
        asking: Asking,
        midpoints: bool,
    ) -> Self {
        let zeros = vec![0.0; model.dimension()];
        Self {
            model,
            whitening,
            frame: None,
            answer: vec![0.0; integrator.width(zeros.len())],
            integrator,
            asking,
            midpoints,
            stages: Vec::new(),
            left: u64::MAX,
            force: zeros.clone(),
            gradient: zeros.clone(),
            middle: zeros.clone(),
            end: zeros,
            watch: None,
        }
    }
}

impl Flow {
    /// Watches its answers, for a verdict.
    #[must_use]
    pub(crate) fn watched(mut self, vigil: Vigil) -> Self {
        self.watch = Some(Watched::new(vigil, self.force.len()));
        self
    }

    /// Follows a schedule of stages instead of one step for all.
    #[must_use]
    pub(crate) fn with_stages(mut self, stages: &[Stage]) -> Self {
        self.stages = stages.iter().rev().copied().collect();
        self.next_stage();
        self
    }

    fn next_stage(&mut self) {
        self.left = u64::MAX;
        if let Some(Stage { steps, step, inflation }) = self.stages.pop() {
            self.left = if self.stages.is_empty() { u64::MAX } else { steps };
            self.integrator.set_step(step);
            self.asking.inflation = inflation;
        }
    }
}

impl Kernel for Flow {
    /// Skips a displacement that leads nowhere finite: a decision on public numbers.
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut dyn Ask,
        _rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        if self.left == 0 {
            self.next_stage();
        }
        let Asking { temper, clip, records, batch, .. } = self.asking;
        let frame = match self.frame.take() {
            Some(mut frame) => {
                frame.move_to(&state.theta);
                frame
            }
            None => Whitening::new(&self.whitening, &self.model, records * temper.get(), &state.theta)
                .ok_or(Refused::Question {
                    name: "start",
                    requirement: "where the model's information is known",
                })?,
        };
        let frame = &*self.frame.insert(frame);
        ask.sum(
            &Sum {
                term: self.integrator.term(&state.theta, frame.precondition()),
                temper,
                clip,
                batch,
                sigma: self.asking.sigma(self.integrator.noise()),
            },
            &mut self.answer,
        )?;
        self.left -= 1;
        let rate = batch.rate();
        self.force.iter_mut().zip(&self.answer).for_each(|(force, answer)| *force = answer / rate);
        self.model.prior_gradient(&state.theta, &mut self.gradient);
        frame.add_force(&self.gradient, &mut self.force);
        let prior = || {
            let mut prior = vec![0.0; state.theta.len() * state.theta.len()];
            self.model.prior_precision(&state.theta, &mut prior);
            frame.whitened(&prior)
        };
        if let Some(watch) = &mut self.watch {
            watch.force(&self.force, self.integrator.noise(), self.integrator.step());
        }
        let mut led = self.integrator.displace(&mut self.force, &self.answer, &self.asking, prior);
        self.middle.copy_from_slice(&state.theta);
        led &= frame.half_flow(&mut self.middle, &self.force);
        self.end.copy_from_slice(&self.middle);
        led &= frame.half_flow(&mut self.end, &self.force);
        let log_prior = self.model.log_prior(&self.end);
        if !(led && log_prior.is_finite() && self.end.iter().all(|x| x.is_finite())) {
            self.middle.copy_from_slice(&state.theta);
            return Ok(Outcome::Rejected);
        }
        if let Some(watch) = &mut self.watch {
            watch.displaced(&self.force);
        }
        state.theta.copy_from_slice(&self.end);
        state.log_prior = log_prior;
        Ok(Outcome::Moved)
    }

    fn published<'a>(&'a self, state: &'a State) -> &'a [f64] {
        if self.midpoints { &self.middle } else { &state.theta }
    }

    fn report(&self) -> Report {
        let checks = self.watch.as_ref().map(Watched::checks).unwrap_or_default();
        Report { checks, ..Report::default() }
    }
}

#[cfg(test)]
mod tests;
