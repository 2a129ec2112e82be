//! Judges a sample by itself and against another one: convergence, distances; free of privacy cost.
//!
//! - [`Verdict`] says what a run is good for: trustworthy, wide, or not to be trusted;
//! - [`convergence`] holds R-hat, effective sample sizes and the Monte Carlo error of the mean;
//! - [`moments`] holds mean, variance and quantiles;
//! - [`Points`] is a sample, [`mmd`] its distance from another.
//!
//! **Privacy.** Every function here reads draws, which are public, and nothing else: its results are
//! post-processing and may be published. Quantities computed from records, such as the share of clipped
//! log-ratios, do not belong here.

pub mod convergence;
pub(crate) mod digits;
pub mod mmd;
pub mod moments;
mod points;
pub(crate) mod selection;
mod verdict;

pub use digits::shown;
pub use points::Points;
pub use verdict::{Check, Grade, Verdict};
