//! What kernels are made of: proposals, whitening, scoring.

pub mod proposal;
pub mod scoring;
pub mod whitening;
