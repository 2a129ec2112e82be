//! Computes what a composition costs: five engines, and the [chooser] that picks the tightest valid one.
//!
//! * [`gaussian`]: the closed form, exact for any mixture of Gaussian mechanisms.
//! * [`bits`]: the binomial sum, exact for one kind of bit.
//! * [`decision`]: the optimal adaptive attack on acceptance bits, bounded from both sides.
//! * [`pld`]: privacy-loss distributions, for anything with a dominating pair; [`mixture`] adds decisions to them.
//! * [`renyi`]: Rényi divergences, order by order; upper bounds for everything.

mod binomial;
mod bits;
pub(crate) mod chooser;
pub mod decision;
pub(crate) mod double;
pub mod gaussian;
mod mixture;
pub(crate) mod orders;
pub mod pld;
pub mod renyi;
