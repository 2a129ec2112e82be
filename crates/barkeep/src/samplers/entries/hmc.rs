//! `hmc`: Hamiltonian Monte Carlo, a baseline that protects nothing and says so.

use crate::keys::{Key, key};
use crate::samplers::entry::{Prepared, Price, SamplerEntry, StartRule};
use crate::samplers::example::{BANANA, Example};
use crate::samplers::kernels::leapfrog::Path;
use crate::samplers::kernels::metropolis::{Acceptance, Judgement};
use crate::samplers::prepare::path_keys::{
    BASELINE_CLIP_KEYS, PATH_KEYS, baseline_clip, clip, kernels, path, path_facts, usual_mass,
};
use crate::spec::Privacy;
use barkeep_accounting::{Neighbours, Rule, Sampling};
use barkeep_curator::Level;

const KEYS: [Key; 1] = [key("clip_gradient", "1000", "bound on one record's gradient, in Euclidean norm")];

/// The baseline.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "hmc",
    summary: "Hamiltonian Monte Carlo; NOT PRIVATE, a baseline",
    keys: &[&PATH_KEYS, &BASELINE_CLIP_KEYS, &KEYS],
    start: StartRule::Required,
    private: false,
    gradients: true,
    examples: &[
        Example::small(20, "step = 0.05\nsteps = 100"),
        Example::large(BANANA, "leapfrog = 3\nstep = 0.001"),
    ],
    prepare: |section, setting| {
        if setting.privacy != Privacy::NotPrivate {
            let reason = "\"hmc\" protects nothing; say so with [privacy] private = false, or use \"dp-hmc\"";
            return Err(section.error("name", reason).into());
        }
        let (mass, step, leapfrog) = path(section, setting.model.dimension())?;
        let step = section.require("step", step)?;
        let mass = mass.unwrap_or_else(|| usual_mass(setting, Some(step)));
        let bound = section.positive("clip_gradient")?.unwrap_or(1000.0);
        let path = Path {
            mass,
            step,
            leapfrog,
            temper: setting.temper,
            clip: clip(section, "clip_gradient", bound)?,
            sigma: 0.0,
            // Exact gradients are worth keeping: the same sum would be asked for again.
            reuse: true,
            batch: Sampling::Full,
            friction: false,
        };
        let judgement = Judgement {
            clip: baseline_clip(section)?,
            acceptance: Acceptance::Fixed(Rule::Metropolis),
            temper: setting.temper,
            batch: Sampling::Full,
            neighbours: Neighbours::Substitute,
            level: Level::Decision,
        };
        let facts = path_facts(&path);
        let kernel = kernels(setting, path, judgement);
        Ok(Prepared {
            kernel,
            price: Price::NotPrivate,
            alternative: None,
            facts,
            burn_in: None,
            forecast: None,
            view: None,
        })
    },
};
