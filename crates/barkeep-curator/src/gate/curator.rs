//! Holds the records and the budget of a run: whoever asks the records asks it.

use crate::error::question;
use crate::gate::budget::Charged;
use crate::gate::priced::Choice;
use crate::lattice::Moments;
use crate::sums::passes::{Worker, clear_sums, total_moments, total_sums};
use crate::sums::terms::{Summed, Widths, check_ratio};
use crate::tables::sweep::Sweep;
use crate::{Budget, Choose, Decide, MOST_RECORDS, PrivacyModel, Refused, Secret, Sum, Table, Term};
use barkeep_accounting::Neighbours;
use barkeep_data::{Records, Unit};
use barkeep_machine::Program;
use std::sync::Arc;

/// What the chains of a run share: records, privacy model and budget.
///
/// **Privacy.** Records enter and only answers come out, through the [`Gate`](crate::Gate)s opened on it. It has no
/// `Debug`, `Clone` or `Serialize`, and no method gives back the table.
pub struct Curator {
    table: Arc<Table>,
    privacy_model: PrivacyModel,
    budget: Budget,
}

impl Curator {
    /// Takes charge of the records: whoever hands a table over keeps nothing of it, so that no second budget is ever
    /// spent on it.
    ///
    /// # Errors
    /// [`Refused::Question`] if there are more than [`MOST_RECORDS`] records, or none although their number is public.
    pub fn new(table: Table, privacy_model: PrivacyModel, budget: Budget) -> Result<Self, Refused> {
        Self::over(Arc::new(table), privacy_model, budget)
    }

    /// Takes charge of records that others may use too, for [`insecure`](crate::insecure) and [`Curator::new`] alone.
    ///
    /// # Errors
    /// As [`Curator::new`].
    pub(crate) fn over(
        table: Arc<Table>,
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
        Ok(Self { table, privacy_model, budget })
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

    /// The number of records, or of persons; secret where neighbours add or remove one.
    pub(crate) fn records(&self) -> usize {
        self.sweep().records()
    }

    /// What asks the records.
    pub(crate) fn sweep(&self) -> &dyn Sweep {
        self.table.sweep()
    }

    /// Checks a program that writes one number of each record.
    ///
    /// # Errors
    /// As [`check_ratio`].
    pub(crate) fn check_ratio(&self, program: &Program) -> Result<(), Refused> {
        check_ratio(program, self.table.schema().width())
    }

    /// Checks what a sum adds up, and says how long its answer is.
    ///
    /// # Errors
    /// As [`Table::widths`].
    pub(crate) fn widths(&self, term: Term<'_>) -> Result<Widths, Refused> {
        self.table.widths(term)
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
        self.add(Summed::Ratio { program: ratio, clip }, 0, positions, workers)?;
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
        widths: Widths,
        positions: Option<&[u32]>,
        workers: &'a mut [Worker],
    ) -> Result<Secret<&'a [i64]>, Refused> {
        let Sum { term, clip, .. } = *charged.question();
        self.add(term.at(clip), widths.sums, positions, workers)?;
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
        self.add(Summed::Choices { programs: ratios, centre, clip }, offsets.len(), None, workers)?;
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
        self.sweep().add(summed, positions, workers)
    }
}
