//! Keeps the gate: records go in; a coin's bit, a noisy vector or a choice comes out, paid for in advance.
//!
//! A [`Table`] holds the records; only this crate reads them. A [`Curator`] holds what the chains of a run share: the
//! table, the [`PrivacyModel`] that questions are accounted under, and the [`Budget`]. A [`Gate`] answers one
//! chain, with [`NoiseRng`] randomness of its own. A sampler sees none of them. It gets [`Ask`] and asks: [`Decide`]
//! ("may I move?", answered by a bit), [`Sum`] ("what is the gradient, roughly?", answered by a noisy vector) and
//! [`Choose`] ("which of these points?", answered by one of them). Between records and answer, every value is a [`Secret`],
//! which only this crate opens. [`insecure`] holds every door that gives up privacy,
//! and [`partials`] the way to records that workers of a cluster hold.
//!
//! The curator knows no statistical model. A question carries a [program](barkeep_machine::Program): a list of arithmetic steps that
//! turns the columns of one record into that record's numbers, such as its log-ratio or its gradient. A program is public data. It cannot
//! look at a second record, count records, keep anything or choose its own clip. So the curator need not trust whoever wrote it: it runs the
//! program over every record, cuts the result to the [`Shape`] that was paid for, and adds integers up.
//!
//! ```
//! use barkeep_accounting::{Contract, Neighbours, Rule, Sampling, Steps};
//! use barkeep_curator::*;
//! use barkeep_data::{Column, Schema};
//! use barkeep_machine::{Output, Source, Writer};
//! use std::sync::Arc;
//!
//! // Public facts: bounds, the model, the clip, the noise, the number of steps.
//! let schema = Schema::new(vec![Column::real("height", 0.5, 2.5, 1.7)?])?;
//! let mut records = TableBuilder::new(schema, 2)?;
//! records.push_row(&[1.82])?;
//! records.push_row(&[1.63])?;
//! let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
//! let (clip, rule) = (Clip::new(0.1)?, Rule::Penalty { sigma: 2.0 });
//!
//! // What a step will be charged, from the same function the curator charges by; fifty of them are bought.
//! let cost = decide_cost(Temper::NONE, clip, Sampling::Full, &rule, Level::Release, privacy_model)?;
//! let budget = Budget::permits(&Contract::new(vec![(cost, Steps(50))])?);
//! let curator = Arc::new(Curator::new(records.finish()?, privacy_model, budget)?);
//!
//! // Heights are normal around θ with variance 0.01. From θ = 1.70 to 1.71 a record x has the log-ratio
//! // (1.71 − 1.70)/0.01·(x − 1.705) = x − 1.705, which this program writes.
//! let mut writer = Writer::default();
//! let ratio = writer.dot(-1.705, [(1.0, Source::Column(0))]);
//! let program = writer.finish([Output::Dense(ratio)])?;
//!
//! // A chain opens a gate and asks; a sampler gets `&mut dyn Ask`.
//! let ask: &mut dyn Ask = &mut Gate::open(&curator, NoiseRng::from_os()?)?;
//! let question = Decide {
//!     ratio: &program, offset: 0.0, temper: Temper::NONE, clip,
//!     batch: Sampling::Full, rule: &rule, level: Level::Release,
//! };
//! let mut answered = 0;
//! while ask.decide(&question).is_ok() { answered += 1 }
//! assert_eq!(answered, 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is guaranteed, and where it is proved
//!
//! * **A record's share is bounded whatever it is**, in exact integers: [`decide_sensitivity`], [`Shape`]. A
//!   neighbouring change moves one share and no other, since what a program writes of a record depends on that record alone.
//!   Sums of integers are the same for any order of records, any number of threads or machines.
//! * **The cost follows from the question**, by the pure functions [`decide_cost`], [`sum_cost`] and [`choose_cost`], which
//!   the planner calls too; a sampler cannot state its own price. The same call fixes the constants of the answer.
//! * **Charged first, answered then**: the functions that read records take charged questions only. A refusal spends
//!   nothing, changes nothing, and follows from public numbers alone: [`Budget`], [`Ask`].
//! * **Coins and noise are exact**: `random/coin.rs`, [`rounded_normal`], [`discrete_gaussian`]; a choice is off by a factor that
//!   is charged: [`choose_epsilon`].
//! * **No refusal, retry or early end depends on records.** Every asked record is evaluated by the same steps, clipped without branches
//!   and added.
//! * **Nothing else comes out**: no sum, log-ratio, acceptance probability or clip fraction.
//!
//! Under `Neighbours::Substitute` the number of records is public and bounds use it; under `Neighbours::AddRemove`
//! it is secret, may be 0, and no cost or refusal depends on it. Timing is no part of the guarantee.

mod error;
mod gate;
pub mod insecure;
mod lattice;
pub mod partials;
mod random;
mod records;
mod secret;
mod sums;
mod tables;
#[cfg(test)]
mod test_support;

pub use error::Refused;
pub use gate::budget::{Budget, Spent};
pub use gate::curator::Curator;
pub use gate::gate::{Ask, Gate};
pub use gate::priced::{
    LARGEST_DRAWN_RATIO, choose_cost, choose_epsilon, decide_cost, gram_cost, shape_cost, sum_cost,
};
pub use gate::question::{AnyQuestion, Choose, Decide, Level, PrivacyModel, Sum};
pub use lattice::{
    Clip, MOST_RECORDS, Shape, Temper, barker_minibatch_clip, decide_sensitivity, gram_sensitivity,
    gram_width, shape_sensitivity, sigma_for, sum_sensitivity,
};
pub use random::discrete_gaussian::discrete_gaussian;
pub use random::exponential::{LARGEST_CHOICE, MOST_CANDIDATES};
pub use random::normal::rounded_normal;
pub use random::rng::NoiseRng;
pub use random::sigma::LatticeSigma;
pub use records::faults::{faults_centre, faults_clip};
pub use secret::Secret;
pub use sums::terms::{Asked, Term};
pub use tables::builder::{PersonsBuilder, TableBuilder};
pub use tables::table::Table;
