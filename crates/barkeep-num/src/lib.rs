//! Computes the numbers everything else stands on: special functions, log-space sums, outward rounding, safe-side search,
//! convolution, small linear algebra, and functions of whole blocks of numbers.
//!
//! Every function takes and returns plain `f64` and says in its documentation what it returns for
//! NaN, infinities and arguments outside its domain. Where an error bound is stated under **Precision**, it is the
//! worst found over the tables in `tests/tables`, computed by mpmath at 60 digits; print it again with
//! `cargo test -p barkeep-num --test num tables -- --nocapture`.
//!
//! Elementary functions come from the `libm` crate rather than the platform, so that an accountant and the
//! program it accounts for compute the same bits on every machine.

pub mod convolution;
pub mod lagged;
pub mod linear;
pub mod log_space;
pub mod rounding;
pub mod search;
pub mod special;
pub mod vector;

pub use log_space::{log_add_exp, log_sub_exp, log_sum_exp, log1m_exp};
pub use rounding::{down, down_by, up, up_by};
pub use search::{
    largest_integer, largest_real, smallest_real, try_largest_guessed, try_largest_integer, try_largest_real,
    try_smallest_real,
};
pub use special::{erfc, erfcx, ln_binomial, ln_erfc, ln_gamma, ln_normal_cdf, normal_cdf, normal_quantile};
