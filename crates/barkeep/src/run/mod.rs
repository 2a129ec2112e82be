//! Runs a plan: opens a tab for every chain and steps until the steps are used, refused, or a person stops it.

pub mod draws;
pub mod files;
pub mod folder;
pub mod rehearse;

use crate::Error;
use crate::plan::start::Start;
use crate::plan::{Bill, Plan};
use crate::public_rng::PublicRng;
use crate::run::draws::{Chain, Draws, Outcome};
use barkeep_accounting::{CoinError, Rho, Steps, ZcdpFilter};
use barkeep_curator::{Ask, Budget, Curator, Gate, NoiseRng, Refused};
use barkeep_data::Table;
use barkeep_num::down;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::sync::Arc;

/// Watches a run from outside: told of every step, asked whether to go on. All it learns is public.
pub trait Watch: Sync {
    /// So many records were read of those declared.
    fn read(&self, _records: u64) {}
    /// A chain made a step.
    fn step(&self, chain: usize, outcome: Outcome);
    /// Whether the run should stop before the next step.
    fn stop(&self) -> bool;
}

/// Watches nothing and never stops a run.
pub struct Unwatched;

impl Watch for Unwatched {
    fn step(&self, _chain: usize, _outcome: Outcome) {}
    fn stop(&self) -> bool {
        false
    }
}

/// What a run yields; all of it public.
pub struct Run {
    /// The draws.
    pub draws: Draws,
    /// Seed of the proposals.
    pub seed: u64,
    /// Steps each chain made.
    pub steps_used: Vec<u64>,
    /// Whether a person stopped it.
    pub interrupted: bool,
}

/// Runs every chain of a plan over the records.
///
/// `insecure_seed` seeds the protecting randomness, and where the plan names no seed the public one too; the draws are then
/// marked NOT PRIVATE.
///
/// # Errors
/// [`Error::Refused`] if the curator refuses a question for another reason than a spent budget, which a plan
/// cannot foresee only if it is defective.
pub fn run(
    plan: &Plan,
    table: impl Into<Arc<Table>>,
    insecure_seed: Option<u64>,
    watch: &dyn Watch,
) -> Result<Run, Error> {
    let seed = match plan.seed.or(insecure_seed) {
        Some(seed) => seed,
        None => PublicRng::fresh_seed()
            .map_err(|error| Error::Read { path: "randomness".to_owned(), reason: error.to_string() })?,
    };
    let noise = match insecure_seed {
        Some(seed) => NoiseRng::insecure_seed(seed),
        None => NoiseRng::from_os()?,
    };
    let table = table.into();
    let curator = |budget| {
        Curator::new(Arc::clone(&table), Arc::clone(&plan.spec.likelihood), plan.premises, budget)
            .map(Arc::new)
    };
    let curators = budgets(plan)?.into_iter().map(curator).collect::<Result<Vec<_>, _>>()?;
    let mut draws = Draws::new(plan.spec.model.parameter_names().to_vec())?;
    if !plan.is_private() || insecure_seed.is_some() {
        draws.mark_not_private();
    }
    let mut streams = noise.into_streams();
    let tabs: Vec<Gate> =
        curators.iter().zip(&mut streams).map(|(curator, noise)| Gate::open(curator, noise)).collect();
    let start = match (curators.first(), streams.next()) {
        // Chains have the first numbers.
        (Some(curator), Some(noise)) => {
            starting(plan, &mut Gate::open(curator, noise), &mut PublicRng::new(seed, u64::MAX))?
        }
        _ => plan.start.clone(),
    };
    let chains = tabs
        .into_par_iter()
        .enumerate()
        .map(|(index, mut tab)| {
            let rng = &mut PublicRng::new(seed, index as u64);
            chain(plan, &start, index, &mut tab, draws.chain(), rng, watch)
        })
        .collect::<Result<Vec<Chain>, Error>>()?;
    let steps_used: Vec<u64> = chains.iter().map(|chain| chain.len() as u64).collect();
    for chain in chains {
        draws.add(chain)?;
    }
    let interrupted = watch.stop();
    Ok(Run { draws, seed, steps_used, interrupted })
}

/// Each chain's budget: the same for all where steps have one price, equal shares of a filter where they do not,
/// so that how far a chain gets does not depend on the speed of another.
fn budgets(plan: &Plan) -> Result<Vec<Budget>, Error> {
    let chains = usize::try_from(plan.chains).unwrap_or(usize::MAX);
    match &plan.bill {
        None => Ok(vec![Budget::not_private(); chains]),
        Some(Bill::Contract(contract) | Bill::Once(contract)) => Ok(vec![Budget::permits(contract); chains]),
        Some(Bill::Filter { rho, coins, decision }) => {
            let share = Rho::new(down(rho.get() / chains as f64))?;
            let (coin, flips) = (CoinError::of(decision), Steps(coins.0 / chains as u64));
            Ok((0..chains).map(|_| Budget::zcdp(ZcdpFilter::new(share), coin, flips)).collect())
        }
    }
}

/// Where the chains start, fitted first where the plan says so.
fn starting(plan: &Plan, ask: &mut dyn Ask, rng: &mut PublicRng) -> Result<Start, Error> {
    match &plan.start {
        Start::Fit(fit) => Ok(Start::Near(fit.run(&*plan.spec.model, ask, rng)?)),
        start => Ok(start.clone()),
    }
}

/// Makes one chain's steps, asking whoever answers.
fn chain(
    plan: &Plan,
    start: &Start,
    index: usize,
    ask: &mut dyn Ask,
    mut chain: Chain,
    rng: &mut PublicRng,
    watch: &dyn Watch,
) -> Result<Chain, Error> {
    // A plan has a start for every chain: given ones were counted, the prior was drawn from once, a fit was made.
    let Some(mut state) = start.of_chain(index, &*plan.spec.model, rng) else { return Ok(chain) };
    let mut kernel = (plan.kernel)(rng);
    for _ in 0..plan.steps {
        if watch.stop() {
            break;
        }
        match kernel.step(&mut state, ask, rng) {
            Ok(outcome) => {
                chain.push(kernel.published(&state), outcome)?;
                watch.step(index, outcome);
            }
            Err(Refused::Exhausted) => break,
            Err(refused) => return Err(refused.into()),
        }
    }
    Ok(chain)
}
