//! `barker-corrected`: Barker's test by normal noise and a correction, on all records (Heikkilä et al. 2019, Theorem 1).

use crate::keys::{Key, key};
use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::kernels::metropolis::Acceptance;
use crate::samplers::prepare::correction_keys::{CORRECTION_KEYS, corrected};
use crate::samplers::prepare::judged::{
    CLIP_KEYS, LEVEL_KEYS, Test, WrittenClip, level, needs_budget, prepare,
};
use crate::samplers::prepare::walk_keys::WALK_KEYS;
use barkeep_accounting::Sampling;

const KEYS: [Key; 1] = [key(
    "variance",
    "2",
    "C, the variance of the noise: at least 1/64, below π²/3, and where V_cor is good",
)];

/// The corrected Barker sampler. Its posterior is approximate: the plan shows how far the test is from Barker's, and a
/// stationary law is off by about as much (on a target of seven states 1.3e-3 with the mixture at C = 2, 1.4e-6 at C = 1).
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "barker-corrected",
    summary: "Barker test approximated by normal noise and V_cor, all records (Heikkilä et al. 2019, Theorem 1)",
    keys: &[&WALK_KEYS, &CLIP_KEYS, &LEVEL_KEYS, &KEYS, &CORRECTION_KEYS],
    start: StartRule::Required,
    private: true,
    gradients: false,
    examples: &[
        Example::small(20, "proposal_sd = 0.1\nclip = 1"),
        Example::large(GAUSSIAN, "proposal_sd = 0.01\nclip = 3"),
    ],
    prepare: |section, setting| {
        needs_budget(section, setting)?;
        let level = level(section, None)?;
        let variance = section.positive("variance")?.unwrap_or(2.0);
        let (rule, errors) = corrected(section, setting.foreseen, variance)?;
        let mut prepared = prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::Fixed(rule),
                batch: Sampling::Full,
                level,
                both_levels: true,
                clip: WrittenClip::Key,
            },
        )?;
        prepared.facts.extend(errors);
        Ok(prepared)
    },
};
