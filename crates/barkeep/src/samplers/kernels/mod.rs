//! The loops that move a chain: each asks the curator and moves by the answer.

#[cfg(test)]
mod closed_form;
pub mod flow;
pub(crate) mod given;
pub(crate) mod grid;
pub mod leapfrog;
pub mod metropolis;
pub(crate) mod variational;
