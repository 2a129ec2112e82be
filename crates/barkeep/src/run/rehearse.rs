//! Stages a plan's run for an auditor: the same budgets, starts and kernels, with anyone in the curator's place.
//!
//! This is the only way for another crate to make a plan's chains ask their questions. It opens no records: the caller
//! supplies whoever answers.

use crate::Error;
use crate::plan::Plan;
use crate::plan::start::PlannedStart;
use crate::public_rng::PublicRng;
use crate::run::draws::Chain;
use crate::run::{Unwatched, budget, steps};
use barkeep_curator::{Ask, Budget};

/// A plan whose chains can be made to ask, again and again.
pub struct Rehearsal<'p>(&'p Plan);

impl<'p> Rehearsal<'p> {
    /// Prepares to rehearse a plan.
    #[must_use]
    pub fn of(plan: &'p Plan) -> Self {
        Self(plan)
    }

    /// The budget the rehearsed chains would run under.
    ///
    /// # Errors
    /// [`Error`] when the bill cannot be split among the chains.
    pub fn budget(&self) -> Result<Budget, Error> {
        budget(self.0)
    }

    /// The number of chains to rehearse. A run fits its start once: of such a plan it is one.
    #[must_use]
    pub fn chains(&self) -> usize {
        match self.0.start() {
            PlannedStart::Fit(_) => 1,
            PlannedStart::Given(_) | PlannedStart::Prior => {
                usize::try_from(self.0.chains()).unwrap_or(usize::MAX)
            }
        }
    }

    /// Lets the chain of this position ask all its questions, after those of a fitted start.
    ///
    /// # Errors
    /// [`Error::Refused`] where `ask` refuses to answer a fit, or refuses a step other than by an exhausted budget.
    pub fn perform(&self, index: usize, ask: &mut dyn Ask, rng: &mut PublicRng) -> Result<(), Error> {
        let model = &**self.0.spec().model();
        let starts = self.0.start().resolve(model, self.0.chains(), ask, rng)?;
        let Some(start) = starts.get(index) else { return Ok(()) };
        let chain = &mut Chain::new(model.dimension());
        steps(self.0, start, index, ask, chain, rng, &Unwatched).map(drop)
    }
}
