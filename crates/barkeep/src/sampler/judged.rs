//! Prepares a propose-and-test sampler from its spec keys: what the presets have in common.

use super::metropolis::{Acceptance, ClipBound, Judgement, Metropolis};
use super::preset::{Facts, MakeKernel, Prepared, Price, Questions, Setting};
use super::proposal::{Direction, Walk};
use super::walk_keys::WalkShape;
use crate::Error;
use crate::spec::section::{Key, Section, key};
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::{Cost, Mechanism, Rule, Sampling, Sensitivity, Steps};
use barkeep_curator::{Level, Premises, decide_cost, decide_sensitivity};
use std::sync::Arc;

/// The keys of a clipped test.
pub(super) const CLIP_KEYS: [Key; 2] = [
    key("clip", "", "bound on one record's log-ratio: its slope per unit of distance, or the bound itself"),
    key(
        "clip_scale",
        "\"distance\"",
        "\"distance\": the bound is clip times the length of the step; \"constant\": it is clip",
    ),
];

/// The key of the level, for samplers that have both.
pub(super) const LEVEL_KEYS: [Key; 1] = [key(
    "level",
    "\"decision\"",
    "\"decision\": only the accept/reject bit is paid for; \"release\": as if the noisy log-ratio were published",
)];

/// What a preset decides before the common part is prepared.
pub(crate) struct Test {
    /// How a proposal is judged.
    pub(crate) acceptance: Acceptance,
    /// Which records are asked.
    pub(crate) batch: Sampling,
    /// The level that is paid for.
    pub(crate) level: Level,
    /// Whether the other level exists too.
    pub(crate) both_levels: bool,
}

/// The level the spec chooses, among those a sampler has.
pub(crate) fn level(section: &Section<'_>) -> Result<Level, SpecError> {
    Ok(section
        .choice("level", &[("decision", Level::Decision), ("release", Level::Release)])?
        .unwrap_or(Level::Decision))
}

/// Reads walk and clip, prices a step and makes the kernel.
pub(crate) fn prepare(section: &Section<'_>, setting: &Setting<'_>, test: Test) -> Result<Prepared, Error> {
    let neighbours = match setting.privacy {
        Privacy::Budget { neighbours, .. } => neighbours,
        Privacy::NotPrivate => {
            return Err(section
                .error(
                    "name",
                    "is a private sampler; give [privacy] epsilon and delta, or use rwmh as a baseline",
                )
                .into());
        }
    };
    let shape = WalkShape::parse(section, setting.model.dimension(), test.level == Level::Decision)?;
    let longest = Walk::longest(shape.length);
    let bound = section.require("clip", section.positive("clip")?)?;
    let clip = match (
        section.choice("clip_scale", &[("distance", true), ("constant", false)])?.unwrap_or(true),
        test.level,
        longest,
    ) {
        (false, _, _) => ClipBound::Constant(bound),
        // One sensitivity is paid for at every step, so every step may use all of it.
        (true, Level::Decision, Some(longest)) => ClipBound::Constant(bound * longest),
        (true, _, _) => ClipBound::PerDistance(bound),
    };
    let judgement = Judgement {
        clip,
        acceptance: test.acceptance,
        temper: setting.temper,
        batch: test.batch,
        neighbours,
    };
    let price = match price(&judgement, test.level)? {
        Some(cost) => Price::PerStep(test.level, vec![(cost, Steps(1))]),
        None => Price::Varying(test.level, example(&judgement)?),
    };
    let other = if test.level == Level::Decision { Level::Release } else { Level::Decision };
    let alternative = if test.both_levels { price_at_other_level(&judgement, longest, other) } else { None };
    let facts = facts(&shape, &judgement, longest)?;
    let model = Arc::clone(setting.model);
    let kernel: MakeKernel = Box::new(move |rng| {
        let walk = Walk::new(shape.scale.clone(), shape.length, shape.direction, rng);
        Box::new(Metropolis::new(Arc::clone(&model), walk, judgement.clone()))
    });
    Ok(Prepared { kernel, price, alternative, facts, burn_in: None, forecast: None })
}

/// The price every step has in common, if there is one.
fn price(judgement: &Judgement, level: Level) -> Result<Option<Cost>, Error> {
    let Judgement { temper, batch, neighbours, .. } = *judgement;
    match (level, &judgement.acceptance, judgement.clip) {
        // The noise follows the sensitivity, so the ratio is the same whatever the clip.
        (Level::Release, Acceptance::PenaltyRatio { ratio, .. }, _) => {
            Ok(Some(Cost::new(Mechanism::NoisyDecision { ratio: *ratio }, batch, neighbours)?))
        }
        (_, _, ClipBound::Constant(_)) => {
            let (clip, rule) = judgement.at(0.0)?;
            Ok(Some(decide_cost(temper, clip, batch, &rule, Premises { neighbours, level })?))
        }
        (_, _, ClipBound::PerDistance(_)) => Ok(None),
    }
}

/// A decision whose coin is as rounded as that of any step: the rule's own, or the worst of all with noise where the
/// noise varies.
fn example(judgement: &Judgement) -> Result<Cost, Error> {
    let mechanism = match &judgement.acceptance {
        Acceptance::Fixed(rule) => {
            Mechanism::Decision { rule: rule.clone(), sensitivity: Sensitivity::new(1.0)? }
        }
        Acceptance::PenaltyRatio { ratio, .. } => Mechanism::NoisyDecision { ratio: *ratio },
    };
    Ok(Cost::new(mechanism, judgement.batch, judgement.neighbours)?)
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
    let mut facts = Vec::new();
    facts.push((
        "longest step",
        longest.map_or_else(|| "none (Gaussian)".to_owned(), |longest| format!("{longest:.6}")),
    ));
    facts.push((
        "moves",
        match shape.direction {
            Direction::Full => "all parameters",
            Direction::One => "one parameter at random",
            Direction::Guided => "one parameter, along a remembered direction",
        }
        .to_owned(),
    ));
    match judgement.clip {
        ClipBound::Constant(bound) => {
            let (clip, rule) = judgement.at(0.0)?;
            let sensitivity =
                decide_sensitivity(judgement.temper, clip, judgement.batch, judgement.neighbours)?.get();
            facts.push(("clip bound of a log-ratio", format!("{bound:.6}")));
            facts.push(("sensitivity of a log-ratio", format!("{sensitivity:.6}")));
            if let Rule::Penalty { sigma } = rule {
                facts.push(("noise sd of a log-ratio", format!("{sigma:.6}")));
            }
        }
        ClipBound::PerDistance(slope) => {
            facts.push(("clip bound of a log-ratio", format!("{slope:.6} times the length of the step")));
            if let Acceptance::PenaltyRatio { ratio, inflation } = judgement.acceptance {
                facts.push(("noise sd over sensitivity", format!("{:.6}", ratio.get() * inflation)));
            }
        }
    }
    Ok(facts)
}
