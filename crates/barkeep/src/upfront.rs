//! Finds how many steps a budget buys after questions that are asked once, before the first step.

use crate::sampler::preset::Questions;
use barkeep_accounting::{Contract, Cost, Delta, Epsilon, Error, Gaussian, Query, Steps};

/// The contract of `first`, once, and `step`, `steps` times.
pub(crate) fn contract(
    first: &[(Cost, Steps)],
    step: &[(Cost, Steps)],
    steps: u64,
) -> Result<Contract, Error> {
    let times = |(cost, times): &(Cost, Steps)| (cost.clone(), Steps(times.0.saturating_mul(steps)));
    Contract::new(first.iter().cloned().chain(step.iter().map(times)).collect())
}

/// The most steps that `first` and they together stay within (ε, δ); none if `first` alone does not.
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
) -> Result<Option<Steps>, Error> {
    let alone = Query::new(step.clone())?.largest_steps(epsilon, delta)?;
    if first.is_empty() {
        return Ok(Some(alone));
    }
    let cost = |steps: u64| Ok::<f64, Error>(contract(first, step, steps)?.epsilon(delta)?.upper);
    // Looks are dear. The loss of a run, as that of Gaussian noise, grows about in proportion to its steps.
    let loss = |epsilon: f64| {
        Epsilon::new(epsilon)
            .map_or(f64::INFINITY, |epsilon| Gaussian::largest_within(epsilon, delta).rho().upper)
    };
    let start = cost(0)?;
    if start > epsilon.get() {
        return Ok(None);
    }
    let (aim, slope) = (loss(epsilon.get()) - loss(start), loss(epsilon.get()) / alone.0.max(1) as f64);
    let (mut inside, mut outside) = (0_u64, alone.0.saturating_add(1));
    // A cast saturates.
    let mut guess = (aim / slope) as u64;
    for look in 0.. {
        if outside - inside <= 1 {
            break;
        }
        // After a dozen looks the guesses are not to be trusted, and halving ends the search.
        let next = if look < 12 { guess } else { inside + (outside - inside) / 2 };
        let steps = next.clamp(inside + 1, outside - 1);
        let spent = cost(steps)?;
        if spent <= epsilon.get() {
            inside = steps;
        } else {
            outside = steps;
        }
        guess = (steps as f64 * aim / (loss(spent) - loss(start))) as u64;
    }
    Ok(Some(Steps(inside)))
}
