//! Answers a question for one shard, on the worker's side: a pure function of question and records.

use super::carried::Carried;
use super::wire::{Partial, PlanIdentity, Sums, read_question};
use crate::error::{question, unasked};
use crate::sums::passes::{clear_sums, total_moments, total_sums, workers};
use crate::sums::terms::{Summed, check_ratio};
use crate::{MOST_CANDIDATES, Refused, Table, Term};

/// One shard of the records at a worker, under the driver's plan.
///
/// **Privacy.** Whoever holds a shard can compute exact sums over its records, as whoever holds the file can. It belongs to
/// the custodian's engine, beside the records. There is no `Debug`, `Clone` or `Serialize`.
pub struct Shard {
    table: Table,
    plan: PlanIdentity,
    place: u32,
}

impl Shard {
    /// The shard of this place among all, read by [`Table::read_shard`] under the view of the driver's plan.
    pub fn new(table: Table, plan: PlanIdentity, place: u32) -> Self {
        Self { table, plan, place }
    }

    /// The shard's exact sums of what a question asks for.
    ///
    /// The same bytes whenever it is called, on any machine and number of threads. Nothing is charged here: the driver did that.
    ///
    /// **Privacy.** The result is a secret: [`Partial`].
    ///
    /// # Errors
    /// [`Refused::Unasked`] for bytes that are no question of this plan and version, [`Refused::Question`] for one that does
    /// not fit the columns. Neither depends on records.
    pub fn partial(&self, bytes: &[u8]) -> Result<Partial, Refused> {
        let (ticket, reader) = read_question(bytes, &self.plan).map_err(unasked)?;
        let carried = Carried::read(reader).ok_or_else(|| unasked(DAMAGED))?;
        let sums = carried.summed().map_or(Ok(Vec::new()), |summed| self.sums(summed))?;
        let records = self.table.sweep().records() as u64;
        Ok(Sums { shard: self.place, records, sums }.write(&self.plan, &ticket))
    }

    /// Checks what is asked and adds it up: the driver checked the same, but bytes may come from anywhere.
    fn sums(&self, summed: Summed<'_>) -> Result<Vec<i64>, Refused> {
        let columns = self.table.schema().width();
        let width = match summed {
            Summed::Ratio { program, .. } => check_ratio(program, columns).map(|()| 0)?,
            Summed::Term { asked, .. } => self.table.widths(Term::Program(asked))?.sums,
            Summed::Faults => self.table.widths(Term::Faults)?.sums,
            Summed::Choices { programs, centre, .. } => {
                if !(1..=MOST_CANDIDATES).contains(&programs.len()) || !centre.is_finite() {
                    return Err(question("candidates", "at least 1 and at most 2^16"));
                }
                programs.iter().try_for_each(|program| check_ratio(program, columns))?;
                programs.len()
            }
        };
        let sweep = self.table.sweep();
        let workers = &mut workers(sweep.rows())[..];
        clear_sums(workers, width);
        sweep.add(summed, None, workers)?;
        if summed.is_scalar() {
            return Ok(vec![total_moments(workers).sum()]);
        }
        Ok(total_sums(workers).to_vec())
    }
}

/// Why bytes are no question.
const DAMAGED: &str = "a question is damaged";
