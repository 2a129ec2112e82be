//! Finds a category's level by its text in one look-up, whatever the number of levels.

/// The levels of a category by their text. Space around a cell is ignored: a level with space around it is written by no cell.
pub(crate) struct LevelNames<'a> {
    known: Vec<Level<'a>>,
    /// Places of `known`, counted from 1, each at its key's slot or at the next free one; 0 where a slot is free. At least three of four
    /// are.
    slots: Vec<u32>,
    /// Leaves as many bits of 64 as number the slots.
    shift: u32,
}

struct Level<'a> {
    key: Key,
    text: &'a [u8],
    index: f64,
}

/// What a text of at most sixteen bytes is known by, and a longer one is likely known by: its ends and its length.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    first: u64,
    last: u64,
    length: usize,
}

/// Texts of more bytes have some that are in no key.
const WHOLE: usize = 16;

impl Key {
    #[inline]
    fn of(text: &[u8]) -> Self {
        let four = |bytes: Option<&[u8; 4]>| bytes.map_or(0, |bytes| u64::from(u32::from_be_bytes(*bytes)));
        let eight = |bytes: Option<&[u8; 8]>| bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes));
        // Few cases, since which one it is cannot be foreseen where lengths differ.
        let (first, last) = match text.len() {
            0..4 => (0, text.iter().fold(0, |all, byte| all << 8 | u64::from(*byte))),
            4..=8 => (four(text.first_chunk()), four(text.last_chunk())),
            _ => (eight(text.first_chunk()), eight(text.last_chunk())),
        };
        Self { first, last, length: text.len() }
    }

    /// A number whose highest bits differ where texts do: most differ in their last bytes, the lowest of `last`.
    #[inline]
    fn mixed(self) -> u64 {
        // Bits of the golden ratio and of √2.
        let first = (self.first ^ self.length as u64).wrapping_mul(0xb504_f333_f9de_6485);
        (self.last ^ first >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl<'a> LevelNames<'a> {
    /// Those texts, each meaning its place; the first of equal ones.
    pub(crate) fn new(texts: &'a [String]) -> Self {
        let slots = (4 * texts.len()).max(2).next_power_of_two();
        let mut levels = Self { known: Vec::new(), slots: vec![0; slots], shift: u64::BITS - slots.ilog2() };
        for (index, text) in texts.iter().enumerate().filter(|(_, text)| text.trim().len() == text.len()) {
            let (key, text) = (Key::of(text.as_bytes()), text.as_bytes());
            if let (Err(slot), Ok(place)) = (levels.search(key, text), u32::try_from(levels.known.len() + 1))
                && let Some(slot) = levels.slots.get_mut(slot)
            {
                *slot = place;
                levels.known.push(Level { key, text, index: index as f64 });
            }
        }
        levels
    }

    /// The place of the level that is written so, to the byte.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<f64> {
        self.search(Key::of(text), text).ok()
    }

    /// What a text means, or the free slot where it would be.
    #[inline]
    fn search(&self, key: Key, text: &[u8]) -> Result<f64, usize> {
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as slots need")]
        let mut slot = (key.mixed() >> self.shift) as usize;
        loop {
            let place = self.slots.get(slot).copied().unwrap_or(0) as usize;
            let Some(level) = place.checked_sub(1).and_then(|place| self.known.get(place)) else {
                return Err(slot);
            };
            if level.key == key && (text.len() <= WHOLE || level.text == text) {
                return Ok(level.index);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_walk_through_the_list_finds() {
        // Of every length to beyond a key, neighbours in one byte at every place; zero bytes count.
        let base = "abcdefghijklmnopqrstuvwxyz";
        let mut texts: Vec<String> = vec![String::new(), " padded ".to_owned(), "a\0".to_owned()];
        for length in 1..=20 {
            texts.push(base[..length].to_owned());
            texts.extend((0..length).map(|place| {
                let mut text = base[..length].to_owned();
                text.replace_range(place..=place, "\0");
                text
            }));
        }
        texts.extend((0..3000).map(|k| format!("level {k}")));
        for kept in [1, 2, 3, 17, 200, texts.len()] {
            let levels = LevelNames::new(&texts[..kept]);
            for text in &texts {
                let place = texts[..kept].iter().position(|own| own == text && own.trim() == own);
                let found = levels.find(text.as_bytes());
                assert_eq!(found, place.map(|place| place as f64), "{text:?} {kept}");
            }
        }
        assert_eq!(LevelNames::new(&[]).find(b"a"), None);
    }
}
