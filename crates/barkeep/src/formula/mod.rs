//! Reads a regression's formula, such as `late ~ hour + distance + origin`, against the declared columns.
//!
//! A formula is parsed into terms ([`Formula`]), which the schema turns into features ([`Layout`]): categories are coded
//! by their declared levels, functions act on bounded columns. Nothing here touches a record.

mod corners;
mod implied;
mod layout;
mod moments;
mod parse;
mod spec;
mod tokens;

pub(crate) use implied::implied_schema;
pub use layout::{Layout, Trials};
pub use parse::{Atom, Formula, Function, Term, TrialsOf};
pub(crate) use spec::{REGRESSION_KEYS, build};
pub use tokens::{FormulaError, Span};

#[cfg(test)]
mod tests;
