//! Feeds any bytes to the readers of records: the first byte chooses the file's ending.

#![no_main]

use barkeep::curator::Table;
use barkeep::data::{Column, Count, CsvOptions, Schema, View};
use libfuzzer_sys::fuzz_target;
use std::io::Write;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, content)) = bytes.split_first() else { return };
    let ending = if kind % 2 == 0 { ".csv" } else { ".parquet" };
    let Ok(mut file) = tempfile::Builder::new().suffix(ending).tempfile() else { return };
    if file.write_all(content).is_err() || file.flush().is_err() {
        return;
    }
    let columns = [Column::real("x", -1.0, 1.0, 0.0), Column::boolean("b", false)];
    let Ok(schema) = columns.into_iter().collect::<Result<_, _>>().and_then(Schema::new) else { return };
    let _ =
        Table::read(file.path(), &View::all(schema), Count::Exactly(3), CsvOptions::default(), &mut |_| {});
});
