//! Models written as text: parsed, checked, differentiated, and run over blocks of records without a line of Rust.
//!
//! A text ([`parse`], [`build`]) becomes one expression graph ([`graph`]): total, pure, without loops or branches. Gradients and
//! log ratios are transformations of the graph ([`derivative`], [`difference`]); a [`program`] is the graph as a program of the
//! machine, whose constants follow from θ; [`interval`] arithmetic bounds gradients over the declared columns,
//! and [`reach`] bounds them through a matrix.
//!
//! **Privacy.** A text cannot name another record, hold state, fail, or run other instructions for one record than for another. What it
//! computes from a record depends on that record and θ alone: the lemma that every sensitivity proof uses holds by syntax, so
//! a custodian may run a text by somebody they do not trust.

mod build;
mod derivative;
mod difference;
mod fault;
mod functions;
mod graph;
mod information;
mod interval;
mod laws;
mod observed;
mod parameters;
mod parse;
mod program;
mod reach;
mod syntax;
mod text_model;
mod tokens;

pub use fault::TextError;
pub use text_model::TextModel;
