//! Serves the tests of this crate: programs that echo records, questions of every kind, and verdicts on samples.

pub(crate) mod echo;
pub(crate) mod questions;
pub(crate) mod statistics;
