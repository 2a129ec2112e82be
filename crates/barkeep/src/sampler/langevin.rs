//! `langevin`: Langevin dynamics on all records, private by its own noise (after Wang, Fienberg, Smola 2015).
//!
//! θ' = θ + (h/2)·(T·Σᵢ clip_B(∇ᵢ) + prior gradient) + √h·N(0, I) in whitened coordinates. The normal is the curator's, N(0, 4/h) on
//! the integer sum: a step is μ-GDP with μ = T·B·√h, and K steps with μ = T·B·√(Kh). **Privacy depends on diffusion time
//! only**; a smaller step costs nothing but computation.

use super::diffusion::{DIFFUSION_KEYS, prepare};
use super::flow::Integrator;
use super::preset::Preset;

/// The sampler.
pub(super) const PRESET: Preset = Preset {
    name: "langevin",
    summary: "Langevin dynamics, whitened by public Fisher information; its own noise is what protects",
    keys: &[&DIFFUSION_KEYS],
    prepare: |section, setting| prepare(section, setting, 2.0, |step| Integrator::Overdamped { step }),
};
