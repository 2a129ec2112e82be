//! Knows which of some records of a page have a value, and puts values in their places.

use super::runs::{Piece, Runs};

/// A bit for each record, the first in the lowest: whether it has a value.
#[derive(Default)]
pub(super) struct There {
    words: Vec<u64>,
    records: usize,
}

/// Records of a word.
const WORD: usize = 64;
/// Records that get their values at a time.
const EIGHT: usize = 8;

impl There {
    /// Reads the next `records` of a page, and says how many of them have a value; none if the page has fewer. Where all have one there
    /// is nothing to [`spread`](Self::spread).
    pub(super) fn read(&mut self, runs: &mut Runs, page: &[u8], records: usize) -> Option<usize> {
        self.words.clear();
        // A word more: what is added last may touch it.
        self.words.resize(records / WORD + 2, 0);
        self.records = 0;
        while self.records < records {
            match runs.next(page, records - self.records)? {
                // Nothing is missing: no bit is needed.
                Piece::Same(1, count) if count == records => return Some(records),
                Piece::Same(level, count) => {
                    let bits = if level == 1 { u64::MAX } else { 0 };
                    self.add(count, |_, _| Some(bits))?;
                }
                Piece::Packed(packed, count) => {
                    self.add(count, |from, count| packed.bits(page, from, count))?;
                }
            }
        }
        Some(self.words.iter().map(|word| word.count_ones() as usize).sum())
    }

    /// Adds `count` records; `bits` gives some of them from a place on: a word less a byte at most.
    #[inline]
    fn add(&mut self, count: usize, bits: impl Fn(usize, usize) -> Option<u64>) -> Option<()> {
        const MOST: usize = WORD - 8;
        let mut from = 0;
        while from < count {
            let some = MOST.min(count - from);
            let bits = bits(from, some)? & (u64::MAX >> (WORD - some));
            let (word, place) = (self.records / WORD, self.records % WORD);
            let [low, high] = self.words.get_mut(word..)?.first_chunk_mut()?;
            *low |= bits << place;
            // In two steps, since a word is not moved by all its bits.
            *high |= bits >> 1 >> (WORD - 1 - place);
            self.records += some;
            from += some;
        }
        Some(())
    }

    /// Gives each record that has a value the next of `values`, the others NaN. Eight numbers more must stand behind the last value,
    /// whatever they are.
    ///
    /// Without jumps: nobody foresees which are missing.
    pub(super) fn spread(&self, values: &[f64], out: &mut [f64]) -> Option<()> {
        let mut rest = values;
        let mut bytes = self.words.iter().flat_map(|word| word.to_le_bytes());
        let (eights, last) = out.as_chunks_mut::<EIGHT>();
        for out in eights {
            let (values, byte) = (rest.first_chunk()?, bytes.next()?);
            spread_eight(values, byte, out);
            rest = rest.get(byte.count_ones() as usize..)?;
        }
        if !last.is_empty() {
            let mut eight = [0.0; EIGHT];
            spread_eight(rest.first_chunk()?, bytes.next()?, &mut eight);
            last.iter_mut().zip(eight).for_each(|(out, value)| *out = value);
        }
        Some(())
    }
}

#[inline]
fn spread_eight(values: &[f64; EIGHT], byte: u8, out: &mut [f64; EIGHT]) {
    let mut next = 0;
    for (place, out) in out.iter_mut().enumerate() {
        let is_there = usize::from(byte >> place & 1);
        // All bits set are a NaN.
        *out = f64::from_bits(values[next % EIGHT].to_bits() | (is_there as u64).wrapping_sub(1));
        next += is_there;
    }
}

#[cfg(test)]
mod tests;
