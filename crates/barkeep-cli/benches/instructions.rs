//! Counts the instructions of the hot kernels under callgrind: the same on every run, whatever else the machine does.
//!
//! `cargo bench -p barkeep-cli --bench instructions` prints the table and writes it beside this file. It needs valgrind on
//! the path. Valgrind knows AVX2 and not AVX-512, so the counts are those of the AVX2 code. A question's count is the
//! difference between a run with eleven of them and a run with one.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    reason = "a program that measures"
)]
#![allow(dead_code, reason = "shares its settings with the program that measures time")]

#[path = "speed/question.rs"]
mod question;
#[path = "speed/setting.rs"]
mod setting;

use question::{Asked, Asker};
use setting::Setting;
use std::fmt::Write;
use std::process::Command;

const RECORDS: usize = 20_000;

/// The questions, by name.
fn kernels() -> [(&'static str, Setting, Asked); 7] {
    [
        ("log-ratio of Gaussian d = 2", Setting::gaussian(2, RECORDS, ""), Asked::Decision),
        ("log-ratio of Gauss d = 30", Setting::banana(0.0, 30, RECORDS, ""), Asked::Decision),
        ("log-ratio of logistic d = 10", Setting::logistic(10, RECORDS), Asked::Decision),
        (
            "log-ratio of Gaussian d = 2 on a batch of 1000",
            Setting::gaussian(2, RECORDS, ""),
            Asked::Batch(1000),
        ),
        ("gradient of Gauss d = 30", Setting::banana(0.0, 30, RECORDS, ""), Asked::Gradient),
        ("gradient of Gaussian d = 2", Setting::gaussian(2, RECORDS, ""), Asked::Gradient),
        ("gradient of logistic d = 10", Setting::logistic(10, RECORDS), Asked::Gradient),
    ]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [kernel, times] => ask(kernel.parse().unwrap(), times.parse().unwrap()),
        _ => table(),
    }
}

/// What callgrind watches: this many questions on one thread.
fn ask(kernel: usize, times: usize) {
    let (_, setting, asked) = &kernels()[kernel];
    let table = setting.table();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let mut asker = Asker::new(setting, &table);
        (0..times).for_each(|_| asker.ask(*asked));
    });
}

/// The instructions of a run with this many questions.
fn count(kernel: usize, times: usize) -> f64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().unwrap())
        .args([kernel.to_string(), times.to_string()])
        .output()
        .expect("valgrind on the path");
    let shown = String::from_utf8(output.stderr).unwrap();
    let line = shown.lines().find(|line| line.contains("Collected :")).unwrap_or_else(|| panic!("{shown}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

fn table() {
    let mut table = "kernel,records asked,instructions,instructions per record\n".to_owned();
    for (index, (name, _, asked)) in kernels().into_iter().enumerate() {
        let instructions = (count(index, 11) - count(index, 1)) / 10.0;
        let records = if let Asked::Batch(batch) = asked { batch } else { RECORDS as u64 };
        let each = instructions / records as f64;
        writeln!(table, "{name},{records},{instructions:.0},{each:.2}").unwrap();
        println!("{instructions:>12.0} instructions, {each:>8.2} a record: {name}");
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.csv"), table).unwrap();
}
