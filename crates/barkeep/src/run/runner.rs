//! Sets up a run: who watches it, and whether it gives up privacy to be repeatable.

use super::{Run, Unwatched, Watch, budget, steps};
use crate::Error;
use crate::insecure::Insecure;
use crate::plan::Plan;
use crate::plan::certificate::Certificate;
use crate::public_rng::PublicRng;
use crate::run::draws::{Chain, Draws};
use crate::samplers::Report;
use barkeep_curator::insecure::SharedTable;
use barkeep_curator::{Budget, Curator, Gate, NoiseRng, PrivacyModel, Refused, Table};
use barkeep_model::Likelihood;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::sync::{Arc, OnceLock};

/// A plan about to run, made by [`Plan::runner`].
#[derive(Clone)]
pub struct Runner<'a> {
    plan: &'a Plan,
    watch: &'a dyn Watch,
    insecure: Option<Insecure>,
}

impl Plan {
    /// Prepares a run that is watched or repeatable; [`Plan::run`] is the plain one.
    #[must_use]
    pub fn runner(&self) -> Runner<'_> {
        Runner { plan: self, watch: &Unwatched, insecure: None }
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

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// The certificate the run stands under, as it is before the first answer.
    #[must_use]
    pub fn certificate(&self) -> Certificate {
        Certificate::with_randomness(self.plan, self.insecure.is_some())
    }

    pub(super) fn watcher(&self) -> &'a dyn Watch {
        self.watch
    }

    /// Runs every chain over the records.
    ///
    /// # Errors
    /// [`Error::Refused`] if the model's terms are not each record's own, or if the curator refuses a question although
    /// the budget is not spent, which only a defective plan can bring about; [`Error::Read`] if the operating system
    /// gives no randomness.
    pub fn run(self, table: Table) -> Result<Run, Error> {
        self.run_with(|likelihood, privacy_model, budget| {
            Curator::new(table, Arc::clone(likelihood), privacy_model, budget)
        })
    }

    /// Runs every chain over records that other runs use too, each with a budget of its own.
    ///
    /// **Privacy.** None, whatever `insecure` says: nothing adds the budgets up.
    ///
    /// # Errors
    /// As [`Runner::run`].
    pub fn run_shared(self, table: &SharedTable, insecure: Insecure) -> Result<Run, Error> {
        self.insecure(insecure)
            .run_with(|likelihood, privacy_model, budget| table.curator(likelihood, privacy_model, budget))
    }

    fn run_with(
        self,
        curator: impl FnOnce(&Arc<dyn Likelihood>, PrivacyModel, Budget) -> Result<Curator, Refused>,
    ) -> Result<Run, Error> {
        let plan = self.plan;
        let mut certificate = self.certificate();
        let (insecure_seed, observed) = match self.insecure {
            Some(Insecure { seed, likelihood }) => (Some(seed), likelihood),
            None => (None, None),
        };
        let seed = match plan.seed().or(insecure_seed) {
            Some(seed) => seed,
            None => PublicRng::fresh_seed()
                .map_err(|error| Error::Read { path: "randomness".to_owned(), reason: error.to_string() })?,
        };
        let noise = match insecure_seed {
            Some(seed) => NoiseRng::insecure_seed(seed),
            None => NoiseRng::from_os()?,
        };
        let model = plan.spec().model();
        let likelihood = observed.unwrap_or_else(|| Arc::clone(plan.spec().likelihood()));
        let budget = budget(plan)?;
        let budget = if insecure_seed.is_some() { budget.marked_not_private() } else { budget };
        let curator = Arc::new(curator(&likelihood, plan.privacy_model(), budget)?);
        let mut draws = Draws::new(model.parameter_names().to_vec())?;
        if !certificate.private {
            draws.mark_not_private();
        }
        // Chains have the first streams of noise, the start the next.
        let mut streams = noise.into_streams();
        let chains = usize::try_from(plan.chains()).unwrap_or(usize::MAX);
        let gates =
            (0..chains).zip(&mut streams).map(|(chain, noise)| Gate::for_chain(&curator, chain, noise));
        let gates = gates.collect::<Result<Vec<Gate>, Refused>>()?;
        let starts = match streams.next() {
            Some(noise) => {
                let (gate, rng) = (&mut Gate::open(&curator, noise)?, &mut PublicRng::new(seed, u64::MAX));
                plan.start().resolve(&**model, plan.chains(), gate, rng)?
            }
            None => Vec::new(),
        };
        let (chains, reports): (Vec<Chain>, Vec<Report>) = gates
            .into_par_iter()
            .zip(starts)
            .enumerate()
            .map(|(index, (mut gate, start))| {
                let rng = &mut PublicRng::new(seed, index as u64);
                steps(plan, &start, index, &mut gate, draws.chain(), rng, self.watch)
            })
            .collect::<Result<Vec<_>, Error>>()?
            .into_iter()
            .unzip();
        let steps_used: Vec<u64> = chains.iter().map(|chain| chain.len() as u64).collect();
        for chain in chains {
            draws.add(chain)?;
        }
        certificate.steps_used = Some(steps_used.clone());
        // An interrupted chain may be shorter than the burn-in; then half of it is left out.
        let shortest = steps_used.iter().copied().min().unwrap_or(0);
        let wanted = reports.iter().filter_map(|report| report.warmup).max().unwrap_or(plan.burn_in().0);
        let burn_in = if wanted < shortest { wanted } else { shortest / 2 };
        draws.mark_warmup(usize::try_from(burn_in).unwrap_or(usize::MAX));
        Ok(Run {
            draws,
            certificate,
            seed,
            steps_used,
            interrupted: self.watch.stop(),
            reports,
            summary: OnceLock::new(),
        })
    }
}
