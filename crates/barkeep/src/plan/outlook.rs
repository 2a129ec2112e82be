//! Says what can be expected of a run that was bought, and what is likely to disappoint; from public facts alone.

use super::bill::PricedBill;
use super::price::Purchase;
use crate::facts::Facts;
use crate::samplers::entry::{Expected, MakeForecast};
use crate::spec::{Privacy, Spec};

/// Above this ε a plan warns.
const HARDLY_PRIVATE: f64 = 20.0;
/// Above this expected error, in posterior sd, a plan warns.
const LARGE_ERROR: f64 = 0.5;
/// Fewer steps than this seldom reach the posterior.
const FEW_STEPS: u64 = 100;

/// What a plan says of its run.
pub(super) struct Outlook {
    /// Expectations worth showing.
    pub(super) facts: Facts,
    /// What a user should know before spending anything.
    pub(super) warnings: Vec<String>,
    /// How near the run comes to the posterior; absent where that cannot be said.
    pub(super) expected: Option<Expected>,
    /// Steps to leave out of the summary, where the forecast knows.
    pub(super) burn_in: Option<u64>,
}

impl Outlook {
    /// Of a run that was bought; `cap` is the number of steps the spec asks for, if it does.
    pub(super) fn new(
        spec: &Spec,
        bought: &Purchase,
        cap: Option<u64>,
        forecast: Option<MakeForecast>,
    ) -> Self {
        let steps = bought.steps;
        let ahead = forecast.map(|forecast| forecast(steps)).unwrap_or_default();
        let (mut facts, expected) = (ahead.facts, ahead.expected);
        let mut warnings = warnings(spec, bought.paid.is_some(), steps);
        if let Some(asked) = cap.filter(|asked| *asked > steps) {
            let spent =
                if bought.first.is_empty() { "" } else { " after what is asked before the first step" };
            warnings.push(format!(
                "the spec asks for {asked} steps of each chain; the budget buys {steps}{spent}"
            ));
        }
        warnings.extend(ahead.warnings);
        facts.extend(expected.iter().flat_map(Expected::facts));
        if expected.is_none() && bought.paid.is_some() {
            facts.push(Expected::unknown());
        }
        let epsilon = bought.paid.as_ref().map(PricedBill::epsilon);
        if let Some(epsilon) = epsilon.filter(|epsilon| epsilon.get() > HARDLY_PRIVATE) {
            warnings.push(format!("epsilon {:.0} protects hardly anything", epsilon.get()));
        }
        if expected.is_some_and(|expected| expected.error > LARGE_ERROR) {
            warnings.push(format!(
                "privacy moves means by much; a larger epsilon or more {} bring this down",
                spec.data().unit().plural()
            ));
        }
        Self { facts, warnings, expected, burn_in: ahead.burn_in }
    }
}

/// What is likely to disappoint, from public facts alone.
fn warnings(spec: &Spec, private: bool, steps: u64) -> Vec<String> {
    let mut warnings = Vec::new();
    if spec.names_schema() {
        warnings.push(
            "data.schema is the old name of data.set: a data set's file declares path and number too"
                .to_owned(),
        );
    }
    if private && steps < FEW_STEPS {
        warnings.push(format!(
            "only {steps} steps for each chain: the draws will hardly forget where they started"
        ));
    }
    if let Privacy::Budget { delta, .. } = spec.privacy()
        && delta.get() * spec.data().records().as_f64() > 1.0
    {
        let unit = spec.data().unit();
        warnings.push(format!(
            "delta is above 1/{}: publishing one {} at random would satisfy it",
            unit.plural(),
            unit.word()
        ));
    }
    warnings
}
