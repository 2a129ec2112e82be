//! Times barkeep's readers against Arrow's on the same files, one process each, with the most memory each needed.
//!
//! `cargo run --release -- [records [times]]` in this folder: writes a Parquet file (Snappy, dictionaries) and a CSV file of ten
//! columns, eight reals, an integer and a category, by default ten million records, into a temporary folder, and reads each by both
//! readers in turn, five times. Arrow's readers use one thread and barkeep's all, so the ratios of both times are printed: of the
//! processor's seconds, the system's included, and of the clock's. Each is a ratio of medians.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use barkeep_curator::Table;
use barkeep_data::{Column, Count, CsvOptions, Schema, View};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const CITIES: [&str; 3] = ["Oslo", "Rome", "Bern"];
const BATCH: usize = 100_000;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [reader, path, records] = &arguments[..] {
        return one(reader, Path::new(path), records.parse()?);
    }
    let records: usize = arguments.first().map_or(Ok(10_000_000), |text| text.parse())?;
    let times: usize = arguments.get(1).map_or(Ok(5), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("barkeep-reading-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (parquet, csv) = write(&folder, records)?;
    let table = (records * 10 * 8) as f64 / 1e6;
    println!("{records} records of 10 columns: {table:.0} MB as f64");
    for path in [&parquet, &csv] {
        println!("{}: {:.0} MB", path.display(), std::fs::metadata(path)?.len() as f64 / 1e6);
        let mut seconds = [const { [const { Vec::new() }; 2] }; 2];
        for _ in 0..times {
            for (reader, [clock, processor]) in ["barkeep", "arrow"].iter().zip(&mut seconds) {
                let output = Command::new(std::env::current_exe()?)
                    .args([reader.as_ref(), path.as_os_str(), records.to_string().as_ref()])
                    .output()?;
                assert!(output.status.success());
                let text = String::from_utf8(output.stdout)?;
                print!("{text}");
                let numbers: Vec<f64> =
                    text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                clock.push(numbers[0]);
                processor.push(numbers[1]);
            }
        }
        let [own, arrow] = seconds.map(|kinds| kinds.map(median));
        println!(
            "  barkeep at {:.2} times arrow's speed by the processor, {:.2} by the clock",
            arrow[1] / own[1],
            arrow[0] / own[0]
        );
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The seconds this process took of the processor, all threads and the system's work for them included (Linux).
fn processor() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = status.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|text| text.parse::<f64>().ok());
    // The fourteenth and fifteenth field of the line, of which two stand before the bracket: hundredths of a second.
    ticks(11).zip(ticks(12)).map_or(f64::NAN, |(own, system)| (own + system) / 100.0)
}

/// Reads once, into memory, and says how long it took and how much memory the process ever had.
fn one(reader: &str, path: &Path, records: usize) -> Fallible<()> {
    let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
    let begun = Instant::now();
    match (reader, is_parquet) {
        ("barkeep", _) => {
            // Another number of records would be refused.
            let (view, count) = (View::all(schema()?), Count::Exactly(records));
            let table = Table::read(path, &view, count, CsvOptions::default(), &mut |_| {})?;
            std::hint::black_box(&table);
        }
        (_, true) => {
            let batches = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?
                .with_batch_size(BATCH)
                .build()?;
            let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>()?;
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), records);
        }
        (_, false) => {
            let csv = arrow_csv::ReaderBuilder::new(fields()).with_header(true).with_batch_size(BATCH);
            let batches: Vec<RecordBatch> = csv.build(File::open(path)?)?.collect::<Result<_, _>>()?;
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), records);
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find(|line| line.starts_with("VmHWM")).and_then(|line| line.split_whitespace().nth(1));
    let peak =
        peak.and_then(|text| text.parse::<f64>().ok()).map_or(f64::NAN, |kilobytes| kilobytes * 1.024e-3);
    let processor = processor();
    println!(
        "  {reader:<8} {seconds:>6.2} s, processor {processor:>6.2} s, {:>6.2} million records/s, peak {peak:>6.0} MB",
        records as f64 / seconds / 1e6
    );
    Ok(())
}

fn schema() -> Fallible<Schema> {
    let mut columns = Vec::new();
    for name in "abcdefgh".chars() {
        columns.push(Column::real(name, -3.0, 3.0, 0.0)?);
    }
    columns.push(Column::integer("age", 0.0, 120.0, 40.0)?);
    columns.push(Column::category("city", CITIES.map(str::to_owned).to_vec(), "Rome")?);
    Ok(Schema::new(columns)?)
}

fn fields() -> Arc<ArrowSchema> {
    let mut fields: Vec<Field> =
        "abcdefgh".chars().map(|name| Field::new(name, DataType::Float64, true)).collect();
    fields.push(Field::new("age", DataType::Int32, true));
    fields.push(Field::new("city", DataType::Utf8, true));
    Arc::new(ArrowSchema::new(fields))
}

fn write(folder: &Path, records: usize) -> Fallible<(PathBuf, PathBuf)> {
    let (parquet, csv) = (folder.join("records.parquet"), folder.join("records.csv"));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut packed = ArrowWriter::try_new(File::create(&parquet)?, fields(), Some(properties))?;
    let mut text = BufWriter::new(File::create(&csv)?);
    writeln!(text, "a,b,c,d,e,f,g,h,age,city")?;
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    let mut left = records;
    while left > 0 {
        let count = left.min(BATCH);
        left -= count;
        let reals: Vec<Vec<f64>> = (0..8)
            .map(|_| {
                (0..count).map(|_| (f64::from(next()) / 1e9 - 2.0) * 1e6).map(|x| x.round() / 1e6).collect()
            })
            .collect();
        let ages: Vec<i32> = (0..count).map(|_| (next() >> 8) as i32 % 100).collect();
        let cities: Vec<&str> = (0..count).map(|_| CITIES[(next() >> 8) as usize % 3]).collect();
        for i in 0..count {
            for column in &reals {
                write!(text, "{},", column[i])?;
            }
            writeln!(text, "{},{}", ages[i], cities[i])?;
        }
        let mut arrays: Vec<ArrayRef> =
            reals.into_iter().map(|column| Arc::new(Float64Array::from(column)) as ArrayRef).collect();
        arrays.push(Arc::new(Int32Array::from(ages)));
        arrays.push(Arc::new(StringArray::from(cities)));
        packed.write(&RecordBatch::try_new(fields(), arrays)?)?;
    }
    packed.close()?;
    text.flush()?;
    Ok((parquet, csv))
}
