//! Holds records in one aligned allocation of column-major blocks that only this crate can open.

use crate::MOST_RECORDS;
use crate::records::faults::{FaultSums, FaultTally};
use crate::records::layout::{Layout, Slot, Widened};
use crate::records::persons::Persons;
use barkeep_data::{BLOCK, Block, Count, Error, Fault, Faults, Noting, Roster, Schema, Sink, Unit, View};

/// The number of f64 in a cache line and in the widest vector register.
const LANES: usize = 8;

/// The distance between two columns of a full block: a line more than [`BLOCK`], because columns exactly
/// 8 KiB apart fall on the same cache sets and evict each other.
pub(crate) const STRIDE: usize = BLOCK + LANES;

/// What fills the space between columns; no view reaches it.
const PADDING: f64 = 0.0;

/// Records in memory, admitted by the schema: every value is finite and inside its column's range.
///
/// Memory is 8 bytes a record and column that programs read, 0.8 % of it more between columns, and at most seven values a
/// column at the end; fewer where a [`Layout`] keeps columns narrow. Up to twice that where the number of records is secret and above the public guess, and while rows are
/// sorted by person.
///
/// **Privacy.** There is no `Debug`, `Clone`, `Serialize` or `PartialEq`.
pub(crate) struct Stored {
    schema: Schema,
    /// Rows.
    records: usize,
    /// Whose rows they are; `None` where each is a record of its own.
    persons: Option<Persons>,
    /// How many cells were invalid or clamped; only where they were noted.
    faults: Option<FaultSums>,
    layout: Layout,
    /// Lines before the first one that starts at a multiple of 64 bytes are skipped by `offset`.
    values: Vec<f64>,
    offset: usize,
    /// Narrow columns, block by block.
    bytes: Vec<u8>,
}

impl Stored {
    /// The number of records, or of persons where rows belong to persons; secret where neighbours add or remove one.
    pub(crate) fn records(&self) -> usize {
        self.persons.as_ref().map_or(self.records, Persons::len)
    }

    /// What a neighbouring data set differs in.
    pub(crate) fn unit(&self) -> Unit {
        self.persons.as_ref().map_or(Unit::Record, Persons::unit)
    }

    /// The number of rows; secret where a person may have several.
    pub(crate) fn rows(&self) -> usize {
        self.records
    }

    /// Whose rows they are; `None` where each is a record of its own.
    pub(crate) fn persons(&self) -> Option<&Persons> {
        self.persons.as_ref()
    }

    /// What was counted of bad cells, where it was.
    pub(crate) fn faults(&self) -> Option<&FaultSums> {
        self.faults.as_ref()
    }

    /// The same rows sorted by person, of each at most the first `most_rows`. Needs the memory of both tables meanwhile.
    ///
    /// # Errors
    /// [`Error::Room`] if there is not enough. No error says how many rows there are.
    pub(crate) fn by_person(
        self,
        roster: &Roster,
        most_rows: Option<u64>,
        noted: Option<(&[Vec<Fault>], Count)>,
    ) -> Result<Self, Error> {
        let (persons, places) = Persons::sort(roster, most_rows);
        // Its message would show the number of rows.
        let count = Count::About(places.len().max(1));
        let sorted = Filling::laid_out(&self.schema, self.layout.clone(), count);
        let sorted = self.in_order(&places, sorted.map_err(|_| Error::Room)?)?;
        let faults = noted.map(|(noted, count)| FaultSums::of_persons(noted, &persons, &places, count));
        Ok(Self { faults, ..sorted.of(persons) })
    }

    /// The rows at these places, one after the other, in the memory of `sorted`.
    ///
    /// # Errors
    /// [`Error::Room`] if that is not enough.
    pub(crate) fn in_order(&self, places: &[usize], mut sorted: Filling) -> Result<Self, Error> {
        let blocks = self.blocks();
        for places in places.chunks(BLOCK) {
            sorted.take(places.len(), &mut |column, out| {
                out.iter_mut().zip(places).for_each(|(out, place)| *out = blocks.value(*place, column));
            });
        }
        sorted.finish()
    }

    /// The same rows, which lie as these persons' do.
    pub(crate) fn of(self, persons: Persons) -> Self {
        Self { persons: Some(persons), ..self }
    }

    /// What is publicly known of the columns.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The records themselves.
    pub(crate) fn blocks(&self) -> Blocks<'_> {
        let values = self.values.get(self.offset..).unwrap_or(&[]);
        let (layout, bytes) = (&self.layout, &self.bytes[..]);
        Blocks { layout, values, bytes, records: self.records }
    }
}

/// All records of a [`Stored`] table, block by block: every block but the last holds [`BLOCK`] records.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    layout: &'a Layout,
    values: &'a [f64],
    bytes: &'a [u8],
    records: usize,
}

impl<'a> Blocks<'a> {
    /// The number of blocks.
    pub(crate) fn len(self) -> usize {
        self.records.div_ceil(BLOCK)
    }

    /// Block `index`; record i of the table is record i mod [`BLOCK`] of block i / [`BLOCK`].
    ///
    /// Past the end it is an empty block. Of a narrow table the first `reads` columns are there, widened in `room` unless they are f64
    /// or, if `by_index`, levels of a category.
    pub(crate) fn get<'b>(
        self,
        index: usize,
        reads: usize,
        by_index: bool,
        room: &'b mut Widened,
    ) -> Block<'b>
    where
        'a: 'b,
    {
        if let Some(block) = self.wide(index) {
            return block;
        }
        let (values, bytes, stride, length) = self.parts(index);
        self.layout.block(values, bytes, (stride, length), (reads, by_index), room)
    }

    /// The number of columns from `column` on that are levels kept as one index.
    pub(crate) fn levels(self, column: usize) -> usize {
        self.layout.levels(column)
    }

    /// Block `index` as it lies in memory, where all columns are f64.
    pub(crate) fn wide(self, index: usize) -> Option<Block<'a>> {
        let (values, _, stride, length) = self.parts(index);
        self.layout.is_wide().then(|| Block::over(values, stride, length))
    }

    /// One value.
    pub(crate) fn value(self, place: usize, column: usize) -> f64 {
        let (values, bytes, stride, length) = self.parts(place / BLOCK);
        self.layout.value(column, values, stride, bytes, (place % BLOCK, length))
    }

    /// The f64 and the bytes of a block, the distance between its columns of f64, and the number of its records.
    fn parts(self, index: usize) -> (&'a [f64], &'a [u8], usize, usize) {
        let length = self.records.saturating_sub(index.saturating_mul(BLOCK)).min(BLOCK);
        let (stride, numbers) = (stride(length), self.layout.numbers());
        let start = index.saturating_mul(STRIDE * numbers);
        let values = self.values.get(start..).and_then(|rest| rest.get(..stride * numbers));
        let start = index.saturating_mul(BLOCK * self.layout.bytes());
        let bytes = self.bytes.get(start..).and_then(|rest| rest.get(..length * self.layout.bytes()));
        (values.unwrap_or(&[]), bytes.unwrap_or(&[]), stride, length)
    }
}

/// The distance between two columns of a block of `length` records.
fn stride(length: usize) -> usize {
    if length == BLOCK { STRIDE } else { length.next_multiple_of(LANES) }
}

/// A table that is not complete yet.
pub(crate) struct Filling {
    table: Stored,
    /// Whether a record found no room; none is kept then.
    overflowed: bool,
    count: Count,
    noted: Noted,
    /// Values on their way to a narrow column.
    spare: Vec<f64>,
}

/// What is kept of what is wrong with the cells of a file.
enum Noted {
    Nothing,
    /// How many of each column.
    Tally(FaultTally),
    /// Each cell of each column, by row.
    Rows(Vec<Vec<Fault>>),
}

impl Filling {
    /// Reserves the memory for as many records of a view as are declared, each column at its width.
    ///
    /// # Errors
    /// As [`Filling::reserve`].
    pub(crate) fn viewed(view: &View, count: Count) -> Result<Self, Error> {
        Self::laid_out(view.schema(), Layout::of(view, count), count)
    }

    /// Reserves the memory for as many records as are declared, each column as f64.
    ///
    /// # Errors
    /// [`Error::Data`] if that is 0 or above 2³², [`Error::Memory`] if there is not enough memory.
    pub(crate) fn reserve(schema: &Schema, count: Count) -> Result<Self, Error> {
        Self::laid_out(schema, Layout::wide(schema), count)
    }

    pub(crate) fn laid_out(schema: &Schema, layout: Layout, count: Count) -> Result<Self, Error> {
        let records = count.declared();
        if records == 0 {
            return Err(Error::Data { key: "records", requirement: "must be at least 1" });
        }
        if records as u64 > MOST_RECORDS {
            return Err(Error::Data { key: "records", requirement: "must be at most 4294967296" });
        }
        let columns = schema.width();
        let too_large = || Error::Memory { records, columns };
        let lines = (records / BLOCK).checked_mul(STRIDE).map(|full| full + stride(records % BLOCK));
        let total = lines.and_then(|lines| lines.checked_mul(layout.numbers()));
        let (values, offset) = total.and_then(aligned).ok_or_else(too_large)?;
        let mut bytes = Vec::new();
        let beside = records.checked_mul(layout.bytes()).ok_or_else(too_large)?;
        bytes.try_reserve_exact(beside).map_err(|_| too_large())?;
        let schema = schema.clone();
        let table = Stored { schema, records: 0, persons: None, faults: None, layout, values, offset, bytes };
        Ok(Self { table, overflowed: false, count, noted: Noted::Nothing, spare: Vec::new() })
    }

    /// Counts faults as a table of this many records does, of which these are a shard.
    pub(crate) fn of_all(self, count: Count) -> Self {
        Self { count, ..self }
    }

    /// Counts what is wrong with cells of a file of this many columns, whose rows are records.
    pub(crate) fn counting(self, columns: usize) -> Self {
        Self { noted: Noted::Tally(FaultTally::new(columns)), ..self }
    }

    /// Notes what is wrong with cells of a file of this many columns, whose rows are persons': a byte a cell, until the table is
    /// complete.
    pub(crate) fn noting(self, columns: usize) -> Self {
        Self { noted: Noted::Rows(vec![Vec::new(); columns]), ..self }
    }

    /// What was noted of each row.
    pub(crate) fn take_noted(&mut self) -> Option<Vec<Vec<Fault>>> {
        match std::mem::replace(&mut self.noted, Noted::Nothing) {
            Noted::Rows(noted) => Some(noted),
            Noted::Nothing | Noted::Tally(_) => None,
        }
    }

    /// Starts anew in the memory of a table that is no longer needed.
    pub(crate) fn anew(mut table: Stored, count: Count) -> Self {
        table.values.truncate(table.offset);
        table.bytes.clear();
        let table = Stored { records: 0, persons: None, ..table };
        Self { table, overflowed: false, count, noted: Noted::Nothing, spare: Vec::new() }
    }

    /// The number of records so far.
    pub(crate) fn records(&self) -> usize {
        self.table.records
    }

    /// The table. The caller has seen to it that every record was handed over.
    ///
    /// # Errors
    /// [`Error::Room`] if the number of records was not declared, and they were too many.
    pub(crate) fn finish(mut self) -> Result<Stored, Error> {
        self.table.faults = match &self.noted {
            Noted::Tally(tally) => Some(FaultSums::of_records(tally, self.count)),
            Noted::Nothing | Noted::Rows(_) => None,
        };
        if self.overflowed { Err(Error::Room) } else { Ok(self.table) }
    }

    /// Makes room for this many more values, by moving all to twice the memory where it is short.
    fn grow(&mut self, more: usize) -> Option<()> {
        let Stored { values, offset, .. } = &mut self.table;
        let needed = values.len().checked_add(more)?;
        if needed > values.capacity() {
            let (mut moved, start) = aligned(needed.checked_mul(2)?)?;
            moved.extend_from_slice(values.get(*offset..)?);
            (*values, *offset) = (moved, start);
        }
        Some(())
    }

    /// Takes records as [`Sink::take`] does, if there is room for them.
    fn try_take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) -> Option<()> {
        let stride = stride(records);
        let more = stride.checked_mul(self.table.layout.numbers())?;
        if (self.table.records + records) as u64 > MOST_RECORDS {
            return None;
        }
        self.grow(more)?;
        let Stored { schema, layout, values, bytes, .. } = &mut self.table;
        let start = values.len();
        values.resize(start + more, PADDING);
        let slots = values.get_mut(start..)?;
        let from = bytes.len();
        bytes.try_reserve(records * layout.bytes()).ok()?;
        bytes.resize(from + records * layout.bytes(), 0);
        let block = bytes.get_mut(from..)?;
        self.spare.resize(records, 0.0);
        for index in 0..schema.width() {
            match layout.slot(index)? {
                Slot::Wide(place) => write(index, slots.get_mut(place * stride..)?.get_mut(..records)?),
                Slot::Product { .. } => {}
                Slot::Whole { .. } | Slot::Single { .. } | Slot::Level { .. } => {
                    write(index, &mut self.spare);
                    layout.encode(index, &self.spare, block);
                }
            }
        }
        self.table.records += records;
        Some(())
    }
}

impl Sink for Filling {
    fn noting(&self) -> Noting {
        match self.noted {
            Noted::Nothing => Noting::Nothing,
            Noted::Tally(_) => Noting::Count,
            Noted::Rows(_) => Noting::Each,
        }
    }

    fn note(&mut self, column: usize, faults: &Faults) {
        match &mut self.noted {
            Noted::Nothing => {}
            Noted::Tally(tally) => tally.add(column, faults),
            Noted::Rows(noted) => {
                let Some(noted) = noted.get_mut(column) else { return };
                match noted.try_reserve(faults.each.len()) {
                    Ok(()) => noted.extend_from_slice(&faults.each),
                    Err(_) => self.overflowed = true,
                }
            }
        }
    }

    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        if !self.overflowed && self.try_take(records, write).is_none() {
            self.overflowed = true;
            (self.table.values, self.table.bytes) = (Vec::new(), Vec::new());
        }
    }
}

/// An empty vector with room for `total` values from a cache line's start on, and what it skips to get there.
///
/// It must not grow beyond that room: its address would change.
fn aligned(total: usize) -> Option<(Vec<f64>, usize)> {
    let mut values = Vec::new();
    values.try_reserve_exact(total.checked_add(LANES)?).ok()?;
    let pointer: *const f64 = values.as_ptr();
    let offset = pointer.align_offset(LANES * size_of::<f64>()).min(LANES - 1);
    values.resize(offset, PADDING);
    Some((values, offset))
}

#[cfg(test)]
mod tests;
