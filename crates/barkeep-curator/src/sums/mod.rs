//! Adds records' terms up as integers: exact, the same on any number of threads, with each record's share bounded.

pub(crate) mod coordinates;
pub(crate) mod fold;
pub(crate) mod gram;
pub(crate) mod lattice;
pub(crate) mod own_terms;
pub(crate) mod passes;
pub(crate) mod preconditions;
pub(crate) mod programs;
pub(crate) mod scores;
pub(crate) mod sweep;
pub(crate) mod terms;
