//! Runs a plan: opens a gate for every chain and steps until the steps are used, refused, or a person stops it.

pub(crate) mod certificate;
pub(crate) mod charged;
pub mod draws;
pub(crate) mod finished;
pub(crate) mod folder;
pub(crate) mod journal;
mod redraw;
pub mod rehearse;
mod runner;
pub(crate) mod storage;
mod summary;

/// Files of which a reader finds the old content or the whole new one.
pub use barkeep_files as files;
pub use redraw::Redraw;
pub use runner::Runner;
pub use summary::{ChainSummary, MOST_COMPARED, OriginalSummary, ParameterSummary, Ratio, Summary};

use self::certificate::Certificate;
use crate::Error;
use crate::plan::start::Start;
use crate::plan::{Bill, FaultCounts, Plan};
use crate::public_rng::PublicRng;
use crate::run::draws::{Draws, Outcome};
use crate::run::folder::Folder;
use crate::run::storage::{Sink, Source};
use crate::samplers::Asker;
use crate::samplers::Report;
use crate::units::Units;
use barkeep_accounting::{CoinError, GdpFilter, Mu};
use barkeep_curator::{Budget, Refused};
use barkeep_data::Records;
use barkeep_num::down_by;
use std::path::Path;
use std::sync::OnceLock;

/// Watches a run from outside: it is called at every step and may stop the run. All it learns is public.
pub trait Watch: Sync {
    /// This many records were read of those declared; not called where their number is secret.
    fn read(&self, _records: Records) {}
    /// A chain made a step.
    fn step(&self, chain: usize, outcome: Outcome);
    /// Whether the run should stop before the next step.
    fn stop(&self) -> bool {
        false
    }
}

/// Watches nothing and never stops a run.
pub struct Unwatched;

impl Watch for Unwatched {
    fn step(&self, _chain: usize, _outcome: Outcome) {}
}

/// What a run yields, with its draws in memory; all of it public. [`Folder::run`] keeps draws on the disk instead.
#[non_exhaustive]
pub struct Run {
    /// The draws.
    pub draws: Draws,
    /// The certificate it ran under.
    pub certificate: Certificate,
    /// Seed of the proposals.
    pub seed: u64,
    /// Steps each chain made.
    pub steps_used: Vec<u64>,
    /// Whether a person stopped it.
    pub interrupted: bool,
    /// Counts of bad cells, if the spec asked for them.
    pub faults: Option<FaultCounts>,
    /// What each chain's kernel says of it.
    reports: Vec<Report>,
    /// What people read of its parameters.
    units: Units,
    summary: OnceLock<Summary>,
    /// The digest of its journal.
    journal: Option<String>,
}

impl Run {
    /// Where the posterior lies and how far the chains can be trusted.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        self.summary.get_or_init(|| {
            let Ok(summary) = summary(&self.draws, &self.reports, self.faults.clone(), &self.units);
            summary
        })
    }

    /// Lets a test put other draws in place.
    #[cfg(test)]
    pub(crate) fn forget_summary(&mut self) {
        (self.summary, self.reports) = (OnceLock::new(), Vec::new());
    }

    /// Writes draws, summary and certificate into a new or empty folder.
    ///
    /// # Errors
    /// [`Error::Write`] if the folder holds anything or cannot be written.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = Folder::claim(folder.as_ref())?;
        folder.announce(&self.certificate)?;
        folder.write_draws(&self.draws)?;
        folder.conclude(self.summary(), self.certificate.clone(), self.journal.clone()).map(drop)
    }
}

impl From<Drawn<Draws>> for Run {
    fn from(drawn: Drawn<Draws>) -> Self {
        let Drawn { draws, certificate, seed, steps_used, interrupted, faults, reports, units, journal } =
            drawn;
        let summary = OnceLock::new();
        Self { draws, certificate, seed, steps_used, interrupted, faults, reports, units, summary, journal }
    }
}

/// A run whose chains have ended, with its draws wherever they are kept.
struct Drawn<D> {
    draws: D,
    certificate: Certificate,
    seed: u64,
    steps_used: Vec<u64>,
    interrupted: bool,
    faults: Option<FaultCounts>,
    reports: Vec<Report>,
    units: Units,
    journal: Option<String>,
}

/// The summary of a run's draws.
///
/// # Errors
/// The draws cannot be read.
fn summary<S: Source>(
    draws: &S,
    reports: &[Report],
    faults: Option<FaultCounts>,
    units: &Units,
) -> Result<Summary, S::Error> {
    Ok(Summary { faults, ..Summary::of_run(draws, draws.heading().warmup, reports, Some(units))? })
}

/// The budget of all chains: one account where steps have one price, equal shares of a filter where they do not, so that
/// how far a chain gets does not depend on the speed of another.
fn budget(plan: &Plan) -> Result<Budget, Error> {
    match plan.bill() {
        None => Ok(Budget::not_private()),
        Some(Bill::Contract(contract) | Bill::Once(contract)) => Ok(Budget::permits(contract)),
        Some(Bill::Gaussian { whole }) => {
            // Not above that of the one answer that was certified, however μ was rounded.
            let mu = down_by(whole.mu()?.get(), 2);
            Ok(Budget::gdp(GdpFilter::new(Mu::new(mu)?)))
        }
        Some(Bill::Filter { rho, coins, decision }) => {
            Ok(Budget::zcdp_in_shares(*rho, CoinError::of(decision), *coins, plan.chains())?)
        }
    }
}

/// Makes one chain's steps, asking whoever answers, and takes down what its kernel says of them.
fn steps(
    plan: &Plan,
    start: &Start,
    index: usize,
    ask: &mut Asker<'_>,
    draws: &mut dyn Sink,
    rng: &mut PublicRng,
    watch: &dyn Watch,
) -> Result<Report, Error> {
    let mut state = start.state(&**plan.spec().model(), rng);
    let mut kernel = plan.kernel()(rng);
    for _ in 0..plan.steps().0 {
        if watch.stop() {
            break;
        }
        match kernel.step(&mut state, ask, rng) {
            Ok(outcome) => {
                draws.take(kernel.published(&state), outcome)?;
                watch.step(index, outcome);
            }
            Err(Refused::Exhausted) => break,
            Err(refused) => return Err(refused.into()),
        }
    }
    Ok(kernel.report())
}
