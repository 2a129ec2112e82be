//! barkeep-curator.

mod batch;
mod coin;
mod digits;
mod discrete_gaussian;
mod error;
mod half_normal;
mod normal;
mod rng;
mod sigma;
mod skip;
#[cfg(test)]
mod statistics;

pub use batch::Batch;
pub use coin::flip;
pub use discrete_gaussian::discrete_gaussian;
pub use error::Refused;
pub use normal::rounded_normal;
pub use rng::NoiseRng;
pub use sigma::LatticeSigma;
