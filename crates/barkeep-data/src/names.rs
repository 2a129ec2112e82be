//! Numbers texts in the order in which they first appear, in little more memory than the texts themselves.

use std::hash::{BuildHasher, RandomState};

/// Texts, each once. Two are the same where all their bytes are: hashes, of a key drawn anew, only say where to look first.
///
/// Memory is the texts, eight bytes each for where it ends, and at most eleven each for where it is found.
///
/// **Privacy.** No `Debug`, `Clone`, `Serialize` or `PartialEq`.
#[derive(Default)]
pub(crate) struct Names {
    /// All of them, one after the other.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Numbers, counted from 1, each at its hash's slot or at the next free one; 0 where a slot is free. At least a quarter are.
    slots: Vec<u32>,
    hashes: RandomState,
    /// The number of the text that was looked for last: rows of one person often follow each other.
    last: usize,
}

impl Names {
    /// The number of texts.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of a text that is there.
    pub(crate) fn find(&mut self, text: &[u8]) -> Option<u32> {
        if self.get(self.last) != Some(text) {
            self.last = self.search(text).ok()?;
        }
        u32::try_from(self.last).ok()
    }

    /// Adds a text that is not there, and gives its number; none if there are too many.
    pub(crate) fn add(&mut self, text: &[u8]) -> Option<u32> {
        let number = u32::try_from(self.len()).ok()?;
        let place = number.checked_add(1)?;
        if self.len() >= self.slots.len() / 4 * 3 {
            self.widen()?;
        }
        let slot = self.search(text).err()?;
        *self.slots.get_mut(slot)? = place;
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
        self.last = number as usize;
        Some(number)
    }

    /// The text of a number.
    pub(crate) fn get(&self, number: usize) -> Option<&[u8]> {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..*self.ends.get(number)?)
    }

    /// A text's number, or the free slot where it would be.
    fn search(&self, text: &[u8]) -> Result<usize, usize> {
        let mut slot = self.slot(text);
        loop {
            let place = self.slots.get(slot).copied().unwrap_or(0) as usize;
            let Some(number) = place.checked_sub(1) else { return Err(slot) };
            if self.get(number) == Some(text) {
                return Ok(number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Where a text is looked for first. Slots are a power of two, or none.
    fn slot(&self, text: &[u8]) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "as many of the lower bits as slots need")]
        let hash = self.hashes.hash_one(text) as usize;
        hash & self.slots.len().saturating_sub(1)
    }

    /// Doubles the slots.
    fn widen(&mut self) -> Option<()> {
        let slots = self.slots.len().max(2).checked_mul(2)?;
        self.slots = Vec::new();
        self.slots.resize(slots, 0);
        for number in 0..self.len() {
            let mut slot = self.slot(self.get(number)?);
            while self.slots.get(slot).is_some_and(|place| *place > 0) {
                slot = (slot + 1) & (slots - 1);
            }
            *self.slots.get_mut(slot)? = u32::try_from(number + 1).ok()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
