//! One file for every sampler a spec can name: its keys, its examples, its price, its kernel.
//!
//! To add one, write `my_sampler.rs` with a constant `ENTRY` and add its name to the list below. Help, catalogue, audit, the
//! stability test and the book's reference follow from the entry.

use crate::samplers::entry::SamplerEntry;

/// Declares each sampler's module and lists its entry.
macro_rules! samplers {
    ($($name:ident),* $(,)?) => {
        $(pub(crate) mod $name;)*

        /// Every sampler, in the order shown to users.
        pub const SAMPLERS: &[SamplerEntry] = &[$($name::ENTRY),*];
    };
}

samplers![
    auto,
    noise_aware,
    langevin,
    underdamped,
    barker,
    lazy_barker,
    penalty,
    penalty_minibatch,
    barker_corrected,
    barker_minibatch,
    dp_hmc,
    sgld,
    sgnht,
    sgfs,
    dpvi,
    statistics,
    ops,
    rwmh,
    barker_seita,
    hmc,
];
