//! `penalty`: the penalty test of the thesis (Theorem 3.1), its noise proportional to the sensitivity.

use crate::Error;
use crate::keys::{Key, key};
use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{BANANA, Example, LOGISTIC};
use crate::samplers::kernels::metropolis::Acceptance;
use crate::samplers::prepare::judged::{
    CLIP_KEYS, LEVEL_KEYS, Test, WrittenClip, level, prepare, uses_records,
};
use crate::samplers::prepare::walk_keys::WALK_KEYS;
use barkeep_accounting::theorems::thesis::VarianceSensitivity;
use barkeep_accounting::{Ratio, Sampling};

const KEYS: [Key; 1] = [key("tau", "", "noise over sensitivity, divided by the square root of records")];

/// The penalty sampler; `move = "one"` and `"guided"` are the thesis' OCU and GWMH.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "penalty",
    summary: "penalty test with noise tau·√records times the sensitivity (thesis, Algorithm 1)",
    keys: &[&WALK_KEYS, &CLIP_KEYS, &LEVEL_KEYS, &KEYS],
    start: StartRule::Required,
    private: true,
    gradients: false,
    examples: &[
        Example::small(20, "proposal_sd = 0.1\nclip = 1\ntau = 2"),
        Example::small(20, "proposal_sd = 0.1\nclip = 1\ntau = 2\nlevel = 'release'").named("release price"),
        Example::large(BANANA, "tau = 0.05\nproposal_sd = 0.01\nclip = 3"),
        Example::large(
            LOGISTIC,
            "tau = 0.3\nproposal_sd = 0.02\nclip = 3\nmove = 'guided'\nlevel = 'release'",
        ),
    ],
    prepare: |section, setting| {
        uses_records(section, setting, "scales its noise by the number of records")?;
        let tau = section.require("tau", section.positive("tau")?)?;
        let ratio = Ratio::new(tau * setting.records.sqrt()).map_err(Error::Accounting)?;
        prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::PenaltyRatio { ratio, variance: VarianceSensitivity::Tight },
                batch: Sampling::Full,
                level: level(section, None)?,
                both_levels: true,
                clip: WrittenClip::Key,
            },
        )
    },
};
