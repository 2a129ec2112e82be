//! Fixes a question's cost and all constants of its answer, in one place: planner and curator cannot differ.

use crate::error::question;
use crate::lattice::{
    BatchVariance, batch_unit, check_barker_minibatch, full_unit, lattice_sensitivity, noise_ratio, reach,
};
use crate::random::exponential::{LARGEST_CHOICE, ROUNDING, Worth};
use crate::{
    Asked, Choose, Clip, Decide, LatticeSigma, Level, PrivacyModel, Refused, Shape, Sum, Temper, Term,
    decide_sensitivity,
};
use barkeep_accounting::mechanisms::{self, BarkerMinibatch, Bernoulli, Gaussian, NoisyDecision};
use barkeep_accounting::{BarkerBound, Cost, Mechanism, Probability, Ratio, Rule, Sampling};
use barkeep_num::{down, down_by, up_by};

/// A question that can be priced.
pub(crate) trait Question: Copy {
    /// The numbers its answer is computed with, all of them public.
    type Constants;

    /// Fixes constants and cost.
    ///
    /// # Errors
    /// Those of a question that nobody can answer. One that can be answered, but has no known cost, is priced at that
    /// refusal: only a budget that is not private lets it pass.
    fn price(self, privacy_model: PrivacyModel) -> Result<Priced<Self>, Refused>;
}

/// A question, its cost, and the constants of its answer: [`Budget::charge`](crate::Budget::charge) makes it answerable.
pub(crate) struct Priced<Q: Question> {
    pub(super) question: Q,
    pub(super) constants: Q::Constants,
    pub(super) cost: Result<Cost, Refused>,
}

/// The constants of a decision.
pub(crate) struct Decision {
    /// What one lattice step of the log-ratio is worth.
    pub(crate) unit: f64,
    /// How the rule uses the variance of a batch.
    pub(crate) variance: BatchVariance,
    /// The noise to draw; absent where its expectation is taken, or the rule has none.
    pub(crate) noise: Option<Drawn>,
}

/// The constants of a sum.
pub(crate) struct NoisySum {
    /// What one lattice step is worth.
    pub(crate) unit: f64,
    /// The noise of a coordinate; absent where none was asked for.
    pub(crate) noise: Option<LatticeSigma>,
    /// The noise of a product of two different coordinates, where products are asked for; at least 1/√2 of the other.
    pub(crate) pair_noise: Option<LatticeSigma>,
}

/// The constants of a choice.
pub(crate) struct Choice {
    /// The middle of the range.
    pub(crate) centre: f64,
    /// Half the length of the range.
    pub(crate) clip: Clip,
    /// What one lattice step is worth, as an exact fraction.
    pub(crate) worth: Worth,
}

impl Question for Decide<'_> {
    type Constants = Decision;

    fn price(self, privacy_model: PrivacyModel) -> Result<Priced<Self>, Refused> {
        let Self { temper, clip, batch, rule, level, .. } = self;
        let (constants, cost) = decision(temper, clip, batch, rule, level, privacy_model)?;
        Ok(Priced { question: self, constants, cost })
    }
}

impl Question for Sum<'_> {
    type Constants = NoisySum;

    fn price(self, privacy_model: PrivacyModel) -> Result<Priced<Self>, Refused> {
        let Self { term, temper, clip, batch, sigma } = self;
        let shape = match term {
            Term::Program(Asked { shape, .. }) => shape,
            // What a record adds to the counts is a vector within the clip, as `records/faults.rs` proves.
            Term::Faults => Shape::Ball,
        };
        let (constants, cost) = noisy_shape(shape, temper, clip, batch, sigma, privacy_model)?;
        Ok(Priced { question: self, constants, cost })
    }
}

impl Question for Choose<'_> {
    type Constants = Choice;

    fn price(self, privacy_model: PrivacyModel) -> Result<Priced<Self>, Refused> {
        let (constants, cost) = choice(self.range, self.power, privacy_model)?;
        Ok(Priced { question: self, constants, cost })
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
/// # Errors
/// [`Refused::Question`] or [`Refused::Accounting`] for a rule that cannot be had at this level, on this
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
    decision(temper, clip, batch, rule, level, privacy_model)?.1
}

/// What a sum costs, whatever is summed: a Gaussian mechanism of ratio σ'/Δ, where σ' is `sigma` rounded up to
/// the lattice's resolution and Δ comes from [`sum_sensitivity`](crate::sum_sensitivity).
///
/// **Privacy.** Exact, not rounded: σ' in lattice steps is a [`LatticeSigma`], Δ in lattice steps a power of two.
///
/// # Errors
/// [`Refused::Question`] unless σ is between half a lattice step and 2^52 of them;
/// [`Refused::Accounting`] for a batch that does not go with the neighbours.
pub fn sum_cost(
    temper: Temper,
    clip: Clip,
    batch: Sampling,
    sigma: f64,
    privacy_model: PrivacyModel,
) -> Result<Cost, Refused> {
    shape_cost(Shape::Ball, temper, clip, batch, sigma, privacy_model)
}

/// What a sum of this shape costs, whatever programs write: a Gaussian mechanism of ratio σ'/Δ with Δ from
/// [`shape_sensitivity`](crate::shape_sensitivity), σ' being `sigma` rounded up to the lattice's resolution.
///
/// # Errors
/// As [`sum_cost`], and [`Refused::Question`] for bounds that do not fit the clip or a batch that does not go with the shape.
pub fn shape_cost(
    shape: Shape,
    temper: Temper,
    clip: Clip,
    batch: Sampling,
    sigma: f64,
    privacy_model: PrivacyModel,
) -> Result<Cost, Refused> {
    noisy_shape(shape, temper, clip, batch, sigma, privacy_model)?.1
}

/// What the products of coordinates cost, whatever the coordinates are: a Gaussian mechanism of ratio σ'/Δ with Δ from
/// [`gram_sensitivity`](crate::gram_sensitivity), σ' being `sigma` rounded up to the lattice's resolution.
///
/// # Errors
/// As [`sum_cost`], and [`Refused::Question`] for a radius above 500.
pub fn gram_cost(clip: Clip, sigma: f64, privacy_model: PrivacyModel) -> Result<Cost, Refused> {
    shape_cost(Shape::Outer, Temper::NONE, clip, Sampling::Full, sigma, privacy_model)
}

/// What a choice costs, whatever the candidates are: that of randomised response with the ε of [`choose_epsilon`], which
/// dominates every mechanism that is private with δ = 0 (Kairouz, Oh and Viswanath 2015).
///
/// # Errors
/// [`Refused::Question`] unless the range's half length is a [`Clip`], the power is above 0, and ε lies
/// between about 2^-26 and [`LARGEST_CHOICE`].
pub fn choose_cost(range: (f64, f64), power: f64, privacy_model: PrivacyModel) -> Result<Cost, Refused> {
    choice(range, power, privacy_model)?.1
}

/// ε of a choice, δ being 0: 2κR + 2^-45, at most 4·power·half the range plus that under substitution.
///
/// # Errors
/// As [`choose_cost`].
pub fn choose_epsilon(range: (f64, f64), power: f64, privacy_model: PrivacyModel) -> Result<f64, Refused> {
    let (_, half) = centred(range)?;
    epsilon_of(Worth::of(half, power)?, privacy_model)
}

/// The constants of a decision, and what they cost.
fn decision(
    temper: Temper,
    clip: Clip,
    batch: Sampling,
    rule: &Rule,
    level: Level,
    privacy_model: PrivacyModel,
) -> Result<(Decision, Result<Cost, Refused>), Refused> {
    rule.validate()?;
    let variance = batch_variance(batch, rule)?;
    let unit = match batch {
        Sampling::WithoutReplacement { batch, records } => batch_unit(temper, clip, batch, records),
        Sampling::Full | Sampling::Poisson { .. } => full_unit(temper, clip),
    };
    // Where the noisy log-ratio is paid for, it is made: all after it is free of charge, rounding included.
    let noise = match (level, variance) {
        (Level::Decision, _) | (Level::Release, BatchVariance::Handed { .. }) => None,
        (Level::Release, BatchVariance::None | BatchVariance::Subtracted { .. }) => drawn(rule, unit)?,
    };
    let constants = Decision { unit, variance, noise };
    let cost = || {
        let neighbours = privacy_model.neighbours;
        let sensitivity = decide_sensitivity(temper, clip, batch, neighbours)?;
        let mechanism = match (level, variance, noise) {
            (Level::Release, BatchVariance::Handed { .. }, _) => barker_minibatch(temper, clip, batch, rule)?,
            (Level::Release, _, Some(Drawn { sigma, .. })) => {
                let sensitivity = lattice_sensitivity(temper, clip, batch, neighbours)?;
                Mechanism::NoisyDecision(NoisyDecision { ratio: noise_ratio(sigma, sensitivity)? })
            }
            (Level::Release, _, None) => {
                return Err(question("level", "\"decision\" for a rule without noise"));
            }
            (Level::Decision, BatchVariance::Handed { .. }, _) => {
                return Err(question("level", "\"release\" for a corrected rule on a batch"));
            }
            (Level::Decision, _, _) => {
                Mechanism::Decision(mechanisms::Decision { rule: rule.clone(), sensitivity })
            }
        };
        Ok(Cost::new(mechanism, batch, neighbours)?)
    };
    Ok((constants, cost()))
}

/// The constants of a sum, and what they cost.
fn noisy_shape(
    shape: Shape,
    temper: Temper,
    clip: Clip,
    batch: Sampling,
    sigma: f64,
    privacy_model: PrivacyModel,
) -> Result<(NoisySum, Result<Cost, Refused>), Refused> {
    shape.check(temper, batch)?;
    let unit = shape.unit(temper, clip)?;
    let rounded = LatticeSigma::rounded_up(sigma, unit);
    let noise = allow_no_noise(sigma, rounded.clone())?;
    let pair_noise = match noise {
        // Rounded up twice, and the root by two units: at least 1/√2 of the other, in real numbers.
        Some(noise) if shape == Shape::Outer => {
            Some(LatticeSigma::new(up_by(noise.to_f64() * std::f64::consts::FRAC_1_SQRT_2, 2).max(0.5))?)
        }
        Some(_) | None => None,
    };
    let cost = || {
        let ratio = rounded?.to_f64() / shape.reach(clip, privacy_model.neighbours)?;
        // Of a ball the reach is a power of two, and the ratio exact.
        let ratio = Ratio::new(if shape == Shape::Ball { ratio } else { down(ratio) })?;
        Ok(Cost::new(Mechanism::Gaussian(Gaussian { ratio }), batch, privacy_model.neighbours)?)
    };
    Ok((NoisySum { unit, noise, pair_noise }, cost()))
}

/// The constants of a choice, and what they cost.
fn choice(
    range: (f64, f64),
    power: f64,
    privacy_model: PrivacyModel,
) -> Result<(Choice, Result<Cost, Refused>), Refused> {
    let (centre, clip) = centred(range)?;
    let worth = Worth::of(clip, power)?;
    let epsilon = epsilon_of(worth, privacy_model)?;
    let cost = || {
        // Both likelihood ratios of the pair, p/q and (1−q)/(1−p), are then at least e^ε.
        let q = down_by(1.0 / (1.0 + up_by(libm::exp(epsilon), 4)), 4);
        let p = up_by(1.0 - q, 1);
        let mechanism = Mechanism::Bernoulli(Bernoulli { p: Probability::new(p)?, q: Probability::new(q)? });
        Ok(Cost::new(mechanism, Sampling::Full, privacy_model.neighbours)?)
    };
    Ok((Choice { centre, clip, worth }, cost()))
}

/// How a rule uses the variance of a batch.
fn batch_variance(batch: Sampling, rule: &Rule) -> Result<BatchVariance, Refused> {
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

/// The subsampled Barker test, if the question meets its theorem's premises.
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
    Ok(Mechanism::BarkerMinibatch(BarkerMinibatch { batch, records, bound: BarkerBound::Pld }))
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

/// The rule's noise, or as much of it as the lattice holds. None for a rule without.
fn drawn(rule: &Rule, unit: f64) -> Result<Option<Drawn>, Refused> {
    let sigma = match innermost(rule) {
        Rule::Penalty { sigma } => *sigma,
        Rule::Corrected { variance, .. } => down(variance.sqrt()),
        Rule::Metropolis | Rule::Barker | Rule::Lazy { .. } => return Ok(None),
    };
    let most = LatticeSigma::LARGEST.to_f64() * unit;
    let lattice = if sigma < most { LatticeSigma::rounded_up(sigma, unit)? } else { LatticeSigma::LARGEST };
    Ok(Some(Drawn { lattice, sigma: sigma.min(most) }))
}

/// The rule inside a lazy one.
fn innermost(rule: &Rule) -> &Rule {
    match rule {
        Rule::Lazy { rule, .. } => innermost(rule),
        rule => rule,
    }
}

/// The middle of a range, and its half length as a clip.
fn centred((low, high): (f64, f64)) -> Result<(f64, Clip), Refused> {
    Ok((0.5 * low + 0.5 * high, Clip::new(0.5 * high - 0.5 * low)?))
}

/// ε of a choice whose lattice steps are worth κ, as [`exponential`](crate::random::exponential) proves.
fn epsilon_of(worth: Worth, privacy_model: PrivacyModel) -> Result<f64, Refused> {
    let epsilon = up_by(2.0 * worth.to_f64() * reach(privacy_model.neighbours) + ROUNDING, 1);
    if epsilon <= LARGEST_CHOICE {
        Ok(epsilon)
    } else {
        Err(question("power", "so small that epsilon is at most 30"))
    }
}

/// The noise of a sum, as `rounded` for σ, or none for σ = 0.
///
/// **Privacy.** None for σ = 0: its cost stays the refusal in `rounded`, so that a private budget refuses the sum.
///
/// # Errors
/// That of `rounded`, unless σ = 0.
fn allow_no_noise(
    sigma: f64,
    rounded: Result<LatticeSigma, Refused>,
) -> Result<Option<LatticeSigma>, Refused> {
    if sigma == 0.0 { Ok(None) } else { rounded.map(Some) }
}
