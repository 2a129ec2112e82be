//! Asks all shards from the driver's side, checks that each answered once, and adds their sums up.

use super::carried::Carried;
use super::wire::{Partial, PlanIdentity, Sums, Ticket, question_head};
use crate::error::{question, unasked};
use crate::lattice::Moments;
use crate::sums::passes::Worker;
use crate::sums::terms::Summed;
use crate::tables::sweep::Sweep;
use crate::{MOST_RECORDS, NoiseRng, Refused, Table};
use barkeep_data::{Count, Schema, Unit};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Carries a question to every shard's worker and brings their partials back, in any order.
///
/// It may ask a worker again, or two at once, as long as it brings one partial of each shard.
pub trait Shards: Send + Sync {
    /// One partial of every shard.
    ///
    /// **Privacy.** Partials are secrets: they go into this call's result and nowhere else.
    ///
    /// # Errors
    /// [`Refused::Unasked`] if a shard is lost. The run then stops, and its journal can be continued.
    fn ask(&self, question: &[u8]) -> Result<Vec<Partial>, Refused>;
}

/// What all shards hold together; public.
pub struct Whole<'a> {
    /// The columns that programs read.
    pub schema: &'a Schema,
    /// How many columns the plan reads, whose bad cells are counted.
    pub columns: usize,
    /// What a neighbouring data set differs in.
    pub unit: Unit,
    /// How many records, or persons.
    pub count: Count,
    /// What tells the plan from others.
    pub plan: PlanIdentity,
}

impl Table {
    /// Records in shards: each of them, or each person, is in exactly one.
    ///
    /// All shards are counted first, so that what is wrong with them is found before anything is charged.
    ///
    /// **Privacy.** The number of records is compared in sum, and only where it is public.
    ///
    /// # Errors
    /// [`Refused::Unasked`] if a shard is lost, doubled, of another version or plan; [`Refused::Question`] for any other
    /// number of records than declared; [`Refused::Randomness`].
    pub fn sharded(shards: Box<dyn Shards>, whole: &Whole<'_>) -> Result<Self, Refused> {
        let mut rng = NoiseRng::from_os()?;
        let (first, second) = (rng.next_u64(), rng.next_u64());
        let mut away = Away {
            shards,
            plan: whole.plan,
            run: u128::from(first) << 64 | u128::from(second),
            asked: AtomicU64::new(0),
            unit: whole.unit,
            columns: whole.columns,
            roll: None,
            records: 0,
        };
        let counted = away.answers(&Carried::Count, 0)?;
        let roll: Vec<(u32, u64)> = counted.iter().map(|sums| (sums.shard, sums.records)).collect();
        let total = roll.iter().try_fold(0_u64, |total, (_, records)| total.checked_add(*records));
        let total = total.filter(|total| *total <= MOST_RECORDS);
        let total = total.ok_or(question("records", "at most 2^32"))?;
        away.roll = Some(roll);
        away.records = usize::try_from(total).unwrap_or(usize::MAX);
        if let Count::Exactly(declared) = whole.count
            && away.records != declared
        {
            return Err(question(
                "data.records",
                "the number of records, or persons, in all shards together: each in exactly one of them",
            ));
        }
        Ok(Self::held(whole.schema.clone(), away))
    }
}

/// Records that workers hold.
struct Away {
    shards: Box<dyn Shards>,
    plan: PlanIdentity,
    /// Drawn at random, so that an answer of another run is known as one.
    run: u128,
    /// Questions so far.
    asked: AtomicU64,
    unit: Unit,
    columns: usize,
    /// Which shards there are, and how many records each has; none before they were counted.
    roll: Option<Vec<(u32, u64)>>,
    records: usize,
}

impl Away {
    /// A ticket that no other question has.
    fn ticket(&self) -> Ticket {
        let mut ticket = [0; 24];
        ticket[..16].copy_from_slice(&self.run.to_le_bytes());
        ticket[16..].copy_from_slice(&self.asked.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        ticket
    }

    /// Every shard's answer, once each, with `width` sums; those of the roll where it was called.
    ///
    /// # Errors
    /// [`Refused::Unasked`].
    fn answers(&self, carried: &Carried, width: usize) -> Result<Vec<Sums>, Refused> {
        let ticket = self.ticket();
        let mut question = question_head(&self.plan, &ticket);
        carried.write(&mut question);
        let partials = self.shards.ask(&question)?;
        let mut answered: BTreeMap<u32, Sums> = BTreeMap::new();
        for partial in &partials {
            let sums = Sums::read(partial, &self.plan, &ticket).map_err(unasked)?;
            if sums.sums.len() != width {
                return Err(unasked("a worker's answer is damaged"));
            }
            if answered.insert(sums.shard, sums).is_some() {
                return Err(unasked("a shard answered twice"));
            }
        }
        let counted = || answered.values().map(|sums| (sums.shard, sums.records));
        if self.roll.as_ref().is_some_and(|roll| !counted().eq(roll.iter().copied())) {
            return Err(unasked("the shards are not those that were counted at the start"));
        }
        Ok(answered.into_values().collect())
    }
}

/// Records at workers, added up from their partials.
impl Sweep for Away {
    fn unit(&self) -> Unit {
        self.unit
    }

    fn records(&self) -> usize {
        self.records
    }

    fn rows(&self) -> usize {
        0
    }

    fn faults(&self) -> Option<usize> {
        Some(2 * self.columns)
    }

    fn takes_batches(&self) -> bool {
        false
    }

    fn add(
        &self,
        summed: Summed<'_>,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused> {
        let Some(worker) = workers.first_mut().filter(|_| positions.is_none()) else {
            // Refused before it was charged for.
            return Err(unasked("single records cannot be asked for in shards"));
        };
        let is_scalar = summed.is_scalar();
        let width = if is_scalar { 1 } else { worker.sums.len() };
        for Sums { records, sums, .. } in self.answers(&Carried::of(summed), width)? {
            // A record contributes at most 2^30, so that no sum of sound partials overflows.
            if sums.iter().any(|sum| sum.unsigned_abs() > records << 30) {
                return Err(unasked("a worker's answer is damaged"));
            }
            match &sums[..] {
                [sum] if is_scalar => worker.moments = worker.moments.and(Moments::of_sum(*sum)),
                sums => worker.sums.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum),
            }
        }
        Ok(())
    }
}
