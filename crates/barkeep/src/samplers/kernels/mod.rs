//! The loops that move a chain: each asks the curator and moves by the answer.

pub mod flow;
pub mod leapfrog;
pub mod metropolis;
