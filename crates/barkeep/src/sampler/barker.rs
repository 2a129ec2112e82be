//! `barker`: accepts with probability 1/(1 + e^−λ), private without any noise.

use super::judged::{CLIP_KEYS, Test, prepare};
use super::metropolis::Acceptance;
use super::preset::Preset;
use super::walk_keys::WALK_KEYS;
use barkeep_accounting::{Rule, Sampling};
use barkeep_curator::Level;

/// The exact Barker sampler: the exponential mechanism on {accept, reject}, paid for by the bit alone.
pub(super) const PRESET: Preset = Preset {
    name: "barker",
    summary: "exact Barker test, no noise; only the accept/reject bit is paid for",
    keys: &[&WALK_KEYS, &CLIP_KEYS],
    prepare: |section, setting| {
        prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::Fixed(Rule::Barker),
                batch: Sampling::Full,
                level: Level::Decision,
                both_levels: false,
            },
        )
    },
};
