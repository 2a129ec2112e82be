//! Looks at the draws: are there enough, did chains agree, and does the mean's own error leave the interval standing.

use super::ParameterSummary;
use crate::diagnostics::{Check, Grade};
use std::borrow::Cow;

/// Independent draws below which quantiles are guesses: an interval's end at 5.5 % then rests on fewer than six draws.
const FEW_DRAWS: usize = 100;
/// Draws below which there is no interval at all.
const NO_DRAWS: usize = 20;
/// Effective draws below which the mean's own error is a fifth of a posterior sd or more.
const FEW_EFFECTIVE: f64 = 25.0;
/// Effective draws below which it is half a sd or more, and the effective size itself a guess.
const NO_EFFECTIVE: f64 = 5.0;
/// R-hat above which halves or chains differ by more than their own effective sizes explain.
const APART: f64 = 1.1;
/// R-hat above which halves or chains hold different laws: their means lie more than a sd apart.
const FAR_APART: f64 = 1.4;

/// What draws say of themselves. `independent` draws have no R-hat and need none.
pub(super) fn checks(draws: usize, independent: bool, parameters: &[ParameterSummary]) -> Vec<Check> {
    let mut checks = vec![count(draws)];
    checks.extend(unknown(draws, parameters));
    if !independent {
        checks.extend(agreement(parameters));
        checks.extend(effective(parameters));
    }
    checks
}

/// One draw is never a posterior, nor are twenty.
fn count(draws: usize) -> Check {
    let grade = match draws {
        0..NO_DRAWS => Grade::NotToBeTrusted,
        NO_DRAWS..FEW_DRAWS => Grade::Wide,
        FEW_DRAWS.. => Grade::Trustworthy,
    };
    #[expect(clippy::cast_precision_loss, reason = "a count for the eye")]
    let value = draws as f64;
    let words = match draws {
        0 => "there is no draw".to_owned(),
        1 => "one draw is not a posterior".to_owned(),
        few => format!("{few} draws are summarised"),
    };
    let remedy = match grade {
        Grade::Trustworthy => "",
        Grade::Wide | Grade::NotToBeTrusted => {
            "ask for more draws; a larger epsilon or more records pay for them"
        }
    };
    Check::found("draws", grade, value, words, remedy)
}

/// Parameters whose draws are not finite, or all equal.
fn unknown(draws: usize, parameters: &[ParameterSummary]) -> Option<Check> {
    let stuck =
        |row: &&ParameterSummary| row.mean.is_none() || (draws > 1 && row.sd.is_none_or(|sd| sd == 0.0));
    let row = parameters.iter().find(stuck)?;
    Some(Check {
        key: Cow::Borrowed("moved"),
        grade: Grade::NotToBeTrusted,
        value: None,
        words: format!("{} never moved, or left the real numbers", row.name),
        remedy: "start nearer, take smaller steps, or choose another sampler".to_owned(),
    })
}

/// Whether chains, or the halves of one, hold the same law.
fn agreement(parameters: &[ParameterSummary]) -> Option<Check> {
    let (row, r_hat) = worst(parameters, |row| row.r_hat, f64::max)?;
    let grade = graded(r_hat <= APART, r_hat <= FAR_APART);
    let words = format!("chains or halves of a chain disagree about {}: R-hat {r_hat:.2}", row.name);
    let good = format!("R-hat is at most {r_hat:.3}");
    Some(judged("r_hat", grade, r_hat, words, good, LONGER))
}

/// Whether the draws locate the mean.
fn effective(parameters: &[ParameterSummary]) -> Option<Check> {
    let (row, size) = worst(parameters, |row| row.ess_bulk, f64::min)?;
    let grade = graded(size >= FEW_EFFECTIVE, size >= NO_EFFECTIVE);
    let words = format!(
        "the draws of {} are worth {size:.0} independent ones: its mean is off by about {:.2} posterior sd by chance",
        row.name,
        1.0 / size.max(1.0).sqrt()
    );
    Some(judged("ess", grade, size, words, format!("at least {size:.0} effective draws"), LONGER))
}

const LONGER: &str = "run longer: a larger epsilon or more records buy steps";

fn graded(good: bool, bearable: bool) -> Grade {
    match (good, bearable) {
        (true, _) => Grade::Trustworthy,
        (false, true) => Grade::Wide,
        (false, false) => Grade::NotToBeTrusted,
    }
}

fn judged(key: &'static str, grade: Grade, value: f64, bad: String, good: String, remedy: &str) -> Check {
    match grade {
        Grade::Trustworthy => Check::passed(key, value, good),
        Grade::Wide | Grade::NotToBeTrusted => Check::found(key, grade, value, bad, remedy),
    }
}

/// The parameter with the worst of a number, among those that have it.
fn worst(
    parameters: &[ParameterSummary],
    of: impl Fn(&ParameterSummary) -> Option<f64>,
    worse: impl Fn(f64, f64) -> f64,
) -> Option<(&ParameterSummary, f64)> {
    let rows = parameters.iter().filter_map(|row| Some((row, of(row)?)));
    rows.reduce(|one, other| if worse(one.1, other.1) == one.1 { one } else { other })
}
