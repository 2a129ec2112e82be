//! Holds records in one aligned allocation of column-major blocks, behind a single door.

use crate::block::LANES;
use crate::{BLOCK, Block, Error, Schema, View};

/// The distance between two columns of a full block: a line more than [`BLOCK`], because columns exactly
/// 8 KiB apart fall on the same cache sets and evict each other.
const STRIDE: usize = BLOCK + LANES;

/// The curator's integer sums are exact up to here: 2³² terms of 30 bits fit into 63.
const MOST_RECORDS: u64 = 1 << 32;

/// What fills the space between columns; no view reaches it.
const PADDING: f64 = 0.0;

/// The records, admitted by the schema: every value is finite and inside its column's range.
///
/// Memory is n·d·8 bytes for d columns a model sees, 0.8 % of it more between columns, and at most seven values a
/// column at the end.
///
/// **Privacy.** Values leave through [`Table::blocks`] alone, which `clippy.toml` forbids outside
/// barkeep-curator. There is no `Debug`, `Clone`, `Serialize` or `PartialEq`.
///
/// ```compile_fail,E0277
/// fn print(table: &barkeep_data::Table) {
///     println!("{:?}", table);
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
    /// The number of records, which is public.
    pub fn records(&self) -> usize {
        self.records
    }

    /// What is publicly known of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The records themselves: the only door.
    pub fn blocks(&self) -> Blocks<'_> {
        let values = self.values.get(self.offset..).unwrap_or(&[]);
        Blocks { values, width: self.schema.width(), records: self.records }
    }
}

/// All records of a [`Table`], block by block: every block but the last holds [`BLOCK`] records.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    values: &'a [f64],
    width: usize,
    records: usize,
}

impl<'a> Blocks<'a> {
    /// The number of blocks.
    #[expect(clippy::len_without_is_empty, reason = "a table is never empty")]
    pub fn len(self) -> usize {
        self.records.div_ceil(BLOCK)
    }

    /// Block `index`; record i of the table is record i mod [`BLOCK`] of block i / [`BLOCK`].
    ///
    /// Past the end it is an empty block.
    pub fn get(self, index: usize) -> Block<'a> {
        let length = self.records.saturating_sub(index.saturating_mul(BLOCK)).min(BLOCK);
        let stride = stride(length);
        let start = index.saturating_mul(STRIDE * self.width);
        let values = self.values.get(start..).and_then(|rest| rest.get(..stride * self.width));
        Block::over(values.unwrap_or(&[]), stride, length)
    }

    /// Copies the chosen records into `buffer`, in the order given, and views them as one block.
    ///
    /// An index past the end gives a record of zeros.
    pub fn gather<'b>(self, records: &[u32], buffer: &'b mut Vec<f64>) -> Block<'b> {
        let stride = records.len().next_multiple_of(LANES);
        buffer.clear();
        buffer.resize(stride * self.width, PADDING);
        for (position, &record) in records.iter().enumerate() {
            let (block, within) = (record as usize / BLOCK, record as usize % BLOCK);
            let block = self.get(block);
            for (index, slots) in buffer.chunks_exact_mut(stride).enumerate() {
                slots[position] = block.column(index).get(within).copied().unwrap_or(PADDING);
            }
        }
        Block::over(buffer, stride, records.len())
    }

    /// The blocks in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Block<'a>> {
        (0..self.len()).map(move |index| self.get(index))
    }
}

/// The distance between two columns of a block of `length` records.
fn stride(length: usize) -> usize {
    if length == BLOCK { STRIDE } else { length.next_multiple_of(LANES) }
}

/// Builds a [`Table`] row by row, in memory reserved once.
///
/// ```
/// use barkeep_data::{Column, Schema, TableBuilder};
/// let schema = Schema::new(vec![Column::real("height", 0.5, 2.5, 1.7)?])?;
/// let mut builder = TableBuilder::new(schema, 2)?;
/// builder.push_row(&[1.82])?;
/// builder.push_row(&[f64::NAN])?; // admitted as 1.7
/// assert_eq!(builder.finish()?.records(), 2);
/// # Ok::<(), barkeep_data::Error>(())
/// ```
pub struct TableBuilder {
    view: View,
    records: usize,
    /// Records in the table already.
    stored: usize,
    values: Vec<f64>,
    offset: usize,
    /// A block of admitted records in their own units, column-major, not yet in the table.
    staged: Vec<f64>,
    staged_records: usize,
    spare: Vec<f64>,
}

impl TableBuilder {
    /// Reserves the memory for exactly `records` rows of this schema, which a model sees as declared.
    ///
    /// **Errors** if `records` is 0 or above 2³², or the memory cannot be had.
    pub fn new(schema: Schema, records: usize) -> Result<Self, Error> {
        Self::viewed(View::all(schema), records)
    }

    /// Reserves the memory for exactly `records` rows, whose features are computed as they come.
    ///
    /// **Errors** as [`TableBuilder::new`].
    pub fn viewed(view: View, records: usize) -> Result<Self, Error> {
        if records == 0 {
            return Err(Error::Data { key: "records", requirement: "must be at least 1" });
        }
        if records as u64 > MOST_RECORDS {
            return Err(Error::Data { key: "records", requirement: "must be at most 4294967296" });
        }
        let columns = view.schema().width();
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
        let mut staged = Vec::new();
        let needed = records.min(BLOCK).checked_mul(view.source().width()).ok_or_else(too_large)?;
        staged.try_reserve_exact(needed).map_err(|_| too_large())?;
        staged.resize(needed, PADDING);
        Ok(Self { view, records, stored: 0, values, offset, staged, staged_records: 0, spare: Vec::new() })
    }

    /// Adds one record; each value is admitted by its column (clamped, rounded, or replaced by `invalid`).
    ///
    /// **Errors** if the row's width is not the schema's, or all declared rows are there already.
    pub fn push_row(&mut self, row: &[f64]) -> Result<(), Error> {
        if row.len() != self.view.source().width() {
            return Err(Error::Width { columns: self.view.source().width() });
        }
        self.stage(1, |builder| {
            let (length, position) = (builder.staged_stride(), builder.staged_records);
            let slots = builder.staged.chunks_exact_mut(length).zip(builder.view.source().columns());
            for ((slots, column), value) in slots.zip(row) {
                slots[position] = column.admit(*value);
            }
        })
    }

    /// Adds one record whose cells, already admitted, `cell` gives by column.
    pub(crate) fn push_with(&mut self, mut cell: impl FnMut(usize) -> f64) -> Result<(), Error> {
        self.stage(1, |builder| {
            let (length, position) = (builder.staged_stride(), builder.staged_records);
            for (index, slots) in builder.staged.chunks_exact_mut(length).enumerate() {
                slots[position] = cell(index);
            }
        })
    }

    /// Adds several records at once, at most [`room`](Self::room) of them: `fill` writes each column's admitted values.
    pub(crate) fn push_columns(
        &mut self,
        count: usize,
        mut fill: impl FnMut(usize, &mut [f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut filled = Ok(());
        self.stage(count, |builder| {
            let (length, position) = (builder.staged_stride(), builder.staged_records);
            for (index, slots) in builder.staged.chunks_exact_mut(length).enumerate() {
                let slots = slots.get_mut(position..).and_then(|slots| slots.get_mut(..count));
                filled = std::mem::replace(&mut filled, Ok(()))
                    .and_then(|()| slots.map_or(Ok(()), |slots| fill(index, slots)));
            }
        })?;
        filled
    }

    /// How many records the next call may add at once; 0 when all declared ones are there.
    pub(crate) fn room(&self) -> usize {
        (self.records - self.pushed()).min(BLOCK - self.staged_records)
    }

    fn staged_stride(&self) -> usize {
        self.records.min(BLOCK)
    }

    /// Lets `write` write `count` records at the staged end, and moves a full block on into the table.
    fn stage(&mut self, count: usize, write: impl FnOnce(&mut Self)) -> Result<(), Error> {
        if count > self.room() {
            return Err(Error::Rows { declared: self.records });
        }
        write(self);
        self.staged_records += count;
        if self.staged_records == BLOCK || self.pushed() == self.records {
            let start = self.values.len();
            let stride = stride(self.staged_records);
            self.values.resize(start + stride * self.view.schema().width(), PADDING);
            let staged = Block::over(&self.staged, self.staged_stride(), self.staged_records);
            let slots = self.values.get_mut(start..).unwrap_or_default().chunks_exact_mut(stride);
            for (index, slots) in slots.enumerate() {
                self.view.fill(index, staged, &mut slots[..self.staged_records], &mut self.spare);
            }
            self.stored += self.staged_records;
            self.staged_records = 0;
        }
        Ok(())
    }

    /// The number of rows added so far.
    pub fn pushed(&self) -> usize {
        self.stored + self.staged_records
    }

    /// The table. **Errors** if fewer rows than declared were added.
    pub fn finish(self) -> Result<Table, Error> {
        if self.pushed() != self.records {
            return Err(Error::Rows { declared: self.records });
        }
        let schema = self.view.schema().clone();
        Ok(Table { schema, records: self.records, values: self.values, offset: self.offset })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests read back the values they put in")]

    use super::*;

    /// Value j of record i: distinct, exact in f64.
    fn value(i: usize, j: usize) -> f64 {
        (i * 64 + j) as f64
    }

    fn table(records: usize, width: usize) -> Table {
        let schema = Schema::unbounded((0..width).map(|j| format!("c{j}"))).unwrap();
        let mut builder = TableBuilder::new(schema, records).unwrap();
        for i in 0..records {
            builder.push_row(&(0..width).map(|j| value(i, j)).collect::<Vec<_>>()).unwrap();
        }
        builder.finish().unwrap()
    }

    #[test]
    fn every_value_is_found_again_aligned_and_in_order() {
        for records in [1, 7, 8, 9, 1023, 1024, 1025, 2048, 3000] {
            for width in [1, 2, 5] {
                let table = table(records, width);
                let blocks = table.blocks();
                assert_eq!(blocks.len(), records.div_ceil(BLOCK));
                assert_eq!(blocks.iter().map(Block::len).sum::<usize>(), records);
                for (index, block) in blocks.iter().enumerate() {
                    assert_eq!(block.width(), width);
                    for j in 0..width {
                        assert_eq!(block.column(j).as_ptr().align_offset(64), 0);
                        for (i, found) in block.column(j).iter().enumerate() {
                            assert_eq!(*found, value(index * BLOCK + i, j));
                        }
                    }
                    assert!(block.column(width).is_empty());
                }
                assert!(blocks.get(blocks.len()).column(0).is_empty());
            }
        }
    }

    #[test]
    fn tiles_show_every_record_once_in_order() {
        let table = table(1100, 3);
        for block in table.blocks().iter() {
            for size in [1, 64, 100, 1024, 5000] {
                for j in 0..3 {
                    let shown: Vec<f64> =
                        block.tiles(size).flat_map(|tile| tile.column(j).to_vec()).collect();
                    assert_eq!(shown, block.column(j));
                }
                assert!(block.tiles(size).all(|tile| tile.width() == 3 && (1..=size).contains(&tile.len())));
            }
        }
    }

    #[test]
    fn gathers_chosen_records_in_order() {
        let table = table(3000, 3);
        let mut buffer = Vec::new();
        for chosen in [&[2999_u32, 0, 1024, 1023, 0][..], &[5], &[]] {
            let block = table.blocks().gather(chosen, &mut buffer);
            assert_eq!(block.len(), chosen.len());
            for j in 0..3 {
                let expected: Vec<f64> = chosen.iter().map(|&i| value(i as usize, j)).collect();
                assert_eq!(block.column(j), expected);
            }
        }
        assert_eq!(table.blocks().gather(&[3000, u32::MAX], &mut buffer).column(1), [0.0, 0.0]);
    }

    #[test]
    fn memory_is_the_columns_and_a_fifth_at_most() {
        for (records, width) in [(100, 3), (1000, 10), (10_000, 2), (100_000, 30)] {
            let table = table(records, width);
            let bytes = table.values.capacity() * size_of::<f64>();
            assert!(bytes as f64 <= 1.2 * (records * width * size_of::<f64>()) as f64);
        }
    }

    #[test]
    fn refuses_wrong_counts_and_widths() {
        let schema = Schema::unbounded(["a", "b"]).unwrap();
        assert!(matches!(TableBuilder::new(schema.clone(), 0), Err(Error::Data { key: "records", .. })));
        assert!(matches!(
            TableBuilder::new(schema.clone(), (1 << 32) + 1),
            Err(Error::Data { key: "records", .. })
        ));
        let mut builder = TableBuilder::new(schema, 1).unwrap();
        assert_eq!(builder.push_row(&[1.0]), Err(Error::Width { columns: 2 }));
        builder.push_row(&[1.0, 2.0]).unwrap();
        assert_eq!(builder.push_row(&[1.0, 2.0]), Err(Error::Rows { declared: 1 }));
        assert_eq!(builder.finish().unwrap().records(), 1);
        let builder = TableBuilder::new(Schema::unbounded(["a"]).unwrap(), 2).unwrap();
        assert!(matches!(builder.finish(), Err(Error::Rows { declared: 2 })));
    }

    #[test]
    fn refuses_what_the_memory_cannot_hold() {
        let schema = Schema::unbounded((0..4096).map(|j| format!("c{j}"))).unwrap();
        assert!(matches!(TableBuilder::new(schema, 1 << 32), Err(Error::Memory { columns: 4096, .. })));
    }
}
