//! Serves the tests of this crate: a model that echoes its records, and verdicts on samples.

pub(crate) mod echo;
pub(crate) mod questions;
pub(crate) mod statistics;
