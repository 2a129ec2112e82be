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
/// let block = barkeep_machine::Block::over(&values, 8, 8);
/// println!("{:?}", block);
/// ```
#[derive(Clone, Copy)]
pub struct Block<'a> {
    values: &'a [f64],
    stride: usize,
    length: usize,
    /// Where columns are; empty where all are in `values`, in order.
    places: &'a [Place],
    beside: Beside<'a>,
    /// The records before the first in what is beside.
    start: usize,
}

/// Where a column is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// This one of the columns as they lie in a table.
    Lying(usize),
    /// This one of the columns beside them.
    Widened(usize),
    /// 1 where the index of this place is `code`, else 0. With it begin `count` columns of consecutive codes of the same index.
    Level {
        /// Which index.
        index: usize,
        /// What it is where the column is 1.
        code: u32,
        /// The number of columns.
        count: usize,
    },
}

/// What is kept of some records in addition to their columns of f64: columns at the same distance, and indices, each of `records` numbers.
///
/// **Privacy.** Holds record values: no `Debug`, `Serialize` or `PartialEq`.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Columns, as far apart as the others.
    pub widened: &'a [f64],
    /// Indices.
    pub indices: &'a [u32],
    /// The number of entries of each index.
    pub records: usize,
}

/// Neighbouring columns that say by 0 and 1 which level a category is at, kept as one index: at most one of them is 1.
///
/// **Privacy.** Holds record values: no `Debug`, `Serialize` or `PartialEq`.
#[derive(Clone, Copy)]
pub struct Levels<'a> {
    /// What the index is where the first of the columns is 1; of the next it is one more.
    pub code: u32,
    /// The number of columns.
    pub count: usize,
    /// The index of each record.
    pub index: &'a [u32],
}

impl<'a> Block<'a> {
    /// Views `values` as columns that start `stride` apart and hold `length` records each.
    ///
    /// For batches gathered by the curator and for tests; `length` is cut to `stride`.
    pub fn over(values: &'a [f64], stride: usize, length: usize) -> Self {
        let beside = Beside::default();
        Self { values, stride, length: length.min(stride), places: &[], beside, start: 0 }
    }

    /// The same records, whose columns are where these places say. Levels are for models that
    /// [read an index](Block::levels_from): [`Block::column`] is empty there.
    #[must_use]
    pub fn placed(self, places: &'a [Place], beside: Beside<'a>) -> Self {
        Self { places, beside, ..self }
    }

    /// The columns from `column` on that are kept as one index, and its values.
    pub fn levels_from(self, column: usize) -> Option<Levels<'a>> {
        let Place::Level { index, code, count } = *self.places.get(column)? else { return None };
        let start = index * self.beside.records + self.start;
        let index = self.beside.indices.get(start..).and_then(|rest| rest.get(..self.length));
        Some(Levels { code, count: count.min(self.places.len() - column), index: index.unwrap_or(&[]) })
    }

    /// The number of records.
    #[expect(clippy::len_without_is_empty, reason = "a block of a table is never empty")]
    pub fn len(self) -> usize {
        self.length
    }

    /// The number of columns.
    pub fn width(self) -> usize {
        if !self.places.is_empty() {
            return self.places.len();
        }
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
            start: self.start + start,
            ..self
        }
    }

    /// Column `index`, one value per record; empty if there is no such column.
    ///
    /// 64-byte aligned if the block comes from the curator's table.
    #[inline]
    pub fn column(self, index: usize) -> &'a [f64] {
        let (values, start) = match self.places.get(index) {
            None if self.places.is_empty() => (self.values, index.saturating_mul(self.stride)),
            Some(Place::Lying(place)) => (self.values, place.saturating_mul(self.stride)),
            Some(Place::Widened(place)) => {
                (self.beside.widened, place.saturating_mul(self.stride).saturating_add(self.start))
            }
            None | Some(Place::Level { .. }) => return &[],
        };
        values.get(start..).and_then(|rest| rest.get(..self.length)).unwrap_or(&[])
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
