//! Names what is paid: units, the cost of one question, contracts, and the measures of privacy they translate into.

mod across_runs;
mod answer;
mod bill;
pub mod calibration;
pub(crate) mod coin_error;
mod contract;
mod cost;
mod filters;
mod measures;
mod privacy_curve;
mod units;

pub use across_runs::{RunCharge, RunFilter, Runs, SpentOut};
pub use answer::{Answer, Most};
pub use bill::Bill;
pub use coin_error::CoinError;
pub use contract::Contract;
pub use cost::Cost;
pub use filters::{Exhausted, GdpFilter, ZcdpFilter};
pub use measures::Renyi;
pub(crate) use privacy_curve::Detail;
pub use privacy_curve::{PrivacyCurve, Risk};
pub use units::{
    Bracket, Delta, Epsilon, Mu, Neighbours, Order, Probability, Rate, Ratio, Rho, Sampling, Sensitivity,
    Steps, Variance,
};
