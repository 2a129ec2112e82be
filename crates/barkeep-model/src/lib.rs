//! Says how likely a record is: per-record log densities and gradients by block, priors, built-in models.
//!
//! A [`Likelihood`] turns a [`Block`](barkeep_data::Block) of records and a parameter vector θ into one number per
//! record (a log density or a log ratio) or one per record and coordinate (a gradient), using a [`Scratch`]
//! of reusable buffers. It never clips, rounds or sums: that is the curator's part. A [`Model`] holds what is public
//! beside it: prior, information, bounds, simulation.
//!
//! **Privacy.** Likelihoods are trusted code. The curator bounds what a record contributes by clipping its term, and
//! that suffices only if the term of a record depends on no other record. No type enforces this: whoever writes a
//! likelihood answers for it.

mod affine;
#[cfg(test)]
mod check;
mod entry;
mod error;
pub mod families;
mod family;
mod given;
mod kernel;
mod language;
mod likelihood;
mod model;
pub mod models;
mod prior;
mod regression;
mod scratch;
mod settings;
mod sloped;
mod statistics;
mod sums;
pub mod terms;
mod transform;
mod variates;

/// The machine's, under the name that laws of texts know.
mod gamma {
    pub(crate) use barkeep_machine::{digamma, ln_gamma, trigamma};
}

pub use affine::Affine;
pub use entry::{Build, ModelEntry, Sides, sides};
pub use error::Error;
pub use family::{
    Choice, Family, FamilyEntry, Law, Link, NodeRule, Nuisance, NuisanceEntry, Observed, Response, Seen,
};
pub use given::{Centring, Given, StandIns};
pub use language::{TextError, TextModel};
pub use likelihood::{Gradient, Likelihood};
pub use model::{Model, ReadAs};
pub use models::banana::{Banana, BananaPosterior, Bend};
pub use models::bernoulli::BernoulliRate;
pub use models::circle::Circle;
pub use models::gaussian::GaussianMean;
pub use models::mixture::Mixture;
pub use prior::Prior;
pub use regression::{CentredScore, Design, NodeRoom, Regression, ScoreBlock, Scorer};
pub use scratch::Scratch;
pub use settings::{Key, Settings, key};
pub use sloped::{Line, Sloped};
pub use statistics::{RecordStatistics, Statistics};
pub use transform::{Belief, Transform};

/// `stem`1, `stem`2, … for names of coordinates.
pub(crate) fn numbered(stem: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{stem}{number}")).collect()
}
