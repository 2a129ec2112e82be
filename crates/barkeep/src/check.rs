//! Asks the checker, which shares no code with the accountant, what a bill costs.

use crate::Error;
use barkeep_accounting::{Bill, Delta, Epsilon, Risk};
use serde::{Deserialize, Serialize};

/// Multiplications after which a check is no longer quick, some 50 ms. A count and not a clock: the same bill is checked, or not, on every machine.
const QUICK: f64 = 1e8;

/// Multiplications after which a library's check is given up, some ten seconds.
pub(crate) const PATIENT: f64 = 2e10;

/// What a certificate says where no check finished before the run.
const NOT_CHECKED: &str = "not checked independently";

/// How far a stated figure may be from what another machine computes, relative.
const TOLERANCE: f64 = 1e-6;

/// What the checker found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Check {
    /// An upper bound on ε.
    pub epsilon: f64,
    /// Whether that is more than 5 % above the claim: then the accountant or the checker is wrong.
    pub contradicts: bool,
    /// What the bill means for one person, by the checker's own curve.
    pub meaning: Risk,
}

impl Check {
    /// Refuses a claim that the check contradicts.
    ///
    /// # Errors
    /// [`Error::Certificate`] if it does.
    pub(crate) fn must_not_contradict(&self, claim: Epsilon) -> Result<(), Error> {
        if !self.contradicts {
            return Ok(());
        }
        let (found, claim) = (self.epsilon, claim.get());
        let reason =
            format!("the independent check finds epsilon {found}, more than 5 % above the stated {claim}");
        Err(Error::Certificate(reason))
    }
}

/// What a certificate says of the checker's word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Independently {
    /// An upper bound on ε.
    Epsilon(f64),
    /// No check finished before the run; whoever verifies the certificate may wait for one.
    Not(String),
}

impl Independently {
    /// What was found before the run, or that nothing was.
    pub(crate) fn of(found: Option<Check>) -> Self {
        let rounded = |check: Check| format!("{:.8e}", check.epsilon * (1.0 + 1e-8)).parse().ok();
        found.and_then(rounded).map_or_else(|| Self::Not(NOT_CHECKED.to_owned()), Self::Epsilon)
    }

    /// Whether it says what this machine finds, given enough time.
    pub(crate) fn agrees_with(&self, found: Option<Check>) -> bool {
        match self {
            Self::Epsilon(stated) => {
                found.is_some_and(|found| (stated - found.epsilon).abs() <= TOLERANCE * found.epsilon.abs())
            }
            Self::Not(words) => words == NOT_CHECKED,
        }
    }
}

/// Checks a bill for which ε is claimed; `keep` is asked with the share of the work that is done and the multiplications since it was last asked.
///
/// # Errors
/// Why there is no answer, in words.
pub(crate) fn check(
    bill: &Bill,
    claim: Epsilon,
    delta: Delta,
    keep: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Check, String> {
    // The checker reads the bill as a certificate writes it.
    let read: barkeep_verify::Bill = serde_json::to_value(bill)
        .and_then(serde_json::from_value)
        .map_err(|_| "the bill has a part that the checker does not know".to_owned())?;
    let checked = read.check(claim.get(), delta.get(), keep).map_err(|error| error.to_string())?;
    let risk = checked.risk();
    let meaning = Risk {
        advantage: risk.advantage,
        true_positives_at_1_percent: risk.true_positives_at_1_percent,
        true_positives_at_0_1_percent: risk.true_positives_at_0_1_percent,
        odds_factor: (1000.0 * risk.true_positives_at_0_1_percent).next_up(),
    };
    Ok(Check { epsilon: checked.epsilon(), contradicts: checked.contradicts(claim.get()), meaning })
}

/// The same, where it takes no time that anyone notices.
pub(crate) fn quick(bill: &Bill, claim: Epsilon, delta: Delta) -> Option<Check> {
    check(bill, claim, delta, &mut at_most(QUICK)).ok()
}

/// Says no after this many multiplications.
pub(crate) fn at_most(work: f64) -> impl FnMut(f64, f64) -> bool {
    let mut left = work;
    move |_, more| {
        left -= more;
        left >= 0.0
    }
}
