//! The loops that move a chain: each asks the curator and moves by the answer.

#[cfg(test)]
mod closed_form;
pub(crate) mod flow;
pub(crate) mod given;
pub(crate) mod grid;
pub(crate) mod leapfrog;
pub(crate) mod metropolis;
pub(crate) mod variational;
pub(crate) mod vigil;
