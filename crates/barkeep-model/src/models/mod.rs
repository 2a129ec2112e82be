//! Gathers the built-in models, one file each, all of the same shape.

pub(crate) mod banana;
pub(crate) mod circle;
pub(crate) mod gaussian;
pub(crate) mod mixture;
