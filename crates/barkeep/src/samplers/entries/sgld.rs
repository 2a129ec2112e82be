//! `sgld`: stochastic-gradient Langevin dynamics (Wang, Fienberg, Smola 2015, Algorithm 2).
//!
//! θ' = θ + η(∇ln p(θ) + (n/b)·T·Σ_{batch} clip_L(∇ℓᵢ)) + N(0, v), v at least 2η: drift η goes with noise 2η, which is
//! temperature 1 (published code has drift η with noise η, temperature ½). The batch adds η²(nT)²/b times the
//! gradients' variance; it vanishes against 2η as η does.

use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::kernels::flow::Integrator;
use crate::samplers::prepare::stochastic::{PUBLISH_KEY, STOCHASTIC_KEYS, Scheme, prepare};

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "sgld",
    summary: "stochastic-gradient Langevin dynamics on batches (Wang, Fienberg, Smola 2015)",
    keys: &[&STOCHASTIC_KEYS, &PUBLISH_KEY],
    start: StartRule::Required,
    private: true,
    gradients: true,
    examples: &[
        Example::small(100, "batch = 10\nstep_size = 0.001\nclip = 1\nsteps = 10"),
        Example::large(GAUSSIAN, "batch = 1000\nstep_size = 0.01\nclip = 3"),
    ],
    prepare: |section, setting| {
        // Time h = 2η.
        prepare(section, setting, Scheme::GRADIENTS, |step, _| Integrator::Overdamped { step: 2.0 * step })
    },
};
