//! Prices samplers that publish noisy gradients: Langevin diffusions on all records, and DP-SGLD, DP-SGNHT and DP-SGFS on
//! batches drawn without replacement (Wang, Fienberg, Smola 2015; Li et al. 2019).
//!
//! The papers' τ, T and L are called here what they are: batch, passes over the data, and the Lipschitz bound that
//! clips each record's gradient. Every sampler is reduced to the ratio of one noisy sum, substitution neighbours; what
//! the ratio costs is the accountant's business. The papers' own calibrations are given too. Their constants do not
//! follow from their proofs: [`crate::calibration`] uses them only where the accountant agrees.

use barkeep_num::{down_by, up_by};

use crate::{Delta, Epsilon, Error, Ratio, Sampling, Steps};

/// One step of overdamped Langevin, θ' = θ + (h/2)·(g + prior) + √h·N(0, I), every record's gradient clipped to `clip`.
///
/// The noise on the tempered sum g is N(0, 4/h) and its sensitivity 2·T·clip, so μ = T·clip·√h: K steps have
/// μ = T·clip·√(Kh), whatever the step size. **Privacy depends on diffusion time only.**
///
/// # Errors
/// [`Error::Argument`] unless all three are finite and above 0.
pub fn langevin_ratio(clip: f64, time: f64, temper: f64) -> Result<Ratio, Error> {
    positive("clip", clip)?;
    positive("time", time)?;
    positive("temper", temper)?;
    quotient(1.0, temper * clip * time.sqrt())
}

/// A run of stochastic-gradient steps: T passes over n records in batches of b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Passes {
    records: u64,
    batch: u64,
    passes: f64,
}

impl Passes {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`Error::Argument`] unless 1 ≤ b ≤ n and T is finite and above 0.
    pub fn new(records: u64, batch: u64, passes: f64) -> Result<Self, Error> {
        super::thesis::batch_rate(batch, records)?;
        positive("passes", passes)?;
        Ok(Self { records, batch, passes })
    }

    /// ⌊nT/b⌋ steps.
    #[must_use]
    pub fn steps(&self) -> Steps {
        // A cast saturates.
        Steps(self.real_steps() as u64)
    }

    /// How batches are drawn.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        Sampling::WithoutReplacement { batch: self.batch, records: self.records }
    }

    /// Records in a batch.
    #[must_use]
    pub fn batch(&self) -> u64 {
        self.batch
    }

    fn real_steps(&self) -> f64 {
        self.records as f64 * self.passes / self.batch as f64
    }

    /// ln(2.5·nT/(bδ))·ln(2/δ), which both published calibrations share.
    fn logarithms(&self, delta: f64) -> f64 {
        libm::log(2.5 * self.real_steps() / delta) * libm::log(2.0 / delta)
    }

    /// The papers' premise T ≥ ε²n/(32·b·ln(2/δ)).
    fn premise(&self, epsilon: f64, delta: f64) -> Result<(), Error> {
        let rate = self.batch as f64 / self.records as f64;
        let least = epsilon * epsilon / (32.0 * rate * libm::log(2.0 / delta));
        if self.passes >= least {
            Ok(())
        } else {
            Err(Error::Mismatch(
                "the published calibration holds only for more passes over the data, \
                 at least ε²n/(32·batch·ln(2/δ)); use the tight one",
            ))
        }
    }

    /// The published calibration of DP-SGLD and DP-SGNHT as a ratio: noise variance
    /// 128·nT·L²/(bε²)·ln(2.5nT/(bδ))·ln(2/δ)·η² on the update against its sensitivity 2Lη·n/b (Algorithm 2, Theorem 4).
    ///
    /// # Errors
    /// [`Error::Mismatch`] where the paper's premise on the passes fails; [`Error::Argument`] for ε = 0.
    pub fn published_ratio(&self, epsilon: Epsilon, delta: Delta) -> Result<Ratio, Error> {
        positive("epsilon", epsilon.get())?;
        self.premise(epsilon.get(), delta.get())?;
        let variance =
            128.0 * self.real_steps() / (epsilon.get() * epsilon.get()) * self.logarithms(delta.get());
        quotient(variance.sqrt() * self.batch as f64, 2.0 * self.records as f64)
    }

    /// The published calibration of DP-SGFS for a total of (ε, δ): σ of Algorithm 4 at (ε/2, δ/2), rounded up, for Theorem 5
    /// promises (2ε, 2δ).
    ///
    /// # Errors
    /// As [`Passes::published_ratio`].
    pub fn published_fisher_sigma(&self, epsilon: Epsilon, delta: Delta) -> Result<f64, Error> {
        positive("epsilon", epsilon.get())?;
        let (epsilon, delta) = (0.5 * epsilon.get(), 0.5 * delta.get());
        self.premise(epsilon, delta)?;
        let variance = 32.0 * self.passes * self.logarithms(delta)
            / (self.records as f64 * self.batch as f64 * epsilon * epsilon);
        Ok(up_by(variance.sqrt(), 8))
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(Error::Argument { name, requirement: "a finite number above 0", value })
    }
}

/// A ratio rounded down by more than the few operations that led to it.
fn quotient(noise: f64, sensitivity: f64) -> Result<Ratio, Error> {
    Ratio::new(down_by(noise / sensitivity, 8))
}

#[cfg(test)]
mod tests;
