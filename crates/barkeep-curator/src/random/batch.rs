//! Draws which records a question touches: fixed-size subsets and Poisson samples, both with exact probabilities.

use crate::random::rng::Bits;
use crate::random::skip::Skips;
use crate::{MOST_RECORDS, NoiseRng, Refused};
use barkeep_accounting::Rate;

/// The records one question touches, each once. Drawing reuses the buffers.
///
/// **Privacy.** Amplification by subsampling holds only while nobody knows who was drawn: the members leave the
/// crate in no form, nor does the size of a Poisson batch, and the type has no `Debug`.
#[derive(Default)]
pub(crate) struct Batch {
    members: Vec<u32>,
    /// A bit per record, set while a batch of fixed size is drawn for the records already in it; else none is.
    marks: Vec<u64>,
}

impl Batch {
    /// An empty batch.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The members, in no particular order: sums of integers do not depend on it.
    pub(crate) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Draws `batch` of `records` records: each subset of that size with the same probability, exactly.
    ///
    /// Uniform records are drawn one after the other, repetitions dropped, until `batch` are distinct. Relabelling
    /// the records does not change the law of the draws, so every subset is as likely as any other. Where more
    /// than half are wanted the rest is drawn instead: complements of uniform subsets are uniform. Expected time O(b) for a
    /// batch of b, and one bit of memory per record, cleared once.
    ///
    /// **Privacy.** The work does not depend on what the records say.
    ///
    /// # Errors
    /// [`Refused::Question`] unless 1 ≤ batch ≤ records ≤ 2³².
    pub(crate) fn draw_without_replacement(
        &mut self,
        rng: &mut NoiseRng,
        batch: u64,
        records: u64,
    ) -> Result<(), Refused> {
        check_records(records, 1)?;
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
    /// about the number of records. Of none, none is drawn: a refusal would tell the two apart.
    ///
    /// # Errors
    /// [`Refused::Question`] unless records ≤ 2³².
    pub(crate) fn draw_poisson(
        &mut self,
        rng: &mut NoiseRng,
        rate: Rate,
        records: u64,
    ) -> Result<(), Refused> {
        check_records(records, 0)?;
        self.draw_each(rng, rate, records);
        Ok(())
    }

    fn draw_each(&mut self, bits: &mut impl Bits, rate: Rate, records: u64) {
        self.members.clear();
        if records == 0 {
            return;
        }
        let skips = Skips::new(rate, records);
        let mut next = skips.draw(records, bits);
        while next < records {
            self.members.push(next as u32);
            next += 1 + skips.draw(records - next, bits);
        }
    }

    /// A uniform subset of size `wanted` ≤ `records`/2, so that a draw is new with probability above ½.
    fn draw_subset(&mut self, bits: &mut impl Bits, wanted: u64, records: u64) {
        let words = records.div_ceil(u64::from(u64::BITS)) as usize;
        if self.marks.len() < words {
            self.marks = vec![0; words];
        }
        self.members.clear();
        while (self.members.len() as u64) < wanted {
            let record = bits.below(records) as u32;
            let (word, bit) = place(record);
            if self.marks[word] & bit == 0 {
                self.marks[word] |= bit;
                self.members.push(record);
            }
        }
        for &record in &self.members {
            self.marks[place(record).0] = 0;
        }
    }

    /// Replaces the members by the other records: no more than twice as many steps as there are of them.
    fn complement(&mut self, records: u64) {
        for &record in &self.members {
            let (word, bit) = place(record);
            self.marks[word] |= bit;
        }
        self.members.clear();
        for record in (0..records).map(|record| record as u32) {
            let (word, bit) = place(record);
            if self.marks[word] & bit == 0 {
                self.members.push(record);
            }
        }
        self.marks.fill(0);
    }
}

/// Where a record's mark is.
fn place(record: u32) -> (usize, u64) {
    ((record / u64::BITS) as usize, 1 << (record % u64::BITS))
}

fn check_records(records: u64, fewest: u64) -> Result<(), Refused> {
    if (fewest..=MOST_RECORDS).contains(&records) {
        Ok(())
    } else {
        Err(Refused::Question { name: "records", requirement: "at most 2^32, and one to draw" })
    }
}

#[cfg(test)]
mod tests;
