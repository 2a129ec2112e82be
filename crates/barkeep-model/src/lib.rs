//! Says how likely a record is: programs of per-record log densities and gradients, priors, built-in models.
//!
//! A [`Likelihood`] turns a parameter vector θ into a [`Program`](barkeep_machine::Program) that computes one number per
//! record (a log density or a log ratio) or one per record and coordinate (a gradient). [`terms`] turn these into what questions ask. A
//! [`Model`] holds the other public facts: prior, information, bounds, simulation.
//!
//! **Privacy.** Nothing here reads the curator's records, and nothing here is trusted. The machine's programs see one record at a time, and the
//! curator bounds what each contributes, whatever the program is.

mod entry;
mod error;
pub mod families;
mod family;
mod language;
mod likelihood;
mod model;
pub mod models;
mod prior;
mod regression;
mod scratch;
mod settings;
mod statistics;
mod sums;
pub mod terms;
mod transform;
mod variates;

pub use entry::{Build, ModelEntry, Sides, sides};
pub use error::Error;
pub use family::{
    Choice, Family, FamilyEntry, Law, Link, NodeRule, Nuisance, NuisanceEntry, Predicted, Response, Seen,
};
pub use language::{TextError, TextModel};
pub use likelihood::{Centring, Given, Gradient, Likelihood, StandIns};
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
pub use statistics::Statistics;
pub use transform::{Belief, Transform};

/// `stem`1, `stem`2, … for names of coordinates.
pub(crate) fn numbered(stem: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{stem}{number}")).collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
use tests::check;
