//! Synthetic records: what the answers say about columns, and records drawn from it.

pub(crate) mod columns;
pub(crate) mod copula;
pub(crate) mod origin;
pub(crate) mod sobol;
