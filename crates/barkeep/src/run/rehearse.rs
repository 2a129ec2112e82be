//! Stages a plan's run for an auditor: the same budgets, starts and kernels, with anyone in the curator's place.
//!
//! This is the only way for another crate to make a plan's chains ask their questions. It opens no records: the caller
//! supplies whoever answers.

use crate::Error;
use crate::plan::Plan;
use crate::plan::start::Start;
use crate::public_rng::PublicRng;
use crate::run::draws::Draws;
use crate::run::{Unwatched, budgets, chain, starting};
use barkeep_curator::{Ask, Budget};

/// A plan whose chains can be made to ask, again and again.
pub struct Rehearsal<'p> {
    plan: &'p Plan,
    draws: Draws,
}

impl<'p> Rehearsal<'p> {
    /// Prepares to rehearse a plan.
    ///
    /// # Errors
    /// [`Error`] when the model's parameters cannot be named in draws.
    pub fn of(plan: &'p Plan) -> Result<Self, Error> {
        Ok(Self { plan, draws: Draws::new(plan.spec.model.parameter_names().to_vec())? })
    }

    /// The budget each rehearsed chain would run under. A run fits its start once: of such a plan one chain is rehearsed.
    ///
    /// # Errors
    /// [`Error`] when the bill cannot be split among the chains.
    pub fn budgets(&self) -> Result<Vec<Budget>, Error> {
        let mut budgets = budgets(self.plan)?;
        if matches!(self.plan.start, Start::Fit(_)) {
            budgets.truncate(1);
        }
        Ok(budgets)
    }

    /// Lets the chain of this position ask all its questions, after those of a fitted start.
    ///
    /// # Errors
    /// [`Error::Refused`] where `ask` refuses to answer a fit, or refuses a step other than by an exhausted budget.
    pub fn perform(&self, index: usize, ask: &mut dyn Ask, rng: &mut PublicRng) -> Result<(), Error> {
        let start = starting(self.plan, ask, rng)?;
        chain(self.plan, &start, index, ask, self.draws.chain(), rng, &Unwatched).map(drop)
    }
}
