//! `sgnht`: stochastic-gradient Nosé–Hoover thermostat (Wang, Fienberg, Smola 2015, after Ding et al. 2014; Li et al. 2019).
//!
//! p' = p − ηξp + η(∇ln p(θ) + (n/b)·T·Σ_{batch} clip_L(∇ℓᵢ)) + N(0, v), v at least 2Aη; θ' = θ + ηp'; ξ' = ξ + η(‖p'‖²/d − 1).
//! The thermostat ξ takes up what noise there is beyond 2Aη, a batch's or the budget's, so draws stay at temperature 1. It starts at the
//! friction that balances the budget's noise, which is known: v/(2η).
//! p and ξ are functions of answers and count as published.

use crate::keys::{Key, key};
use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, LOGISTIC};
use crate::samplers::kernels::flow::Integrator;
use crate::samplers::prepare::stochastic::{PUBLISH_KEY, STOCHASTIC_KEYS, Scheme, prepare};

const KEYS: [Key; 1] = [key("diffusion", "1", "A: the noise has variance 2·A·step_size, or more")];

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "sgnht",
    summary: "stochastic-gradient Nosé-Hoover thermostat on batches (Wang, Fienberg, Smola 2015)",
    keys: &[&STOCHASTIC_KEYS, &PUBLISH_KEY, &KEYS],
    start: StartRule::Required,
    private: true,
    gradients: true,
    examples: &[
        Example::small(100, "batch = 10\nstep_size = 0.001\nclip = 1\nsteps = 10"),
        Example::large(LOGISTIC, "batch = 1000\nstep_size = 0.01\nclip = 1"),
    ],
    prepare: |section, setting| {
        let diffusion = section.positive("diffusion")?.unwrap_or(1.0);
        let dimension = setting.model.dimension();
        prepare(section, setting, Scheme::GRADIENTS, move |step, _| Integrator::Thermostat {
            step,
            diffusion,
            momentum: vec![0.0; dimension],
            friction: diffusion,
        })
    },
};
