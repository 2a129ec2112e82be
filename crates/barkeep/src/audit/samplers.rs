//! Attacks whole samplers: a plan's own constants, kernel, curator and budget, on the worst two records found.

use super::game::Source;
use super::probe::Aim;
use super::staged::Staged;
use super::worst::worst_pair;
use crate::Error;
use crate::plan::start::Start;
use crate::plan::{Bill, Plan};
use crate::public_rng::PublicRng;
use crate::run::draws::Draws;
use crate::run::{Unwatched, budgets, chain, starting};
use crate::spec::Spec;
use barkeep_accounting::{Cost, Mechanism, Sampling, Steps};
use barkeep_curator::Ask;
use std::path::Path;
use std::sync::Arc;

/// One spec for every private sampler, small enough that a run takes microseconds: a name for the table, the number of
/// records, and what `[sampler]` says.
pub(super) const SPECS: &[(&str, u64, &str)] = &[
    ("langevin", 400, "name = 'langevin'"),
    ("underdamped", 400, "name = 'underdamped'"),
    ("barker", 20, "name = 'barker'\nproposal_sd = 0.1\nclip = 1"),
    ("barker, 3 chains", 20, "name = 'barker'\nproposal_sd = 0.1\nclip = 1\nchains = 3\nmove = 'guided'"),
    (
        "barker, uncapped",
        20,
        "name = 'barker'\nproposal_sd = 0.1\nclip = 1\nproposal = 'gaussian'\nsteps = 30",
    ),
    ("lazy-barker", 20, "name = 'lazy-barker'\nproposal_sd = 0.1\nclip = 1"),
    ("penalty", 20, "name = 'penalty'\nproposal_sd = 0.1\nclip = 1\ntau = 2"),
    (
        "penalty, release price",
        20,
        "name = 'penalty'\nproposal_sd = 0.1\nclip = 1\ntau = 2\nlevel = 'release'",
    ),
    ("penalty-minibatch", 20, "name = 'penalty-minibatch'\nproposal_sd = 0.01\nclip = 1\ntau = 9\nbatch = 4"),
    ("barker-corrected", 20, "name = 'barker-corrected'\nproposal_sd = 0.1\nclip = 1"),
    ("barker-minibatch", 200, "name = 'barker-minibatch'\nproposal_sd = 0.1\nbatch = 20"),
    ("dpvi", 100, "name = 'dpvi'\niterations = 10\nsteps = 1"),
    ("dpvi, batches", 100, "name = 'dpvi'\niterations = 10\nsteps = 1\nbatch = 20"),
    ("statistics", 20, "name = 'statistics'\nsteps = 1"),
    ("ops", 20, "name = 'ops'\nlow = -1\nhigh = 1\ngrid = 3"),
    ("sgld", 100, "name = 'sgld'\nbatch = 10\nstep_size = 0.001\nclip = 1\nsteps = 10"),
    ("sgnht", 100, "name = 'sgnht'\nbatch = 10\nstep_size = 0.001\nclip = 1\nsteps = 10"),
    ("sgfs", 100, "name = 'sgfs'\nbatch = 10\nstep_size = 0.001\nclip = 1\nsteps = 10"),
    (
        "dp-hmc",
        100,
        "name = 'dp-hmc'\ntau = 1\ntau_gradient = 1\nclip = 1\nclip_gradient = 1\nleapfrog = 2\nstep = 0.05",
    ),
];

/// The plan of a spec of the list.
///
/// # Errors
/// The spec's own, of which there should be none.
pub(super) fn bundled(records: u64, sampler: &str) -> Result<Plan, Error> {
    let text = format!(
        "[data]\npath = 'nowhere.csv'\nrecords = {records}\n\
         [data.columns]\nx = {{ min = -100, max = 100, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\n[privacy]\nepsilon = 1\ndelta = 1e-3\n[sampler]\nstart = [0]\n{sampler}\n"
    );
    Plan::new(Spec::parse(&text, Path::new(""))?)
}

/// A plan's run as a game.
///
/// # Errors
/// A baseline, which certifies nothing; those of the tables.
pub(super) fn game<'a>(plan: &'a Plan, source: Source) -> Result<Staged<'a>, Error> {
    let pair = worst_pair(plan, plan.spec.data.schema(), source.public_seed())?;
    let draws = Draws::new(plan.spec.model.parameter_names().to_vec())?;
    // A fit is asked for once; one chain's questions with it are part of what a run asks.
    let fitted = matches!(plan.start, Start::Fit(_));
    let buy = Box::new(move || {
        let mut budgets = budgets(plan)?;
        budgets.truncate(if fitted { 1 } else { usize::MAX });
        Ok(budgets)
    });
    let perform = Box::new(move |index: usize, ask: &mut dyn Ask, rng: &mut PublicRng| {
        let start = starting(plan, ask, rng)?;
        chain(plan, &start, index, ask, draws.chain(), rng, &Unwatched).map(drop)
    });
    Staged::new(pair, Arc::clone(&plan.spec.model), plan.premises, Aim::Many, (buy, perform))
}

/// Whether the bill claims the whole trade-off curve of a Gaussian mechanism.
pub(super) fn is_gaussian(plan: &Plan) -> bool {
    match &plan.bill {
        Some(Bill::Contract(contract) | Bill::Once(contract)) => contract.parts().iter().all(|(cost, _)| {
            matches!(cost.mechanism(), Mechanism::Gaussian { .. }) && cost.sampling() == Sampling::Full
        }),
        _ => false,
    }
}

/// Whether every price is that of what leaves, and none includes a number that stays inside.
pub(super) fn priced_as_released(costs: &[(Cost, Steps)]) -> bool {
    let inside = |mechanism: &Mechanism| {
        matches!(mechanism, Mechanism::NoisyDecision { .. } | Mechanism::BarkerMinibatch { .. })
    };
    !costs.iter().any(|(cost, _)| inside(cost.mechanism()))
}

/// Questions a run asks, about.
pub(super) fn work(plan: &Plan) -> u64 {
    let questions = match &plan.bill {
        Some(Bill::Contract(contract) | Bill::Once(contract)) => {
            contract.parts().iter().fold(0_u64, |sum, (_, steps)| sum.saturating_add(steps.0))
        }
        _ => plan.steps.saturating_mul(plan.chains),
    };
    questions.max(1)
}
