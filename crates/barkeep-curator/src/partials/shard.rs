//! Answers a question for one shard, on the worker's side: a pure function of question and records.

use super::carried::{Carried, Carry};
use super::wire::{Partial, PlanIdentity, Sums, read_question};
use crate::error::{question, unasked};
use crate::gate::curator::terms;
use crate::sums::passes::{clear_sums, total_moments, total_sums, workers};
use crate::sums::programs::check_ratio;
use crate::sums::sweep::Summed;
use crate::sums::terms::{check_path, check_state};
use crate::{MOST_CANDIDATES, Refused, Table};
use barkeep_model::Likelihood;
use std::sync::Arc;

/// One shard of the records at a worker, with the likelihood of the driver's plan.
///
/// **Privacy.** Whoever holds a shard can compute exact sums over its records, as whoever holds the file can. It belongs to
/// the custodian's engine, beside the records. There is no `Debug`, `Clone` or `Serialize`.
pub struct Shard {
    table: Table,
    likelihood: Arc<dyn Likelihood>,
    plan: PlanIdentity,
    place: u32,
}

impl Shard {
    /// The shard of this place among all, read by [`Table::read_shard`] under the view of the driver's plan.
    pub fn new(table: Table, likelihood: Arc<dyn Likelihood>, plan: PlanIdentity, place: u32) -> Self {
        Self { table, likelihood, plan, place }
    }

    /// The shard's exact sums of what a question asks for.
    ///
    /// The same bytes whenever it is called, on any machine and number of threads. Nothing is charged here: the driver did that.
    ///
    /// **Privacy.** The result is a secret: [`Partial`].
    ///
    /// # Errors
    /// [`Refused::Unasked`] for bytes that are no question of this plan and version, [`Refused::Question`] for one that does
    /// not fit the model. Neither depends on records.
    pub fn partial(&self, bytes: &[u8]) -> Result<Partial, Refused> {
        let (ticket, reader) = read_question(bytes, &self.plan).map_err(unasked)?;
        let carried = Carried::read(reader);
        let asked = carried.as_ref().and_then(Carried::asked).ok_or_else(|| unasked(DAMAGED))?;
        let sums = self.sums(asked)?;
        let records = self.table.sweep().records() as u64;
        Ok(Sums { shard: self.place, records, sums }.write(&self.plan, &ticket))
    }

    fn sums(&self, asked: Carry<'_>) -> Result<Vec<i64>, Refused> {
        let (likelihood, dimension) = (&*self.likelihood, self.likelihood.dimension());
        let sweep = self.table.sweep();
        let workers = &mut workers(sweep.rows())[..];
        let checked;
        let (summed, width) = match asked {
            Carry::Count => return Ok(Vec::new()),
            Carry::LogRatios { from, to, along, clip } => {
                check_state("from", from, dimension)?;
                check_state("to", to, dimension)?;
                if let Some(along) = along {
                    check_path(along, likelihood, sweep.unit())?;
                }
                clear_sums(workers, 0);
                sweep.add(Summed::LogRatios { from, to, along, clip }, likelihood, None, workers)?;
                return Ok(vec![total_moments(workers).sum()]);
            }
            Carry::Candidates { reference, candidates, centre, clip } => {
                let width = candidates.len() / dimension.max(1);
                check_state("reference", reference, dimension)?;
                check_state("candidates", candidates, width * dimension)?;
                if !(1..=MOST_CANDIDATES).contains(&width) || !centre.is_finite() {
                    return Err(question("candidates", "at least 1 and at most 2^16"));
                }
                (Summed::Candidates { reference, candidates, centre, clip }, width)
            }
            Carry::Ratio { program, clip } => {
                check_ratio(program, self.table.schema().width())?;
                clear_sums(workers, 0);
                sweep.add(Summed::Ratio { program, clip }, likelihood, None, workers)?;
                return Ok(vec![total_moments(workers).sum()]);
            }
            Carry::Choices { programs, centre, clip } => {
                if !(1..=MOST_CANDIDATES).contains(&programs.len()) || !centre.is_finite() {
                    return Err(question("candidates", "at least 1 and at most 2^16"));
                }
                programs.iter().try_for_each(|program| check_ratio(program, self.table.schema().width()))?;
                (Summed::Choices { programs, centre, clip }, programs.len())
            }
            Carry::Term { term, clip } => {
                checked = terms(&self.table, likelihood, term)?;
                (Summed::Terms { term, terms: &checked, clip }, checked.sums())
            }
        };
        clear_sums(workers, width);
        sweep.add(summed, likelihood, None, workers)?;
        Ok(total_sums(workers).to_vec())
    }
}

/// Why bytes are no question.
const DAMAGED: &str = "a question is damaged";
