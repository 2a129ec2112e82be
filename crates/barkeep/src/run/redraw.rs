//! Draws again, longer, from the answers of a run that has ended.
//!
//! **Privacy.** Nothing is asked. The journal's answers were paid for by the first run, and draws given answers are post-processing.
//! A plan that would ask anything else is refused by the identity of its first other question. The new certificate states the
//! same bill, and binds the same journal: both folders together cost what either says.

use super::folder::{CERTIFICATE, Folder, Saved};
use super::journal::{JOURNAL, Journal};
use super::runner::draw_by;
use super::{Drawn, Watch};
use crate::Error;
use crate::plan::Plan;
use crate::run::certificate::Certificate;
use crate::run::files::WriteError;
use std::path::Path;

/// A run that has ended, planned again with another number of draws.
pub struct Redraw {
    journal: Journal,
    plan: Plan,
}

impl Redraw {
    /// Opens the folder of a run that has ended and plans `draws` draws of each chain, or a multiple of those it made where that is
    /// `None`.
    ///
    /// # Errors
    /// [`Error::Journal`] if the run kept no journal, has not ended, or pays for every draw.
    pub fn open(from: &Path, draws: Option<u64>) -> Result<Self, Error> {
        let journal = Journal::open(from)?;
        let refuse =
            |reason: &str| Err(Error::Journal { path: from.join(JOURNAL), reason: reason.to_owned() });
        if !journal.had_ended() {
            return refuse("the run has not ended: `barkeep resume` continues it");
        }
        let kept = &journal.header().certificate;
        let made = Certificate::read(&from.join(CERTIFICATE))?.steps_per_chain;
        let draws = draws.unwrap_or(made.saturating_mul(LONGER));
        let plan = Plan::new(kept.parsed_spec()?.with_steps(draws))?;
        let now = Certificate::with_randomness(&plan, journal.header().insecure_seed.is_some());
        if kept.program != now.program {
            return refuse("the run was begun by another version of the program");
        }
        if now.bill != kept.bill || now.bill.is_none() || plan.steps().0 < draws {
            return refuse(
                "more draws of this sampler ask more of the records, which would have to be paid for",
            );
        }
        Ok(Self { journal, plan })
    }

    /// The plan of the new draws.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Draws, and writes everything into a folder of its own.
    ///
    /// # Errors
    /// [`Error::Journal`] if the plan asks what the journal does not answer; [`Error::Write`] if the folder cannot be written.
    pub fn run(self, to: Folder, watch: &dyn Watch) -> Result<Saved, Error> {
        let Self { journal, plan } = self;
        let header = journal.header();
        let certificate = Certificate::with_randomness(&plan, header.insecure_seed.is_some());
        let certificate = Certificate { charged: header.certificate.charged.clone(), ..certificate };
        let chains = usize::try_from(plan.chains()).unwrap_or(usize::MAX);
        let drawn = (|| {
            let asks = (0..=chains).map(|chain| journal.recall(chain)).collect::<Result<Vec<_>, Error>>()?;
            let spool = to.spool(&plan, plan.runner().heading()?);
            draw_by(&plan, &**plan.spec().likelihood(), certificate, asks, spool, header.seed, watch)
        })();
        let is_whole = |used: &[u64]| used.iter().all(|used| *used == plan.steps().0);
        let drawn = match drawn.map_err(|error| journal.explain(error)) {
            Ok(drawn) if drawn.interrupted || is_whole(&drawn.steps_used) => drawn,
            // A question that was not asked before, or one more.
            Ok(_) | Err(Error::Journal { .. }) => {
                to.release();
                return Err(Error::Journal { path: journal.path().to_owned(), reason: PAID_FOR.to_owned() });
            }
            Err(error) => {
                to.release();
                return Err(error);
            }
        };
        let copy = to.path().join(JOURNAL);
        std::fs::copy(journal.path(), &copy)
            .map_err(|source| Error::Write(WriteError { path: copy.clone(), source }))?;
        to.write(Drawn { journal: Some(journal.digest()), ..drawn })
    }
}

const PAID_FOR: &str = "more draws of this sampler ask more of the records, which would have to be paid for";

/// How many times as many draws are made where nobody says.
const LONGER: u64 = 5;

#[cfg(test)]
mod tests;
