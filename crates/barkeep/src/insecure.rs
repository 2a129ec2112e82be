//! Gives up privacy, in one place: runs that anyone can repeat, and whose every output says NOT PRIVATE.

use barkeep_model::Likelihood;
use std::sync::Arc;

/// What a run gives up to be repeatable or watched from inside.
///
/// **Privacy.** None: whoever knows the seed can subtract the noise. For tests, papers and simulated records.
#[derive(Clone)]
pub struct Insecure {
    pub(crate) seed: u64,
    pub(crate) likelihood: Option<Arc<dyn Likelihood>>,
}

impl Insecure {
    /// Seeds the protecting randomness, and where the plan names no seed the proposals too.
    #[must_use]
    pub fn seed(seed: u64) -> Self {
        Self { seed, likelihood: None }
    }

    /// Lets the curator ask this likelihood, the plan's own with something that counts or records around it.
    #[must_use]
    pub fn observed_by(self, likelihood: Arc<dyn Likelihood>) -> Self {
        Self { likelihood: Some(likelihood), ..self }
    }
}
