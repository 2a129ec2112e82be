//! Proposes, asks one question, moves: every propose-and-test sampler of the papers is this loop.
//!
//! Samplers differ in the walk, the clip, the batch and the acceptance rule, and in nothing else.

use crate::public_rng::PublicRng;
use crate::samplers::asker::{Asker, too_large};
use crate::samplers::parts::proposal::{Walk, distance};
use crate::samplers::{Kernel, State};
use crate::step::Outcome;
use barkeep_accounting::theorems::thesis::{VarianceSensitivity, minibatch_sensitivity};
use barkeep_accounting::{LARGEST_SIGMA, Neighbours, Ratio, Rule, SMALLEST_SIGMA, Sampling, Sensitivity};
use barkeep_curator::{Clip, Decide, Level, Refused, Temper, decide_sensitivity, sigma_for};
use barkeep_model::Model;
use barkeep_model::terms;
use std::sync::Arc;

/// A path that led to a proposal: Σⱼ wⱼ·clip_b(∇ ln p(xᵢ|θⱼ)) is taken off record i's log-ratio.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Along<'a> {
    /// The states θⱼ, one after the other.
    pub(crate) points: &'a [f64],
    /// The vectors wⱼ, one after the other.
    pub(crate) weights: &'a [f64],
    /// b, the bound on the norm of a record's gradient.
    pub(crate) clip: f64,
}

/// How the clip bound of a record's log-ratio is chosen, from public facts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ClipBound {
    /// The same for every step.
    Constant(f64),
    /// This slope times the length of the step.
    PerDistance(f64),
}

/// How a proposal is judged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Acceptance {
    /// By one rule at every step.
    Fixed(Rule),
    /// By the penalty rule whose noise is `ratio` times the sensitivity of the step.
    PenaltyRatio {
        /// Noise standard deviation over sensitivity: what is paid for.
        ratio: Ratio,
        /// How far the variance of a batch is taken to move. The thesis' larger constant makes the noise larger; what
        /// is paid for stays the same. Without a batch both are one.
        variance: VarianceSensitivity,
    },
}

/// What a propose-and-test sampler does at every step; all of it public.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judgement {
    /// The clip bound.
    pub(crate) clip: ClipBound,
    /// The acceptance rule.
    pub(crate) acceptance: Acceptance,
    /// Tempering of the likelihood.
    pub(crate) temper: Temper,
    /// Which records are asked.
    pub(crate) batch: Sampling,
    /// Under which relation the sensitivity is taken.
    pub(crate) neighbours: Neighbours,
    /// At which level a decision is accounted for.
    pub(crate) level: Level,
}

impl Judgement {
    /// The clip bound and the rule for a step of the given length.
    ///
    /// A bound out of the lattice's range is moved into it. A penalty too small for an exact coin is raised to the smallest
    /// one. Both depend on the length only, so detailed balance holds, and neither costs more.
    ///
    /// # Errors
    /// As [`decide_sensitivity`].
    pub(crate) fn at(&self, distance: f64) -> Result<(Clip, Rule), Refused> {
        let clip = Clip::new(match self.clip {
            ClipBound::Constant(bound) => bound,
            ClipBound::PerDistance(slope) => {
                (slope * distance).clamp(Clip::SMALLEST.get(), Clip::LARGEST.get())
            }
        })?;
        let rule = match &self.acceptance {
            Acceptance::Fixed(rule) => rule.clone(),
            Acceptance::PenaltyRatio { ratio, variance } => {
                let sigma = sigma_for(*ratio, self.noise_scale(clip, *variance)?);
                Rule::Penalty { sigma: sigma.max(SMALLEST_SIGMA) }
            }
        };
        Ok((clip, rule))
    }

    /// Asks whether a chain may move; `offset` sums the terms that need no records: prior, proposal, kinetic energy. `along` is what a
    /// path takes off log-ratios.
    ///
    /// **Privacy.** The cases without a question are decided by public numbers alone, so they cost nothing.
    ///
    /// # Errors
    /// As [`Ask::decide`].
    pub(crate) fn accepts(
        &self,
        ask: &mut Asker<'_>,
        from: &[f64],
        to: &[f64],
        offset: f64,
        along: Option<Along<'_>>,
    ) -> Result<bool, Refused> {
        let distance = distance(from, to);
        if distance == 0.0 {
            return Ok(true);
        }
        if !(offset.is_finite() && distance.is_finite()) {
            return Ok(false);
        }
        let (clip, rule) = self.at(distance)?;
        match rule {
            // Log-ratios are clamped to 64, and such a penalty accepts none of them: below 1e-200.
            Rule::Penalty { sigma } if sigma > LARGEST_SIGMA => Ok(false),
            rule => {
                let ratio = match along {
                    None => ask.log_ratio(from, to)?,
                    Some(Along { points, weights, clip }) => {
                        terms::along(ask.likelihood(), (from, to), points, weights, clip)
                            .map_err(too_large)?
                    }
                };
                ask.decide(&Decide {
                    ratio: &ratio,
                    offset,
                    temper: self.temper,
                    clip,
                    batch: self.batch,
                    rule: &rule,
                    level: self.level,
                })
            }
        }
    }

    /// What the noise is in proportion to: the sensitivity that is paid for, or the thesis' larger one.
    fn noise_scale(&self, clip: Clip, variance: VarianceSensitivity) -> Result<Sensitivity, Refused> {
        let sensitivity = decide_sensitivity(self.temper, clip, self.batch, self.neighbours)?;
        let Sampling::WithoutReplacement { batch, records } = self.batch else { return Ok(sensitivity) };
        #[expect(clippy::cast_precision_loss, reason = "records is at most 2^32")]
        let tempered = records as f64 * self.temper.get();
        let asked = minibatch_sensitivity(tempered, batch, clip.get(), variance);
        Ok(Sensitivity::new(asked.max(sensitivity.get()))?)
    }
}

/// The loop.
pub(crate) struct Metropolis {
    model: Arc<dyn Model>,
    walk: Walk,
    judgement: Judgement,
    proposed: Vec<f64>,
}

impl Metropolis {
    /// A loop over a model.
    #[must_use]
    pub(crate) fn new(model: Arc<dyn Model>, walk: Walk, judgement: Judgement) -> Self {
        let proposed = vec![0.0; model.dimension()];
        Self { model, walk, judgement, proposed }
    }
}

impl Kernel for Metropolis {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        self.walk.propose(&state.theta, &mut self.proposed, rng);
        let log_prior = self.model.log_prior(&self.proposed);
        let offset = log_prior - state.log_prior;
        let offset = match self.walk.log_ratio(&state.theta, &self.proposed) {
            Some(ratio) => offset + ratio,
            None => offset,
        };
        let accepted = self.judgement.accepts(ask, &state.theta, &self.proposed, offset, None)?;
        self.walk.observe(accepted);
        if accepted {
            state.theta.copy_from_slice(&self.proposed);
            state.log_prior = log_prior;
        }
        Ok(if accepted { Outcome::Accepted } else { Outcome::Rejected })
    }
}

#[cfg(test)]
mod tests;
