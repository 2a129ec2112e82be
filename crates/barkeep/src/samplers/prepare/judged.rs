//! Prepares a propose-and-test sampler from its spec keys: what these samplers share.

use crate::Error;
use crate::facts::{Fact, Facts, Value};
use crate::keys::{Key, Section, key};
use crate::samplers::entry::{MakeForecast, MakeKernel, Prepared, Price, Questions, Setting};
use crate::samplers::kernels::metropolis::{Acceptance, ClipBound, Judgement, Metropolis};
use crate::samplers::parts::proposal::{Direction, Walk};
use crate::samplers::prepare::batch_error::{LARGE, batch_error};
use crate::samplers::prepare::forecast::forecast;
use crate::samplers::prepare::walk_keys::WalkShape;
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::mechanisms::NoisyDecision;
use barkeep_accounting::{Cost, Mechanism, Neighbours, Rule, SMALLEST_SIGMA, Sampling, Steps};
use barkeep_curator::{LARGEST_DRAWN_RATIO, Level, PrivacyModel, decide_cost, decide_sensitivity};
use barkeep_data::Unit;
use std::sync::Arc;

/// The keys of a clipped test.
pub(crate) const CLIP_KEYS: [Key; 2] = [
    key(
        "clip",
        "the model's own bound, so that nothing is clipped, where it has one",
        "bound on one record's log-ratio: its slope per unit of distance, or the bound itself",
    ),
    key(
        "clip_scale",
        "\"distance\"",
        "\"distance\": the bound is clip times the length of the step; \"constant\": it is clip",
    ),
];

/// The key of the level, for samplers that have both.
pub(crate) const LEVEL_KEYS: [Key; 1] = [key(
    "level",
    "\"decision\"",
    "\"decision\": only the accept/reject bit is paid for; \"release\": as if the noisy log-ratio were published",
)];

/// The key of the level, for samplers without noise.
pub(crate) const DECISION_KEYS: [Key; 1] =
    [key("level", "\"decision\"", "\"decision\" alone: there is no noisy log-ratio that could be published")];

/// The keys of a sampler that asks a batch.
pub(crate) const BATCH_KEYS: [Key; 2] = [
    key("batch", "", "records asked at every step, drawn without replacement"),
    key(
        "level",
        "\"release\"",
        "\"release\" alone: what a batch hides is proved for the noisy log-ratio, not for the bit",
    ),
];

/// The level of a sampler without noise, and why it is the only one.
pub(crate) const NO_NOISE: (Level, &str) =
    (Level::Decision, "must be \"decision\": this sampler adds no noise, so there is nothing to release");

/// The level of a sampler that asks a batch, and why it is the only one.
pub(crate) const ON_A_BATCH: (Level, &str) = (
    Level::Release,
    "must be \"release\": amplification by sampling is proved for the noisy log-ratio, not for the bit alone",
);

/// What a sampler decides before the common part is prepared.
pub(crate) struct Test {
    /// How a proposal is judged.
    pub(crate) acceptance: Acceptance,
    /// Which records are asked.
    pub(crate) batch: Sampling,
    /// The level that is paid for.
    pub(crate) level: Level,
    /// Whether the other level exists too.
    pub(crate) both_levels: bool,
    /// The clip bound.
    pub(crate) clip: WrittenClip,
}

/// Where the clip bound of a test comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum WrittenClip {
    /// The keys of [`CLIP_KEYS`].
    Key,
    /// The sampler.
    Fixed(f64),
}

/// The level the spec chooses; `only` is the one a sampler has, with the reason, if it has not both.
pub(crate) fn level(section: &Section<'_>, only: Option<(Level, &str)>) -> Result<Level, SpecError> {
    let chosen = section.choice("level", &Level::NAMED)?;
    match (chosen, only) {
        (Some(chosen), Some((level, reason))) if chosen != level => Err(section.error("level", reason)),
        (_, Some((level, _))) => Ok(level),
        (chosen, None) => Ok(chosen.unwrap_or(Level::Decision)),
    }
}

/// The batch the spec asks at every step.
pub(crate) fn batch(section: &Section<'_>, setting: &Setting<'_>) -> Result<Sampling, SpecError> {
    uses_records(section, setting, "scales a batch up to the number of records")?;
    let batch = section.require("batch", section.count("batch")?)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of at most 2^32")]
    let records = setting.records as u64;
    if batch > records {
        let counted = setting.unit.plural();
        return Err(section.error("batch", format!("must be at most data.{counted}, {records}")));
    }
    Ok(Sampling::WithoutReplacement { batch, records })
}

/// Refuses neighbours under which the number of records is secret.
pub(crate) fn uses_records(section: &Section<'_>, setting: &Setting<'_>, how: &str) -> Result<(), SpecError> {
    match setting.privacy {
        Privacy::Budget { neighbours: Neighbours::AddRemove, .. } => Err(section.error(
            "name",
            format!("{how}, which is secret where neighbours = \"add-remove\"; use \"barker\""),
        )),
        Privacy::Budget { neighbours: Neighbours::Substitute, .. } | Privacy::NotPrivate => Ok(()),
    }
}

/// The neighbours of the budget, without which a private sampler is refused.
pub(crate) fn needs_budget(section: &Section<'_>, setting: &Setting<'_>) -> Result<Neighbours, SpecError> {
    match setting.privacy {
        Privacy::Budget { neighbours, .. } => Ok(neighbours),
        Privacy::NotPrivate => Err(section.error(
            "name",
            "is a private sampler; give [privacy] epsilon and delta, or use rwmh as a baseline",
        )),
    }
}

/// A slope that no admitted record's log-ratio exceeds: slightly above the model's own bound, so that rounding never clips.
fn lipschitz(setting: &Setting<'_>) -> Option<f64> {
    setting.lipschitz().map(|bound| bound * (1.0 + 1e-6))
}

/// Whether a clip can touch a record, as a plan says it.
pub(crate) fn clipping(never: bool, unit: Unit) -> Fact {
    let (value, words) = match never {
        true => ("none", format!("none: bounds and levels keep every {} within the bound", unit.word())),
        false => (
            "possible",
            format!(
                "{} beyond the bound are shortened to it; no expected error counts the bias of that",
                unit.plural()
            ),
        ),
    };
    Fact::word("clipping", "clipping", value, words)
}

/// By which of its two premises Theorem 1 of Heikkilä et al. (2019) bounds a log-ratio here.
///
/// (11), a bound on |ln p(x|θ') − ln p(x|θ)| for each record, holds by the clip, or already by the model where nothing is clipped. (12), one on
/// |ln p(x|θ) − ln p(y|θ)| for two records and **all** θ, has no finite bound for a parameter without one: the difference of two
/// records' densities grows as θ does. So a clip cannot be left out for its sake, and the plan says so.
fn premise(never: bool) -> Fact {
    let how = if never { "the model's own bound" } else { "the clip" };
    let words = format!(
        "condition (11) of Theorem 1, by {how}; condition (12) has no finite bound over all values of the parameters"
    );
    Fact::word("premise", "premise of the price", "condition-11", words)
}

/// Reads walk and clip, prices a step and makes the kernel.
pub(crate) fn prepare(section: &Section<'_>, setting: &Setting<'_>, test: Test) -> Result<Prepared, Error> {
    let neighbours = needs_budget(section, setting)?;
    // Noise that follows the length of a step makes all steps cost the same; otherwise a longest step does.
    let noise_follows =
        test.level == Level::Release && matches!(test.acceptance, Acceptance::PenaltyRatio { .. });
    let shape = WalkShape::read(section, setting, !noise_follows && test.clip == WrittenClip::Key)?;
    let longest = Walk::longest(shape.length);
    let clip = match test.clip {
        WrittenClip::Fixed(bound) => ClipBound::Constant(bound),
        WrittenClip::Key => {
            let scaled =
                section.choice("clip_scale", &[("distance", true), ("constant", false)])?.unwrap_or(true);
            let bound = match section.positive("clip")? {
                None if scaled => lipschitz(setting).ok_or_else(|| {
                    section.error("clip", format!("is required{}", setting.no_bound().unwrap_or_default()))
                })?,
                written => section.require("clip", written)?,
            };
            match (scaled, longest) {
                (false, _) => ClipBound::Constant(bound),
                // One sensitivity is paid for at every step, so every step may use all of it.
                (true, Some(longest)) if !noise_follows => ClipBound::Constant(bound * longest),
                (true, _) => ClipBound::PerDistance(bound),
            }
        }
    };
    let judgement = Judgement {
        clip,
        acceptance: test.acceptance,
        temper: setting.temper,
        batch: test.batch,
        neighbours,
        level: test.level,
    };
    let price = match price(&judgement, test.level)? {
        Some(cost) => Price::PerStep(Some(test.level), vec![(cost, Steps(1))]),
        None => Price::Varying(test.level, example(&judgement, test.level)?),
    };
    let other = if test.level == Level::Decision { Level::Release } else { Level::Decision };
    // What the other level would cap steps at, unless the spec insists on steps without a cap.
    let capped = (!section.has("proposal")).then(|| shape.scale.root_mean_square(shape.direction));
    let alternative =
        if test.both_levels { price_at_other_level(&judgement, longest.or(capped), other) } else { None };
    let mut facts = facts(&shape, &judgement, longest)?;
    let never = setting.lipschitz().is_some_and(|slope| match (judgement.clip, longest) {
        (ClipBound::PerDistance(clip), _) => clip > slope,
        (ClipBound::Constant(clip), Some(longest)) => clip > slope * longest,
        (ClipBound::Constant(_), None) => false,
    });
    facts.push(clipping(never, setting.unit));
    if matches!(judgement.acceptance, Acceptance::Fixed(Rule::Corrected { .. })) {
        facts.push(premise(never));
    }
    let forecast =
        warned(forecast(setting, &shape, &judgement), error_of_batch(&shape, &judgement, &mut facts)?);
    let model = Arc::clone(setting.model);
    let kernel: MakeKernel = Box::new(move |rng| {
        let walk = shape.walk(rng);
        Box::new(Metropolis::new(Arc::clone(&model), walk, judgement.clone()))
    });
    let forecast = Some(forecast);
    Ok(Prepared { kernel, price, alternative, facts, burn_in: None, forecast, view: None })
}

/// States how far a test on a batch may be from the test on all records; a warning where that is much.
fn error_of_batch(
    shape: &WalkShape,
    judgement: &Judgement,
    facts: &mut Facts,
) -> Result<Option<String>, Error> {
    let Sampling::WithoutReplacement { batch, records } = judgement.batch else {
        return Ok(None);
    };
    let (clip, rule) = judgement.at(shape.scale.root_mean_square(shape.direction))?;
    #[expect(clippy::cast_precision_loss, reason = "records is at most 2^32")]
    let tempered = records as f64 * judgement.temper.get();
    let Some(error) = batch_error(&rule, tempered, batch, clip.get()) else {
        return Ok(None);
    };
    let words = format!("at most {error:.2e}, whatever the records within the clip");
    facts.push(Fact::number("batch_error", "batch: error of a probability", error, words));
    Ok((error > LARGE).then(|| {
        format!(
            "a test on {batch} records may accept with a probability that is off by up to {error:.3}: the sum of a batch is not \
             normal enough, and the draws may follow another law than the posterior; a larger batch or a smaller clip brings \
             this down"
        )
    }))
}

/// A forecast with one more warning.
fn warned(forecast: MakeForecast, warning: Option<String>) -> MakeForecast {
    Box::new(move |steps| {
        let mut ahead = forecast(steps);
        ahead.warnings.extend(warning.clone());
        ahead
    })
}

/// The price every step has in common, if there is one.
pub(crate) fn price(judgement: &Judgement, level: Level) -> Result<Option<Cost>, Error> {
    let Judgement { temper, batch, neighbours, .. } = *judgement;
    match (level, &judgement.acceptance, judgement.clip) {
        // The noise follows the sensitivity, so the ratio is the same whatever the clip.
        (Level::Release, Acceptance::PenaltyRatio { ratio, .. }, _) => {
            if ratio.get() > LARGEST_DRAWN_RATIO {
                let reason = format!(
                    "makes the noise {:e} times the sensitivity; at release level at most {LARGEST_DRAWN_RATIO} \
                     can be drawn",
                    ratio.get()
                );
                return Err(SpecError::new("sampler.tau", reason).into());
            }
            Ok(Some(Cost::new(Mechanism::NoisyDecision(NoisyDecision { ratio: *ratio }), batch, neighbours)?))
        }
        (_, _, ClipBound::Constant(_)) => {
            let (clip, rule) = judgement.at(0.0)?;
            Ok(Some(decide_cost(temper, clip, batch, &rule, level, PrivacyModel { neighbours })?))
        }
        (_, _, ClipBound::PerDistance(_)) => Ok(None),
    }
}

/// What a step of length 1 costs, with a coin as rounded as that of any step: the rule's own, or the worst of all with noise
/// where the noise follows the step.
fn example(judgement: &Judgement, level: Level) -> Result<Cost, Error> {
    let Judgement { temper, batch, neighbours, .. } = *judgement;
    let (clip, rule) = judgement.at(1.0)?;
    let unit = |rule: &Rule| decide_cost(temper, clip, batch, rule, level, PrivacyModel { neighbours });
    Ok(match (&judgement.acceptance, level) {
        (Acceptance::PenaltyRatio { .. }, Level::Decision) => unit(&Rule::Penalty { sigma: SMALLEST_SIGMA })?,
        (Acceptance::Fixed(_) | Acceptance::PenaltyRatio { .. }, Level::Decision | Level::Release) => {
            unit(&rule)?
        }
    })
}

/// The price at the level that is not paid for, with every step at its longest; for comparison only.
fn price_at_other_level(
    judgement: &Judgement,
    longest: Option<f64>,
    level: Level,
) -> Option<(Level, Questions)> {
    let mut judgement = judgement.clone();
    if let (ClipBound::PerDistance(slope), Some(longest)) = (judgement.clip, longest) {
        judgement.clip = ClipBound::Constant(slope * longest);
    }
    price(&judgement, level).ok().flatten().map(|cost| (level, vec![(cost, Steps(1))]))
}

/// The constants of a step, as the plan and the certificate show them.
fn facts(shape: &WalkShape, judgement: &Judgement, longest: Option<f64>) -> Result<Facts, Error> {
    let longest = match longest {
        Some(longest) => Fact::decimal("longest_step", "longest step", longest),
        None => Fact::new("longest_step", "longest step", Value::Absent, "none (Gaussian)"),
    };
    let (moves, words) = match shape.direction {
        Direction::Full => ("full", "all parameters"),
        Direction::One => ("one", "one parameter at random"),
        Direction::Guided => ("guided", "one parameter, along a remembered direction"),
    };
    let (moves, words) =
        if shape.given.is_some() { ("own", "a proposal given in code") } else { (moves, words) };
    let mut facts = vec![longest, Fact::word("moves", "moves", moves, words)];
    const CLIP: &str = "clip bound of a log-ratio";
    const NOISE: &str = "noise sd of a log-ratio";
    match judgement.clip {
        ClipBound::Constant(bound) => {
            let (clip, rule) = judgement.at(0.0)?;
            facts.push(Fact::decimal("clip_bound", CLIP, bound));
            // On a batch the corrected test is priced as a whole, its variance moving with its mean.
            if !matches!(
                (&rule, judgement.batch),
                (Rule::Corrected { .. }, Sampling::WithoutReplacement { .. })
            ) {
                let sensitivity =
                    decide_sensitivity(judgement.temper, clip, judgement.batch, judgement.neighbours)?;
                facts.push(Fact::decimal("sensitivity", "sensitivity of a log-ratio", sensitivity.get()));
            }
            facts.push(match noise_sd(&rule) {
                Some(sd) => Fact::decimal("noise_sd", NOISE, sd),
                None => Fact::number("noise_sd", NOISE, 0.0, "0: the coin itself protects"),
            });
        }
        ClipBound::PerDistance(slope) => {
            let words = format!("{slope:.6} times the length of the step");
            facts.push(Fact::number("clip_slope", CLIP, slope, words));
            if let Acceptance::PenaltyRatio { ratio, .. } = judgement.acceptance {
                let label = "noise sd over sensitivity";
                facts.push(Fact::decimal("noise_over_sensitivity", label, ratio.get()));
            }
            let typical = shape.scale.root_mean_square(shape.direction);
            if let (_, Rule::Penalty { sigma }) = judgement.at(typical)? {
                let words = format!("{sigma:.6} at a step of length {typical:.6}, the root mean square");
                facts.push(Fact::number("noise_sd", NOISE, sigma, words));
            }
        }
    }
    Ok(facts)
}

/// The noise a rule adds to the log-ratio, if any.
fn noise_sd(rule: &Rule) -> Option<f64> {
    match rule {
        Rule::Penalty { sigma } => Some(*sigma),
        Rule::Corrected { variance, .. } => Some(variance.sqrt()),
        Rule::Lazy { rule, .. } => noise_sd(rule),
        Rule::Metropolis | Rule::Barker => None,
    }
}
