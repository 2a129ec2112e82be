//! One file for every sampler a spec can name: its keys, its price, its kernel.

pub(crate) mod barker;
pub(crate) mod barker_corrected;
pub(crate) mod barker_minibatch;
pub(crate) mod dp_hmc;
pub(crate) mod dpvi;
pub(crate) mod hmc;
pub(crate) mod langevin;
pub(crate) mod lazy_barker;
pub(crate) mod ops;
pub(crate) mod penalty;
pub(crate) mod penalty_minibatch;
pub(crate) mod rwmh;
pub(crate) mod sgfs;
pub(crate) mod sgld;
pub(crate) mod sgnht;
pub(crate) mod statistics;
pub(crate) mod underdamped;
