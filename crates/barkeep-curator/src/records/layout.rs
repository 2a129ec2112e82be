//! Chooses how wide each column is in memory, from the public view and the declared number of records alone.
//!
//! A value is kept as f64 unless it is known in advance to be a whole number: a bool and products of bools in a byte,
//! an integer in as many bytes as its bounds need, and all levels of a category together as one index; so are those of several
//! categories' interaction, since a record is at one of them at most. Columns that were rounded to
//! numbers of 32 bits as they were read take four bytes. A product of two columns that are kept is not; a polynomial is,
//! since it was no faster to compute it again at every pass. Programs read f64 all the same:
//! narrow columns of a block are widened as it is asked, in working memory that stays in a near cache; those of f64 are read where they
//! are. A program that adds up weights of levels, or writes by level, reads an index as it is.
//!
//! **Precision.** Whole numbers below 2^31 and numbers of 32 bits are f64 exactly, and whole columns admit no negative zero. So a program reads the same
//! bits whichever layout was chosen, and so does every sum. A product is the one that reading would have kept: a feature multiplies its
//! factors in order, and factors of 0 and 1 may be multiplied in any.
//!
//! **Privacy.** Nothing here depends on a record.

mod features;

use crate::records::buffer::Buffer;
use barkeep_data::{Beside, Block, Count, Place, Schema, View};
use barkeep_num::vector::dispatch;
use features::{index_width, is_single, levels, product, whole};
use std::collections::BTreeMap;

/// Tables of f64 below this many bytes stay in a shared cache, where nothing is gained by widening them again and again.
const LARGE: u128 = 64 << 20;
/// The same for tables with levels that are read by their index: those of a core's own cache.
const LARGE_BY_INDEX: u128 = 2 << 20;
/// How much smaller a narrow table must be than that of f64: for less it is not worth widening columns at every pass.
const SMALLER: usize = 2;
/// The same where that of f64 stays in a shared cache: what is not fetched saves little there, only what is not computed.
const SMALLER_IN_CACHE: usize = 4;

/// Where the values of each column are, in a record of f64 and in one of bytes.
#[derive(Clone)]
pub(crate) struct Layout {
    slots: Vec<Slot>,
    /// The number of f64.
    wide: usize,
    /// The number of bytes beside them.
    bytes: usize,
    /// The number of columns that are widened for those who read no index.
    widened: usize,
    /// Where a block's columns are for them.
    places: Vec<Place>,
    /// The same where neighbouring columns that are levels of one category are read by their index.
    by_index: Vec<Place>,
    /// Where each index is in a record, and the first column that is read by it.
    indices: Vec<Index>,
}

/// One index: its bytes, and the first column that is read by it.
#[derive(Clone, Copy)]
struct Index {
    at: usize,
    width: Width,
    first: usize,
}

/// Working memory for the columns and the indices of a block, each in the width that programs read.
///
/// **Privacy.** Holds values of records; no `Debug`.
#[derive(Default)]
pub(crate) struct Widened {
    columns: Buffer<f64>,
    indices: Buffer<u32>,
}

/// Where the values of one column are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Slot {
    /// The f64 of this place.
    Wide(usize),
    /// A whole number in bytes from `at` on.
    Whole { at: usize, width: Width },
    /// A number of 32 bits in bytes from `at` on.
    Single { at: usize },
    /// 1 where the index in bytes from `at` on is `code`, else 0. No level's code is 0.
    Level { at: usize, width: Width, code: u32 },
    /// The product of two other columns, neither of which is one. Not kept.
    Product { first: usize, second: usize },
}

/// Bytes of a whole number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Width {
    One,
    Two,
    Four,
}

impl Width {
    fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    /// The fewest bytes that hold every whole number of a range.
    fn of((low, high): (f64, f64)) -> Option<Self> {
        let holds = |bits: i32| low >= -2_f64.powi(bits - 1) && high < 2_f64.powi(bits - 1);
        [(8, Self::One), (16, Self::Two), (32, Self::Four)]
            .into_iter()
            .find_map(|(bits, width)| holds(bits).then_some(width))
    }
}

impl Layout {
    /// Every column as f64.
    pub(crate) fn wide(schema: &Schema) -> Self {
        Self::new((0..schema.width()).map(Slot::Wide).collect(), schema.width(), 0)
    }

    /// The layout of as many records of a view as are declared.
    pub(crate) fn of(view: &View, count: Count) -> Self {
        let wide = Self::wide(view.schema());
        let narrow = Self::narrow(view);
        let bytes = wide.record() as u128 * count.declared() as u128;
        let smaller = if bytes >= LARGE { SMALLER } else { SMALLER_IN_CACHE };
        let is_large = bytes >= LARGE || narrow.has_indices() && bytes >= LARGE_BY_INDEX;
        if is_large && narrow.record() * smaller <= wide.record() { narrow } else { wide }
    }

    /// Every column at its own width.
    pub(crate) fn narrow(view: &View) -> Self {
        let (mut slots, mut wide, mut bytes) = (Vec::new(), 0, 0);
        let mut take = |width: Width| {
            bytes += width.bytes();
            bytes - width.bytes()
        };
        // How many columns each index serves.
        let mut served: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for (columns, _) in view.features().iter().filter_map(|feature| levels(feature, view.source())) {
            *served.entry(columns).or_default() += 1;
        }
        // Where an index is, and which levels have which codes: from 1 on in the order of the columns.
        let mut indices: BTreeMap<Vec<usize>, (usize, Vec<Vec<usize>>)> = BTreeMap::new();
        for feature in view.features() {
            let level = levels(feature, view.source()).and_then(|(columns, level)| {
                let width = index_width(*served.get(&columns)?)?;
                Some((columns, level, width))
            });
            let slot = match level {
                Some((columns, level, width)) => {
                    let (at, levels) = indices.entry(columns).or_insert_with(|| (take(width), Vec::new()));
                    let known = levels.iter().position(|known| *known == level).unwrap_or(levels.len());
                    if known == levels.len() {
                        levels.push(level);
                    }
                    Slot::Level { at: *at, width, code: known as u32 + 1 }
                }
                None => match (whole(feature, view.source()), product(feature, view)) {
                    (Some(width), _) => Slot::Whole { at: take(width), width },
                    (None, Some((first, second))) => Slot::Product { first, second },
                    (None, None) if is_single(feature, view.source()) => {
                        Slot::Single { at: take(Width::Four) }
                    }
                    (None, None) => {
                        wide += 1;
                        Slot::Wide(wide - 1)
                    }
                },
            };
            slots.push(slot);
        }
        Self::new(slots, wide, bytes)
    }

    fn new(slots: Vec<Slot>, wide: usize, bytes: usize) -> Self {
        let mut widened = 0;
        let mut place = |slot: &Slot| match slot {
            Slot::Wide(place) => Place::Lying(*place),
            Slot::Whole { .. } | Slot::Single { .. } | Slot::Level { .. } | Slot::Product { .. } => {
                widened += 1;
                Place::Widened(widened - 1)
            }
        };
        let places: Vec<Place> = slots.iter().map(&mut place).collect();
        let mut by_index = places.clone();
        // From the last to the first: each knows how many follow it.
        let mut next: Option<(usize, u32, usize)> = None;
        let mut indices: Vec<Index> = Vec::new();
        for (first, (slot, place)) in slots.iter().zip(&mut by_index).enumerate().rev() {
            next = match *slot {
                Slot::Level { at, width, code } => {
                    let count = match next {
                        Some((same, after, count)) if same == at && code + 1 == after => count + 1,
                        Some(_) | None => 1,
                    };
                    let known = indices.iter().position(|index| index.at == at).unwrap_or(indices.len());
                    match indices.get_mut(known) {
                        Some(index) => index.first = first,
                        None => indices.push(Index { at, width, first }),
                    }
                    *place = Place::Level { index: known, code, count };
                    Some((at, code, count))
                }
                Slot::Wide(_) | Slot::Whole { .. } | Slot::Single { .. } | Slot::Product { .. } => None,
            };
        }
        Self { slots, wide, bytes, widened, places, by_index, indices }
    }

    /// Whether levels of a category are read by their index.
    fn has_indices(&self) -> bool {
        self.by_index.iter().any(|place| matches!(place, Place::Level { .. }))
    }

    /// The number of columns from this one on that are kept as one index.
    pub(crate) fn levels(&self, column: usize) -> usize {
        match self.by_index.get(column) {
            Some(Place::Level { count, .. }) => *count,
            Some(Place::Lying(_) | Place::Widened(_)) | None => 0,
        }
    }

    /// Whether every column is an f64.
    pub(crate) fn is_wide(&self) -> bool {
        self.bytes == 0
    }

    /// The number of f64 of a record.
    pub(crate) fn numbers(&self) -> usize {
        self.wide
    }

    /// The number of bytes beside them.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of a record in all.
    pub(crate) fn record(&self) -> usize {
        self.wide * size_of::<f64>() + self.bytes
    }

    /// Where the values of column `index` are.
    pub(crate) fn slot(&self, index: usize) -> Option<Slot> {
        self.slots.get(index).copied()
    }

    /// Writes values of column `index` of as many records into their bytes: those of a block, zero at first.
    pub(crate) fn encode(&self, index: usize, values: &[f64], block: &mut [u8]) {
        let Some(slot) = self.slots.get(index) else { return };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole numbers within the width's range, or numbers of 32 bits"
        )]
        match *slot {
            Slot::Wide(_) | Slot::Product { .. } => {}
            Slot::Whole { at, width } => {
                let bytes = part_mut(block, at, width, values.len());
                match width {
                    Width::One => {
                        bytes.iter_mut().zip(values).for_each(|(byte, x)| *byte = (*x as i8).cast_unsigned());
                    }
                    Width::Two => {
                        let (words, _) = bytes.as_chunks_mut();
                        words.iter_mut().zip(values).for_each(|(word, x)| *word = (*x as i16).to_le_bytes());
                    }
                    Width::Four => {
                        let (words, _) = bytes.as_chunks_mut();
                        words.iter_mut().zip(values).for_each(|(word, x)| *word = (*x as i32).to_le_bytes());
                    }
                }
            }
            Slot::Single { at } => {
                let (words, _) = part_mut(block, at, Width::Four, values.len()).as_chunks_mut();
                words.iter_mut().zip(values).for_each(|(word, x)| *word = (*x as f32).to_le_bytes());
            }
            Slot::Level { at, width, code } => {
                let bytes = part_mut(block, at, width, values.len());
                let size = width.bytes();
                for (index, _) in bytes.chunks_exact_mut(size).zip(values).filter(|(_, x)| **x == 1.0) {
                    index.copy_from_slice(&code.to_le_bytes()[..size]);
                }
            }
        }
    }

    /// One value of column `index`: of the record at `place` of a block of `records`.
    pub(crate) fn value(
        &self,
        index: usize,
        numbers: &[f64],
        stride: usize,
        block: &[u8],
        (place, records): (usize, usize),
    ) -> f64 {
        let Some(slot) = self.slots.get(index) else { return f64::NAN };
        let (at, width) = match *slot {
            Slot::Wide(number) => return numbers.get(number * stride + place).copied().unwrap_or(f64::NAN),
            Slot::Product { first, second } => {
                let value = |index: usize| self.value(index, numbers, stride, block, (place, records));
                return value(first) * value(second);
            }
            Slot::Whole { at, width } | Slot::Level { at, width, .. } => (at, width),
            Slot::Single { at } => (at, Width::Four),
        };
        // A block of one record, whose bytes of this column are these.
        let size = width.bytes();
        let bytes = part(block, at, width, records).get(place * size..).and_then(|rest| rest.get(..size));
        let alone = match *slot {
            Slot::Wide(_) | Slot::Product { .. } => *slot,
            Slot::Whole { width, .. } => Slot::Whole { at: 0, width },
            Slot::Single { .. } => Slot::Single { at: 0 },
            Slot::Level { width, code, .. } => Slot::Level { at: 0, width, code },
        };
        let mut out = [f64::NAN];
        alone.decode(&[], bytes.unwrap_or(&[]), &mut out, |out, value| *out = value);
        out[0]
    }

    /// The first `reads` columns of the records of a block, whose f64 and bytes these are; levels as they are if `by_index`. Columns that
    /// are neither f64 nor indices are widened in `room`.
    pub(crate) fn block<'b>(
        &'b self,
        numbers: &'b [f64],
        bytes: &'b [u8],
        (stride, records): (usize, usize),
        (reads, by_index): (usize, bool),
        room: &'b mut Widened,
    ) -> Block<'b> {
        let places = if by_index { &self.by_index } else { &self.places };
        let places = &places[..reads.min(places.len())];
        let widened = room.columns.sized(stride * self.widened);
        for (slot, place) in self.slots.iter().zip(places) {
            if let Place::Widened(place) = place
                && let Some(out) = widened.get_mut(place * stride..).and_then(|rest| rest.get_mut(..records))
            {
                self.widen(*slot, (numbers, stride), bytes, out);
            }
        }
        let indices = room.indices.sized(if by_index { records * self.indices.len() } else { 0 });
        for (index, out) in self.indices.iter().zip(indices.chunks_exact_mut(records.max(1))) {
            if index.first < reads {
                index.decode(part(bytes, index.at, index.width, records), out);
            }
        }
        Block::over(numbers, stride, records).placed(places, Beside { widened, indices, records })
    }

    /// Writes the values of a column of the records of a block.
    fn widen(&self, slot: Slot, (numbers, stride): (&[f64], usize), block: &[u8], out: &mut [f64]) {
        let lying = |slot: Slot| match slot {
            Slot::Wide(place) => numbers.get(place * stride..).unwrap_or(&[]),
            Slot::Whole { .. } | Slot::Single { .. } | Slot::Level { .. } | Slot::Product { .. } => &[],
        };
        let (first, second) = match slot {
            Slot::Product { first, second } => (self.slot(first), self.slot(second)),
            Slot::Wide(_) | Slot::Whole { .. } | Slot::Single { .. } | Slot::Level { .. } => {
                (Some(slot), None)
            }
        };
        if let Some(first) = first {
            first.decode(lying(first), block, out, |out, value| *out = value);
        }
        if let Some(second) = second {
            second.decode(lying(second), block, out, |out, value| *out *= value);
        }
    }
}

impl Slot {
    /// Hands over the values of a column that is kept, of the records of a block whose bytes these are, beside what is there. A column
    /// of f64 is `lying`.
    #[inline(always)]
    fn decode(self, lying: &[f64], block: &[u8], out: &mut [f64], hand: impl Fn(&mut f64, f64) + Copy) {
        let records = out.len();
        let is = |same: bool| if same { 1.0 } else { 0.0 };
        match self {
            Self::Product { .. } => {}
            Self::Wide(_) => widen(lying, out, |x| x, hand),
            Self::Whole { at, width } => {
                let bytes = part(block, at, width, records);
                match width {
                    Width::One => widen(bytes, out, |byte| f64::from(byte.cast_signed()), hand),
                    Width::Two => {
                        widen(bytes.as_chunks().0, out, |word| f64::from(i16::from_le_bytes(word)), hand);
                    }
                    Width::Four => {
                        widen(bytes.as_chunks().0, out, |word| f64::from(i32::from_le_bytes(word)), hand);
                    }
                }
            }
            Self::Single { at } => {
                let words = part(block, at, Width::Four, records).as_chunks().0;
                widen(words, out, |word| f64::from(f32::from_le_bytes(word)), hand);
            }
            Self::Level { at, width, code } => {
                let bytes = part(block, at, width, records);
                let own = code.to_le_bytes();
                match width {
                    Width::One => widen(bytes, out, |byte| is(byte == own[0]), hand),
                    Width::Two => widen(bytes.as_chunks().0, out, |word| is(word == [own[0], own[1]]), hand),
                    Width::Four => widen(bytes.as_chunks().0, out, |word| is(word == own), hand),
                }
            }
        }
    }
}

impl Index {
    /// Writes the index of each record.
    fn decode(self, bytes: &[u8], out: &mut [u32]) {
        let set = |out: &mut u32, index: u32| *out = index;
        match self.width {
            Width::One => widen(bytes, out, u32::from, set),
            Width::Two => widen(bytes.as_chunks().0, out, |word| u16::from_le_bytes(word).into(), set),
            Width::Four => widen(bytes.as_chunks().0, out, u32::from_le_bytes, set),
        }
    }
}

/// Hands over the value of each word.
#[inline(always)]
fn widen<Word: Copy, Value>(
    words: &[Word],
    out: &mut [Value],
    value: impl Fn(Word) -> Value,
    hand: impl Fn(&mut Value, Value),
) {
    #[inline(always)]
    fn run<Word: Copy, Value>(
        words: &[Word],
        out: &mut [Value],
        value: impl Fn(Word) -> Value,
        hand: impl Fn(&mut Value, Value),
    ) {
        for (out, word) in out.iter_mut().zip(words) {
            hand(out, value(*word));
        }
    }
    dispatch(
        #[inline(always)]
        || run(words, out, value, hand),
    );
}

/// The bytes of a column in those of a block of as many records.
fn part(block: &[u8], at: usize, width: Width, records: usize) -> &[u8] {
    block.get(at * records..).and_then(|rest| rest.get(..width.bytes() * records)).unwrap_or(&[])
}

fn part_mut(block: &mut [u8], at: usize, width: Width, records: usize) -> &mut [u8] {
    block.get_mut(at * records..).and_then(|rest| rest.get_mut(..width.bytes() * records)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
