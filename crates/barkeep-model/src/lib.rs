//! Says how likely a record is: per-record log densities and gradients by block, priors, built-in models.
//!
//! A [`Model`] turns a [`Block`](barkeep_data::Block) of records and a parameter vector θ into one number per
//! record (a log density or a log ratio) or one per record and coordinate (a gradient), using a [`Scratch`]
//! of reusable buffers. It never clips, rounds or sums: that is the curator's part, so a model cannot get the
//! privacy wrong.

pub mod cholesky;
mod error;
mod kernel;
mod model;
mod models;
mod scratch;
mod simulation;
mod variates;

pub use error::Error;
pub use model::Model;
pub use models::gaussian::GaussianMean;
pub use scratch::Scratch;
pub use simulation::simulate;

/// `stem`1, `stem`2, … for names of coordinates.
pub(crate) fn numbered(stem: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{stem}{number}")).collect()
}
