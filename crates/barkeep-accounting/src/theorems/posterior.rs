//! Prices one draw from the exact posterior: private by its own randomness, if every log-likelihood is bounded.
//!
//! Wang, Fienberg, Smola 2015, Theorem 1: if |ln p(x|θ)| ≤ B for every record and **every θ of the support**, then one
//! exact draw is 4B-differentially private under substitution. Replacing a record changes the numerator of the
//! posterior density by a factor e^(±2B) and its normalising integral likewise. Likelihoods that are unbounded over the
//! parameter's domain (untruncated Gaussian, Bernoulli near 0 and 1, Poisson) have no such B, and approximate
//! draws forfeit the guarantee.

use barkeep_num::{down_by, up_by};

use crate::{Epsilon, Error, Sensitivity};

/// The bound: ε = 4B for one draw, δ = 0.
///
/// # Errors
/// [`Error::Argument`] if 4B overflows.
pub fn one_draw(log_likelihood_bound: Sensitivity) -> Result<Epsilon, Error> {
    // Multiplying by four is exact.
    Epsilon::new(4.0 * log_likelihood_bound.get())
}

/// The factor min(1, ε/(4B)) by which to scale the log-likelihood for one draw to be ε-private, rounded down.
#[must_use]
pub fn likelihood_scale(log_likelihood_bound: Sensitivity, epsilon: Epsilon) -> f64 {
    let needed = up_by(4.0 * log_likelihood_bound.get(), 1);
    down_by(epsilon.get() / needed, 1).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests;
