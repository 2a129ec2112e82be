//! Draws posterior samples over private records, with a certificate of differential privacy.
//!
//! A [`Spec`] is what a person writes: where the records are, what is public about them, a model, a budget and a
//! sampler. A [`Plan`] is what follows from it without opening the records: the price of a step, how many the
//! budget buys, the bill. A [`Folder`] takes a plan, writes its [`Certificate`], lets the curator answer the
//! sampler's questions, and keeps the [`Draws`] and their [`Summary`].
//!
//! Records enter the curator and only paid answers leave it; everything after an answer is public. The journey
//! of one record from file to certificate is told in `ARCHITECTURE.md`.

pub mod diagnostics;
mod error;
pub mod formula;
pub mod insecure;
pub mod models;
pub mod plan;
pub mod public_rng;
pub mod run;
pub mod samplers;
pub mod simulate;
pub mod spec;

/// The accountant, useful on its own.
pub use barkeep_accounting as accounting;
/// The gate between records and samplers.
pub use barkeep_curator as curator;
/// Records and their public description.
pub use barkeep_data as data;
/// The block-wise model trait and the built-in models.
pub use barkeep_model as model;
/// Special functions and small linear algebra.
pub use barkeep_num as num;

pub use diagnostics::Summary;
pub use error::Error;
pub use plan::certificate::{Certificate, Verified};
pub use plan::facts::Fact;
pub use plan::start::PlannedStart;
pub use plan::{Bill, Plan};
pub use public_rng::PublicRng;
pub use run::draws::{Draws, Outcome};
pub use run::folder::{CERTIFICATE, Folder};
pub use run::{Run, Runner, Unwatched, Watch};
pub use simulate::Simulation;
pub use spec::{BuiltIn, Data, Privacy, Sampler, Spec, SpecError};

/// The README's snippets, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
