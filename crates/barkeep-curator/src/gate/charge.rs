//! Checks and charges a question: all that happens before records are touched, from public numbers alone.

use crate::error::question;
use crate::gate::budget::Charged;
use crate::gate::curator::Curator;
use crate::gate::priced::Question;
use crate::sums::lattice::check_batch;
use crate::sums::terms::{Terms, check_state};
use crate::{Choose, Decide, LogRatio, LogRatios, MOST_CANDIDATES, Refused, Sum};
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
        let along = match asked.ratio {
            LogRatio::Model { from, to, along } => {
                for (name, state) in [("from", from), ("to", to)] {
                    check_state(name, state, self.dimension())?;
                }
                along
            }
            LogRatio::Program(program) => {
                self.check_program(program)?;
                None
            }
        };
        if !asked.offset.is_finite() {
            return Err(question("offset", "a finite number"));
        }
        if let Some(along) = along {
            self.check_path(along)?;
            if asked.batch != Sampling::Full {
                // A batch's members would have to be those of the path's gradients.
                return Err(question(
                    "batch",
                    "all records where a path takes something off their log-ratios",
                ));
            }
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
        &'q self,
        chain: usize,
        asked: &Sum<'q>,
        room: Option<usize>,
    ) -> Result<(Terms<'q>, Charged<Sum<'q>>), Refused> {
        let terms = self.terms(asked.term)?;
        if room.is_some_and(|room| room != terms.width()) {
            return Err(question(
                "out",
                "as long as what is summed: a number per parameter, per entry of a score, or per statistic",
            ));
        }
        if terms.is_counted() && asked.batch != Sampling::Full {
            // The sum of all records would be priced as that of a batch.
            return Err(question("batch", "all records, whose bad cells were counted as they were read"));
        }
        self.check_batch(asked.batch)?;
        let charged = self.budget().charge(chain, asked.price(self.privacy_model())?)?;
        Ok((terms, charged))
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
        if let LogRatios::Model { reference, .. } = asked.ratios {
            check_state("reference", reference, self.dimension())?;
        }
        if !(1..=MOST_CANDIDATES).contains(&count) {
            return Err(question("candidates", "at least 1 and at most 2^16"));
        }
        match asked.ratios {
            LogRatios::Model { candidates, .. } => {
                check_state("candidates", candidates, count * self.dimension())?;
            }
            LogRatios::Programs(programs) if programs.len() == count => {
                programs.iter().try_for_each(|program| self.check_program(program))?;
            }
            LogRatios::Programs(_) => return Err(question("candidates", "as many as offsets")),
        }
        check_state("offsets", asked.offsets, count)?;
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
