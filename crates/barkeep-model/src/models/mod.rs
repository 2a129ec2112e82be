//! Gathers the built-in models, one file each, all of the same shape.

pub(crate) mod gaussian;
