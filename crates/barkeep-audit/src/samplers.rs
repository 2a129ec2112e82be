//! Attacks whole samplers: a plan's own constants, kernel, curator and budget, on the worst two records found.

use crate::game::Source;
use crate::probe::Aim;
use crate::staged::Staged;
use crate::worst::worst_pair;
use barkeep::Error;
use barkeep::PublicRng;
use barkeep::plan::{Bill, Plan};
use barkeep::run::rehearse::Rehearsal;
use barkeep::samplers::{ExampleSpec, SAMPLERS, SamplerEntry};
use barkeep::spec::Spec;
use barkeep_accounting::mechanisms::PriceOf;
use barkeep_accounting::{Contract, Cost, Mechanism, Sampling, Steps};
use barkeep_curator::Ask;
use std::path::Path;
use std::sync::Arc;

/// The examples of every private sampler that are small enough to be attacked, and some of them by person.
pub(crate) fn examples() -> Vec<ExampleSpec> {
    let examples = SAMPLERS.iter().flat_map(SamplerEntry::examples).filter(|example| example.audited);
    let mut examples: Vec<ExampleSpec> = examples.collect();
    let persons = BY_PERSON.iter().filter_map(|name| examples.iter().find(|example| example.title == *name));
    let persons: Vec<ExampleSpec> = persons.map(by_person).collect();
    examples.extend(persons);
    examples
}

/// Samplers that are attacked by person too: one of decisions, one of sums, one of batches, and one that asks how many rows persons
/// have. Each question of `noise-aware` is attacked by person on its own: its fit takes too long for thousands of runs.
const BY_PERSON: [&str; 4] = ["barker", "langevin", "sgld", "statistics"];

/// The example with three rows a person.
fn by_person(example: &ExampleSpec) -> ExampleSpec {
    let text = example.text.replace("\nrecords = ", "\nperson = 'id'\nmost_rows = 3\npersons = ");
    ExampleSpec { title: format!("{}, persons of 3 rows", example.title), text, ..example.clone() }
}

/// The plan of an example.
///
/// # Errors
/// The spec's own, of which there should be none.
pub(crate) fn plan(example: &ExampleSpec) -> Result<Plan, Error> {
    Plan::new(Spec::parse(&example.text, Path::new(""))?)
}

/// A plan's run as a game.
///
/// # Errors
/// A baseline, which certifies nothing; those of the tables.
pub(crate) fn game<'a>(plan: &'a Plan, source: Source) -> Result<Staged<'a>, Error> {
    let spec = plan.spec();
    let pair = worst_pair(plan, spec.data().schema(), source.public_seed())?;
    let rehearsal = Arc::new(Rehearsal::of(plan));
    let bought = Arc::clone(&rehearsal);
    let buy = Box::new(move || Ok((bought.budget()?, bought.chains())));
    let perform = Box::new(move |index: usize, ask: &mut dyn Ask, rng: &mut PublicRng| {
        rehearsal.perform(index, ask, rng)
    });
    Staged::new(pair, plan.privacy_model(), Aim::Many, (buy, perform))
}

/// Whether the bill claims the whole trade-off curve of a Gaussian mechanism.
pub(crate) fn is_gaussian(plan: &Plan) -> bool {
    match plan.bill() {
        Some(Bill::Contract(contract) | Bill::Once(contract)) => contract.parts().iter().all(|(cost, _)| {
            matches!(cost.mechanism(), Mechanism::Gaussian(_)) && cost.sampling() == Sampling::Full
        }),
        Some(Bill::Gaussian { .. }) => true,
        Some(Bill::Filter { .. }) | None => false,
    }
}

/// Whether every price is that of what leaves, and none includes a number that stays inside.
pub(crate) fn priced_as_released(costs: &[(Cost, Steps)]) -> bool {
    costs.iter().all(|(cost, _)| cost.mechanism().price_of() == PriceOf::WhatLeaves)
}

/// What a fit of the answers takes, in questions about the few records of an example.
const FIT: u64 = 40;

/// What a run takes, in questions about few records.
pub(crate) fn work(plan: &Plan) -> u64 {
    let asked = |contract: &Contract| {
        contract.parts().iter().fold(0_u64, |sum, (_, steps)| sum.saturating_add(steps.0))
    };
    let questions = match plan.bill() {
        Some(Bill::Contract(contract)) => asked(contract),
        Some(Bill::Once(contract)) => asked(contract).saturating_add(FIT),
        // What decides as the run goes what is asked fits its answers, too.
        Some(Bill::Gaussian { .. }) => plan.steps().0.saturating_mul(plan.chains()).saturating_add(FIT),
        Some(Bill::Filter { .. }) | None => plan.steps().0.saturating_mul(plan.chains()),
    };
    questions.max(1)
}
