//! `rwmh`: random-walk Metropolis–Hastings, a baseline that protects nothing and says so.

use crate::samplers::entry::{MakeKernel, Prepared, Price, SamplerEntry, StartRule};
use crate::samplers::example::{CIRCLE, Example};
use crate::samplers::kernels::metropolis::{Acceptance, Judgement, Metropolis};
use crate::samplers::prepare::path_keys::{BASELINE_CLIP_KEYS, baseline_clip};
use crate::samplers::prepare::walk_keys::{WALK_KEYS, WalkShape};
use crate::spec::Privacy;
use barkeep_accounting::{Neighbours, Rule, Sampling};
use barkeep_curator::Level;
use std::sync::Arc;

/// The baseline.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "rwmh",
    summary: "random-walk Metropolis-Hastings; NOT PRIVATE, a baseline",
    keys: &[&WALK_KEYS, &BASELINE_CLIP_KEYS],
    start: StartRule::Required,
    private: false,
    gradients: false,
    examples: &[
        Example::small(20, "proposal_sd = 0.1\nsteps = 100"),
        Example::large(CIRCLE, "proposal_sd = 0.1"),
    ],
    prepare: |section, setting| {
        if setting.privacy != Privacy::NotPrivate {
            return Err(section
                .error(
                    "name",
                    "\"rwmh\" protects nothing; say so with [privacy] private = false, or use \"barker\"",
                )
                .into());
        }
        let shape = WalkShape::read(section, setting, false)?;
        let judgement = Judgement {
            clip: baseline_clip(section)?,
            acceptance: Acceptance::Fixed(Rule::Metropolis),
            temper: setting.temper,
            batch: Sampling::Full,
            neighbours: Neighbours::Substitute,
            level: Level::Decision,
        };
        let model = Arc::clone(setting.model);
        let kernel: MakeKernel = Box::new(move |rng| {
            let walk = shape.walk(rng);
            Box::new(Metropolis::new(Arc::clone(&model), walk, judgement.clone()))
        });
        Ok(Prepared {
            kernel,
            price: Price::NotPrivate,
            alternative: None,
            facts: Vec::new(),
            burn_in: None,
            forecast: None,
            view: None,
        })
    },
};
