//! Holds the records, the likelihood and the budget of a run, and adds up secret sums: the only reader of records.

use crate::error::question;
use crate::gate::budget::Charged;
use crate::sums::lattice::{CHUNK, Columns, Moments, Written, add_clipped, total};
use crate::sums::own_terms::check_own_terms;
use crate::sums::passes::{Asked, GRAIN, Worker, sweep};
use crate::sums::terms::{COUNT, Terms, tile};
use crate::{
    Budget, Choose, Decide, MOST_DIMENSIONS, MOST_RECORDS, PrivacyModel, Refused, Secret, Sum, Table, Term,
};
use barkeep_accounting::Neighbours;
use barkeep_data::{Records, Schema, Unit};
use barkeep_model::Likelihood;
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
    /// Takes charge of the records: whoever hands a table over keeps nothing of it, so that no second budget is ever
    /// spent on it.
    ///
    /// The likelihood is tried on records made up from the schema: a record's term must be its own, wherever the record
    /// stands and whatever stands beside it. Every sensitivity rests on that.
    ///
    /// # Errors
    /// [`Refused::Question`] if there are more than [`MOST_RECORDS`] records, or none although their number is public; if
    /// the model has no parameter or more than 4096, reads more columns than the table has, or writes terms that are
    /// not each record's own.
    pub fn new(
        table: Table,
        likelihood: Arc<dyn Likelihood>,
        privacy_model: PrivacyModel,
        budget: Budget,
    ) -> Result<Self, Refused> {
        check_model(&*likelihood, table.schema())?;
        Self::over(Arc::new(table), likelihood, privacy_model, budget)
    }

    /// Takes charge of records whose likelihood was checked, for [`insecure`](crate::insecure) and [`Curator::new`] alone.
    ///
    /// # Errors
    /// As [`Curator::new`], for the number of records.
    pub(crate) fn over(
        table: Arc<Table>,
        likelihood: Arc<dyn Likelihood>,
        privacy_model: PrivacyModel,
        budget: Budget,
    ) -> Result<Self, Refused> {
        // Without the one record that a neighbour has there may be none at all.
        let fewest = match privacy_model.neighbours {
            Neighbours::Substitute => 1,
            Neighbours::AddRemove => 0,
        };
        if !(fewest..=MOST_RECORDS).contains(&(table.records() as u64)) {
            return Err(question("records", "at least 1 and at most 2^32"));
        }
        Ok(Self { table, likelihood, privacy_model, budget })
    }

    /// What a neighbouring data set differs in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.table.unit()
    }

    /// Whether there are as many records, or persons, as declared; always true where their number is secret.
    ///
    /// **Privacy.** Under substitution the number is public. Where neighbours add or remove one, nothing is compared.
    #[must_use]
    pub fn holds(&self, declared: Records) -> bool {
        match self.privacy_model.neighbours {
            Neighbours::Substitute => self.records() == declared.as_len(),
            Neighbours::AddRemove => true,
        }
    }

    /// What questions are accounted under.
    pub(crate) fn privacy_model(&self) -> PrivacyModel {
        self.privacy_model
    }

    /// The budget every gate charges.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The number of parameters.
    pub(crate) fn dimension(&self) -> usize {
        self.likelihood.dimension()
    }

    /// The number of records, or of persons; secret where neighbours add or remove one.
    pub(crate) fn records(&self) -> usize {
        self.table.records()
    }

    /// The number of rows; secret where a person may have several.
    pub(crate) fn rows(&self) -> usize {
        self.table.rows()
    }

    /// All records or persons, or those at `positions`.
    fn asked<'a>(&'a self, positions: Option<&'a [u32]>) -> Asked<'a> {
        let (blocks, persons) = (self.table.blocks(), self.table.persons());
        Asked { blocks, persons, positions, columns: self.likelihood.columns() }
    }

    /// What a sum adds up, checked.
    ///
    /// # Errors
    /// As [`Terms::new`].
    pub(crate) fn terms<'a>(&'a self, term: Term<'a>) -> Result<Terms<'a>, Refused> {
        match (term, self.table.faults()) {
            (Term::Faults, Some(sums)) => Ok(Terms::counted(sums, &*self.likelihood)),
            _ => Terms::new(term, &*self.likelihood, self.table.schema()),
        }
    }

    /// Σu, and Σu² of a batch, over the asked records' clipped log-ratios.
    pub(crate) fn moments(
        &self,
        charged: &Charged<Decide<'_>>,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Secret<Moments> {
        let Decide { from, to, clip, .. } = *charged.question();
        workers.iter_mut().for_each(|worker| {
            worker.moments = Moments::default();
            worker.fold.start(1);
        });
        sweep(self.asked(positions), workers, GRAIN, |worker, block, ends| {
            let terms = worker.terms.sized(block.len());
            self.likelihood.log_ratio(block, from, to, terms, &mut worker.scratch);
            let terms = match ends {
                None => terms,
                Some(ends) => {
                    let persons = worker.mixed.sized(ends.persons());
                    worker.fold.add_all(terms, 1, ends, persons);
                    persons
                }
            };
            match positions {
                None => worker.moments.add(terms, clip),
                Some(_) => worker.moments.add_with_squares(terms, clip),
            }
        });
        Secret::seal(workers.iter().fold(Moments::default(), |total, worker| total.and(worker.moments)))
    }

    /// Adds the asked records' clipped terms up, coordinate by coordinate, in lattice steps.
    ///
    /// The sums are left in the first worker, to save an allocation.
    pub(crate) fn vector<'a>(
        &self,
        charged: &Charged<Sum<'_>>,
        summed: &Terms<'_>,
        positions: Option<&[u32]>,
        workers: &'a mut [Worker],
    ) -> Secret<&'a [i64]> {
        let (width, clip) = (summed.width(), charged.question().clip);
        clear_sums(workers, width);
        if let (Some(known), Some(worker)) = (summed.known(), workers.first_mut()) {
            worker.sums.copy_from_slice(known);
            return total_sums(workers);
        }
        workers.iter_mut().for_each(|worker| worker.fold.start(width + COUNT));
        if let Some((gram, one)) = summed.gram(clip) {
            workers.iter_mut().for_each(|worker| worker.open.start(width));
            // A person of one row is a record.
            let is_single = matches!(self.unit(), Unit::Person { most_rows: Some(1) });
            sweep(self.asked(positions), workers, GRAIN, |worker, block, ends| match ends {
                Some(ends) if !is_single => gram.add_persons(block, ends, clip.get(), one, worker),
                Some(_) | None => gram.add(block, clip.get(), one, worker),
            });
            return total_sums(workers);
        }
        let mut affine =
            workers.first_mut().map(|worker| std::mem::take(&mut worker.affine)).unwrap_or_default();
        let is_affine = self.table.persons().is_none() && summed.affine(&mut affine);
        let room = width * CHUNK;
        sweep(self.asked(positions), workers, summed.grain(), |worker, block, ends| {
            worker.partials.sized(room).fill(0);
            if is_affine {
                let gradients = Columns::new(block, &affine);
                add_clipped(&gradients, worker.chunk.sized(room), worker.partials.sized(room), clip);
            } else {
                let size = tile(width);
                for (index, tile) in block.tiles(size).enumerate() {
                    let ends = ends.map(|ends| ends.tile(index * size, tile.len()));
                    let units = summed.write(tile, ends, worker);
                    let gradients = Written::new(&worker.terms, units);
                    add_clipped(&gradients, worker.chunk.sized(room), worker.partials.sized(room), clip);
                }
            }
            total(&worker.partials, &mut worker.sums);
        });
        if let Some(worker) = workers.first_mut() {
            worker.affine = affine;
        }
        total_sums(workers)
    }

    /// Adds all records' clipped log-ratios up, candidate by candidate, in lattice steps around the range's middle.
    pub(crate) fn candidates<'a>(
        &self,
        charged: &Charged<Choose<'_>>,
        workers: &'a mut [Worker],
    ) -> Secret<&'a [i64]> {
        let (question, constants) = (charged.question(), charged.constants());
        clear_sums(workers, question.offsets.len());
        workers.iter_mut().for_each(|worker| worker.fold.start(question.offsets.len()));
        sweep(self.asked(None), workers, GRAIN, |worker, block, ends| {
            let terms = worker.terms.sized(block.len());
            let candidates = question.candidates.chunks_exact(self.dimension());
            for (index, (sum, candidate)) in worker.sums.iter_mut().zip(candidates).enumerate() {
                self.likelihood.log_ratio(block, question.reference, candidate, terms, &mut worker.scratch);
                let terms = match ends {
                    None => &mut *terms,
                    Some(ends) => {
                        let persons = worker.mixed.sized(ends.persons());
                        worker.fold.add(index, terms, ends, persons);
                        persons
                    }
                };
                terms.iter_mut().for_each(|term| *term -= constants.centre);
                let mut share = Moments::default();
                share.add(terms, constants.clip);
                *sum += share.sum();
            }
            if let Some(ends) = ends {
                worker.fold.pass(ends);
            }
        });
        total_sums(workers)
    }
}

/// Refuses a model that does not fit the columns, or whose terms are not each record's own.
pub(crate) fn check_model(likelihood: &dyn Likelihood, schema: &Schema) -> Result<(), Refused> {
    if !(1..=MOST_DIMENSIONS).contains(&likelihood.dimension()) {
        return Err(question("model", "one with at least 1 and at most 4096 parameters"));
    }
    if likelihood.columns() > schema.width() {
        return Err(question("data.columns", "at least as many as the model reads"));
    }
    check_own_terms(likelihood, schema)
}

/// Makes room for `width` sums in every worker, all zero.
fn clear_sums(workers: &mut [Worker], width: usize) {
    workers.iter_mut().for_each(|worker| {
        worker.sums.clear();
        worker.sums.resize(width, 0);
    });
}

/// Adds the workers' sums up, into the first worker.
fn total_sums(workers: &mut [Worker]) -> Secret<&[i64]> {
    let Some((first, others)) = workers.split_first_mut() else { return Secret::seal(&[]) };
    for other in others {
        first.sums.iter_mut().zip(&other.sums).for_each(|(sum, share)| *sum += share);
    }
    Secret::seal(&first.sums)
}
