//! Composes any mechanisms by their privacy-loss distributions and brackets ε and δ from both sides.

mod amplified;
mod atoms;
mod blocks;
mod characteristic;
mod composed;
mod composer;
mod composition;
mod discrete;
mod dominating_pair;
mod engine;
mod followed;
mod knots;
mod lattice;
mod line;
mod normal;
mod plan;
mod quadrature;
mod query;
mod sketch;
mod tabulated;
#[cfg(test)]
mod tests;
mod truncated;
mod work;

pub(crate) use blocks::whole as whole_blocks;
pub use composition::{Accuracy, Composition};
pub use dominating_pair::DominatingPair;
