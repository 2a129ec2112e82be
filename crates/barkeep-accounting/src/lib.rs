//! Tells what a differentially private run costs. Pure: no data, no randomness.

mod accountant;
mod contract;
mod cost;
mod double;
mod error;
mod filters;
pub mod gaussian;
mod measures;
mod query;
pub mod rdp;
mod rule;
mod search;
pub mod theorems;
mod units;

pub use contract::Contract;
pub use cost::{BarkerBound, Cost, Mechanism};
pub use error::Error;
pub use filters::{Exhausted, GdpFilter, Odometer, ZcdpFilter};
pub use gaussian::Gaussian;
pub use measures::{Renyi, TradeOff};
pub use query::{Answer, Query};
pub use rule::{
    BATCH_ROUNDING, CLAMP, Coin, Component, Correction, LARGEST_SIGMA, Rule, SMALLEST_SIGMA, Side,
};
pub use units::{
    Bracket, Delta, Epsilon, Mu, Neighbours, Order, Probability, Rate, Ratio, Rho, Sampling, Sensitivity,
    Steps, Variance,
};
