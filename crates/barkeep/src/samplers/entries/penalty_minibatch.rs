//! `penalty-minibatch`: the penalty test on a batch (thesis, section 3.4), its noise proportional to the sensitivity.

use crate::keys::{Key, key};
use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, MIXTURE};
use crate::samplers::kernels::metropolis::Acceptance;
use crate::samplers::prepare::judged::{
    BATCH_KEYS, CLIP_KEYS, ON_A_BATCH, Test, WrittenClip, batch, level, needs_budget, prepare,
};
use crate::samplers::prepare::walk_keys::WALK_KEYS;
use barkeep_accounting::theorems::thesis::{VarianceSensitivity, minibatch_ratio};

const KEYS: [Key; 2] = [
    key("tau", "", "noise variance over squared sensitivity"),
    key(
        "kappa",
        "2",
        "how far the batch's variance may move: 2 is attained, 3 is the thesis' and means more noise at the same price",
    ),
];

/// The minibatch penalty sampler; `move = "one"` and `"guided"` are the thesis' OCU and GWMH.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "penalty-minibatch",
    summary: "penalty test on a batch, less half the batch's variance, with noise √tau times the sensitivity (thesis, 3.4)",
    keys: &[&WALK_KEYS, &CLIP_KEYS, &BATCH_KEYS, &KEYS],
    start: StartRule::Required,
    private: true,
    gradients: false,
    examples: &[
        Example::small(20, "proposal_sd = 0.01\nclip = 1\ntau = 9\nbatch = 4"),
        Example::large(MIXTURE, "tau = 1\nbatch = 1000\nproposal_sd = 0.3\nclip = 1"),
    ],
    prepare: |section, setting| {
        needs_budget(section, setting)?;
        let level = level(section, Some(ON_A_BATCH))?;
        let batch = batch(section, setting)?;
        let tau = section.require("tau", section.positive("tau")?)?;
        let ratio = minibatch_ratio(tau).map_err(|error| section.error("tau", error.to_string()))?;
        let variance = match section.count("kappa")?.unwrap_or(2) {
            2 => VarianceSensitivity::Tight,
            3 => VarianceSensitivity::Thesis,
            _ => return Err(section.error("kappa", "must be 2 or 3").into()),
        };
        prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::PenaltyRatio { ratio, variance },
                batch,
                level,
                both_levels: false,
                clip: WrittenClip::Key,
            },
        )
    },
};
