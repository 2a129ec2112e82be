//! Solves for the smallest noise a budget allows, always on the safe side.
//!
//! The most steps are [`crate::Query::largest_steps`]. The accountant itself accepted every answer given here. A search that
//! stops early gives more noise, never less privacy.

use barkeep_num::{try_largest_real, try_smallest_real};

use crate::engines::chooser::Accountant;
use crate::mechanisms::Gaussian;
use crate::{Cost, Delta, Epsilon, Error, GaussianRun, Neighbours, Ratio, Sampling, Steps};

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

/// The least (or the largest) value between two positive ones with which steps certainly stay within a budget; None if neither end
/// of the range will do.
///
/// `fits` must turn once. What does not resolve does not fit.
///
/// # Errors
/// Those of `fits`, but for [`Error::Unresolved`] and [`Error::Unbounded`].
pub fn edge(
    wanted: Edge,
    (low, high): (f64, f64),
    mut fits: impl FnMut(f64) -> Result<bool, Error>,
) -> Result<Option<f64>, Error> {
    let holds = |value: f64| match fits(value) {
        Err(Error::Unresolved { .. } | Error::Unbounded(_)) => Ok(false),
        found => found,
    };
    match wanted {
        Edge::Least => try_smallest_real(low, high, PRECISION, holds),
        Edge::Largest => try_largest_real(low, high, PRECISION, holds),
    }
}

/// Which end of what fits is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// The least value: more fits too.
    Least,
    /// The largest value: less fits too.
    Largest,
}

/// Whether `steps` steps certainly fit.
fn fits_within(cost: Cost, steps: Steps, epsilon: Epsilon, delta: Delta) -> Result<bool, Error> {
    match Accountant::new(&[(cost, Steps(1))]) {
        Ok(mut accountant) => accountant.fits(steps, epsilon, delta),
        Err(Error::Unresolved { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests;
