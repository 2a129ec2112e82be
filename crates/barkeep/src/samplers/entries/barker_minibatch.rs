//! `barker-minibatch`: the corrected Barker test on a batch, whose own variance is part of the noise (Heikkilä et al.
//! 2019, Theorem 2).

use crate::Error;
use crate::keys::{Key, key};
use crate::samplers::entry::{Price, SamplerEntry, StartRule};
use crate::samplers::example::{Example, MIXTURE};
use crate::samplers::kernels::metropolis::Acceptance;
use crate::samplers::prepare::correction_keys::{CORRECTION_KEYS, corrected};
use crate::samplers::prepare::judged::{
    BATCH_KEYS, ON_A_BATCH, Test, WrittenClip, batch, level, needs_budget, prepare,
};
use crate::samplers::prepare::walk_keys::WALK_KEYS;
use barkeep_accounting::mechanisms::BarkerMinibatch;
use barkeep_accounting::{BarkerBound, Cost, Mechanism, Neighbours, Sampling, Steps};
use barkeep_curator::barker_minibatch_clip;

/// C, which the theorem fixes.
const VARIANCE: f64 = 2.0;

const KEYS: [Key; 2] = [
    key(
        "clip",
        "√batch / n0, with n0 = temper · records",
        "bound on one record's log-ratio; at most the default, and a smaller one costs as much",
    ),
    key(
        "bound",
        "\"pld\"",
        "how a step is priced: \"pld\" (privacy-loss distributions) or by Rényi divergences, \"paper\" (Theorem 2), \"fixed\" (without its loose term) or \"tight\" (a certified supremum)",
    ),
];

/// The minibatch Barker sampler; `model.n0` tempers.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "barker-minibatch",
    summary: "corrected Barker test on a batch, noise variance 2 less the batch's own (Heikkilä et al. 2019, Theorem 2)",
    keys: &[&WALK_KEYS, &BATCH_KEYS, &KEYS, &CORRECTION_KEYS],
    start: StartRule::Required,
    private: true,
    gradients: false,
    examples: &[
        Example::small(200, "proposal_sd = 0.1\nbatch = 20"),
        Example::large(MIXTURE, "batch = 1000\nproposal_sd = 0.3"),
    ],
    prepare: |section, setting| {
        needs_budget(section, setting)?;
        let level = level(section, Some(ON_A_BATCH))?;
        let sampling = batch(section, setting)?;
        let Sampling::WithoutReplacement { batch, records } = sampling else {
            return Err(Error::Budget("a batch is drawn without replacement".to_owned()));
        };
        let bound = section
            .choice(
                "bound",
                &[
                    ("paper", BarkerBound::Paper),
                    ("fixed", BarkerBound::Fixed),
                    ("tight", BarkerBound::Tight),
                    ("pld", BarkerBound::Pld),
                ],
            )?
            .unwrap_or(BarkerBound::Pld);
        let most = barker_minibatch_clip(setting.temper, batch, records)
            .map_err(|error| section.error("batch", error.to_string()))?
            .get();
        let clip = section.positive("clip")?.unwrap_or(most);
        if clip > most {
            let reason = format!("must be at most √batch / n0, here {most}: the theorem holds up to there");
            return Err(section.error("clip", reason).into());
        }
        let (rule, errors) = corrected(section, setting.foreseen, VARIANCE)?;
        let mut prepared = prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::Fixed(rule),
                batch: sampling,
                level,
                both_levels: false,
                clip: WrittenClip::Fixed(clip),
            },
        )?;
        let mechanism = Mechanism::BarkerMinibatch(BarkerMinibatch { batch, records, bound });
        let cost = Cost::new(mechanism, sampling, Neighbours::Substitute)?;
        prepared.price = Price::PerStep(Some(level), vec![(cost, Steps(1))]);
        prepared.facts.extend(errors);
        Ok(prepared)
    },
};
