//! `dp-hmc`: Hamiltonian Monte Carlo along noisy gradients (thesis, Algorithm 4, corrected), every question paid for.
//!
//! A proposal asks L + 1 gradients, each a Gaussian mechanism of ratio τ_g√n, and one decision. With the penalty rule its
//! noise is τ_l√n times the sensitivity, and at release level a proposal costs ρ = 1/(2τ_l²n) + (L+1)/(2τ_g²n) (Theorem 4.3).
//!
//! With `batch = b` a gradient asks b records drawn without replacement, has noise of ratio τ_g√b, and is amplified by the sampling; the
//! test asks all records, and the accountant composes both. With `friction = true` the momentum loses what the noise brings, and the
//! test is corrected for it. Both leave the posterior in place; the proofs stand with the kernel.

use crate::Error;
use crate::facts::{Fact, Facts};
use crate::keys::{Key, Section, key};
use crate::samplers::entry::{Prepared, Price, SamplerEntry, Setting, StartRule};
use crate::samplers::example::{BANANA, Example};
use crate::samplers::kernels::leapfrog::{Mass, Path};
use crate::samplers::kernels::metropolis::{Acceptance, ClipBound, Judgement};
use crate::samplers::prepare::correction_keys::{CORRECTION_KEYS, corrected};
use crate::samplers::prepare::judged::{batch, needs_budget, price, uses_records};
use crate::samplers::prepare::path_keys::{
    Noises, PATH_KEYS, clip, kernels, path, path_facts, usual_mass, usual_step,
};
use barkeep_accounting::theorems::thesis::VarianceSensitivity;
use barkeep_accounting::{Ratio, Rule, Sampling, Steps};
use barkeep_curator::{Level, PrivacyModel, sigma_for, sum_cost, sum_sensitivity};
use barkeep_data::Unit;

const KEYS: [Key; 12] = [
    key(
        "tau",
        "",
        "τ_l, for rule = \"penalty\": noise of the test over its sensitivity, divided by √records",
    ),
    key(
        "tau_gradient",
        "",
        "τ_g: noise of a gradient over its sensitivity, divided by the root of the number of records it asks",
    ),
    key(
        "clip",
        "",
        "b_l, bound on one record's log-ratio: its slope per unit of distance, or the bound itself",
    ),
    key(
        "clip_scale",
        "\"distance\" at release level, \"constant\" at decision level",
        "\"distance\": the bound is clip times the length of the move; \"constant\": it is clip",
    ),
    key("clip_gradient", "", "b_g, bound on one record's gradient, in Euclidean norm"),
    key(
        "rule",
        "\"penalty\"",
        "\"penalty\" (as published), \"barker\", \"lazy-barker\" or \"barker-corrected\"",
    ),
    key(
        "level",
        "\"release\" with rule = \"penalty\", else \"decision\"",
        "\"decision\": of a test only the bit is paid for; \"release\": as if its noisy log-ratio were published",
    ),
    key("keep", "0.5", "κ of rule = \"lazy-barker\": the probability is multiplied by it"),
    key("variance", "2", "C of rule = \"barker-corrected\""),
    key(
        "reuse_gradient",
        "false",
        "true: a path starts with the gradient the last one ended with, so a proposal asks L instead of L + 1",
    ),
    key("batch", "all records", "records a gradient asks, drawn without replacement; the test asks all"),
    key(
        "friction",
        "false",
        "true: friction takes up what the gradients' noise brings, and the test is corrected; not with batch, reuse_gradient or a full mass",
    ),
];

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "dp-hmc",
    summary: "Hamiltonian Monte Carlo with noisy gradients (thesis, Algorithm 4, corrected)",
    keys: &[&PATH_KEYS, &KEYS, &CORRECTION_KEYS],
    start: StartRule::Required,
    private: true,
    gradients: true,
    examples: &[
        Example::small(
            100,
            "tau = 1\ntau_gradient = 1\nclip = 1\nclip_gradient = 1\nleapfrog = 2\nstep = 0.05",
        ),
        Example::small(
            100,
            "tau = 1\ntau_gradient = 2\nclip = 1\nclip_gradient = 1\nleapfrog = 2\nstep = 0.05\nbatch = 10",
        )
        .named("batches"),
        Example::small(
            100,
            "tau = 1\ntau_gradient = 1\nclip = 1\nclip_gradient = 1\nleapfrog = 2\nstep = 0.05\nfriction = true",
        )
        .named("friction"),
        Example::large(
            BANANA,
            "leapfrog = 3\nstep = 0.001\ntau = 0.3\nclip = 3\ntau_gradient = 0.5\nclip_gradient = 1",
        ),
        Example::large(
            BANANA,
            "leapfrog = 3\nstep = 0.002\ntau = 0.3\nclip = 3\ntau_gradient = 0.5\nclip_gradient = 1\nfriction = true",
        )
        .named("banana, friction"),
    ],
    prepare,
};

fn prepare(section: &Section<'_>, setting: &Setting<'_>) -> Result<Prepared, Error> {
    let neighbours = needs_budget(section, setting)?;
    uses_records(section, setting, "scales its noise by the number of records")?;
    let (mass, step, leapfrog) = path(section, setting.model.dimension())?;
    let mass = mass.unwrap_or_else(|| usual_mass(setting, step));
    let (acceptance, mut errors) = acceptance(section, setting)?;
    let level = level(section, &acceptance)?;
    let judgement = Judgement {
        clip: clip_bound(section, level)?,
        acceptance,
        temper: setting.temper,
        batch: Sampling::Full,
        neighbours,
        level,
    };
    let Some(test) = price(&judgement, level)? else {
        let reason = "must be \"constant\" here: how far a path leads is known only after its gradients, so no one \
                      sensitivity holds for all moves";
        return Err(section.error("clip_scale", reason).into());
    };

    let tau = section.require("tau_gradient", section.positive("tau_gradient")?)?;
    let batch = if section.has("batch") { batch(section, setting)? } else { Sampling::Full };
    #[expect(clippy::cast_precision_loss, reason = "at most 2^32 records")]
    let asked = match batch {
        Sampling::WithoutReplacement { batch, .. } => batch as f64,
        Sampling::Full | Sampling::Poisson { .. } => setting.records,
    };
    let ratio = Ratio::new(tau * asked.sqrt())?;
    let bound = section.require("clip_gradient", section.positive("clip_gradient")?)?;
    let bound = clip(section, "clip_gradient", bound)?;
    let sigma = sigma_for(ratio, sum_sensitivity(setting.temper, bound, neighbours)?);
    let gradient = sum_cost(setting.temper, bound, batch, sigma, PrivacyModel { neighbours })?;
    let reuse = section.flag("reuse_gradient")?.unwrap_or(false);
    let friction = friction(section, setting, &mass, batch, reuse)?;
    let noises = Noises {
        gradient: if friction { 0.0 } else { setting.records / asked * sigma },
        // Noise that follows the move; one that does not depends on no step.
        test: if let (ClipBound::PerDistance(_), (_, Rule::Penalty { sigma })) =
            (judgement.clip, judgement.at(1.0)?)
        {
            sigma
        } else {
            0.0
        },
    };
    let step = match step {
        Some(step) => step,
        None => usual_step(setting, &mass, leapfrog, &noises).ok_or_else(|| {
            let reason = "is required: the model states no information that a step could be scaled by, or the mass is a full matrix";
            section.error("step", reason)
        })?,
    };
    let path =
        Path { mass, step, leapfrog, temper: setting.temper, clip: bound, sigma, reuse, batch, friction };

    let mut facts = path_facts(&path);
    facts.push(Fact::decimal("gradient_noise_sd", "noise sd of a gradient", path.scale() * sigma));
    if let Sampling::WithoutReplacement { batch, .. } = batch {
        facts.push(Fact::count("gradient_batch", "records a gradient asks", batch));
    }
    if let Some(most) = path.friction(path.step).and_then(|all| all.into_iter().reduce(f64::max)) {
        facts.push(Fact::decimal("friction", "friction of a kick", most));
    }
    facts.push(Fact::decimal(
        "gradient_noise_over_sensitivity",
        "noise sd over sensitivity of a gradient",
        ratio.get(),
    ));
    facts.append(&mut errors);
    let step = |test| vec![(test, Steps(1)), (gradient.clone(), Steps(leapfrog + u64::from(!reuse)))];
    let other = if level == Level::Decision { Level::Release } else { Level::Decision };
    // A level that does not exist for this rule and clip is not shown.
    let alternative = price(&judgement, other).ok().flatten().map(|test| (other, step(test)));
    let price = match reuse {
        true => Price::PerStepAfter { level, first: vec![(gradient.clone(), Steps(1))], step: step(test) },
        false => Price::PerStep(Some(level), step(test)),
    };
    let kernel = kernels(setting, path, judgement);
    Ok(Prepared { kernel, price, alternative, facts, burn_in: None, forecast: None, view: None })
}

/// Whether friction is asked for, where it has a proof.
fn friction(
    section: &Section<'_>,
    setting: &Setting<'_>,
    mass: &Mass,
    batch: Sampling,
    reuse: bool,
) -> Result<bool, Error> {
    if !section.flag("friction")?.unwrap_or(false) {
        return Ok(false);
    }
    let reason = if batch != Sampling::Full {
        "needs gradients of all records: the test would have to know which records a batch held"
    } else if reuse {
        "needs a fresh gradient at the start of every path: leave reuse_gradient out"
    } else if matches!(mass, Mass::Dense { .. }) {
        "needs a mass for each parameter, not a full matrix"
    } else if setting.unit != Unit::Record {
        "needs neighbours that differ in a record, not in a person"
    } else {
        return Ok(true);
    };
    Err(section.error("friction", reason).into())
}

/// The rule of a test as the spec names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WrittenRule {
    Penalty,
    Barker,
    LazyBarker,
    BarkerCorrected,
}

impl WrittenRule {
    const NAMES: [(&'static str, Self); 4] = [
        ("penalty", Self::Penalty),
        ("barker", Self::Barker),
        ("lazy-barker", Self::LazyBarker),
        ("barker-corrected", Self::BarkerCorrected),
    ];

    /// The keys that only this rule has.
    fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Penalty => &["tau"],
            Self::Barker => &[],
            Self::LazyBarker => &["keep"],
            Self::BarkerCorrected => &["variance", "correction"],
        }
    }
}

/// The rule of the test, and the facts a plan states about it.
fn acceptance(section: &Section<'_>, setting: &Setting<'_>) -> Result<(Acceptance, Facts), Error> {
    let rule = section.choice("rule", &WrittenRule::NAMES)?.unwrap_or(WrittenRule::Penalty);
    for (name, only) in WrittenRule::NAMES.iter().filter(|(_, other)| *other != rule) {
        if let Some(key) = only.keys().iter().find(|key| section.has(key)) {
            return Err(section.error(key, format!("has a meaning for rule = \"{name}\" only")).into());
        }
    }
    Ok(match rule {
        WrittenRule::Barker => (Acceptance::Fixed(Rule::Barker), Vec::new()),
        WrittenRule::LazyBarker => {
            let keep = section.positive("keep")?.unwrap_or(0.5);
            let rule = Rule::Lazy { keep, rule: Box::new(Rule::Barker) };
            rule.validate().map_err(|error| section.error("keep", error.to_string()))?;
            (Acceptance::Fixed(rule), Vec::new())
        }
        WrittenRule::BarkerCorrected => {
            let variance = section.positive("variance")?.unwrap_or(2.0);
            let (rule, errors) = corrected(section, setting.foreseen, variance)?;
            (Acceptance::Fixed(rule), errors)
        }
        WrittenRule::Penalty => {
            let tau = section.require("tau", section.positive("tau")?)?;
            let ratio = Ratio::new(tau * setting.records.sqrt())?;
            (Acceptance::PenaltyRatio { ratio, variance: VarianceSensitivity::Tight }, Vec::new())
        }
    })
}

/// The level: that of the papers for their rule, the bit's for others.
fn level(section: &Section<'_>, acceptance: &Acceptance) -> Result<Level, Error> {
    let (usual, noisy) = match acceptance {
        Acceptance::PenaltyRatio { .. } => (Level::Release, true),
        Acceptance::Fixed(rule) => (Level::Decision, matches!(rule, Rule::Corrected { .. })),
    };
    let chosen = section.choice("level", &Level::NAMED)?;
    if chosen == Some(Level::Release) && !noisy {
        let reason = "must be \"decision\" for a rule without noise, of which there is nothing to release";
        return Err(section.error("level", reason).into());
    }
    Ok(chosen.unwrap_or(usual))
}

fn clip_bound(section: &Section<'_>, level: Level) -> Result<ClipBound, Error> {
    let written = section.require("clip", section.positive("clip")?)?;
    let scaled = section.choice("clip_scale", &[("distance", true), ("constant", false)])?;
    Ok(match scaled.unwrap_or(level == Level::Release) {
        true => ClipBound::PerDistance(written),
        false => ClipBound::Constant(clip(section, "clip", written)?.get()),
    })
}
