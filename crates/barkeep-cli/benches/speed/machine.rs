//! Measures what this machine can do at best: add up columns, and take exponentials.

use barkeep::data::BLOCK;
use barkeep_num::vector;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

/// The shortest time of each of some competitors, in seconds, tried in turn.
pub(crate) fn race(rounds: usize, competitors: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; competitors.len()];
    for _ in 0..rounds {
        for (best, competitor) in best.iter_mut().zip(competitors.iter_mut()) {
            let start = Instant::now();
            competitor();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

/// Runs `work` in a pool of this many threads.
pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// All threads of the machine.
pub(crate) fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Adds up columns with as many running sums as the registers hold, each thread of
/// the current pool its share of the blocks: the bytes of a full pass and nothing else to do.
pub(crate) fn streaming_sum(columns: &[Vec<f64>]) -> f64 {
    let records = columns.first().map_or(0, Vec::len);
    let blocks = records.div_ceil(BLOCK);
    let share = |threads: usize, index: usize| {
        (index * blocks / threads..(index + 1) * blocks / threads)
            .map(|block| block * BLOCK..((block + 1) * BLOCK).min(records))
            .map(|block| columns.iter().map(|column| add(&column[block.clone()])).sum::<f64>())
            .sum::<f64>()
    };
    match rayon::current_num_threads() {
        1 => share(1, 0),
        threads => (0..threads).into_par_iter().map(|index| share(threads, index)).sum(),
    }
}

/// The sum of a column's values, in the widest instructions there are.
fn add(column: &[f64]) -> f64 {
    #[inline(always)]
    fn run(column: &[f64]) -> f64 {
        let mut sums = [0.0; 64];
        for chunk in column.chunks_exact(64) {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum += x;
            }
        }
        sums.iter().sum()
    }
    vector::dispatch(
        #[inline(always)]
        || run(column),
    )
}

/// Takes one exponential for each of `records` values, a block that stays in the first cache at a time.
pub(crate) fn exponentials(records: usize) {
    let mut values = [0.0; 1024];
    for block in 0..records.div_ceil(values.len()) {
        values.iter_mut().enumerate().for_each(|(i, x)| *x = (block + i) as f64 * 1e-6);
        vector::exp(black_box(&mut values));
    }
}
