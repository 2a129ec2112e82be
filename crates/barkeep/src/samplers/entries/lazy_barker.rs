//! `lazy-barker`: Barker's acceptance probability times a constant κ.

use crate::keys::{Key, key};
use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{BANANA, Example};
use crate::samplers::kernels::metropolis::Acceptance;
use crate::samplers::prepare::judged::{
    CLIP_KEYS, DECISION_KEYS, NO_NOISE, Test, WrittenClip, level, prepare,
};
use crate::samplers::prepare::walk_keys::WALK_KEYS;
use barkeep_accounting::{Rule, Sampling};

const KEYS: [Key; 1] =
    [key("keep", "0.5", "κ: the Barker probability is multiplied by it; above 0 and at most 1")];

/// The lazy Barker sampler: more privacy per accepted move, more computation.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "lazy-barker",
    summary: "Barker test times a constant: more steps for the same budget, fewer of them accepted",
    keys: &[&WALK_KEYS, &CLIP_KEYS, &DECISION_KEYS, &KEYS],
    start: StartRule::Required,
    private: true,
    gradients: false,
    examples: &[
        Example::small(20, "proposal_sd = 0.1\nclip = 1"),
        Example::large(BANANA, "proposal_sd = 0.01\nclip = 3"),
    ],
    prepare: |section, setting| {
        let keep = section.positive("keep")?.unwrap_or(0.5);
        if keep > 1.0 {
            return Err(section.error("keep", "must be at most 1").into());
        }
        prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::Fixed(Rule::Lazy { keep, rule: Box::new(Rule::Barker) }),
                batch: Sampling::Full,
                level: level(section, Some(NO_NOISE))?,
                both_levels: false,
                clip: WrittenClip::Key,
            },
        )
    },
};
