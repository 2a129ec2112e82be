//! Draws posterior samples over private records, with a certificate of differential privacy.

pub mod diagnostics;
pub mod draws;
pub mod files;
pub mod models;
pub mod public_rng;
pub mod sampler;
pub mod spec;
