//! Checks and charges a question: all that happens before records are touched, from public numbers alone.

use crate::error::question;
use crate::gate::budget::Charged;
use crate::gate::curator::Curator;
use crate::gate::priced::Question;
use crate::lattice::check_batch;
use crate::sums::terms::Widths;
use crate::{Choose, Decide, MOST_CANDIDATES, Refused, Sum, Term};
use barkeep_accounting::{Neighbours, Sampling};

impl Curator {
    /// Checks and charges a decision.
    ///
    /// # Errors
    /// The refusal; nothing was charged then.
    pub(crate) fn charge_decide<'q>(
        &self,
        chain: usize,
        asked: &Decide<'q>,
    ) -> Result<Charged<Decide<'q>>, Refused> {
        self.check_ratio(asked.ratio)?;
        if !asked.offset.is_finite() {
            return Err(question("offset", "a finite number"));
        }
        let priced = asked.price(self.privacy_model())?;
        self.check_batch(asked.batch)?;
        self.budget().charge(chain, priced)
    }

    /// Checks and charges a sum whose answer has `room`, if the room is known.
    ///
    /// # Errors
    /// The refusal; nothing was charged then.
    pub(crate) fn charge_sum<'q>(
        &self,
        chain: usize,
        asked: &Sum<'q>,
        room: Option<usize>,
    ) -> Result<(Widths, Charged<Sum<'q>>), Refused> {
        let widths = self.widths(asked.term)?;
        if room.is_some_and(|room| room != widths.answer) {
            return Err(question(
                "out",
                "as long as the answer: a number for each entry that the term writes",
            ));
        }
        if matches!(asked.term, Term::Faults) && asked.batch != Sampling::Full {
            // The sum of all records would be priced as that of a batch.
            return Err(question("batch", "all records, whose bad cells were counted as they were read"));
        }
        self.check_batch(asked.batch)?;
        let charged = self.budget().charge(chain, asked.price(self.privacy_model())?)?;
        Ok((widths, charged))
    }

    /// Checks and charges a choice.
    ///
    /// # Errors
    /// The refusal; nothing was charged then.
    pub(crate) fn charge_choose<'q>(
        &self,
        chain: usize,
        asked: &Choose<'q>,
    ) -> Result<Charged<Choose<'q>>, Refused> {
        let count = asked.offsets.len();
        if !(1..=MOST_CANDIDATES).contains(&count) {
            return Err(question("candidates", "at least 1 and at most 2^16"));
        }
        if asked.ratios.len() != count {
            return Err(question("candidates", "as many as offsets"));
        }
        asked.ratios.iter().try_for_each(|program| self.check_ratio(program))?;
        if !asked.offsets.iter().all(|offset| offset.is_finite()) {
            return Err(question("offsets", "finite, one for each candidate"));
        }
        self.budget().charge(chain, asked.price(self.privacy_model())?)
    }

    /// Checks a batch against the records without looking at them.
    fn check_batch(&self, batch: Sampling) -> Result<(), Refused> {
        if batch != Sampling::Full && !self.sweep().takes_batches() {
            return Err(question("batch", "all records where they are in shards"));
        }
        let Sampling::WithoutReplacement { batch, records } = batch else { return Ok(()) };
        if self.privacy_model().neighbours == Neighbours::AddRemove {
            // Before the comparison below, which would reveal the number of records.
            return Err(question(
                "batch",
                "all records or a Poisson sample where neighbours add or remove one",
            ));
        }
        check_batch(batch, records)?;
        if records != self.records() as u64 {
            return Err(question("batch", "drawn from as many records as there are"));
        }
        Ok(())
    }
}
