//! Tells what a differentially private run costs. Pure: no data, no randomness.

mod contract;
mod cost;
mod double;
mod error;
pub mod gaussian;
mod rule;
mod units;

pub use contract::Contract;
pub use cost::{BarkerBound, Cost, Mechanism};
pub use error::Error;
pub use gaussian::Gaussian;
pub use rule::{
    BATCH_ROUNDING, CLAMP, Coin, Component, Correction, LARGEST_SIGMA, Rule, SMALLEST_SIGMA, Side,
};
pub use units::{
    Bracket, Delta, Epsilon, Mu, Neighbours, Order, Probability, Rate, Ratio, Rho, Sampling, Sensitivity,
    Steps, Variance,
};
