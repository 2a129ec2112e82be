//! Moves chains by asking the curator; never sees a record.
//!
//! A [`Kernel`] makes one step: it proposes from public randomness, asks the curator, and moves. A
//! [`Preset`] is a sampler a spec can name; each lives in a file of its own that says how its spec keys
//! become a kernel and what a step costs.

use crate::draws::Outcome;
use crate::public_rng::PublicRng;
use barkeep_curator::{Ask, Refused};

mod barker;
mod barker_corrected;
mod barker_minibatch;
mod correction_keys;
mod diffusion;
mod dp_hmc;
pub mod dpvi;
pub mod flow;
mod forecast;
pub mod frame;
mod hmc;
mod judged;
mod langevin;
mod lazy_barker;
pub mod leapfrog;
pub mod metropolis;
mod ops;
mod penalty;
mod penalty_minibatch;
pub(crate) mod preset;
pub mod proposal;
mod rwmh;
pub mod scoring;
mod sgfs;
mod sgld;
mod sgnht;
mod statistics;
mod stochastic;
mod underdamped;
mod walk_keys;

pub use preset::{Preset, SAMPLER_KEYS};

/// Every sampler, in the order shown to users.
pub const SAMPLERS: &[Preset] = &[
    langevin::PRESET,
    underdamped::PRESET,
    barker::PRESET,
    lazy_barker::PRESET,
    penalty::PRESET,
    penalty_minibatch::PRESET,
    barker_corrected::PRESET,
    barker_minibatch::PRESET,
    dp_hmc::PRESET,
    sgld::PRESET,
    sgnht::PRESET,
    sgfs::PRESET,
    dpvi::PRESET,
    statistics::PRESET,
    ops::PRESET,
    rwmh::PRESET,
    hmc::PRESET,
];

/// Where a chain is.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// θ.
    pub at: Vec<f64>,
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
        &state.at
    }
}
