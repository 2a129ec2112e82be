//! `patient-barker`: Barker's acceptance probability times 3/4. A toy that shows what adding a sampler takes.

use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::kernels::metropolis::Acceptance;
use crate::samplers::prepare::judged::{
    CLIP_KEYS, DECISION_KEYS, NO_NOISE, Test, WrittenClip, level, prepare,
};
use crate::samplers::prepare::walk_keys::WALK_KEYS;
use barkeep_accounting::{Rule, Sampling};

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "patient-barker",
    summary: "Barker test times three quarters: a toy that shows what adding a sampler takes",
    keys: &[&WALK_KEYS, &CLIP_KEYS, &DECISION_KEYS],
    start: StartRule::Required,
    private: true,
    gradients: false,
    examples: &[
        Example::small(20, "proposal_sd = 0.1\nclip = 1"),
        Example::large(GAUSSIAN, "proposal_sd = 0.01\nclip = 3"),
    ],
    prepare: |section, setting| {
        prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::Fixed(Rule::Lazy { keep: 0.75, rule: Box::new(Rule::Barker) }),
                batch: Sampling::Full,
                level: level(section, Some(NO_NOISE))?,
                both_levels: false,
                clip: WrittenClip::Key,
            },
        )
    },
};
