//! Draws what protects answers: coins, normal noise and batches, all with exact probabilities.

pub(crate) mod batch;
pub(crate) mod coin;
pub(crate) mod digits;
pub(crate) mod discrete_gaussian;
pub(crate) mod exponential;
pub(crate) mod half_normal;
pub(crate) mod normal;
pub(crate) mod rng;
pub(crate) mod sigma;
pub(crate) mod skip;
#[cfg(test)]
mod tests;
