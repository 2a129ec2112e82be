//! Holds the records, the likelihood and the budget of a run, and adds up secret sums: the only reader of records.

use crate::error::question;
use crate::sums::lattice::{CHUNK, Columns, Moments, Written, add_clipped, total};
use crate::sums::passes::{Asked, Worker, sweep};
use crate::sums::preconditions::{mix, stretch};
use crate::sums::scores::{score_width, write_score};
use crate::{
    Budget, Choose, Clip, Decide, MOST_DIMENSIONS, MOST_RECORDS, Precondition, PrivacyModel, Refused, Secret,
    Sum, Term,
};
use barkeep_data::{BLOCK, Block, Table};
use barkeep_model::{Likelihood, RecordStatistics};
use std::sync::Arc;

/// What the chains of a run share: records, likelihood, privacy model and budget.
///
/// **Privacy.** Records enter and only answers come out, through the [`Gate`](crate::Gate)s opened on it. It has no
/// `Debug`, `Clone` or `Serialize`, and no method gives back the table.
pub struct Curator {
    table: Arc<Table>,
    likelihood: Arc<dyn Likelihood>,
    privacy_model: PrivacyModel,
    budget: Budget,
}

impl Curator {
    /// Takes charge of the records.
    ///
    /// **Errors** [`Refused::Question`] if there are no records or more than [`MOST_RECORDS`], if the model has no
    /// parameter or more than [`MOST_DIMENSIONS`], or if it reads more columns than the table has.
    pub fn new(
        table: impl Into<Arc<Table>>,
        likelihood: Arc<dyn Likelihood>,
        privacy_model: PrivacyModel,
        budget: Budget,
    ) -> Result<Self, Refused> {
        let table = table.into();
        if !(1..=MOST_RECORDS).contains(&(table.records() as u64)) {
            return Err(question("records", "at least 1 and at most 2^32"));
        }
        if !(1..=MOST_DIMENSIONS).contains(&likelihood.dimension()) {
            return Err(question("model", "one with at least 1 and at most 4096 parameters"));
        }
        if likelihood.columns() > table.schema().width() {
            return Err(question("data.columns", "at least as many as the model reads"));
        }
        Ok(Self { table, likelihood, privacy_model, budget })
    }

    /// What questions are accounted under.
    #[must_use]
    pub fn privacy_model(&self) -> PrivacyModel {
        self.privacy_model
    }

    /// The budget every tab charges.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The number of parameters.
    pub(crate) fn dimension(&self) -> usize {
        self.likelihood.dimension()
    }

    /// The number of records; secret where neighbours add or remove one.
    pub(crate) fn records(&self) -> usize {
        self.table.records()
    }

    /// All records, or those at `positions`.
    fn asked<'a>(&'a self, positions: Option<&'a [u32]>) -> Asked<'a> {
        #[expect(clippy::disallowed_methods, reason = "this is the door's one keeper")]
        let blocks = self.table.blocks();
        match positions {
            None => Asked::All(blocks),
            Some(positions) => Asked::Some { blocks, positions, columns: self.likelihood.columns() },
        }
    }

    /// Σu, and Σu² of a batch, over the asked records' clipped log-ratios.
    pub(crate) fn moments(
        &self,
        question: &Decide<'_>,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Secret<Moments> {
        workers.iter_mut().for_each(|worker| worker.moments = Moments::default());
        sweep(self.asked(positions), workers, |worker, block| {
            let terms = worker.terms.sized(block.len());
            self.likelihood.log_ratio(block, question.from, question.to, terms, &mut worker.scratch);
            match positions {
                None => worker.moments.add(terms, question.clip),
                Some(_) => worker.moments.add_with_squares(terms, question.clip),
            }
        });
        Secret::seal(workers.iter().fold(Moments::default(), |total, worker| total.and(worker.moments)))
    }

    /// Adds the asked records' clipped terms up, coordinate by coordinate, in lattice steps.
    ///
    /// The sums are left in the first lane, to spare an allocation.
    pub(crate) fn vector<'a>(
        &self,
        question: &Sum<'_>,
        positions: Option<&[u32]>,
        workers: &'a mut [Worker],
    ) -> Result<Secret<&'a [i64]>, Refused> {
        let statistics = match question.term {
            Term::Gradient { .. } | Term::Score { .. } => None,
            Term::Statistics => Some(self.statistics()?),
        };
        let width = match (question.term, &statistics) {
            (Term::Score { .. }, _) => score_width(self.dimension()),
            (_, Some(statistics)) => statistics.width(),
            _ => self.dimension(),
        };
        clear_sums(workers, width);
        let mut affine =
            workers.first_mut().map(|worker| std::mem::take(&mut worker.affine)).unwrap_or_default();
        let is_affine = match question.term {
            Term::Gradient { theta, precondition: Precondition::Identity } => {
                // Whatever a model says here, the columns are there and every coordinate is clipped.
                self.likelihood.affine_gradient(theta, &mut affine)
                    && affine.fits(self.dimension(), self.likelihood.columns())
            }
            _ => false,
        };
        let (room, clip) = (width * CHUNK, question.clip);
        sweep(self.asked(positions), workers, |worker, block| {
            worker.partials.sized(room).fill(0);
            if is_affine {
                let gradients = Columns::new(block, &affine);
                add_clipped(&gradients, worker.chunk.sized(room), worker.partials.sized(room), clip);
            } else {
                for tile in block.tiles(tile(width)) {
                    self.write_terms(question.term, statistics.as_deref(), tile, worker);
                    let gradients = Written::new(&worker.terms, tile.len());
                    add_clipped(&gradients, worker.chunk.sized(room), worker.partials.sized(room), clip);
                }
            }
            total(&worker.partials, &mut worker.sums);
        });
        if let Some(worker) = workers.first_mut() {
            worker.affine = affine;
        }
        Ok(total_sums(workers))
    }

    /// The model's sufficient statistics under the table's schema, which is public.
    ///
    /// **Errors** [`Refused::Question`] if it has none, or more than the clip is proved for.
    pub(crate) fn statistics(&self) -> Result<Box<dyn RecordStatistics + '_>, Refused> {
        let statistics = self
            .likelihood
            .record_statistics(self.table.schema())
            .map_err(|reason| question("model", reason))?;
        if (1..=MOST_DIMENSIONS).contains(&statistics.width()) {
            Ok(statistics)
        } else {
            Err(question("model", "one with at most 4096 statistics"))
        }
    }

    /// Adds all records' clipped log-ratios up, candidate by candidate, in lattice steps around `centre`.
    pub(crate) fn candidates<'a>(
        &self,
        question: &Choose<'_>,
        centre: f64,
        clip: Clip,
        workers: &'a mut [Worker],
    ) -> Secret<&'a [i64]> {
        clear_sums(workers, question.offsets.len());
        sweep(self.asked(None), workers, |worker, block| {
            let terms = worker.terms.sized(block.len());
            let candidates = question.candidates.chunks_exact(self.dimension());
            for (sum, candidate) in worker.sums.iter_mut().zip(candidates) {
                self.likelihood.log_ratio(block, question.reference, candidate, terms, &mut worker.scratch);
                terms.iter_mut().for_each(|term| *term -= centre);
                let mut share = Moments::default();
                share.add(terms, clip);
                *sum += share.sum();
            }
        });
        total_sums(workers)
    }

    /// Writes what a question sums, for the records of a tile, to `lane.terms`.
    fn write_terms(
        &self,
        term: Term<'_>,
        statistics: Option<&dyn RecordStatistics>,
        tile: Block<'_>,
        worker: &mut Worker,
    ) {
        match (term, statistics) {
            (Term::Gradient { theta, precondition }, _) => self.gradient(tile, theta, precondition, worker),
            (Term::Score { theta, precondition, weight }, _) => {
                self.gradient(tile, theta, precondition, worker);
                let out = worker.mixed.sized(score_width(self.dimension()) * tile.len());
                write_score(&worker.terms, self.dimension(), tile.len(), weight, out);
                std::mem::swap(&mut worker.terms, &mut worker.mixed);
            }
            (Term::Statistics, Some(statistics)) => {
                statistics.write(tile, worker.terms.sized(statistics.width() * tile.len()));
            }
            (Term::Statistics, None) => {}
        }
    }

    /// Writes a block's preconditioned gradients to `lane.terms`.
    fn gradient(&self, block: Block<'_>, theta: &[f64], precondition: Precondition<'_>, worker: &mut Worker) {
        let (records, dimension) = (block.len(), self.dimension());
        let terms = worker.terms.sized(dimension * records);
        self.likelihood.gradient(block, theta, terms, &mut worker.scratch);
        match precondition {
            Precondition::Identity => {}
            Precondition::Diagonal(entries) => stretch(entries, terms, records),
            Precondition::Dense(matrix) => {
                mix(matrix, terms, worker.mixed.sized(dimension * records), records);
                std::mem::swap(&mut worker.terms, &mut worker.mixed);
            }
        }
    }
}

/// How many records' vectors of this width are written before they are added up: as many as stay in the first cache, but
/// enough to pay for a call.
fn tile(width: usize) -> usize {
    /// 20 KiB, less than half of a first cache.
    const VALUES: usize = 2560;
    (VALUES / width.max(1)).clamp(128, BLOCK).next_multiple_of(64)
}

/// Makes room for so many sums in every lane, all zero.
fn clear_sums(workers: &mut [Worker], width: usize) {
    workers.iter_mut().for_each(|worker| {
        worker.sums.clear();
        worker.sums.resize(width, 0);
    });
}

/// Adds the lanes' sums up, into the first lane.
fn total_sums(workers: &mut [Worker]) -> Secret<&[i64]> {
    let Some((first, others)) = workers.split_first_mut() else { return Secret::seal(&[]) };
    for other in others {
        first.sums.iter_mut().zip(&other.sums).for_each(|(sum, share)| *sum += share);
    }
    Secret::seal(&first.sums)
}
