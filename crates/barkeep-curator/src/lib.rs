//! barkeep-curator.

mod coin;
mod digits;
mod discrete_gaussian;
mod error;
mod half_normal;
mod normal;
mod rng;
mod sigma;

pub use coin::flip;
pub use discrete_gaussian::discrete_gaussian;
pub use error::Refused;
pub use normal::rounded_normal;
pub use rng::NoiseRng;
pub use sigma::LatticeSigma;
