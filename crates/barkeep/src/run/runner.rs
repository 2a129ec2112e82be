//! Sets up a run: who watches it, where its answers are kept, and whether it gives up privacy to be repeatable.

use super::{Drawn, Run, Unwatched, Watch, budget, steps};
use crate::Error;
use crate::insecure::Insecure;
use crate::plan::Plan;
use crate::public_rng::PublicRng;
use crate::run::certificate::{Certificate, Charged};
use crate::run::draws::Memory;
use crate::run::journal::{Header, Journal};
use crate::run::storage::{Heading, Keep, Sink};
use crate::samplers::{Asker, Report};
use crate::spec::SpecError;
use crate::units::Units;
use barkeep_curator::insecure::SharedTable;
use barkeep_curator::{Ask, Budget, Curator, Gate, NoiseRng, PrivacyModel, Refused, Table};
use barkeep_ledger::Ledger;
use barkeep_model::Likelihood;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::path::PathBuf;
use std::sync::Arc;

/// A plan about to run, made by [`Plan::runner`].
#[derive(Clone)]
pub struct Runner<'a> {
    plan: &'a Plan,
    watch: &'a dyn Watch,
    insecure: Option<Insecure>,
    keeping: Keeping,
    signed_by: Option<String>,
    /// The reservation that pays, where the spec names an account.
    charged: Option<Charged>,
}

/// Where answers are kept.
#[derive(Clone)]
enum Keeping {
    /// Nowhere: a killed run is lost.
    Nowhere,
    /// In a new journal in this folder.
    New(PathBuf),
    /// In the journal in this folder, after those it holds.
    Continued(PathBuf),
}

impl Plan {
    /// Prepares a run that is watched or repeatable; [`Plan::run`] is the plain one.
    #[must_use]
    pub fn runner(&self) -> Runner<'_> {
        Runner {
            plan: self,
            watch: &Unwatched,
            insecure: None,
            keeping: Keeping::Nowhere,
            signed_by: None,
            charged: None,
        }
    }

    /// Runs every chain over the records, with fresh protecting randomness.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run(&self, table: Table) -> Result<Run, Error> {
        self.runner().run(table)
    }
}

impl<'a> Runner<'a> {
    /// Reports every step to `watch`, which may stop the run.
    #[must_use]
    pub fn watch(mut self, watch: &'a dyn Watch) -> Self {
        self.watch = watch;
        self
    }

    /// Gives up privacy: everything the run yields is marked NOT PRIVATE.
    #[must_use]
    pub fn insecure(mut self, insecure: Insecure) -> Self {
        self.insecure = Some(insecure);
        self
    }

    /// Keeps every answer in a new journal in this folder before the next question is asked: a killed run loses nothing
    /// that was paid for.
    #[must_use]
    pub fn journal(mut self, folder: impl Into<PathBuf>) -> Self {
        self.keeping = Keeping::New(folder.into());
        self
    }

    /// Continues the run whose journal is in this folder: what it holds is replayed, and only what is missing is asked.
    ///
    /// **Privacy.** The whole run costs what its certificate says, however often it is continued. The records must be the
    /// same; only their number is checked.
    #[must_use]
    pub fn resume(mut self, folder: impl Into<PathBuf>) -> Self {
        self.keeping = Keeping::Continued(folder.into());
        self
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The certificate the run stands under, as it is before the first answer.
    #[must_use]
    pub fn certificate(&self) -> Certificate {
        let certificate = Certificate::with_randomness(self.plan, self.insecure.is_some());
        Certificate { charged: self.charged.clone(), ..certificate }
    }

    /// States which reservation of the spec's account pays.
    pub(super) fn charged(mut self, charged: Option<Charged>) -> Self {
        self.charged = charged;
        self
    }

    /// Refuses a run whose spec names an account that nobody has asked, and one whose bill costs more than was found when it was bought.
    fn paid_for(&self) -> Result<(), Error> {
        if self.plan.spec().charged_to().is_some() && self.charged.is_none() {
            let reason = "charges runs that read their records from the spec's file, by `Folder::run`; the records of this one \
                          have no identity";
            return Err(SpecError::new("privacy.ledger", reason).into());
        }
        if let (Some(check), Some(claim)) = (self.plan.checked(), self.plan.epsilon()) {
            check.must_not_contradict(claim)?;
        }
        if self.plan.is_searched() { self.certificate().check_bill() } else { Ok(()) }
    }

    /// Whether the run gives up privacy.
    pub(super) fn is_insecure(&self) -> bool {
        self.insecure.is_some()
    }

    /// Notes in the journal whose key signs the certificate.
    pub(super) fn signed_by(mut self, key: Option<String>) -> Self {
        self.signed_by = key;
        self
    }

    pub(super) fn watcher(&self) -> &'a dyn Watch {
        self.watch
    }

    /// Runs every chain over the records.
    ///
    /// # Errors
    /// [`Error::Certificate`] if the bill costs more than the plan says; [`Error::Refused`] if the model's terms are not each record's own, or if the curator refuses a question although
    /// the budget is not spent, which only a defective plan can bring about; [`Error::Read`] if the operating system
    /// gives no randomness; [`Error::Journal`] if a journal cannot be continued, [`Error::Write`] if it cannot be
    /// written.
    pub fn run(self, table: Table) -> Result<Run, Error> {
        if self.plan.spec().charged_to().is_some() && !self.is_insecure() {
            let reason = "names an account, which a run in memory would not charge: run it in a folder, by Folder::run_on";
            return Err(SpecError::new("privacy.ledger", reason).into());
        }
        let draws = Memory::new(self.heading()?, Arc::clone(self.plan.spec().model()));
        Ok(self.ready()?.run(table, draws)?.into())
    }

    /// Runs every chain over records that other runs use too, each with a budget of its own.
    ///
    /// **Privacy.** None, whatever `insecure` says: nothing adds the budgets up.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_shared(self, table: &SharedTable, insecure: Insecure) -> Result<Run, Error> {
        let runner = self.insecure(insecure);
        let draws = Memory::new(runner.heading()?, Arc::clone(runner.plan.spec().model()));
        let curator = |privacy_model, budget| table.curator(privacy_model, budget);
        Ok(runner.ready()?.run_with(curator, draws)?.into())
    }

    /// What is stated beside the draws.
    ///
    /// # Errors
    /// [`Error::Shape`] for parameters whose names would make ambiguous columns.
    pub(super) fn heading(&self) -> Result<Heading, Error> {
        let model = self.plan.spec().model();
        let heading =
            Heading::new(model.parameter_names().to_vec())?.with_quantities(model.quantity_names())?;
        Ok(Heading { not_private: !self.certificate().private, ..heading })
    }

    /// Opens the journal, if there is to be one.
    ///
    /// # Errors
    /// As [`Runner::run`]; nothing was asked.
    pub(super) fn ready(self) -> Result<Ready<'a>, Error> {
        self.paid_for()?;
        match self.keeping.clone() {
            Keeping::Continued(folder) => self.continued(Journal::open(&folder)?),
            Keeping::Nowhere => Ok(Ready { seed: self.seed()?, runner: self, journal: None }),
            Keeping::New(folder) => {
                let header = Header {
                    seed: self.seed()?,
                    insecure_seed: self.insecure_seed(),
                    signed_by: self.signed_by.clone(),
                    certificate: self.certificate(),
                };
                let seed = header.seed;
                let journal = Journal::create(&folder, header, self.plan)?;
                Ok(Ready { seed, runner: self, journal: Some(journal) })
            }
        }
    }

    /// Prepares to continue a run whose journal is open.
    ///
    /// # Errors
    /// [`Error::Journal`] if the journal is another run's.
    pub(super) fn continued(self, journal: Journal) -> Result<Ready<'a>, Error> {
        self.paid_for()?;
        let journal = journal.belongs_to(self.plan, self.insecure_seed(), self.signed_by.as_deref())?;
        Ok(Ready { seed: journal.header().seed, runner: self, journal: Some(journal) })
    }

    fn insecure_seed(&self) -> Option<u64> {
        self.insecure.as_ref().map(|insecure| insecure.seed)
    }

    /// Seed of the proposals.
    fn seed(&self) -> Result<u64, Error> {
        match self.plan.seed().or(self.insecure_seed()) {
            Some(seed) => Ok(seed),
            None => PublicRng::fresh_seed()
                .map_err(|error| Error::Read { path: "randomness".to_owned(), reason: error.to_string() }),
        }
    }
}

/// A run whose journal is open and whose records are not.
pub(super) struct Ready<'a> {
    pub(super) runner: Runner<'a>,
    seed: u64,
    journal: Option<Journal>,
}

impl Ready<'_> {
    /// Takes a lease on a run that is continued, and gives all it ever held, its own name first; none for a new run, and without a journal.
    ///
    /// # Errors
    /// [`Error::Write`] if the journal cannot be written; [`Error::Ledger`] if there is no randomness.
    pub(super) fn lease(&mut self, continued: bool) -> Result<Vec<String>, Error> {
        let Some(journal) = self.journal.as_mut().filter(|_| continued) else { return Ok(Vec::new()) };
        // Where all answers are there nothing is asked any more, and nothing follows a journal's end.
        if !journal.had_ended() {
            journal.lease(&Ledger::new_token()?)?;
        }
        let own = self.runner.charged.iter().map(|charged| &charged.run);
        Ok(own.chain(journal.leases()).cloned().collect())
    }

    /// Gives a new journal up: nothing was asked.
    pub(super) fn give_up(self) {
        if let Some(journal) = self.journal {
            journal.discard();
        }
    }

    /// Runs every chain over the records.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub(super) fn run<K: Keep>(self, table: Table, keep: K) -> Result<Drawn<K::Kept>, Error> {
        let curator = |privacy_model, budget| Curator::new(table, privacy_model, budget);
        self.run_with(curator, keep)
    }

    fn run_with<K: Keep>(
        self,
        curator: impl FnOnce(PrivacyModel, Budget) -> Result<Curator, Refused>,
        keep: K,
    ) -> Result<Drawn<K::Kept>, Error> {
        let Self { runner, seed, journal } = self;
        match runner.draw(curator, keep, seed, journal.as_ref()) {
            Ok(run) => {
                let journal = journal.map(|journal| journal.close(!run.interrupted)).transpose()?;
                Ok(Drawn { journal, ..run })
            }
            Err(error) => Err(match journal {
                Some(journal) => journal.explain(error),
                None => error,
            }),
        }
    }
}

impl Runner<'_> {
    /// Lets every chain ask, through the journal if there is one.
    fn draw<K: Keep>(
        self,
        curator: impl FnOnce(PrivacyModel, Budget) -> Result<Curator, Refused>,
        keep: K,
        seed: u64,
        journal: Option<&Journal>,
    ) -> Result<Drawn<K::Kept>, Error> {
        let plan = self.plan;
        let (certificate, watch) = (self.certificate(), self.watch);
        let (insecure_seed, observed) = match self.insecure {
            Some(Insecure { seed, likelihood }) => (Some(seed), likelihood),
            None => (None, None),
        };
        let noise = match insecure_seed {
            Some(seed) => NoiseRng::insecure_seed(seed),
            None => NoiseRng::from_os()?,
        };
        let likelihood = observed.unwrap_or_else(|| Arc::clone(plan.spec().likelihood()));
        let budget = budget(plan)?;
        let budget = if insecure_seed.is_some() { budget.marked_not_private() } else { budget };
        let curator = Arc::new(curator(plan.privacy_model(), budget)?);
        if curator.unit() != plan.spec().data().unit() {
            // The certificate would speak of others than the sums do.
            let reason = "is not what the table holds: build it by PersonsBuilder for persons, by TableBuilder for records";
            return Err(SpecError::new("data.person", reason).into());
        }
        if !curator.holds(plan.spec().data().records()) {
            // The certificate would speak of another number, and of other neighbours, than the table has.
            let reason = "is not the number of records, or persons, in the table";
            return Err(SpecError::new("data.records", reason).into());
        }
        // Chains have the first streams of noise, the start the next.
        let mut streams = noise.into_streams();
        let kept = |chain: usize, gate: Gate| -> Result<Box<dyn Ask + Send + '_>, Error> {
            match journal {
                Some(journal) => journal.keep(chain, gate),
                None => Ok(Box::new(gate)),
            }
        };
        let chains = usize::try_from(plan.chains()).unwrap_or(usize::MAX);
        let gates =
            (0..chains).zip(&mut streams).map(|(chain, noise)| Gate::for_chain(&curator, chain, noise));
        let gates = gates.collect::<Result<Vec<Gate>, Refused>>()?;
        let start = streams.next().map(|noise| Gate::open(&curator, noise)).transpose()?;
        let asks = gates.into_iter().chain(start).enumerate().map(|(chain, gate)| kept(chain, gate));
        let asks = asks.collect::<Result<Vec<_>, Error>>()?;
        draw_by(plan, &*likelihood, certificate, asks, keep, seed, watch)
    }
}

/// Lets every chain ask, whoever answers; the last of `asks` answers what the start asks.
///
/// # Errors
/// As [`Runner::run`].
pub(super) fn draw_by<K: Keep>(
    plan: &Plan,
    likelihood: &dyn Likelihood,
    mut certificate: Certificate,
    mut asks: Vec<Box<dyn Ask + Send + '_>>,
    keep: K,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Drawn<K::Kept>, Error> {
    let (mut starts, mut faults) = (Vec::new(), None);
    if let Some(mut ask) = asks.pop() {
        let rng = &mut PublicRng::new(seed, u64::MAX);
        let asker = &mut Asker::new(&mut *ask, likelihood, plan.view());
        starts = plan.start().resolve(&**plan.spec().model(), plan.chains(), asker, rng)?;
        // With the start's stream of noise: draws are the same with counts and without.
        faults = plan.report().map(|report| report.ask(&mut *ask)).transpose()?;
    }
    let (chains, reports): (Vec<K::Chain>, Vec<Report>) = asks
        .into_par_iter()
        .zip(starts)
        .enumerate()
        .map(|(index, (mut ask, start))| {
            let rng = &mut PublicRng::new(seed, index as u64);
            let mut draws = keep.chain(index)?;
            let asker = &mut Asker::new(&mut *ask, likelihood, plan.view());
            let report = steps(plan, &start, index, asker, &mut draws, rng, watch)?;
            Ok((draws, report))
        })
        .collect::<Result<Vec<_>, Error>>()?
        .into_iter()
        .unzip();
    let steps_used: Vec<u64> = chains.iter().map(|chain| chain.taken() as u64).collect();
    certificate.steps_used = Some(steps_used.clone());
    // An interrupted chain may be shorter than the burn-in; then half of it is left out.
    let shortest = steps_used.iter().copied().min().unwrap_or(0);
    let wanted = reports.iter().filter_map(|report| report.warmup).max().unwrap_or(plan.burn_in().0);
    let burn_in = if wanted < shortest { wanted } else { shortest / 2 };
    let draws = keep.end(chains, usize::try_from(burn_in).unwrap_or(usize::MAX))?;
    Ok(Drawn {
        draws,
        certificate,
        seed,
        steps_used,
        interrupted: watch.stop(),
        reports,
        units: Units::of(plan.spec()),
        faults,
        journal: None,
    })
}
