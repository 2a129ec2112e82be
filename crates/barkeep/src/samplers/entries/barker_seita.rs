//! `barker-seita`: the minibatch Barker test without clipping (Seita et al. 2017), a baseline that protects nothing and says so.
//!
//! The test of `barker-minibatch`, with nothing clipped and nothing paid for: what that sampler's draws are to be judged against. Seita et
//! al. enlarge a batch until its variance is below C. Here the batch stays, and at most C/2 of its variance is taken off the noise: moves
//! of a larger one are judged with too much noise.

use crate::keys::{Key, key};
use crate::samplers::entry::{MakeKernel, Prepared, Price, SamplerEntry, StartRule};
use crate::samplers::example::{Example, MIXTURE};
use crate::samplers::kernels::metropolis::{Acceptance, Judgement, Metropolis};
use crate::samplers::prepare::correction_keys::{CORRECTION_KEYS, corrected};
use crate::samplers::prepare::judged::batch;
use crate::samplers::prepare::path_keys::{BASELINE_CLIP_KEYS, baseline_clip};
use crate::samplers::prepare::walk_keys::{WALK_KEYS, WalkShape};
use crate::spec::Privacy;
use barkeep_accounting::Neighbours;
use barkeep_curator::Level;
use std::sync::Arc;

const KEYS: [Key; 2] = [
    key("batch", "", "records asked at every step, drawn without replacement"),
    key("variance", "2", "C, the variance of the noise and the batch together"),
];

/// The baseline.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "barker-seita",
    summary: "corrected Barker test on a batch without clipping (Seita et al. 2017); NOT PRIVATE, a baseline",
    keys: &[&WALK_KEYS, &KEYS, &CORRECTION_KEYS, &BASELINE_CLIP_KEYS],
    start: StartRule::Required,
    private: false,
    gradients: false,
    examples: &[
        Example::small(200, "proposal_sd = 0.1\nbatch = 50\nsteps = 100"),
        Example::large(MIXTURE, "batch = 1000\nproposal_sd = 0.3"),
    ],
    prepare: |section, setting| {
        if setting.privacy != Privacy::NotPrivate {
            let reason = "\"barker-seita\" protects nothing; say so with [privacy] private = false, or use \"barker-minibatch\"";
            return Err(section.error("name", reason).into());
        }
        let shape = WalkShape::read(section, setting, false)?;
        let (rule, facts) =
            corrected(section, setting.foreseen, section.positive("variance")?.unwrap_or(2.0))?;
        let judgement = Judgement {
            clip: baseline_clip(section)?,
            acceptance: Acceptance::Fixed(rule),
            temper: setting.temper,
            batch: batch(section, setting)?,
            neighbours: Neighbours::Substitute,
            level: Level::Release,
        };
        let model = Arc::clone(setting.model);
        let kernel: MakeKernel = Box::new(move |rng| {
            let walk = shape.walk(rng);
            Box::new(Metropolis::new(Arc::clone(&model), walk, judgement.clone()))
        });
        let price = Price::NotPrivate;
        Ok(Prepared { kernel, price, alternative: None, facts, burn_in: None, forecast: None, view: None })
    },
};
