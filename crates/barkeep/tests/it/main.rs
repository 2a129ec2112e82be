//! Tests plans and samplers from outside, in one program: linking seven would take longer than it saves.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set itself up has failed")]

mod batches;
mod builder;
mod diffusion_specs;
mod hamiltonian;
mod off_centre;
mod proposals;
mod rule;
