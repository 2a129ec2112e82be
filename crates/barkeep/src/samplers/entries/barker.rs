//! `barker`: accepts with probability 1/(1 + e^−λ), private without any noise.

use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::kernels::metropolis::Acceptance;
use crate::samplers::prepare::judged::{
    CLIP_KEYS, DECISION_KEYS, NO_NOISE, Test, WrittenClip, level, prepare,
};
use crate::samplers::prepare::walk_keys::WALK_KEYS;
use barkeep_accounting::{Rule, Sampling};

/// The exact Barker sampler: the exponential mechanism on {accept, reject}, paid for by the bit alone.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "barker",
    summary: "exact Barker test, no noise; only the accept/reject bit is paid for",
    keys: &[&WALK_KEYS, &CLIP_KEYS, &DECISION_KEYS],
    start: StartRule::Required,
    private: true,
    gradients: false,
    examples: &[
        Example::small(20, "proposal_sd = 0.1\nclip = 1"),
        Example::small(20, "proposal_sd = 0.1\nclip = 1\nchains = 3\nmove = 'guided'").named("3 chains"),
        Example::small(20, "proposal_sd = 0.1\nclip = 1\nproposal = 'gaussian'\nsteps = 30")
            .named("uncapped"),
        Example::large(GAUSSIAN, "proposal_sd = 0.01\nclip = 3"),
    ],
    prepare: |section, setting| {
        prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::Fixed(Rule::Barker),
                batch: Sampling::Full,
                level: level(section, Some(NO_NOISE))?,
                both_levels: false,
                clip: WrittenClip::Key,
            },
        )
    },
};
