//! Holds the records, the model and the budget of a run, and adds up secret sums: the only reader of records.

use crate::error::question;
use crate::lattice::{Moments, add_clipped};
use crate::pass::{Asked, Lane, sweep};
use crate::precondition::{mix, stretch};
use crate::{
    Budget, Decide, MOST_DIMENSIONS, MOST_RECORDS, Precondition, Premises, Refused, Secret, Sum, Term,
};
use barkeep_data::{Block, Table};
use barkeep_model::Model;
use std::sync::Arc;

/// What the chains of a run share: records, model, premises and budget.
///
/// **Privacy.** Records enter and only answers come out, through the [`Tab`](crate::Tab)s opened on it. It has no
/// `Debug`, `Clone` or `Serialize`, and no method gives back the table.
pub struct Curator {
    table: Arc<Table>,
    model: Arc<dyn Model>,
    premises: Premises,
    budget: Budget,
}

impl Curator {
    /// Takes charge of the records.
    ///
    /// **Errors** [`Refused::Question`] if there are no records or more than [`MOST_RECORDS`], if the model has no
    /// parameter or more than [`MOST_DIMENSIONS`], or if it reads more columns than the table has.
    pub fn new(
        table: impl Into<Arc<Table>>,
        model: Arc<dyn Model>,
        premises: Premises,
        budget: Budget,
    ) -> Result<Self, Refused> {
        let table = table.into();
        if !(1..=MOST_RECORDS).contains(&(table.records() as u64)) {
            return Err(question("records", "at least 1 and at most 2^32"));
        }
        if !(1..=MOST_DIMENSIONS).contains(&model.dimension()) {
            return Err(question("model", "one with at least 1 and at most 4096 parameters"));
        }
        if model.columns() > table.schema().width() {
            return Err(question("data.columns", "at least as many as the model reads"));
        }
        Ok(Self { table, model, premises, budget })
    }

    /// What questions are accounted under.
    #[must_use]
    pub fn premises(&self) -> Premises {
        self.premises
    }

    /// The budget every tab charges.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The number of parameters.
    pub(crate) fn dimension(&self) -> usize {
        self.model.dimension()
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
            Some(positions) => Asked::Some { blocks, positions, columns: self.model.columns() },
        }
    }

    /// Σu, and Σu² of a batch, over the asked records' clipped log-ratios.
    pub(crate) fn moments(
        &self,
        question: &Decide<'_>,
        positions: Option<&[u32]>,
        lanes: &mut [Lane],
    ) -> Secret<Moments> {
        lanes.iter_mut().for_each(|lane| lane.moments = Moments::default());
        sweep(self.asked(positions), lanes, |lane, block| {
            let terms = sized(&mut lane.terms, block.len());
            self.model.log_ratio(block, question.from, question.to, terms, &mut lane.scratch);
            match positions {
                None => lane.moments.add(terms, question.clip),
                Some(_) => lane.moments.add_with_squares(terms, question.clip),
            }
        });
        Secret::seal(lanes.iter().fold(Moments::default(), |total, lane| total.and(lane.moments)))
    }

    /// Adds the asked records' clipped terms up, coordinate by coordinate, in lattice steps.
    ///
    /// The sums are left in the first lane, to spare an allocation.
    pub(crate) fn vector<'a>(
        &self,
        question: &Sum<'_>,
        positions: Option<&[u32]>,
        lanes: &'a mut [Lane],
    ) -> Secret<&'a [i64]> {
        let Term::Gradient { at, precondition } = question.term;
        let dimension = self.dimension();
        lanes.iter_mut().for_each(|lane| {
            lane.sums.clear();
            lane.sums.resize(dimension, 0);
        });
        sweep(self.asked(positions), lanes, |lane, block| {
            self.gradient(block, at, precondition, lane);
            add_clipped(&lane.terms, sized(&mut lane.factors, block.len()), &mut lane.sums, question.clip);
        });
        let Some((first, others)) = lanes.split_first_mut() else { return Secret::seal(&[]) };
        for other in others {
            first.sums.iter_mut().zip(&other.sums).for_each(|(sum, share)| *sum += share);
        }
        Secret::seal(&first.sums)
    }

    /// Writes a block's preconditioned gradients to `lane.terms`.
    fn gradient(&self, block: Block<'_>, at: &[f64], precondition: Precondition<'_>, lane: &mut Lane) {
        let (records, dimension) = (block.len(), self.dimension());
        let terms = sized(&mut lane.terms, dimension * records);
        self.model.gradient(block, at, terms, &mut lane.scratch);
        match precondition {
            Precondition::Identity => {}
            Precondition::Diagonal(entries) => stretch(entries, terms, records),
            Precondition::Dense(matrix) => {
                mix(matrix, terms, sized(&mut lane.mixed, dimension * records), records);
                std::mem::swap(&mut lane.terms, &mut lane.mixed);
            }
        }
    }
}

/// The first `length` entries of a buffer that grows once; their contents are unspecified.
fn sized(buffer: &mut Vec<f64>, length: usize) -> &mut [f64] {
    buffer.resize(length, 0.0);
    buffer
}
