//! Shows every asked record to a kernel once, in blocks, on as many threads as help; the result is the same on any.

use crate::lattice::{Moments, OpenProducts, TileRoom};
use crate::records::buffer::Buffer;
use crate::records::layout::Widened;
use crate::records::persons::Persons;
use crate::records::stored::{Blocks, STRIDE};
use crate::sums::fold::{Ends, Fold};
use barkeep_data::{BLOCK, Block};
use barkeep_machine::Machine;
use rayon::prelude::*;
use std::ops::Range;

/// The fewest blocks worth a thread of their own: about ten microseconds of the shortest program, as long as
/// handing the work over takes.
pub(crate) const GRAIN: usize = 16;

/// Which records a question asks, or which persons where a person may have several rows.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// All rows.
    pub(crate) blocks: Blocks<'a>,
    /// Whose they are; `None` where each is a record of its own.
    pub(crate) persons: Option<&'a Persons>,
    /// Which records or persons; `None` for all.
    pub(crate) positions: Option<&'a [u32]>,
    /// The number of columns that are read, the first ones.
    pub(crate) columns: usize,
    /// Whether levels of categories are read by their index.
    pub(crate) by_index: bool,
}

impl Rows<'_> {
    /// What is shared out among workers: blocks of records, or persons.
    fn parts(self) -> usize {
        match (self.persons, self.positions) {
            (None, None) => self.blocks.len(),
            (None, Some(positions)) => positions.len().div_ceil(BLOCK),
            (Some(persons), None) => persons.len(),
            (Some(_), Some(positions)) => positions.len(),
        }
    }

    /// The blocks that all of it makes, about: what it is worth to share out.
    fn size(self) -> usize {
        match (self.persons, self.positions) {
            (Some(persons), Some(positions)) => {
                // As many rows as that many persons have on average.
                let rows = persons.start(persons.len()) as u128 * positions.len() as u128;
                usize::try_from(rows / persons.len().max(1) as u128).unwrap_or(usize::MAX).div_ceil(BLOCK)
            }
            (_, None) => self.blocks.len(),
            (None, Some(positions)) => positions.len().div_ceil(BLOCK),
        }
    }

    /// The share of worker `index` of `busy`: all rows of a person go to one of them.
    fn share(self, index: usize, busy: usize) -> Range<usize> {
        let cut = |index: usize, parts: usize| (index as u128 * parts as u128 / busy as u128) as usize;
        match (self.persons, self.positions) {
            (Some(persons), None) => {
                let rows = persons.start(persons.len());
                let from = |index: usize| {
                    if index == busy { persons.len() } else { persons.first_from(cut(index, rows)) }
                };
                from(index)..from(index + 1)
            }
            (_, Some(_)) | (None, None) => cut(index, self.parts())..cut(index + 1, self.parts()),
        }
    }

    /// Shows a share block by block, gathered first if need be; where rows belong to persons, with the ends of theirs.
    fn show(self, share: Range<usize>, room: &mut Room, mut look: impl FnMut(Block<'_>, Option<Ends<'_>>)) {
        let Room { gathered, rows, ends, widened } = room;
        match (self.persons, self.positions) {
            (None, None) => share.for_each(|index| {
                look(self.blocks.get(index, self.columns, self.by_index, widened), None);
            }),
            (None, Some(positions)) => {
                let start = (share.start * BLOCK).min(positions.len());
                let end = (share.end * BLOCK).min(positions.len());
                for positions in positions[start..end].chunks(BLOCK) {
                    let rows = positions.iter().map(|position| *position as usize);
                    look(gather(self.blocks, rows, self.columns, gathered), None);
                }
            }
            (Some(persons), None) => {
                let (mut row, last) = (persons.start(share.start), persons.start(share.end));
                let mut person = share.start;
                while row < last {
                    let length = (BLOCK - row % BLOCK).min(last - row);
                    ends.clear();
                    while persons.start(person + 1) <= row + length && person < share.end {
                        person += 1;
                        ends.push((persons.start(person) - row) as u32);
                    }
                    let block = self.blocks.get(row / BLOCK, self.columns, self.by_index, widened);
                    let block = block.part(row % BLOCK, length);
                    look(block, Some(Ends { ends, start: 0, rows: length }));
                    row += length;
                }
            }
            (Some(persons), Some(positions)) => {
                rows.clear();
                ends.clear();
                for position in positions.get(share).unwrap_or_default() {
                    let person = *position as usize;
                    for row in persons.start(person)..persons.start(person + 1) {
                        if rows.len() == BLOCK {
                            let block = gather(self.blocks, rows.iter().copied(), self.columns, gathered);
                            look(block, Some(Ends { ends, start: 0, rows: BLOCK }));
                            rows.clear();
                            ends.clear();
                        }
                        rows.push(row);
                    }
                    ends.push(rows.len() as u32);
                }
                if !rows.is_empty() {
                    let block = gather(self.blocks, rows.iter().copied(), self.columns, gathered);
                    look(block, Some(Ends { ends, start: 0, rows: rows.len() }));
                }
            }
        }
    }
}

/// Memory for gathering.
#[derive(Default)]
struct Room {
    gathered: Vec<f64>,
    rows: Vec<usize>,
    ends: Vec<u32>,
    /// A block of a narrow table.
    widened: Widened,
}

/// Copies the rows at these places together, column by column. The table itself stays in order.
fn gather<'a>(
    blocks: Blocks<'_>,
    places: impl ExactSizeIterator<Item = usize>,
    columns: usize,
    gathered: &'a mut Vec<f64>,
) -> Block<'a> {
    gathered.resize(columns * STRIDE, 0.0);
    let length = places.len();
    for (slot, place) in places.enumerate() {
        let columns = gathered.chunks_exact_mut(STRIDE).enumerate();
        match blocks.wide(place / BLOCK) {
            Some(block) => {
                let row = place % BLOCK;
                columns.for_each(|(column, values)| values[slot] = block.column(column)[row]);
            }
            None => columns.for_each(|(column, values)| values[slot] = blocks.value(place, column)),
        }
    }
    Block::over(gathered, STRIDE, length)
}

/// One thread's working memory; grows at the first question and stays.
///
/// **Privacy.** Holds values computed from records. Not visible outside the crate.
#[derive(Default)]
pub(crate) struct Worker {
    /// The registers of programs.
    pub(crate) machine: Machine,
    /// What rows write, entry by entry.
    pub(crate) terms: Buffer<f64>,
    /// The same, folded by person.
    pub(crate) folded: Buffer<f64>,
    /// Persons whose rows do not end in the block.
    pub(crate) fold: Fold,
    /// Their products.
    pub(crate) open: OpenProducts,
    /// The entries of a person that its rows name.
    pub(crate) entries: Vec<(usize, f64)>,
    /// What clipping needs.
    pub(crate) tile_room: TileRoom,
    /// Partial sums of this worker's records, per coordinate.
    pub(crate) sums: Vec<i64>,
    /// Partial moments of this worker's records.
    pub(crate) moments: Moments,
    room: Room,
}

/// Makes room for `width` sums in every worker, all zero.
pub(crate) fn clear_sums(workers: &mut [Worker], width: usize) {
    workers.iter_mut().for_each(|worker| {
        worker.sums.clear();
        worker.sums.resize(width, 0);
        worker.moments = Moments::default();
    });
}

/// Adds the workers' sums up, into the first worker.
pub(crate) fn total_sums(workers: &mut [Worker]) -> &[i64] {
    let Some((first, others)) = workers.split_first_mut() else { return &[] };
    for other in others {
        first.sums.iter_mut().zip(&other.sums).for_each(|(sum, share)| *sum += share);
    }
    &first.sums
}

/// The first worker's sums.
pub(crate) fn first_sums(workers: &mut [Worker]) -> &mut [i64] {
    workers.first_mut().map(|worker| &mut worker.sums[..]).unwrap_or_default()
}

/// Adds the workers' moments up.
pub(crate) fn total_moments(workers: &[Worker]) -> Moments {
    workers.iter().fold(Moments::default(), |total, worker| total.and(worker.moments))
}

/// As many workers as there are threads, or fewer if the records are few.
pub(crate) fn workers(records: usize) -> Vec<Worker> {
    let count = rayon::current_num_threads().min(records.div_ceil(BLOCK)).max(1);
    std::iter::repeat_with(Worker::default).take(count).collect()
}

/// Shows every asked row to `work` once, a contiguous share of the blocks, or of the persons, to each worker, at least `grain`
/// blocks.
///
/// `work` adds integers into its worker, and all rows of a person are in one share in file order, so the total over workers is
/// the same for any number of them and any schedule. Every asked row is evaluated whatever it says; the number of rows of
/// persons is seen in the time it takes, and nowhere else.
pub(crate) fn sweep(
    rows: Rows<'_>,
    workers: &mut [Worker],
    grain: usize,
    work: impl Fn(&mut Worker, Block<'_>, Option<Ends<'_>>) + Sync,
) {
    let busy = (rows.size() / grain.max(1)).clamp(1, workers.len().max(1));
    let walk = |worker: &mut Worker, range: Range<usize>| {
        let mut room = std::mem::take(&mut worker.room);
        rows.show(range, &mut room, |block, ends| work(worker, block, ends));
        worker.room = room;
    };
    match workers {
        [worker] => walk(worker, 0..rows.parts()),
        [worker, ..] if busy == 1 => walk(worker, 0..rows.parts()),
        workers => workers[..busy]
            .par_iter_mut()
            .enumerate()
            .for_each(|(index, worker)| walk(worker, rows.share(index, busy))),
    }
}
