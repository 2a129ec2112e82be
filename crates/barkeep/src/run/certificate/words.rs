//! The words of a certificate: the guarantee, what leaves, what was public, and what it rests on.

use crate::plan::Bill;
use crate::spec::{Spec, whose};
use barkeep_accounting::{Mechanism, Neighbours};
use barkeep_data::Unit;

/// What is assumed public.
pub(super) fn public(unit: Unit) -> Vec<String> {
    let spec = format!(
        "the spec: number of {}, columns, bounds, levels, invalid values, model, prior, sampler settings",
        unit.plural()
    );
    vec![spec, "the proposals and the starting points".to_owned()]
}

/// Whose code a model is.
#[derive(Clone, Copy)]
pub(super) enum ModelCode<'a> {
    /// barkeep's.
    BuiltIn,
    /// Outside barkeep, of this type.
    Own(&'a str),
}

impl<'a> ModelCode<'a> {
    pub(super) fn of(spec: &'a Spec) -> Self {
        match spec.has_own_model() {
            true => Self::Own(spec.model_name()),
            false => Self::BuiltIn,
        }
    }
}

/// What the guarantee rests on.
pub(super) fn premises(unit: Unit, model: ModelCode<'_>, charged: bool) -> Vec<String> {
    let whose = match unit {
        Unit::Record => "a person contributes one record",
        Unit::Person { .. } => "all rows of a person carry the same identifier, and nobody else's do",
    };
    let mut premises = words(&[
        whose,
        "nothing in the spec was chosen by looking at the records",
        "the file is well formed: refusals of structure are visible",
        "the code that TRUSTED.md lists is right: a model writes programs, and that code alone runs them over records",
        "the operating system's randomness is good and the process's memory is not read",
        "time, power and other side channels are not covered",
        match charged {
            true => "the ledger's custodian put every file about the same persons under one account",
            false => {
                "the folder of an unfinished run is continued once: a copy that is continued too answers the rest with other noise, and \
                 whoever sees both sees up to twice the cost"
            }
        },
    ]);
    if let ModelCode::Own(own) = model {
        premises.push(format!("the model's code, {own}, is no part of barkeep: its author answers for it"));
    }
    premises
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

/// The guarantee in one sentence.
pub(super) fn guarantee(
    epsilon: f64,
    delta: f64,
    neighbours: Neighbours,
    unit: Unit,
    person: Option<&str>,
) -> String {
    let changed = match neighbours {
        Neighbours::Substitute => "substituted",
        Neighbours::AddRemove => "added or removed",
    };
    let verb = match unit {
        Unit::Record => " is",
        Unit::Person { most_rows: None } => " are",
        Unit::Person { most_rows: Some(_) } => ", are",
    };
    let whose = whose(unit, person);
    format!(
        "Everything this run releases is ({epsilon}, {delta:e})-differentially private when {whose}{verb} {changed}."
    )
}

/// What leaves the curator under a bill, or without one.
pub(super) fn released(bill: Option<&Bill>) -> Vec<String> {
    let words = match bill.map(Bill::mechanisms) {
        Some(mechanisms) if !mechanisms.is_empty() => Mechanism::all_released(mechanisms),
        // A baseline: nothing is priced, and every decision is seen.
        Some(_) | None => vec!["the accept/reject bit of every step"],
    };
    let mut released = vec!["every draw of every chain, in order".to_owned()];
    released.extend(words.into_iter().map(str::to_owned));
    released
}

/// ε as it is printed: the upper end, rounded up to nine significant digits, so that the same bill computed on
/// another machine, whose transforms may round differently in the last place, stays within it; but no more than
/// the budget, which the bill was bought to fit.
pub(super) fn stated(upper: f64, budget: f64) -> f64 {
    let text = format!("{:.8e}", upper * (1.0 + 1e-8));
    let rounded = text.parse().unwrap_or(upper).max(upper);
    if upper <= budget { rounded.min(budget) } else { rounded }
}
