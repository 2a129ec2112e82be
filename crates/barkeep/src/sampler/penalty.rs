//! `penalty`: the penalty test of the thesis (Theorem 3.1), its noise proportional to the sensitivity.

use super::judged::{CLIP_KEYS, LEVEL_KEYS, Test, level, prepare};
use super::metropolis::Acceptance;
use super::preset::Preset;
use super::walk_keys::WALK_KEYS;
use crate::Error;
use crate::spec::Privacy;
use crate::spec::section::{Key, key};
use barkeep_accounting::{Neighbours, Ratio, Sampling};

const KEYS: [Key; 1] = [key("tau", "", "noise over sensitivity, divided by the square root of records")];

/// The penalty sampler; `move = "one"` and `"guided"` are the thesis' OCU and GWMH.
pub(super) const PRESET: Preset = Preset {
    name: "penalty",
    summary: "penalty test with noise tau·√records times the sensitivity (thesis, Algorithm 1)",
    keys: &[&WALK_KEYS, &CLIP_KEYS, &LEVEL_KEYS, &KEYS],
    prepare: |section, setting| {
        if let Privacy::Budget { neighbours: Neighbours::AddRemove, .. } = setting.privacy {
            return Err(section
                .error("name", "\"penalty\" scales its noise by the number of records, which is secret under add-remove; use \"barker\"")
                .into());
        }
        let tau = section.require("tau", section.positive("tau")?)?;
        let ratio = Ratio::new(tau * setting.records.sqrt()).map_err(Error::Accounting)?;
        prepare(
            section,
            setting,
            Test {
                acceptance: Acceptance::PenaltyRatio { ratio, inflation: 1.0 },
                batch: Sampling::Full,
                level: level(section)?,
                both_levels: true,
            },
        )
    },
};
