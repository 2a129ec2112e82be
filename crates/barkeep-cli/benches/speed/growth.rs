//! Times a decision of the penalty sampler on Gaussian means as records, columns and threads grow.

use crate::machine::{all_threads, on_threads, race, streaming_sum};
use crate::setting::{Setting, run};
use std::hint::black_box;

const SAMPLER: &str = "name = 'penalty'\nlevel = 'release'\ntau = 0.5\nclip = 1.0\nproposal_sd = 0.01";

/// Prints the table.
pub(crate) fn print() {
    println!(
        "A step of the penalty sampler on Gaussian means: linear in n and d; where the columns outgrow a cache, the time"
    );
    println!("of a record follows that of the streaming sum.");
    println!();
    println!(
        "{:>9} {:>4} {:>9} {:>8} {:>12} {:>11} {:>8} {:>8}",
        "n", "d", "MB", "threads", "step", "ns/value", "GB/s", "of sum"
    );
    let by_records = [1_000, 10_000, 100_000, 1_000_000, 10_000_000].map(|n| (n, 2));
    let by_columns = [2, 5, 10, 20, 50, 100].map(|d| (100_000, d));
    for (records, dimension) in by_records.into_iter().chain(by_columns) {
        let setting = Setting::gaussian(dimension, records, SAMPLER);
        let (table, columns) = (setting.table(), setting.plain_columns());
        let values = records * dimension;
        let steps = (20_000_000 / values as u64).clamp(4, 2000);
        let plan = setting.plan(steps);
        for threads in
            (1..=all_threads()).filter(|threads| threads.is_power_of_two() || *threads == all_threads())
        {
            let times = on_threads(threads, || {
                let mut sums = || (0..steps).for_each(|_| _ = black_box(streaming_sum(&columns)));
                race(5, &mut [&mut || run(&plan, &table), &mut sums])
            });
            let step = times[0] / steps as f64;
            println!(
                "{records:>9} {dimension:>4} {:>9.2} {threads:>8} {:>9.1} us {:>11.3} {:>8.1} {:>6.0} %",
                values as f64 * 8e-6,
                step * 1e6,
                step * 1e9 / values as f64,
                values as f64 * 8e-9 / step,
                100.0 * times[1] / times[0],
            );
        }
    }
}
