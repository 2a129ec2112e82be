//! barkeep-curator.

mod error;
mod rng;
mod sigma;

pub use error::Refused;
pub use rng::NoiseRng;
pub use sigma::LatticeSigma;
