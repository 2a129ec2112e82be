//! Holds what the tests of several modules share.

pub(crate) mod check;
