//! Finds how many steps a budget buys after questions that are asked once, before the first step.

use crate::samplers::entry::Questions;
use barkeep_accounting::{Contract, Cost, Delta, Epsilon, Error, GaussianRun, Query, Steps};
use barkeep_num::try_largest_guessed;

/// The contract of `first`, once, and `step`, `steps` times.
pub(crate) fn contract(
    first: &[(Cost, Steps)],
    step: &[(Cost, Steps)],
    steps: u64,
) -> Result<Contract, Error> {
    let times = |(cost, times): &(Cost, Steps)| (cost.clone(), Steps(times.0.saturating_mul(steps)));
    Contract::new(first.iter().cloned().chain(step.iter().map(times)).collect())
}

/// The most steps that `first` and they together stay within (ε, δ), with their ε where the search came across it; none if
/// `first` alone does not.
///
/// **Privacy.** The answer was itself composed and seen to fit; that it is the largest rests on ε growing with
/// the steps.
///
/// # Errors
/// As [`Query::largest_steps`] and [`Contract::epsilon`].
pub(crate) fn most_steps(
    first: &Questions,
    step: &Questions,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Option<(Steps, Option<f64>)>, Error> {
    let most = Query::new(step.clone())?.most(epsilon, delta)?;
    let alone = most.steps;
    if first.is_empty() {
        return Ok(Some((alone, most.epsilon)));
    }
    let cost = |steps: u64| contract(first, step, steps)?.epsilon_above(delta);
    // Composing is expensive. The loss of a run, as that of Gaussian noise, grows about in proportion to its steps.
    let loss = |epsilon: f64| {
        Epsilon::new(epsilon)
            .map_or(f64::INFINITY, |epsilon| GaussianRun::largest_within(epsilon, delta).rho().upper)
    };
    let start = cost(0)?;
    if start > epsilon.get() {
        return Ok(None);
    }
    let (aim, slope) = (loss(epsilon.get()) - loss(start), loss(epsilon.get()) / alone.0.max(1) as f64);
    let found = try_largest_guessed(0, alone.0.saturating_add(1), aim / slope, |steps| {
        let spent = cost(steps)?;
        Ok((spent <= epsilon.get(), steps as f64 * aim / (loss(spent) - loss(start))))
    })?;
    Ok(Some((Steps(found), None)))
}
