//! Prices DP penalty and DP Hamiltonian Monte Carlo as the thesis on DP Metropolis–Hastings does: by what the noisy
//! log-ratios and gradients would reveal if they were released.
//!
//! All hold for substitution of one record, noise proportional to sensitivity: σ(θ,θ') = τ√n·c(θ,θ'), where c is the
//! largest change of λ by one record (the thesis writes p for ln p in its definition). Then the ratio σ/c = τ√n is
//! constant though σ is not. The thesis' exponent α is ½ throughout, as in all its experiments.

use barkeep_num::{down_by, up_by};

use crate::{Delta, Epsilon, Error, GaussianRun, Rate, Ratio, Steps};

/// The ratio σ/c = τ√n of DP penalty (Theorem 3.1 with α = ½), rounded down.
///
/// Theorem 3.2, k iterations are exactly one Gaussian mechanism with m = k/(2τ²n), is [`GaussianRun::new`] at this ratio, and
/// Algorithm 2 is [`GaussianRun::largest_steps`].
///
/// # Errors
/// [`Error::Argument`] if there are no records or the product is not a positive number.
pub fn penalty_ratio(tau: f64, records: u64) -> Result<Ratio, Error> {
    if records == 0 {
        return Err(Error::Argument { name: "records", requirement: "at least 1", value: 0.0 });
    }
    Ratio::new(down_by(tau * (records as f64).sqrt(), 2)).map_err(|_| Error::Argument {
        name: "tau",
        requirement: "a finite number above 0",
        value: tau,
    })
}

/// The ratio √τ of minibatch DP penalty, whose τ is a variance ratio: σ² = τc². Rounded down.
///
/// # Errors
/// [`Error::Argument`] unless τ is a finite number above 0.
pub fn minibatch_ratio(tau: f64) -> Result<Ratio, Error> {
    Ratio::new(down_by(tau.sqrt(), 1)).map_err(|_| Error::Argument {
        name: "tau",
        requirement: "a finite number above 0",
        value: tau,
    })
}

/// q = b/n, rounded up.
///
/// # Errors
/// [`Error::Argument`] unless 1 ≤ b ≤ n.
pub fn batch_rate(batch: u64, records: u64) -> Result<Rate, Error> {
    let rate = if batch == records { 1.0 } else { up_by(batch as f64 / records as f64, 2).min(1.0) };
    Rate::new(rate).map_err(|_| Error::Argument {
        name: "batch",
        requirement: "at least 1 and at most the number of records",
        value: batch as f64,
    })
}

/// How far ½σ_b², half the batch's own variance, may move when one record of the batch is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VarianceSensitivity {
    /// κ = 3: Lemma 3.4 of the thesis.
    Thesis,
    /// κ = 2, which is attained.
    ///
    /// With other records' sum S, replacing r by r' moves Σr² − (Σr)²/b by (1−1/b)(r²−r'²) − (2/b)S(r−r'). At the worst
    /// S = ±(b−1)R this is (b−1)/b·[(r+R)² − (r'+R)²], at most (b−1)/b·4R². Times (nT)²/(2b²): κ = 2.
    Tight,
}

/// c of Theorem 3.5: the sensitivity of λ* − ½σ_b² on one batch, c = 2nTR/b + κ(nT/b)²(1−1/b)R², rounded up.
///
/// `tempered_records` is nT, `clip` is R = L‖θ−θ'‖, the bound on one record's |log-ratio|.
#[must_use]
pub fn minibatch_sensitivity(
    tempered_records: f64,
    batch: u64,
    clip: f64,
    variance: VarianceSensitivity,
) -> f64 {
    let batch = batch as f64;
    let kappa = match variance {
        VarianceSensitivity::Thesis => 3.0,
        VarianceSensitivity::Tight => 2.0,
    };
    let scaled = tempered_records / batch * clip;
    up_by(2.0 * scaled + kappa * scaled * scaled * (1.0 - 1.0 / batch), 8)
}

/// One proposal of DP Hamiltonian Monte Carlo: one noisy log-ratio and L+1 noisy gradients.
///
/// Noise standard deviations are 2τ_l√n·b_l‖θ_L−θ_0‖ and 2τ_g√n·b_g (Theorem 4.3 prints them as variances).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hmc {
    /// τ_l, the noise of the acceptance test.
    pub tau: f64,
    /// τ_g, the noise of each gradient.
    pub tau_gradient: f64,
    /// L, leapfrog steps.
    pub leapfrog: u64,
    /// n.
    pub records: u64,
}

impl Hmc {
    /// The ratios of the acceptance test and of each gradient, and the number of gradients, L+1.
    ///
    /// # Errors
    /// [`Error::Argument`] names the offending parameter.
    pub fn releases(&self) -> Result<[(Ratio, Steps); 2], Error> {
        let test = penalty_ratio(self.tau, self.records)?;
        let gradient = penalty_ratio(self.tau_gradient, self.records).map_err(|_| Error::Argument {
            name: "tau-gradient",
            requirement: "a finite number above 0",
            value: self.tau_gradient,
        })?;
        Ok([(test, Steps(1)), (gradient, Steps(self.leapfrog.saturating_add(1)))])
    }

    /// Theorem 4.3: k proposals are exactly one Gaussian mechanism with m = k/(2τ_l²n) + k(L+1)/(2τ_g²n).
    ///
    /// # Errors
    /// As [`Hmc::releases`] and [`GaussianRun::new`]; [`Error::Unresolved`] if k(L+1) exceeds 2⁶⁴.
    pub fn theorem_4_3(&self, steps: Steps) -> Result<GaussianRun, Error> {
        self.releases()?.iter().try_fold(GaussianRun::nothing(), |sum, (ratio, per_step)| {
            let count = per_step.0.checked_mul(steps.0).map(Steps);
            let count = count.ok_or(Error::Unresolved {
                what: "the number of gradients",
                reason: "steps times leapfrog steps exceeds 2^64",
            })?;
            sum.and(GaussianRun::new(*ratio, count)?)
        })
    }

    /// The most proposals within (ε, δ): Algorithm 2 on Theorem 4.3.
    ///
    /// # Errors
    /// As [`Hmc::theorem_4_3`] for a single proposal.
    pub fn largest_steps(&self, epsilon: Epsilon, delta: Delta) -> Result<Steps, Error> {
        self.theorem_4_3(Steps(1))?;
        let target = crate::gaussian::ln_bracket(delta).0;
        let fits = |k: u64| self.theorem_4_3(Steps(k)).is_ok_and(|run| run.ln_delta(epsilon).upper <= target);
        Ok(Steps(barkeep_num::largest_integer(0, u64::MAX, fits).unwrap_or(0)))
    }
}
