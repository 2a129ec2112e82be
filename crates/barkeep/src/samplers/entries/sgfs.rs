//! `sgfs`: stochastic-gradient Fisher scoring (Wang, Fienberg, Smola 2015, supplement, Algorithm 4; after Ahn et al. 2012).
//!
//! θ' = θ + 2(P + Q)⁻¹(∇ln p(θ) + (n/b)·T·Σ_{batch} clip(∇ℓᵢ) + noise), P the posterior's precision and Q the covariance of
//! all the noise, both from a private estimate of the records' squared gradients: [`scoring`](crate::samplers::parts::scoring) has the
//! mathematics and the proof that draws are at temperature 1.
//!
//! **Privacy.** One question a step answers with gradients and squares of one batch. The noise is non-spherical: with S from
//! `precondition` a record's Sᵀ∇ℓ is clipped at B, so the paper's public Lipschitz matrix is F = B·S⁻ᵀ, and noise N(0, σ²I) on
//! the clipped sum is S⁻ᵀ·N(0, σ²I) on the gradients. Squares are weighted by 1/(7B), which gives them the paper's noise, 7B
//! times that of a gradient, and lengthens a record's share from B to B√(1 + 1/49). The squares are not centred: at the
//! posterior the mean gradient is O(1/√n), and centring would cost (4 + √2)/7 instead of 2/7.

use crate::samplers::entry::{SamplerEntry, StartRule};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::kernels::flow::Integrator;
use crate::samplers::parts::scoring::Scoring;
use crate::samplers::prepare::stochastic::{Promise, STOCHASTIC_KEYS, Scheme, prepare};
use barkeep_accounting::Ratio;

/// 1/(cB): the paper's noise of a square over that of a gradient, in units of B.
const SQUARES: f64 = 7.0;

/// √(1 + 1/49), rounded up: a record's share over that of its gradient.
const SHARE: f64 = 1.010_152_544_552_211;

/// The published noise: σ on the mean gradient in units of F, so bσ on the sum, against our sensitivity 2·√(1 + 1/49).
const PUBLISHED: Promise = |run, epsilon, delta| {
    let sigma = run.published_fisher_sigma(epsilon, delta)?;
    Ratio::new(0.5 * sigma * run.batch() as f64 / SHARE)
};

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "sgfs",
    summary: "stochastic-gradient Fisher scoring on batches, with a private covariance (Wang, Fienberg, Smola 2015)",
    keys: &[&STOCHASTIC_KEYS],
    start: StartRule::Required,
    private: true,
    gradients: true,
    examples: &[
        Example::small(100, "batch = 10\nstep_size = 0.001\nclip = 1\nsteps = 10"),
        Example::large(GAUSSIAN, "batch = 1000\nstep_size = 0.01\nclip = 3"),
    ],
    prepare: |section, setting| {
        if matches!(section.text("precondition").ok().flatten(), Some("auto" | "fisher-local")) {
            let reason = "must be the same everywhere for \"sgfs\", which learns the rest: \"fisher\", \"none\", or given";
            return Err(section.error("precondition", reason).into());
        }
        let dimension = setting.model.dimension();
        let scheme = Scheme { share: SHARE, published: PUBLISHED, midpoints: Some(false) };
        prepare(section, setting, scheme, move |step, bound| Integrator::Scoring {
            // Time h = 2η.
            step: 2.0 * step,
            scoring: Scoring::new(1.0 / (SQUARES * bound), dimension),
        })
    },
};
