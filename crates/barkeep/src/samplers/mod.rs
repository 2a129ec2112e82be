//! Moves chains by asking the curator; never sees a record.
//!
//! A [`SamplerEntry`] is a sampler a spec can name: [`SAMPLERS`] lists them all. Inside, `entries` has one file per sampler,
//! which turns spec keys into a kernel and the price of a step; `prepare` reads the keys that several samplers share;
//! `kernels` has the loops, and `parts` what they are made of.

use crate::public_rng::PublicRng;
use crate::run::draws::Outcome;
use barkeep_curator::{Ask, Refused};

pub(crate) mod entries;
pub(crate) mod entry;
pub(crate) mod example;
pub(crate) mod kernels;
pub(crate) mod parts;
pub(crate) mod prepare;

pub use entries::SAMPLERS;
pub use entry::{SAMPLER_KEYS, SamplerEntry, StartRule};
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
    fn step(&mut self, state: &mut State, ask: &mut dyn Ask, rng: &mut PublicRng)
    -> Result<Outcome, Refused>;

    /// What is published of the step just made: the state, unless the sampler has a better view of it.
    ///
    /// **Privacy.** A function of answers and public randomness only, like the state itself.
    fn published<'a>(&'a self, state: &'a State) -> &'a [f64] {
        &state.theta
    }
}
