//! Draws posterior samples over private records, with a certificate of differential privacy.
//!
//! # The nouns
//!
//! | noun | what it is |
//! | --- | --- |
//! | [`Spec`] | what a person decides: [`Data`] (what is public about the records), a model, [`Privacy`] (the budget), a [`Sampler`] |
//! | [`Plan`] | what follows from a spec without opening the records: steps, [`Bill`], [`Fact`]s, warnings; it cannot be edited |
//! | [`Certificate`] | what a plan guarantees and under which premises; anyone can [verify](Certificate::verify) it |
//! | [`Run`] | what a plan yields on a table of records: [`Draws`] in memory, their [`Summary`], and the certificate it ran under |
//! | [`Folder`] | keeps a run on disk: its certificate before the first answer, every answer before the next question, draws as they come |
//! | [`Finished`] | a run read back, from its folder or from memory: what [`predict`] and reports start from |
//!
//! A spec is text ([`Spec::parse`]) or built in code ([`Spec::built_in`], and [`Spec::new`] for a model of your own). It
//! becomes a plan by [`Spec::plan`], a plan becomes a run by [`Plan::run`], a run becomes files by [`Run::save`].
//!
//! ```
//! use barkeep::curator::TableBuilder;
//! use barkeep::data::{Column, Records, Schema};
//! use barkeep::{BuiltIn, Data, Privacy, Sampler, Spec};
//!
//! // Public: nothing here was found by looking at the records.
//! let schema = Schema::new(vec![Column::real("height", 1.0, 2.5, 1.7)?])?;
//! let data = Data::new(schema.clone(), Records(1000));
//! let model = BuiltIn::named("gaussian").with("covariance", 0.01);
//! let spec = Spec::built_in(&data, model, Privacy::budget(1.0, 1e-6)?)?;
//!
//! // How many steps the budget buys, before any record is read.
//! let sampler = Sampler::named("langevin").with("start", vec![1.7]);
//! let plan = spec.sampler(sampler).plan()?;
//! assert!(plan.epsilon().is_some_and(|upper| upper.get() <= 1.0));
//!
//! // Private: the curator alone sees these.
//! let mut table = TableBuilder::new(schema, 1000)?;
//! for person in 0..1000 {
//!     table.push_row(&[1.5 + 0.0004 * f64::from(person)])?;
//! }
//! let run = plan.run(table.finish()?)?;
//! println!("{}\n{}", run.summary(), run.certificate.statement);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The rooms
//!
//! Records enter the [curator] and only paid answers leave it; everything after an answer is public. The [accounting]
//! crate says what answers cost and is useful on its own, [data] describes and reads records, [model] holds
//! likelihoods and priors. `ARCHITECTURE.md` follows one record from file to certificate. Runs that give up privacy go
//! through [`insecure`], and all they yield is marked NOT PRIVATE.

mod check;
pub mod custody;
pub mod diagnostics;
mod error;
pub mod facts;
pub mod formula;
pub mod insecure;
pub mod job;
mod keys;
pub mod models;
pub mod plan;
pub mod predict;
mod public_rng;
pub mod run;
pub mod samplers;
mod shape;
pub mod shards;
pub mod signature;
mod simulate;
pub mod spec;
mod start;
mod step;
pub mod units;

/// The accountant, useful on its own.
pub use barkeep_accounting as accounting;
/// The gate between records and samplers.
pub use barkeep_curator as curator;
/// Records and their public description.
pub use barkeep_data as data;
/// The custodian's books.
pub use barkeep_ledger as ledger;
/// The block-wise model trait and the built-in models.
pub use barkeep_machine as machine;
pub use barkeep_model as model;
/// Special functions and small linear algebra.
pub use barkeep_num as num;

pub use check::{Check, Independently};
pub use error::Error;
pub use facts::Fact;
pub use keys::SpecError;
pub use plan::start::PlannedStart;
pub use plan::{Bill, ColumnFaults, FaultCounts, Plan};
pub use public_rng::PublicRng;
pub use run::certificate::{Certificate, Charged, Hashes, Verified};
pub use run::draws::Draws;
pub use run::finished::{Finished, Trace};
pub use run::folder::{CERTIFICATE, Folder, Reserved, Saved};
pub use run::journal::JOURNAL;
pub use run::{Redraw, Run, Runner, Summary, Unwatched, Watch};
pub use signature::{PublicKey, SigningKey};
pub use simulate::{Simulation, rehearsal};
pub use spec::{BuiltIn, ChargedTo, Data, Privacy, Sampler, Spec};
pub use step::Outcome;
pub use units::Units;

/// The book's snippets, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/accounting.md")]
struct Accounting;
