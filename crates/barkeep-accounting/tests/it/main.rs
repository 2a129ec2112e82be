//! Tests the accountant from outside, in one program: linking nine would take longer than running them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod contract;
mod decision;
mod fuzz;
mod gaussian;
mod mechanisms;
mod noise_on_a_lattice;
mod properties;
mod reference;
mod theorems;
mod wide;
