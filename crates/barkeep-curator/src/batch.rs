//! Draws which records a question touches: fixed-size subsets and Poisson samples, both with exact probabilities.

use crate::rng::Bits;
use crate::skip::Skips;
use crate::{MOST_RECORDS, NoiseRng, Refused};
use barkeep_accounting::Rate;

/// The records one question touches, in increasing order. Drawing reuses the buffers.
///
/// **Privacy.** Amplification by subsampling holds only while nobody knows who was drawn: the members leave the
/// crate in no form, nor does the size of a Poisson batch, and the type has no `Debug`.
#[derive(Default)]
pub struct Batch {
    members: Vec<u32>,
    /// New members of one round, or the complement of the batch.
    spare: Vec<u32>,
}

impl Batch {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The members, increasing.
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Draws `batch` of `records` records: each subset of that size with the same probability, exactly.
    ///
    /// Uniform records are drawn one after the other, repetitions dropped, until `batch` are distinct. Relabelling
    /// the records does not change the law of the draws, so every subset is as likely as any other. Each round
    /// draws only as many as are still missing, so none is drawn in excess. Where more than half are wanted the
    /// rest is drawn instead: complements of uniform subsets are uniform. O(b log b) time for a batch of b.
    ///
    /// **Privacy.** The work does not depend on what the records say.
    ///
    /// # Errors
    /// [`Refused::Question`] unless 1 ≤ batch ≤ records ≤ 2³².
    pub fn draw_without_replacement(
        &mut self,
        rng: &mut NoiseRng,
        batch: u64,
        records: u64,
    ) -> Result<(), Refused> {
        check_records(records)?;
        if !(1..=records).contains(&batch) {
            return Err(Refused::Question { name: "batch", requirement: "from 1 to the number of records" });
        }
        if batch <= records / 2 {
            self.draw_subset(rng, batch, records);
        } else {
            self.draw_subset(rng, records - batch, records);
            self.complement(records);
        }
        Ok(())
    }

    /// Draws each of `records` records independently with probability exactly `rate`, a dyadic number.
    ///
    /// The number of records passed over before the next member is geometric, and is drawn exactly: integers decide.
    /// Expected time in proportion to the batch, not to the records.
    ///
    /// **Privacy.** The work depends on the size of the batch, which under add/remove neighbours says something
    /// about the number of records.
    ///
    /// # Errors
    /// [`Refused::Question`] unless 1 ≤ records ≤ 2³².
    pub fn draw_poisson(&mut self, rng: &mut NoiseRng, rate: Rate, records: u64) -> Result<(), Refused> {
        check_records(records)?;
        self.draw_each(rng, rate, records);
        Ok(())
    }

    fn draw_each(&mut self, bits: &mut impl Bits, rate: Rate, records: u64) {
        let skips = Skips::new(rate, records);
        self.members.clear();
        let mut next = skips.draw(records, bits);
        while next < records {
            self.members.push(next as u32);
            next += 1 + skips.draw(records - next, bits);
        }
    }

    /// A uniform subset of size `wanted` ≤ `records`/2, so that a draw is new with probability above ½.
    fn draw_subset(&mut self, bits: &mut impl Bits, wanted: u64, records: u64) {
        self.members.clear();
        while (self.members.len() as u64) < wanted {
            let missing = wanted - self.members.len() as u64;
            self.spare.clear();
            self.spare.extend((0..missing).map(|_| bits.below(records) as u32));
            self.spare.sort_unstable();
            self.spare.dedup();
            let members = &self.members;
            self.spare.retain(|record| members.binary_search(record).is_err());
            self.merge();
        }
    }

    /// Merges `spare` into `members`, both increasing and without common elements, from the back in place.
    fn merge(&mut self) {
        let mut read = self.members.len();
        self.members.resize(read + self.spare.len(), 0);
        let mut write = self.members.len();
        while let Some(&new) = self.spare.last() {
            write -= 1;
            if read > 0 && self.members[read - 1] > new {
                read -= 1;
                self.members[write] = self.members[read];
            } else {
                self.members[write] = new;
                self.spare.pop();
            }
        }
    }

    /// Replaces the members by the other records.
    fn complement(&mut self, records: u64) {
        self.spare.clear();
        let mut next = 0;
        for &left_out in &self.members {
            self.spare.extend((next..u64::from(left_out)).map(|record| record as u32));
            next = u64::from(left_out) + 1;
        }
        self.spare.extend((next..records).map(|record| record as u32));
        std::mem::swap(&mut self.members, &mut self.spare);
    }
}

fn check_records(records: u64) -> Result<(), Refused> {
    if (1..=MOST_RECORDS).contains(&records) {
        Ok(())
    } else {
        Err(Refused::Question { name: "records", requirement: "from 1 to 2^32" })
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
