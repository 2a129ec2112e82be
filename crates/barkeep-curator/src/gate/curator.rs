//! Holds the records, the likelihood and the budget of a run: whoever asks the records asks it.

use crate::error::question;
use crate::gate::budget::Charged;
use crate::gate::priced::Choice;
use crate::sums::lattice::Moments;
use crate::sums::own_terms::check_own_terms;
use crate::sums::passes::{Worker, clear_sums, total_moments, total_sums};
use crate::sums::programs::check_ratio;
use crate::sums::sweep::{Summed, Sweep};
use crate::sums::terms::{Terms, check_path};
use crate::{
    Along, Budget, Choose, Decide, LogRatio, LogRatios, MOST_DIMENSIONS, MOST_RECORDS, PrivacyModel, Refused,
    Secret, Sum, Table, Term,
};
use barkeep_accounting::Neighbours;
use barkeep_data::{Records, Schema, Unit};
use barkeep_machine::Program;
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
        if !(fewest..=MOST_RECORDS).contains(&(table.sweep().records() as u64)) {
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
        self.sweep().records()
    }

    /// What asks the records.
    pub(crate) fn sweep(&self) -> &dyn Sweep {
        self.table.sweep()
    }

    /// Checks a program with one number for each record.
    ///
    /// # Errors
    /// As [`check_ratio`].
    pub(crate) fn check_program(&self, program: &Program) -> Result<(), Refused> {
        check_ratio(program, self.table.schema().width())
    }

    /// Checks a path against the model and the unit.
    ///
    /// # Errors
    /// As [`check_path`].
    pub(crate) fn check_path(&self, along: Along<'_>) -> Result<(), Refused> {
        check_path(along, &*self.likelihood, self.unit())
    }

    /// What a sum adds up, checked.
    ///
    /// # Errors
    /// As [`Terms::new`].
    pub(crate) fn terms<'a>(&'a self, term: Term<'a>) -> Result<Terms<'a>, Refused> {
        terms(&self.table, &*self.likelihood, term)
    }

    /// Σu, and Σu² of a batch, over the asked records' clipped log-ratios.
    ///
    /// # Errors
    /// [`Refused::Unasked`].
    pub(crate) fn moments(
        &self,
        charged: &Charged<Decide<'_>>,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<Secret<Moments>, Refused> {
        let Decide { ratio, clip, .. } = *charged.question();
        let summed = match ratio {
            LogRatio::Model { from, to, along } => Summed::LogRatios { from, to, along, clip },
            LogRatio::Program(program) => Summed::Ratio { program, clip },
        };
        self.add(summed, 0, positions, workers)?;
        Ok(Secret::seal(total_moments(workers)))
    }

    /// Adds the asked records' clipped terms up, coordinate by coordinate, in lattice steps.
    ///
    /// The sums are left in the first worker, to save an allocation.
    ///
    /// # Errors
    /// [`Refused::Unasked`].
    pub(crate) fn vector<'a>(
        &self,
        charged: &Charged<Sum<'_>>,
        terms: &Terms<'_>,
        positions: Option<&[u32]>,
        workers: &'a mut [Worker],
    ) -> Result<Secret<&'a [i64]>, Refused> {
        let Sum { term, clip, .. } = *charged.question();
        self.add(Summed::Terms { term, terms, clip }, terms.sums(), positions, workers)?;
        Ok(Secret::seal(total_sums(workers)))
    }

    /// Adds all records' clipped log-ratios up, candidate by candidate, in lattice steps around the range's middle.
    ///
    /// # Errors
    /// [`Refused::Unasked`].
    pub(crate) fn candidates<'a>(
        &self,
        charged: &Charged<Choose<'_>>,
        workers: &'a mut [Worker],
    ) -> Result<Secret<&'a [i64]>, Refused> {
        let Choose { ratios, offsets, .. } = *charged.question();
        let Choice { centre, clip, .. } = *charged.constants();
        let summed = match ratios {
            LogRatios::Model { reference, candidates } => {
                Summed::Candidates { reference, candidates, centre, clip }
            }
            LogRatios::Programs(programs) => Summed::Choices { programs, centre, clip },
        };
        self.add(summed, offsets.len(), None, workers)?;
        Ok(Secret::seal(total_sums(workers)))
    }

    /// Lets all workers start from nothing and adds up what is asked for.
    fn add(
        &self,
        summed: Summed<'_>,
        width: usize,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused> {
        clear_sums(workers, width);
        self.sweep().add(summed, &*self.likelihood, positions, workers)
    }
}

/// What a sum over a table adds up, checked.
///
/// # Errors
/// As [`Terms::new`].
pub(crate) fn terms<'a>(
    table: &'a Table,
    likelihood: &'a dyn Likelihood,
    term: Term<'a>,
) -> Result<Terms<'a>, Refused> {
    match (term, table.sweep().faults()) {
        (Term::Faults, Some(width)) => Ok(Terms::counted(width, likelihood)),
        _ => Terms::new(term, likelihood, table.schema(), table.unit()),
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
