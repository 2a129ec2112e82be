//! Adds records' terms up as integers: exact, the same on any number of threads, with each record's share bounded.

pub(crate) mod fold;
pub(crate) mod passes;
pub(crate) mod programs;
pub(crate) mod terms;
