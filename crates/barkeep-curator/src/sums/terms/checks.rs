//! Checks states, paths and matrices against the model, all of them public.

use crate::error::question;
use crate::{Along, Precondition, Refused};
use barkeep_data::{Schema, Unit};
use barkeep_model::{CentredScore, Likelihood, Scorer};

/// A state has the model's dimension and finite coordinates.
pub(crate) fn check_state(name: &'static str, state: &[f64], dimension: usize) -> Result<(), Refused> {
    if state.len() == dimension && state.iter().all(|coordinate| coordinate.is_finite()) {
        Ok(())
    } else {
        Err(question(name, "finite, with one entry per parameter of the model"))
    }
}

/// A path has finite states and weights, of the same number, for a model with gradients; over records, whose gradients are clipped one by
/// one as the path's own were.
pub(crate) fn check_path(along: Along<'_>, likelihood: &dyn Likelihood, unit: Unit) -> Result<(), Refused> {
    let Along { points, weights, .. } = along;
    let count = points.len() / likelihood.dimension().max(1);
    check_state("along", points, count * likelihood.dimension())?;
    check_state("along", weights, points.len())?;
    if !likelihood.has_gradient() {
        return Err(question("along", "nothing where the model has no gradients"));
    }
    if unit != Unit::Record {
        return Err(question("along", "nothing where rows belong to persons"));
    }
    Ok(())
}

/// A gradient is asked for where the model has one, and mapped by a matrix of its size.
pub(super) fn check_gradient(
    theta: &[f64],
    precondition: Precondition<'_>,
    dimension: usize,
) -> Result<(), Refused> {
    check_state("theta", theta, dimension)?;
    if precondition.fits(dimension) {
        Ok(())
    } else {
        Err(question("precondition", "of the model's dimension, with finite entries"))
    }
}

/// The scores a question asks for.
pub(super) fn scorer<'a>(
    score: CentredScore<'a>,
    likelihood: &'a dyn Likelihood,
    schema: &Schema,
) -> Result<Scorer<'a>, Refused> {
    let finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
    if !(finite(score.theta) && finite(score.whitening) && score.clip.is_finite() && score.clip > 0.0) {
        return Err(question("score", "of finite numbers, with a clip above 0"));
    }
    let top = schema.columns().first().map_or(f64::INFINITY, |response| response.range().1);
    likelihood.regression().and_then(|regression| regression.scorer(score, top)).ok_or(question(
        "model",
        "a regression whose family states its law, and a matrix of the block's size",
    ))
}
