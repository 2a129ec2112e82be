//! Holds records in one aligned allocation of column-major blocks that only this crate can open.

use crate::MOST_RECORDS;
use barkeep_data::{BLOCK, Block, Error, Schema, Sink};

/// The number of f64 in a cache line and in the widest vector register.
const LANES: usize = 8;

/// The distance between two columns of a full block: a line more than [`BLOCK`], because columns exactly
/// 8 KiB apart fall on the same cache sets and evict each other.
pub(crate) const STRIDE: usize = BLOCK + LANES;

/// What fills the space between columns; no view reaches it.
const PADDING: f64 = 0.0;

/// The records, admitted by the schema: every value is finite and inside its column's range.
///
/// Memory is n·d·8 bytes for d columns a model sees, 0.8 % of it more between columns, and at most seven values a
/// column at the end.
///
/// **Privacy.** Only this crate reads the values, for questions that were paid for. There is no `Debug`, `Clone`,
/// `Serialize` or `PartialEq`.
///
/// ```compile_fail,E0624
/// fn values(table: &barkeep_curator::Table) {
///     let _ = table.blocks();
/// }
/// ```
pub struct Table {
    schema: Schema,
    records: usize,
    /// Lines before the first one that starts at a multiple of 64 bytes are skipped by `offset`.
    values: Vec<f64>,
    offset: usize,
}

impl Table {
    /// The number of records, as it was declared.
    #[must_use]
    pub fn records(&self) -> usize {
        self.records
    }

    /// What is publicly known of the columns.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The records themselves.
    pub(crate) fn blocks(&self) -> Blocks<'_> {
        let values = self.values.get(self.offset..).unwrap_or(&[]);
        Blocks { values, width: self.schema.width(), records: self.records }
    }
}

/// All records of a [`Table`], block by block: every block but the last holds [`BLOCK`] records.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    values: &'a [f64],
    width: usize,
    records: usize,
}

impl<'a> Blocks<'a> {
    /// The number of blocks.
    pub(crate) fn len(self) -> usize {
        self.records.div_ceil(BLOCK)
    }

    /// Block `index`; record i of the table is record i mod [`BLOCK`] of block i / [`BLOCK`].
    ///
    /// Past the end it is an empty block.
    pub(crate) fn get(self, index: usize) -> Block<'a> {
        let length = self.records.saturating_sub(index.saturating_mul(BLOCK)).min(BLOCK);
        let stride = stride(length);
        let start = index.saturating_mul(STRIDE * self.width);
        let values = self.values.get(start..).and_then(|rest| rest.get(..stride * self.width));
        Block::over(values.unwrap_or(&[]), stride, length)
    }
}

/// The distance between two columns of a block of `length` records.
fn stride(length: usize) -> usize {
    if length == BLOCK { STRIDE } else { length.next_multiple_of(LANES) }
}

/// A table that is not complete yet.
pub(crate) struct Filling(Table);

impl Filling {
    /// Reserves the memory for exactly `records` records.
    ///
    /// # Errors
    /// [`Error::Data`] if `records` is 0 or above 2³², [`Error::Memory`] if there is not enough memory.
    pub(crate) fn reserve(schema: &Schema, records: usize) -> Result<Self, Error> {
        if records == 0 {
            return Err(Error::Data { key: "records", requirement: "must be at least 1" });
        }
        if records as u64 > MOST_RECORDS {
            return Err(Error::Data { key: "records", requirement: "must be at most 4294967296" });
        }
        let columns = schema.width();
        let too_large = || Error::Memory { records, columns };
        let lines = (records / BLOCK).checked_mul(STRIDE).map(|full| full + stride(records % BLOCK));
        let total =
            lines.and_then(|lines| lines.checked_mul(columns)).and_then(|total| total.checked_add(LANES));
        let mut values = Vec::new();
        values.try_reserve_exact(total.ok_or_else(too_large)?).map_err(|_| too_large())?;
        // The vector never grows beyond its reservation, so its address, and with it this offset, stay.
        let pointer: *const f64 = values.as_ptr();
        let offset = pointer.align_offset(LANES * size_of::<f64>()).min(LANES - 1);
        values.resize(offset, PADDING);
        Ok(Self(Table { schema: schema.clone(), records, values, offset }))
    }

    /// The table. The caller has seen to it that every record is there.
    pub(crate) fn finish(self) -> Table {
        self.0
    }
}

impl Sink for Filling {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        let (stride, start) = (stride(records), self.0.values.len());
        self.0.values.resize(start + stride * self.0.schema.width(), PADDING);
        let slots = self.0.values.get_mut(start..).unwrap_or_default().chunks_exact_mut(stride);
        for (index, slots) in slots.enumerate() {
            write(index, &mut slots[..records]);
        }
    }
}

#[cfg(test)]
mod tests;
