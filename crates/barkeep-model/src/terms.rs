//! Writes what questions ask of a record as programs: gradients, scores, centred scores, tails, coordinates.
//!
//! Each function here is given public numbers alone and returns a [`Term`](barkeep_machine::Term) or a
//! [`Program`](barkeep_machine::Program). **Privacy.** None of this is trusted: the machine checks every program, a program's outputs for a record depend on
//! that record alone, and the curator bounds whatever they are.

mod along;
mod centred;
mod columns;
mod gradient;
mod law_nodes;
mod precondition;
mod score;
mod shifted;
mod tail;

pub use along::along;
pub use centred::centred;
pub use columns::{
    Coordinate, Curve, columns, powers_bound, powers_width, rows_coordinate, standardised, statistics,
};
pub use gradient::gradient;
pub use precondition::Precondition;
pub use score::{score, score_width, second_moments};
pub(crate) use shifted::write_shortened;
pub use shifted::{Centre, shifted};
pub use tail::tail;

#[cfg(test)]
mod tests;
