//! Judges a sample by itself and against another one: summaries, convergence, distances; free of privacy cost.
//!
//! - [`Verdict`] says what a run is good for: trustworthy, wide, or not to be trusted;
//! - [`Summary`] states per parameter where the posterior lies and how far the chains can be trusted;
//! - [`convergence`] holds R-hat, effective sample sizes and the Monte Carlo error of the mean;
//! - [`moments`] holds mean, variance and quantiles;
//! - [`Points`] measures a sample's distance from known moments, [`mmd`] its distance from another sample.
//!
//! **Privacy.** Every function here reads draws, which are public, and nothing else: its results are
//! post-processing and may be published. Quantities computed from records, such as the share of clipped
//! log-ratios, do not belong here.

pub mod convergence;
mod location;
pub mod mmd;
pub mod moments;
mod points;
mod selection;
mod summary;
mod table;
mod verdict;

pub use points::{MomentDistance, Points};
pub use summary::{ChainSummary, MOST_COMPARED, OriginalSummary, ParameterSummary, Ratio, Summary};
pub use table::shown;
pub use verdict::{Check, Grade, Verdict};
