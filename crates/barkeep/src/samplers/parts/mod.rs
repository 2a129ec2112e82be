//! What kernels are made of: proposals, whitening, scoring.

pub(crate) mod proposal;
pub(crate) mod scoring;
pub(crate) mod whitening;
