//! Puts a sampler's two questions into types, and derives from a question alone what it costs.

use crate::error::question;
use crate::sums::lattice::{
    BatchVariance, batch_unit, check_barker_minibatch, full_unit, lattice_sensitivity, noise_ratio, reach,
};
use crate::{Clip, LatticeSigma, Precondition, Refused, Temper, decide_sensitivity};
use barkeep_accounting::{BarkerBound, Cost, Mechanism, Neighbours, Ratio, Rule, Sampling};
use barkeep_num::down;

/// At which level decisions are accounted for. The chain has the same law at both: at release level the noise of a rule is drawn,
/// at decision level its expectation is taken, and the two agree to 2^-40.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// As if the noisy log-ratio behind the bit were published, as in the papers.
    Release,
    /// Only the bit leaves, and only the bit is paid for.
    Decision,
}

/// What every question of a run is accounted under; public, fixed before the first question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivacyModel {
    /// Which data sets must be hard to tell apart.
    pub neighbours: Neighbours,
}

/// "May I move from here to there?" The answer is one bit, drawn from the rule's coin at
/// λ = T·Σᵢ clip_B(ln p(xᵢ|to) − ln p(xᵢ|from)) + offset.
///
/// Everything in it is public. With a batch of b out of n records the sum is scaled by n/b, and the batch's
/// variance σ_b² = (nT)²/b·Var_B enters as the rule wants it: [`Rule::Penalty`] decides on λ − ½σ_b²,
/// [`Rule::Corrected`] takes it off its noise.
#[derive(Debug, Clone, Copy)]
pub struct Decide<'a> {
    /// The current state θ.
    pub from: &'a [f64],
    /// The proposed state θ'.
    pub to: &'a [f64],
    /// What does not touch records: prior, proposal and kinetic terms. Finite; a proposal outside the prior's
    /// support needs no question.
    pub offset: f64,
    /// Tempering T.
    pub temper: Temper,
    /// Clip bound B of one record's log-ratio.
    pub clip: Clip,
    /// Which records are asked.
    pub batch: Sampling,
    /// The acceptance rule.
    pub rule: &'a Rule,
    /// At which level the answer is accounted for.
    pub level: Level,
}

/// What is added up over records.
#[derive(Debug, Clone, Copy)]
pub enum Term<'a> {
    /// The preconditioned gradient M·∇ ln p(xᵢ|at) of each record.
    Gradient {
        /// The state θ.
        theta: &'a [f64],
        /// M, public, applied before clipping.
        precondition: Precondition<'a>,
    },
    /// The preconditioned gradient x of each record and, `weight` times, its square x·xᵀ: the vector of
    /// [`score_width`](crate::score_width) entries that [`second_moments`](crate::second_moments) reads.
    Score {
        /// The state θ.
        theta: &'a [f64],
        /// M, public, applied before squaring and clipping.
        precondition: Precondition<'a>,
        /// c, public, above 0.
        weight: f64,
    },
    /// Each record's sufficient statistics, as the model defines them under the schema's bounds.
    Statistics,
}

/// "What is T·Σᵢ clip_B(termᵢ), roughly?" The answer is the sum, clipped per record in Euclidean norm, plus an
/// independent normal of standard deviation at least `sigma` per coordinate, rounded to the lattice.
///
/// Everything in it is public. A batch is not scaled up: that is post-processing.
#[derive(Debug, Clone, Copy)]
pub struct Sum<'a> {
    /// What is added up.
    pub term: Term<'a>,
    /// Tempering T.
    pub temper: Temper,
    /// Clip bound B of one record's term, in Euclidean norm.
    pub clip: Clip,
    /// Which records are asked.
    pub batch: Sampling,
    /// Standard deviation of the noise per coordinate, in units of the sum. 0, no noise, only where nothing is
    /// private.
    pub sigma: f64,
}

impl Decide<'_> {
    /// What the question costs: the same function of the same numbers for planner and curator.
    ///
    /// **Errors** as [`decide_cost`].
    pub fn cost(&self, privacy_model: PrivacyModel) -> Result<Cost, Refused> {
        decide_cost(self.temper, self.clip, self.batch, self.rule, self.level, privacy_model)
    }
}

impl Sum<'_> {
    /// What the question costs: the same function of the same numbers for planner and curator.
    ///
    /// **Errors** as [`sum_cost`].
    pub fn cost(&self, privacy_model: PrivacyModel) -> Result<Cost, Refused> {
        sum_cost(self.temper, self.clip, self.batch, self.sigma, privacy_model)
    }
}

/// What a decision costs, whatever the states and the offset are.
///
/// With Δ' from [`decide_sensitivity`]: at decision level the rule's bit at sensitivity Δ'; at release level a Gaussian
/// mechanism of ratio σ/(Δ'−2η), rounded down (σ² = C for a corrected rule), of which the bit is a post-processing; for
/// a corrected rule on a batch, the subsampled Barker test.
///
/// **Privacy.** The cost grows with the clip bound and falls with σ, so a permit for the largest bound
/// [covers](Cost::covers) every smaller one.
///
/// **Errors** [`Refused::Question`] or [`Refused::Accounting`] for a rule that cannot be had at this level, on this
/// batch or for these neighbours, and for a clip above [`barker_minibatch_clip`] in the last case.
///
/// [`barker_minibatch_clip`]: crate::barker_minibatch_clip
pub fn decide_cost(
    temper: Temper,
    clip: Clip,
    batch: Sampling,
    rule: &Rule,
    level: Level,
    privacy_model: PrivacyModel,
) -> Result<Cost, Refused> {
    rule.validate()?;
    let sensitivity = decide_sensitivity(temper, clip, batch, privacy_model.neighbours)?;
    let mechanism = match (level, batch_variance(batch, rule)?) {
        (Level::Release, BatchVariance::Handed { .. }) => barker_minibatch(temper, clip, batch, rule)?,
        (Level::Release, _) => {
            let drawn = decide_noise(rule, decide_unit(temper, clip, batch))?;
            let Some(Drawn { sigma, .. }) = drawn else {
                return Err(question("level", "\"decision\" for a rule without noise"));
            };
            let sensitivity = lattice_sensitivity(temper, clip, batch, privacy_model.neighbours)?;
            Mechanism::NoisyDecision { ratio: noise_ratio(sigma, sensitivity)? }
        }
        (Level::Decision, BatchVariance::Handed { .. }) => {
            return Err(question("level", "\"release\" for a corrected rule on a batch"));
        }
        (Level::Decision, _) => Mechanism::Decision { rule: rule.clone(), sensitivity },
    };
    Ok(Cost::new(mechanism, batch, privacy_model.neighbours)?)
}

/// What a sum costs, whatever is summed: a Gaussian mechanism of ratio σ'/Δ, where σ' is `sigma` rounded up to
/// the lattice's resolution and Δ comes from [`sum_sensitivity`](crate::sum_sensitivity).
///
/// **Privacy.** Exact, not rounded: σ' in lattice steps is a [`LatticeSigma`], Δ in lattice steps a power of two.
///
/// **Errors** [`Refused::Question`] unless σ is between half a lattice step and 2^52 of them;
/// [`Refused::Accounting`] for a batch that does not go with the neighbours.
pub fn sum_cost(
    temper: Temper,
    clip: Clip,
    batch: Sampling,
    sigma: f64,
    privacy_model: PrivacyModel,
) -> Result<Cost, Refused> {
    let sigma = LatticeSigma::rounded_up(sigma, full_unit(temper, clip))?;
    let ratio = Ratio::new(sigma.to_f64() / reach(privacy_model.neighbours))?;
    Ok(Cost::new(Mechanism::Gaussian { ratio }, batch, privacy_model.neighbours)?)
}

/// How a rule uses the variance of a batch.
pub(crate) fn batch_variance(batch: Sampling, rule: &Rule) -> Result<BatchVariance, Refused> {
    match (batch, innermost(rule)) {
        (Sampling::Full, _) => Ok(BatchVariance::None),
        (Sampling::WithoutReplacement { batch, .. }, Rule::Penalty { .. }) => {
            Ok(BatchVariance::Subtracted { batch })
        }
        (Sampling::WithoutReplacement { batch, .. }, Rule::Corrected { .. }) => {
            Ok(BatchVariance::Handed { batch })
        }
        _ => Err(question("rule", "penalty or corrected to decide on a batch of fixed size")),
    }
}

/// The subsampled Barker test, if the question meets its theorem's privacy_model.
fn barker_minibatch(temper: Temper, clip: Clip, batch: Sampling, rule: &Rule) -> Result<Mechanism, Refused> {
    let (Sampling::WithoutReplacement { batch, records }, Rule::Corrected { variance, .. }) = (batch, rule)
    else {
        return Err(question("rule", "corrected, not lazy, to decide on a batch"));
    };
    if *variance != 2.0 {
        return Err(question("variance", "2 for a corrected rule on a batch"));
    }
    check_barker_minibatch(temper, clip, batch, records)?;
    // The bound is the accountant's choice, all of them being true of this mechanism; a permit with another one
    // covers it just as well.
    Ok(Mechanism::BarkerMinibatch { batch, records, bound: BarkerBound::Tight })
}

/// What one lattice step of the log-ratio behind a decision is worth.
pub(crate) fn decide_unit(temper: Temper, clip: Clip, batch: Sampling) -> f64 {
    match batch {
        Sampling::WithoutReplacement { batch, records } => batch_unit(temper, clip, batch, records),
        Sampling::Full | Sampling::Poisson { .. } => full_unit(temper, clip),
    }
}

/// The noise drawn for a decision at release level.
#[derive(Clone, Copy)]
pub(crate) struct Drawn {
    /// In lattice steps.
    pub(crate) lattice: LatticeSigma,
    /// In units of the log-ratio, not above what is drawn, nor above the rule's own.
    pub(crate) sigma: f64,
}

/// The largest ratio of noise to sensitivity that is drawn for a decision.
///
/// A rule's noise beyond it is taken in expectation, as at decision level, and not paid for.
pub const LARGEST_DRAWN_RATIO: f64 = (1_u64 << 21) as f64;

/// The noise drawn for a decision at release level: the rule's, or as much of it as the lattice holds. None for a rule without.
pub(crate) fn decide_noise(rule: &Rule, unit: f64) -> Result<Option<Drawn>, Refused> {
    let sigma = match innermost(rule) {
        Rule::Penalty { sigma } => *sigma,
        Rule::Corrected { variance, .. } => down(variance.sqrt()),
        _ => return Ok(None),
    };
    let most = LatticeSigma::LARGEST.to_f64() * unit;
    let lattice = if sigma < most { LatticeSigma::rounded_up(sigma, unit)? } else { LatticeSigma::LARGEST };
    Ok(Some(Drawn { lattice, sigma: sigma.min(most) }))
}

/// The rule inside a lazy one.
pub(crate) fn innermost(rule: &Rule) -> &Rule {
    match rule {
        Rule::Lazy { rule, .. } => innermost(rule),
        rule => rule,
    }
}
