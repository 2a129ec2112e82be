//! Views records as columns, up to a thousand at a time, without a way to print, compare or serialise them.

/// The largest number of records in a block: a column of 8 KiB, so that a model's working set stays in the
/// first cache.
pub const BLOCK: usize = 1024;

/// A view of some records, column by column.
///
/// **Privacy.** Holds record values: only models, called by the curator, see one. It implements neither
/// `Debug` nor `Serialize` nor `PartialEq`.
///
/// ```compile_fail,E0277
/// let values = [0.0; 8];
/// let block = barkeep_data::Block::over(&values, 8, 8);
/// println!("{:?}", block);
/// ```
#[derive(Clone, Copy)]
pub struct Block<'a> {
    values: &'a [f64],
    stride: usize,
    length: usize,
    /// Columns that are kept as an index; of all records from `start` on.
    levels: &'a [Levels<'a>],
    start: usize,
}

/// Neighbouring columns that say by 0 and 1 which level a category is at, kept as one index: at most one of them is 1.
///
/// **Privacy.** Holds record values: no `Debug`, `Serialize` or `PartialEq`.
#[derive(Clone, Copy)]
pub struct Levels<'a> {
    /// The first of the columns.
    pub first: usize,
    /// What the index is where each of the columns is 1.
    pub codes: &'a [u8],
    /// The index of each record.
    pub index: &'a [u8],
}

impl<'a> Block<'a> {
    /// Views `values` as columns that start `stride` apart and hold `length` records each.
    ///
    /// For batches gathered by the curator and for tests; `length` is cut to `stride`.
    pub fn over(values: &'a [f64], stride: usize, length: usize) -> Self {
        Self { values, stride, length: length.min(stride), levels: &[], start: 0 }
    }

    /// The same records, of which these columns are given by an index alone, for models that
    /// [read it](Block::levels_from): [`Block::column`] is empty there.
    #[must_use]
    pub fn with_levels(self, levels: &'a [Levels<'a>]) -> Self {
        Self { levels, ..self }
    }

    /// The columns from `column` on that are kept as one index, and its values.
    pub fn levels_from(self, column: usize) -> Option<(&'a [u8], &'a [u8])> {
        let levels = self.levels.iter().find(|levels| levels.first == column)?;
        Some((levels.codes, self.own(levels.index)))
    }

    /// What the index is where `column` is 1, and its values, if the column is kept so.
    pub fn level(self, column: usize) -> Option<(u8, &'a [u8])> {
        let of = |levels: &Levels<'a>| {
            let code = levels.codes.get(column.checked_sub(levels.first)?)?;
            Some((*code, self.own(levels.index)))
        };
        self.levels.iter().find_map(of)
    }

    /// The entries of its own records.
    fn own(self, index: &'a [u8]) -> &'a [u8] {
        index.get(self.start..).and_then(|rest| rest.get(..self.length)).unwrap_or(&[])
    }

    /// The number of records.
    #[expect(clippy::len_without_is_empty, reason = "a block of a table is never empty")]
    pub fn len(self) -> usize {
        self.length
    }

    /// The number of columns.
    pub fn width(self) -> usize {
        // The first records of the first column may be cut off.
        if self.stride == 0 { 0 } else { self.values.len().div_ceil(self.stride) }
    }

    /// Its records in tiles of at most `size`, in order.
    pub fn tiles(self, size: usize) -> impl Iterator<Item = Self> {
        (0..self.length).step_by(size.max(1)).map(move |start| self.part(start, size))
    }

    /// Its records from `start` on, at most `length` of them.
    pub fn part(self, start: usize, length: usize) -> Self {
        let start = start.min(self.length);
        Self {
            values: self.values.get(start..).unwrap_or(&[]),
            stride: self.stride,
            length: length.min(self.length - start),
            levels: self.levels,
            start: self.start + start,
        }
    }

    /// Column `index`, one value per record; empty if there is no such column.
    ///
    /// 64-byte aligned if the block comes from the curator's table.
    #[inline]
    pub fn column(self, index: usize) -> &'a [f64] {
        if !self.levels.is_empty() && self.level(index).is_some() {
            return &[];
        }
        let start = index.saturating_mul(self.stride);
        self.values.get(start..).and_then(|rest| rest.get(..self.length)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_show_every_record_once_in_order() {
        let values: Vec<f64> = (0..3 * 1032).map(f64::from).collect();
        let block = Block::over(&values, 1032, 1024);
        for size in [1, 64, 100, 1024, 5000] {
            for j in 0..3 {
                let shown: Vec<f64> = block.tiles(size).flat_map(|tile| tile.column(j).to_vec()).collect();
                assert_eq!(shown, block.column(j));
            }
            assert!(block.tiles(size).all(|tile| tile.width() == 3 && (1..=size).contains(&tile.len())));
        }
    }
}
