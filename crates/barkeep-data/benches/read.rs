//! Times reading a CSV file into blocks: `cargo bench -p barkeep-data`, in bytes of the file per second.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot set up has failed")]

use std::fmt::Write;

use barkeep_data::{BLOCK, Column, Count, CsvOptions, Schema, Sink, View, read};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

const RECORDS: usize = 100_000;

/// Takes a block into the same memory again and again.
struct Scratch(Vec<f64>);

impl Sink for Scratch {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        for (index, column) in self.0.chunks_exact_mut(BLOCK).enumerate() {
            write(index, &mut column[..records]);
        }
    }
}

/// Ten columns: eight reals, an integer and a category.
#[divan::bench]
fn ten_columns(bencher: Bencher) {
    let mut text = "a,b,c,d,e,f,g,h,age,city\n".to_owned();
    let mut state = 1_u32;
    for _ in 0..RECORDS {
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            write!(text, "{:.6},", f64::from(state) / 1e9 - 2.0).unwrap();
        }
        writeln!(text, "{},{}", state % 100, ["Oslo", "Rome", "Bern"][state as usize % 3]).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.csv");
    std::fs::write(&path, &text).unwrap();
    let mut columns: Vec<Column> =
        "abcdefgh".chars().map(|name| Column::real(name, -3.0, 3.0, 0.0).unwrap()).collect();
    columns.push(Column::integer("age", 0.0, 120.0, 40.0).unwrap());
    let cities = ["Oslo", "Rome", "Bern"].map(str::to_owned).to_vec();
    columns.push(Column::category("city", cities, "Rome").unwrap());
    let view = View::all(Schema::new(columns).unwrap());
    let mut sink = Scratch(vec![0.0; 10 * BLOCK]);
    bencher.counter(BytesCount::new(text.len())).bench_local(|| {
        read(&path, &view, Count::Exactly(RECORDS), CsvOptions::default(), &mut sink, &mut |_| {}).unwrap()
    });
}
