//! Gathers the built-in models, one file each, all of the same shape.

pub(crate) mod banana;
pub(crate) mod bernoulli;
pub(crate) mod circle;
pub(crate) mod design;
pub(crate) mod family;
pub(crate) mod gaussian;
pub(crate) mod mixture;
pub(crate) mod products;
pub(crate) mod regression;
