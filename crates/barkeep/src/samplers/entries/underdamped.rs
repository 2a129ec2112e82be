//! `underdamped`: Langevin dynamics with momentum on all records, private by its own noise.
//!
//! In whitened coordinates, with c = e^(−γh) and G the clipped, tempered gradient plus the prior's:
//! v' = c·v + h(1+c)/2·G + √(1−c²)·N(0, I), θ' = θ + h·v'. The normal is the curator's, of variance 4(1−c²)/((1+c)h)² on the
//! integer sum, so a step is μ-GDP with μ² = T²B²h²(1+c)/(1−c); v counts as published. On a standard normal, for any γ, θ
//! and v have variance s = 1/(1 − h²/4) and covariance s·h/2 in stationarity, so the middle θ' − h·v'/2 of a step has
//! variance s(1 − h²/2 + h²/4) = 1 exactly.

use crate::keys::{Key, key};
use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{BANANA, Example};
use crate::samplers::kernels::flow::Integrator;
use crate::samplers::prepare::diffusion::{DIFFUSION_KEYS, prepare};

const KEYS: [Key; 1] = [key("friction", "2", "γ, above 0: 2 forgets fastest")];

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "underdamped",
    summary: "Langevin dynamics with momentum, whitened by public Fisher information",
    keys: &[&DIFFUSION_KEYS, &KEYS],
    start: StartRule::PriorMode,
    private: true,
    gradients: true,
    examples: &[Example::small(400, ""), Example::large(BANANA, "")],
    prepare: |section, setting| {
        let friction = section.positive("friction")?.unwrap_or(2.0);
        let dimension = setting.model.dimension();
        prepare(section, setting, friction, |step| Integrator::Underdamped {
            step,
            friction,
            velocity: vec![0.0; dimension],
        })
    },
};
