//! Moves chains by asking the curator; never sees a record.
//!
//! A [`SamplerEntry`] is a sampler a spec can name: [`SAMPLERS`] lists them all. Inside, `entries` has one file per sampler,
//! which turns spec keys into a kernel and the price of a step; `prepare` reads the keys that several samplers share;
//! `kernels` has the loops, and `parts` what they are made of.

use crate::diagnostics::Check;
use crate::public_rng::PublicRng;
use crate::step::Outcome;
use barkeep_curator::Refused;

pub(crate) mod asker;
pub(crate) mod entries;
pub(crate) mod entry;
pub(crate) mod example;
pub(crate) mod foreseen;
pub(crate) mod kernels;
pub(crate) mod noise_aware;
pub(crate) mod parts;
pub(crate) mod prepare;

pub(crate) use asker::Asker;

pub use crate::step::Proposal;
pub use entries::SAMPLERS;
pub use entry::{Expected, SAMPLER_KEYS, SamplerEntry, StartRule};
pub use example::ExampleSpec;

/// Where a chain is.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// θ.
    pub theta: Vec<f64>,
    /// ln p(θ), kept so that it is not computed twice.
    pub log_prior: f64,
}

/// One step of a chain.
pub(crate) trait Kernel: Send {
    /// Moves `state` by one step, or leaves it.
    ///
    /// # Errors
    /// The curator's refusal; the state is untouched then.
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused>;

    /// What is published of the step just made: the state, unless the sampler has a better view of it.
    ///
    /// **Privacy.** A function of answers and public randomness only, like the state itself.
    fn published<'a>(&'a self, state: &'a State) -> &'a [f64] {
        &state.theta
    }

    /// What the kernel has to say of its chain once it has ended.
    ///
    /// **Privacy.** A function of answers and public facts only.
    fn report(&self) -> Report {
        Report::default()
    }
}

/// What a kernel says of a chain that ended; the verdict is made of it and of the draws.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Report {
    /// What it looked at: the fit of its answers, a clip, a prior against the records.
    pub(crate) checks: Vec<Check>,
    /// Whether draws do not depend on each other given the answers: R-hat says nothing then.
    pub(crate) independent: bool,
    /// Draws at the start of the chain to leave out of the summary, where the kernel knows better than the plan.
    pub(crate) warmup: Option<u64>,
    /// The sampler that ran, where answers chose it.
    pub(crate) branch: Option<&'static str>,
    /// Where a fit of answers stood before the first round of them, and after each.
    pub(crate) path: Vec<Vec<f64>>,
}
