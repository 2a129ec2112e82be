//! `langevin`: Langevin dynamics on all records, private by its own noise (after Wang, Fienberg, Smola 2015).
//!
//! θ' = θ + (h/2)·(T·Σᵢ clip_B(∇ᵢ) + prior gradient) + √h·N(0, I) in whitened coordinates. The normal is the curator's, N(0, 4/h) on
//! the integer sum: a step is μ-GDP with μ = T·B·√h, and K steps with μ = T·B·√(Kh). **Privacy depends on diffusion time
//! only**; a smaller step costs nothing but computation.

use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, GAUSSIAN, LOGISTIC};
use crate::samplers::kernels::flow::Integrator;
use crate::samplers::prepare::diffusion::{DIFFUSION_KEYS, prepare};

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "langevin",
    summary: "Langevin dynamics, whitened by public Fisher information; its own noise is what protects",
    keys: &[&DIFFUSION_KEYS],
    start: StartRule::PriorMode,
    private: true,
    gradients: true,
    examples: &[
        Example::small(400, ""),
        Example::large(GAUSSIAN, ""),
        Example::large(LOGISTIC, ""),
        Example::large(LOGISTIC, "precondition = 'learned'").named("learned whitening"),
    ],
    prepare: |section, setting| prepare(section, setting, 2.0, |step| Integrator::Overdamped { step }),
};
