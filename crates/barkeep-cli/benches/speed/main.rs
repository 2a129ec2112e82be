//! Measures barkeep against recorded times of the papers' code and against what this machine can do, in one run.
//!
//! `cargo bench -p barkeep-cli --bench speed` prints five tables; name some of `samplers`, `kernels`, `growth`,
//! `start`, `memory` after `--` for those alone. Shares and ratios compare figures of the same minute, each the
//! shortest of several tries taken in turn, so that a busy machine slows both sides alike.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a program that measures")]

mod growth;
mod kernels;
mod machine;
mod memory;
mod question;
mod samplers;
mod setting;
mod start;

/// A table's name and what prints it.
type Table = (&'static str, fn());

const TABLES: [Table; 5] = [
    ("samplers", samplers::print),
    ("kernels", kernels::print),
    ("growth", growth::print),
    ("start", start::print),
    ("memory", memory::print),
];

fn main() {
    // Cargo adds --bench.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(unknown) = chosen.iter().find(|name| !TABLES.iter().any(|(table, _)| table == name)) {
        let names: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        println!("no table {unknown}; there are {}", names.join(", "));
        std::process::exit(2);
    }
    for (name, print) in TABLES {
        if chosen.is_empty() || chosen.iter().any(|wanted| wanted == name) {
            print();
            println!();
        }
    }
}
