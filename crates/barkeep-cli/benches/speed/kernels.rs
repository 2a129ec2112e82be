//! Times single questions through the gate against the best a pass over the records could do.

use crate::machine::{exponentials, on_threads, race, streaming_sum};
use crate::question::{Asked, Asker};
use crate::setting::Setting;
use std::hint::black_box;

/// Prints the table.
pub(crate) fn print() {
    println!(
        "One question through the gate on one thread: log-ratio or gradient, clipped, rounded, added up, answered."
    );
    println!(
        "The limit is the streaming sum over the columns or, if that takes longer, as many vector exponentials as it"
    );
    println!(
        "takes exponentials and logarithms: two and one for a logistic log-ratio, one for its gradient."
    );
    println!();
    println!(
        "{:<40} {:>12} {:>10} {:>8} {:>12} {:>6}",
        "question", "time", "ns/record", "GB/s", "limit", "share"
    );
    let gaussian = |records| Setting::gaussian(2, records, "");
    let gauss = Setting::banana(0.0, 30, 200_000, "");
    let banana = Setting::banana(20.0, 2, 100_000, "");
    let logistic = Setting::logistic(10, 100_000);
    on_threads(1, || {
        row("log-ratio, Gaussian, d = 2", &gaussian(100_000), 0, Asked::Decision);
        row("log-ratio, Gaussian, d = 2", &gaussian(1_000_000), 0, Asked::Decision);
        row("log-ratio, Gauss, d = 30", &gauss, 0, Asked::Decision);
        row("log-ratio, flat banana, d = 2", &banana, 0, Asked::Decision);
        row("log-ratio, logistic, d = 10", &logistic, 3, Asked::Decision);
        row("gradient, Gaussian, d = 2", &gaussian(200_000), 0, Asked::Gradient);
        row("gradient, Gauss, d = 30", &gauss, 0, Asked::Gradient);
        row("gradient, logistic, d = 10", &logistic, 1, Asked::Gradient);
    });
}

/// One row; a record of it takes `taken` exponentials.
fn row(name: &str, setting: &Setting, taken: usize, asked: Asked) {
    let (table, columns) = (setting.table(), setting.plain_columns());
    let mut asker = Asker::new(setting, &table);
    let times = race(
        100,
        &mut [&mut || asker.ask(asked), &mut || _ = black_box(streaming_sum(&columns)), &mut || {
            exponentials(taken * setting.records)
        }],
    );
    let limit = times[1].max(times[2]);
    println!(
        "{:<40} {:>9.1} us {:>10.3} {:>8.1} {:>9.1} us {:>4.0} %",
        format!("{name}, n = {:.0e}", setting.records as f64),
        times[0] * 1e6,
        times[0] * 1e9 / setting.records as f64,
        (setting.columns() * setting.records * 8) as f64 / times[0] * 1e-9,
        limit * 1e6,
        100.0 * limit / times[0],
    );
}
