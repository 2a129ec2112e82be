//! Draws the randomness that needs no secrecy: proposals and starting points.
//!
//! A run stays private when this seed is known, because every answer about records is protected by the
//! curator's own source, [`barkeep_curator::NoiseRng`]. The two types share no trait, so that one cannot be
//! passed where the other is expected.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Public randomness, reproducible from its seed.
pub struct PublicRng(ChaCha8Rng);

impl PublicRng {
    /// The stream of one chain: the same seed and chain give the same numbers on every machine.
    #[must_use]
    pub fn new(seed: u64, chain: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(chain);
        Self(rng)
    }

    /// A seed from the operating system, for a spec that names none; the run's report states it.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    #[expect(clippy::disallowed_methods, reason = "a public seed; the protecting source has its own door")]
    pub fn fresh_seed() -> std::io::Result<u64> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)
            .map_err(|_| std::io::Error::other("the operating system gives no randomness"))?;
        // Seeds travel through TOML and JSON, whose whole numbers are safe up to 2^53.
        Ok(u64::from_le_bytes(bytes) >> 11)
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        self.0.sample(StandardNormal)
    }

    /// Uniform on [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0.random()
    }

    /// Uniform on the open interval (0, 1), as simulations of records want it.
    pub fn open_uniform(&mut self) -> f64 {
        self.0.sample(rand_distr::Open01)
    }

    /// Uniform on 0..n.
    pub fn index(&mut self, n: usize) -> usize {
        self.0.random_range(0..n)
    }

    /// −1 or 1.
    pub fn sign(&mut self) -> f64 {
        if self.0.random() { 1.0 } else { -1.0 }
    }
}

#[cfg(test)]
mod tests;
