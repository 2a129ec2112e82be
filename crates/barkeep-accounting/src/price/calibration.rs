//! Solves for what a budget buys: the smallest noise, the largest clip, diffusion time or sensitivity; always on the safe side.
//!
//! The most steps are [`crate::Query::largest_steps`]. Every answer here was itself accepted by the accountant, or is rounded
//! to the side that costs less; a search that stops early gives more noise or less time, never less privacy.

use barkeep_num::{down_by, try_largest_real, try_smallest_real};

use crate::engines::chooser::Accountant;
use crate::mechanisms::{Decision, Gaussian};
use crate::theorems::gradients::{self, Passes};
use crate::{
    Cost, Delta, Epsilon, Error, GaussianRun, Mu, Neighbours, Ratio, Rule, Sampling, Sensitivity, Steps,
};

/// Units in the last place given away, so that a run split into steps whose ratios are rounded still fits.
const MARGIN: u32 = 64;

/// Relative precision of a search that asks an accountant at every step.
const PRECISION: f64 = 1e-6;

/// The smallest noise, as a ratio to the sensitivity, with which `steps` Gaussian mechanisms stay within (ε, δ).
///
/// **Precision.** To the last digits on full batches, 10⁻⁶ above the optimum at most on sampled ones.
///
/// ```
/// use barkeep_accounting::{Delta, Epsilon, Neighbours, Sampling, Steps, calibration};
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let ratio = calibration::smallest_ratio(Sampling::Full, Neighbours::Substitute, Steps(100), epsilon, delta)?;
/// assert!((ratio.get() - 42.2).abs() < 0.1);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
///
/// # Errors
/// [`Error::Mismatch`] if sampling and neighbours do not go together; [`Error::Unbounded`] if no noise is enough.
pub fn smallest_ratio(
    sampling: Sampling,
    neighbours: Neighbours,
    steps: Steps,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Ratio, Error> {
    // Sampling only helps, so the ratio for full batches is enough, and the search starts there.
    let enough = GaussianRun::smallest_ratio(steps, epsilon, delta)?;
    Cost::new(Gaussian { ratio: enough }, sampling, neighbours)?;
    if sampling.rate() == 1.0 || steps.0 == 0 {
        return Ok(enough);
    }
    let fits = |ratio: f64| {
        let mechanism = Gaussian { ratio: Ratio::new(ratio)? };
        fits_within(Cost::new(mechanism, sampling, neighbours)?, steps, epsilon, delta)
    };
    // Below a thousandth of the full-batch ratio hardly any rate could help.
    let found = try_smallest_real(1e-3 * enough.get(), enough.get(), PRECISION, fits)?;
    Ratio::new(found.unwrap_or(enough.get()))
}

/// Which noise a stochastic-gradient sampler is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradientNoise {
    /// The paper's formula, where its premise holds and the accountant finds that it keeps its promise.
    Published,
    /// The smallest that the accountant accepts.
    Tight,
}

/// The ratio of each noisy batch gradient of DP-SGLD or DP-SGNHT, for a whole run within (ε, δ).
///
/// The update's noise variance is [`gradients::update_variance`] of it.
///
/// # Errors
/// [`Error::Mismatch`] if the published noise was asked for and its premise fails, or it costs more than promised;
/// otherwise as [`smallest_ratio`].
pub fn gradient_ratio(
    run: &Passes,
    noise: GradientNoise,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Ratio, Error> {
    match noise {
        GradientNoise::Published => {
            let ratio = run.published_ratio(epsilon, delta)?;
            promised(run, ratio, epsilon, delta)?;
            Ok(ratio)
        }
        GradientNoise::Tight => {
            smallest_ratio(run.sampling(), Neighbours::Substitute, run.steps(), epsilon, delta)
        }
    }
}

/// σ of DP-SGFS (Algorithm 4 of its paper) for a whole run within (ε, δ), gradient and covariance together.
///
/// # Errors
/// As [`gradient_ratio`].
pub fn fisher_sigma(
    run: &Passes,
    noise: GradientNoise,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<f64, Error> {
    match noise {
        GradientNoise::Published => {
            let sigma = run.published_fisher_sigma(epsilon, delta)?;
            promised(run, gradients::fisher_ratio(sigma, run.batch())?, epsilon, delta)?;
            Ok(sigma)
        }
        GradientNoise::Tight => {
            let ratio = gradient_ratio(run, GradientNoise::Tight, epsilon, delta)?;
            Ok(gradients::fisher_sigma(ratio, run.batch()))
        }
    }
}

/// Asks the accountant whether a published noise does what it is published for.
fn promised(run: &Passes, ratio: Ratio, epsilon: Epsilon, delta: Delta) -> Result<(), Error> {
    let cost = Cost::new(Gaussian { ratio }, run.sampling(), Neighbours::Substitute)?;
    if fits_within(cost, run.steps(), epsilon, delta)? {
        Ok(())
    } else {
        Err(Error::Mismatch("the published noise costs more than it promises; use the tight one"))
    }
}

/// The largest sensitivity of the log-ratio at which `steps` decisions stay within (ε, δ), each of them only a bit.
///
/// The clip is half of it over the tempering, Δ = 2·T·B.
///
/// **Precision.** 10⁻⁶ below the optimum at most.
///
/// # Errors
/// As [`crate::Query::decision`]; [`Error::Unbounded`] if not even a sensitivity of 10⁻⁹ fits.
pub fn largest_sensitivity(
    rule: &Rule,
    steps: Steps,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Sensitivity, Error> {
    let fits = |sensitivity: f64| {
        let mechanism = Decision { rule: rule.clone(), sensitivity: Sensitivity::new(sensitivity)? };
        fits_within(Cost::new(mechanism, Sampling::Full, Neighbours::Substitute)?, steps, epsilon, delta)
    };
    let found = try_largest_real(1e-9, crate::CLAMP, PRECISION, fits)?;
    found.map_or(Err(Error::Unbounded("no sensitivity of at least 1e-9 fits")), Sensitivity::new)
}

/// The longest diffusion time a Langevin run may take with gradients clipped to `clip`: t = (μ/(T·clip))².
///
/// # Errors
/// [`Error::Argument`] unless clip and temper are finite and above 0.
pub fn largest_time(clip: f64, temper: f64, epsilon: Epsilon, delta: Delta) -> Result<f64, Error> {
    let reach =
        Mu::largest_within(epsilon, delta).get() / (positive("temper", temper)? * positive("clip", clip)?);
    Ok(down_by(reach * reach, MARGIN).max(0.0))
}

/// The largest clip of a Langevin run of total diffusion time `time`: μ/(T·√time).
///
/// # Errors
/// [`Error::Argument`] unless time and temper are finite and above 0.
pub fn largest_clip(time: f64, temper: f64, epsilon: Epsilon, delta: Delta) -> Result<f64, Error> {
    let spread = positive("temper", temper)? * positive("time", time)?.sqrt();
    Ok(down_by(Mu::largest_within(epsilon, delta).get() / spread, MARGIN).max(0.0))
}

/// Whether so many steps certainly fit.
fn fits_within(cost: Cost, steps: Steps, epsilon: Epsilon, delta: Delta) -> Result<bool, Error> {
    match Accountant::new(&[(cost, Steps(1))]) {
        Ok(mut accountant) => accountant.fits(steps, epsilon, delta),
        Err(Error::Unresolved { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::Argument { name, requirement: "a finite number above 0", value })
    }
}

#[cfg(test)]
mod tests;
