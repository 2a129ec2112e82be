//! Tells what a differentially private run costs. Pure: no data, no randomness.

mod error;
mod units;

pub use error::Error;
pub use units::{
    Bracket, Delta, Epsilon, Mu, Neighbours, Order, Rate, Ratio, Rho, Sampling, Sensitivity, Steps,
};
