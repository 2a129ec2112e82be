//! Turns accuracy into budgets: what other budgets and more records would give, and which ε an accuracy takes.
//!
//! Everything is found by planning again: the numbers are the plan's own forecast, whatever the sampler. Where only the forecast is
//! wanted, the steps that a budget buys are estimated.

use super::Plan;
use super::default_sampler::AUTO;
use super::price::Count;
use crate::Error;
use crate::samplers::entry::Expected;
use crate::samplers::foreseen::Foreseen;
use crate::spec::{Privacy, Spec, SpecError};
use barkeep_accounting::Epsilon;
use barkeep_data::Records;
use serde::Serialize;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Another budget or another number of records, and what a run under it is expected to give.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Alternative {
    /// ε.
    pub epsilon: f64,
    /// The number of records, or of persons.
    pub records: Records,
    /// The expected error of a mean, in posterior standard deviations; absent where nothing can be bought or foreseen.
    pub expected_error: Option<f64>,
    /// The expected width over that without privacy.
    pub expected_width: Option<f64>,
    /// Why the error is larger although there are more records, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
}

/// A diffusion that has no time to leave its start is as far off as that start: √n posterior standard deviations.
const STUCK: &str = "the run stays near its start, and the more records there are, the more standard deviations away that lies";

/// So few records that privacy moves a mean as far as the prior allows.
const PRIOR_RULES: &str =
    "with so few records the prior alone limits how far a mean is moved, in larger standard deviations";

/// The sampler that asks for scores, whatever the number of records.
const NOISE_AWARE: &str = "noise-aware";

/// Largest ε that is searched: beyond it hardly anything is protected.
const LARGEST_EPSILON: f64 = 100.0;
/// Most records that are searched.
const MOST_RECORDS: u64 = 1 << 32;
/// The search ends when it knows its answer to this part.
const PRECISION: f64 = 0.01;

impl Plan {
    /// What half and twice the ε, and ten times the records, would give. Empty for a baseline and where this plan itself
    /// foresees nothing.
    #[must_use]
    pub fn alternatives(&self) -> Vec<Alternative> {
        let (Privacy::Budget { epsilon, .. }, Some(own)) = (self.spec.privacy(), self.expected) else {
            return Vec::new();
        };
        let records = self.spec.data().records();
        let more = Records(records.0.saturating_mul(10).min(MOST_RECORDS));
        [(0.5 * epsilon.get(), records), (2.0 * epsilon.get(), records), (epsilon.get(), more)]
            .into_iter()
            .map(|(epsilon, records)| {
                let expected = expected(&self.spec, epsilon, records, Count::Rough, &self.foreseen);
                let is_worse = expected.is_some_and(|expected| expected.error > own.error);
                Alternative {
                    reason: (is_worse && records == more).then(|| self.why_worse()),
                    epsilon,
                    records,
                    expected_error: expected.map(|expected| expected.error),
                    expected_width: expected.map(|expected| expected.width),
                }
            })
            .collect()
    }

    /// Why more records are expected to be served worse.
    fn why_worse(&self) -> &'static str {
        match self.sampler().name {
            AUTO | NOISE_AWARE => PRIOR_RULES,
            _ => STUCK,
        }
    }

    /// The plan of the least ε, to one percent, whose forecast error is at most `error` posterior standard deviations: accuracy
    /// in, ε out.
    ///
    /// # Errors
    /// [`Error::Spec`] for an error that is not above 0 and for a spec without a budget, [`Error::Budget`] where no ε up
    /// to 100 would do.
    pub fn for_error(spec: Spec, error: f64) -> Result<Self, Error> {
        let Privacy::Budget { epsilon, .. } = spec.privacy() else {
            return Err(SpecError::new(
                "privacy",
                "has no budget to solve for; a baseline has no privacy error",
            )
            .into());
        };
        if !(error > 0.0 && error.is_finite()) {
            return Err(SpecError::new("error", "must be above 0, in posterior standard deviations").into());
        }
        let records = spec.data().records();
        let foreseen = Arc::new(Foreseen::default());
        let reached = |epsilon: f64| {
            expected(&spec, epsilon, records, Count::Certified, &foreseen)
                .is_some_and(|found| found.error <= error)
        };
        match least(epsilon.get(), (1e-3, LARGEST_EPSILON), reached) {
            Some(epsilon) => Self::new(spec.with_epsilon(Epsilon::new(epsilon)?)),
            None => Err(Error::Budget(format!(
                "no epsilon up to {LARGEST_EPSILON} is expected to bring the error of a mean down to {error} posterior \
                 standard deviations{}",
                match enough_records(&spec, epsilon.get(), error, &foreseen) {
                    Some(records) => format!("; about {records} records would, at epsilon {}", epsilon.get()),
                    None => String::new(),
                }
            ))),
        }
    }
}

/// What is said when a budget buys nothing: which ε would buy a step, and how many records.
pub(super) fn what_would_do(spec: &Spec, foreseen: &Arc<Foreseen>) -> String {
    let Privacy::Budget { epsilon, .. } = spec.privacy() else { return String::new() };
    let (epsilon, records) = (epsilon.get(), spec.data().records());
    let buys = |epsilon: f64, records: Records| {
        let varied =
            Epsilon::new(epsilon).ok().and_then(|epsilon| spec.with_epsilon(epsilon).with_records(records));
        varied.is_some_and(|spec| Plan::attempt(spec, Count::Certified, foreseen).is_ok())
    };
    let larger = least(epsilon, (epsilon, LARGEST_EPSILON), |epsilon| buys(epsilon, records));
    #[expect(clippy::cast_precision_loss, reason = "at most 2^32")]
    let (few, most) = (records.0 as f64, MOST_RECORDS as f64);
    let more = least(few, (few, most), |records| buys(epsilon, rounded(records)));
    let unit = spec.data().unit().plural();
    match (larger, more) {
        (Some(epsilon), Some(more)) => {
            format!("; it takes an epsilon of about {epsilon:.2}, or about {} {unit}", rounded(more))
        }
        (Some(epsilon), None) => format!("; it takes an epsilon of about {epsilon:.2}"),
        (None, Some(more)) => format!("; it takes about {} {unit}", rounded(more)),
        (None, None) => String::new(),
    }
}

/// The number of records that brings the forecast error down.
fn enough_records(spec: &Spec, epsilon: f64, error: f64, foreseen: &Arc<Foreseen>) -> Option<Records> {
    #[expect(clippy::cast_precision_loss, reason = "at most 2^32")]
    let (few, most) = (spec.data().records().0 as f64, MOST_RECORDS as f64);
    let reached = |records: f64| {
        expected(spec, epsilon, rounded(records), Count::Rough, foreseen)
            .is_some_and(|found| found.error <= error)
    };
    least(few, (few, most), reached).map(rounded)
}

/// To two digits, upwards: no forecast knows more.
fn rounded(records: f64) -> Records {
    let unit = libm::pow(10.0, (libm::log10(records.max(1.0)).floor() - 1.0).max(0.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^32")]
    Records(((records / unit).ceil() * unit).min(MOST_RECORDS as f64) as u64)
}

/// The forecast of a spec under another ε and with another number of records, where there is one.
fn expected(
    spec: &Spec,
    epsilon: f64,
    records: Records,
    count: Count,
    foreseen: &Arc<Foreseen>,
) -> Option<Expected> {
    let spec = spec.with_epsilon(Epsilon::new(epsilon).ok()?).with_records(records)?;
    Plan::attempt(spec, count, foreseen).ok()?.expected
}

/// The least number within bounds for which `holds`, to [`PRECISION`], searched from `from` by doubling and then by halves of
/// the logarithm. `holds` must go on holding for larger numbers.
fn least(from: f64, (low, high): (f64, f64), holds: impl Fn(f64) -> bool) -> Option<f64> {
    let (mut below, mut above) = (None, None);
    let mut at = from.clamp(low, high);
    loop {
        let (next, found) = if holds(at) {
            above = Some(at);
            ((0.5 * at).max(low), below.is_some() || at <= low)
        } else {
            below = Some(at);
            ((2.0 * at).min(high), above.is_some() || at >= high)
        };
        if found {
            break;
        }
        at = next;
    }
    let mut above = above?;
    let Some(mut below) = below else { return Some(above) };
    while above > below * (1.0 + PRECISION) {
        let middle = (above * below).sqrt();
        if holds(middle) { above = middle } else { below = middle }
    }
    Some(above)
}
