//! Shows every asked record to a kernel once, in blocks, on as many threads as help; the result is the same on any.

use crate::records::table::{Blocks, STRIDE};
use barkeep_data::{BLOCK, Block};
use barkeep_model::{Affine, Scratch};
use rayon::prelude::*;
use std::ops::Range;

/// The fewest blocks worth a thread of their own: about ten microseconds of the cheapest model, as long as
/// handing the work over takes.
const GRAIN: usize = 16;

/// Which records a question asks.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'a> {
    /// All.
    All(Blocks<'a>),
    /// Those at these positions, gathered `columns` wide.
    Some {
        /// All records.
        blocks: Blocks<'a>,
        /// Where the asked ones are.
        positions: &'a [u32],
        /// The number of columns the model reads.
        columns: usize,
    },
}

impl Asked<'_> {
    /// The number of blocks they make.
    fn len(self) -> usize {
        match self {
            Self::All(blocks) => blocks.len(),
            Self::Some { positions, .. } => positions.len().div_ceil(BLOCK),
        }
    }

    /// Shows block `index`, gathering it into `gathered` first if need be.
    fn show(self, index: usize, gathered: &mut Vec<f64>, look: impl FnOnce(Block<'_>)) {
        match self {
            Self::All(blocks) => look(blocks.get(index)),
            Self::Some { blocks, positions, columns } => {
                let positions = positions.chunks(BLOCK).nth(index).unwrap_or(&[]);
                look(gather(blocks, positions, columns, gathered));
            }
        }
    }
}

/// Copies the records at `positions` together, column by column. The table itself stays in order.
fn gather<'a>(
    blocks: Blocks<'_>,
    positions: &[u32],
    columns: usize,
    gathered: &'a mut Vec<f64>,
) -> Block<'a> {
    gathered.resize(columns * STRIDE, 0.0);
    for (slot, &position) in positions.iter().enumerate() {
        let block = blocks.get(position as usize / BLOCK);
        let row = position as usize % BLOCK;
        for (column, values) in gathered.chunks_exact_mut(STRIDE).enumerate() {
            values[slot] = block.column(column)[row];
        }
    }
    Block::over(gathered, STRIDE, positions.len())
}

/// One thread's working memory; grows at the first question and stays.
///
/// **Privacy.** Holds values computed from records. Not visible outside the crate.
#[derive(Default)]
pub(crate) struct Worker {
    /// The model's.
    pub(crate) scratch: Scratch,
    /// A block's terms, and what becomes of them.
    pub(crate) terms: Buffer<f64>,
    /// A block's preconditioned terms.
    pub(crate) mixed: Buffer<f64>,
    /// The question's gradient, where it is affine.
    pub(crate) affine: Affine,
    /// The gradients of a few records, per coordinate.
    pub(crate) chunk: Buffer<f64>,
    /// Partial sums of a block's records, several per coordinate.
    pub(crate) partials: Buffer<i64>,
    /// Partial sums of this worker's records, per coordinate.
    pub(crate) sums: Vec<i64>,
    /// Partial moments of this worker's records.
    pub(crate) moments: crate::sums::lattice::Moments,
    gathered: Vec<f64>,
}

/// Working memory that starts at a cache line: a vector across two of them takes twice as long to store.
///
/// **Privacy.** Holds values computed from records; no `Debug`.
#[derive(Default)]
pub(crate) struct Buffer<T> {
    values: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// Room for `length` entries, their contents unspecified; grows once.
    pub(crate) fn sized(&mut self, length: usize) -> &mut [T] {
        /// Entries of eight bytes in a cache line.
        const LINE: usize = 8;
        if self.values.len() < length + LINE {
            self.values.resize(length + LINE, T::default());
        }
        self.start = self.values.as_ptr().align_offset(LINE * size_of::<u64>()).min(LINE);
        self.length = length;
        &mut self.values[self.start..self.start + length]
    }
}

impl<T> std::ops::Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[self.start..self.start + self.length]
    }
}

/// As many workers as there are threads, or fewer if the records are few.
pub(crate) fn workers(records: usize) -> Vec<Worker> {
    let worthwhile = records.div_ceil(BLOCK) / GRAIN;
    let count = rayon::current_num_threads().min(worthwhile).max(1);
    std::iter::repeat_with(Worker::default).take(count).collect()
}

/// Shows every asked record to `work` once, a contiguous share of the blocks to each worker.
///
/// The shares depend on the numbers of blocks and workers only, and `work` adds integers into its worker, so the total
/// over workers is the same for any number of them and any schedule.
pub(crate) fn sweep(asked: Asked<'_>, workers: &mut [Worker], work: impl Fn(&mut Worker, Block<'_>) + Sync) {
    let blocks = asked.len();
    let busy = (blocks / GRAIN).clamp(1, workers.len().max(1));
    let walk = |worker: &mut Worker, range: Range<usize>| {
        let mut gathered = std::mem::take(&mut worker.gathered);
        for index in range {
            asked.show(index, &mut gathered, |block| work(worker, block));
        }
        worker.gathered = gathered;
    };
    let share = |index: usize| index * blocks / busy..(index + 1) * blocks / busy;
    match workers {
        [worker] => walk(worker, 0..blocks),
        [worker, ..] if busy == 1 => walk(worker, 0..blocks),
        workers => {
            workers[..busy].par_iter_mut().enumerate().for_each(|(index, worker)| walk(worker, share(index)))
        }
    }
}
