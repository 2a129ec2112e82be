//! Checks small linear algebra.

mod cholesky;
mod solve;
mod spectrum;
