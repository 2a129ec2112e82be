//! Moves chains by asking the curator; never sees a record.
//!
//! A [`Kernel`] makes one step: it proposes from public randomness, asks the curator, and moves. A
//! [`SamplerEntry`] is a sampler a spec can name; each lives in a file of its own that says how its spec keys
//! become a kernel and what a step costs.

use crate::public_rng::PublicRng;
use crate::run::draws::Outcome;
use barkeep_curator::{Ask, Refused};

pub(crate) mod entries;
pub(crate) mod entry;
pub(crate) mod example;
pub mod kernels;
pub mod parts;
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
pub trait Kernel: Send {
    /// Moves `state` by one step, or leaves it.
    ///
    /// **Errors** the curator's refusal; the state is untouched then.
    fn step(&mut self, state: &mut State, ask: &mut dyn Ask, rng: &mut PublicRng)
    -> Result<Outcome, Refused>;

    /// What is published of the step just made: the state, unless the sampler has a better view of it.
    ///
    /// **Privacy.** A function of answers and public randomness only, like the state itself.
    fn published<'a>(&'a self, state: &'a State) -> &'a [f64] {
        &state.theta
    }
}
