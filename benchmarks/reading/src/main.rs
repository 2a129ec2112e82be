//! Times barkeep's readers against Arrow's on the same files, one process each, with the most memory each needed.
//!
//! `cargo run --release -- [records [times]]` in this folder: writes tables of ten columns as Parquet (Snappy, dictionaries) and as CSV, by
//! default ten million records, into a temporary folder, and reads each file by both readers in turn, five times. Arrow's readers use one
//! thread and barkeep's all, so the ratios of both times are printed: of the processor's seconds, the system's included, and of the
//! clock's. Each is a ratio of medians.

use std::fs::File;
use std::io::BufWriter;
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

const BATCH: usize = 100_000;

/// What a column holds.
#[derive(Clone, Copy)]
enum Holds {
    Real,
    /// Of which one cell in ten is missing.
    Gaps,
    Whole,
    /// One of this many levels.
    Level(u32),
}

/// The tables' names, and what their columns hold.
const TABLES: [(&str, [Holds; 10]); 4] = [
    ("reals", [Holds::Real; 10]),
    (
        "mixed",
        [
            Holds::Real,
            Holds::Real,
            Holds::Real,
            Holds::Real,
            Holds::Real,
            Holds::Real,
            Holds::Real,
            Holds::Real,
            Holds::Whole,
            Holds::Level(3),
        ],
    ),
    (
        "categories",
        [
            Holds::Level(2),
            Holds::Level(3),
            Holds::Level(5),
            Holds::Level(8),
            Holds::Level(12),
            Holds::Level(20),
            Holds::Level(50),
            Holds::Level(50),
            Holds::Whole,
            Holds::Whole,
        ],
    ),
    ("gaps", [Holds::Gaps; 10]),
];

/// What each column of a table is called, and what it holds.
fn columns(table: &str) -> impl Iterator<Item = (char, Holds)> {
    let holds = TABLES.iter().find(|(name, _)| *name == table).map(|(_, holds)| *holds);
    ('a'..='j').zip(holds.into_iter().flatten())
}

fn levels(count: u32) -> Vec<String> {
    (0..count).map(|level| format!("level {level}")).collect()
}

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [reader, table, path, records] = &arguments[..] {
        return one(reader, table, Path::new(path), records.parse()?);
    }
    let records: usize = arguments.first().map_or(Ok(10_000_000), |text| text.parse())?;
    let times: usize = arguments.get(1).map_or(Ok(5), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("barkeep-reading-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let size = (records * 10 * 8) as f64 / 1e6;
    println!("{records} records of 10 columns: {size:.0} MB as f64");
    let mut ratios = Vec::new();
    for (table, _) in TABLES {
        let (parquet, csv) = write(&folder, table, records)?;
        for path in [&parquet, &csv] {
            let [processor, clock] = compare(table, path, records, times)?;
            let kind = path.extension().unwrap_or_default().display();
            ratios.push(format!("{table:<12} {kind:<8} {processor:>6.2} {clock:>6.2}"));
            std::fs::remove_file(path)?;
        }
    }
    std::fs::remove_dir_all(&folder)?;
    println!("barkeep's speed by arrow's: by the processor, by the clock");
    ratios.iter().for_each(|line| println!("{line}"));
    Ok(())
}

/// How many times as fast as arrow barkeep reads a file, by the processor and by the clock.
fn compare(table: &str, path: &Path, records: usize, times: usize) -> Fallible<[f64; 2]> {
    println!("{}: {:.0} MB", path.display(), std::fs::metadata(path)?.len() as f64 / 1e6);
    let mut seconds = [const { [const { Vec::new() }; 2] }; 2];
    for _ in 0..times {
        for (reader, [clock, processor]) in ["barkeep", "arrow"].iter().zip(&mut seconds) {
            let output = Command::new(std::env::current_exe()?)
                .args([reader.as_ref(), table.as_ref(), path.as_os_str(), records.to_string().as_ref()])
                .output()?;
            assert!(output.status.success());
            let text = String::from_utf8(output.stdout)?;
            print!("{text}");
            let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            clock.push(numbers[0]);
            processor.push(numbers[1]);
        }
    }
    let [own, arrow] = seconds.map(|kinds| kinds.map(median));
    Ok([arrow[1] / own[1], arrow[0] / own[0]])
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
fn one(reader: &str, table: &str, path: &Path, records: usize) -> Fallible<()> {
    let is_parquet = path.extension().is_some_and(|extension| extension == "parquet");
    let begun = Instant::now();
    match (reader, is_parquet) {
        ("barkeep", _) => {
            // Another number of records would be refused.
            let (view, count) = (View::all(schema(table)?), Count::Exactly(records));
            let read = Table::read(path, &view, count, CsvOptions::default(), &mut |_| {})?;
            std::hint::black_box(&read);
        }
        (_, true) => {
            let batches = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?
                .with_batch_size(BATCH)
                .build()?;
            let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>()?;
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), records);
        }
        (_, false) => {
            let csv = arrow_csv::ReaderBuilder::new(fields(table)).with_header(true).with_batch_size(BATCH);
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

fn schema(table: &str) -> Fallible<Schema> {
    let columns = columns(table).map(|(name, holds)| match holds {
        Holds::Real | Holds::Gaps => Column::real(name, -3.0, 3.0, 0.0),
        Holds::Whole => Column::integer(name, 0.0, 120.0, 40.0),
        Holds::Level(count) => Column::category(name, levels(count), "level 1"),
    });
    Ok(Schema::new(columns.collect::<Result<_, _>>()?)?)
}

fn fields(table: &str) -> Arc<ArrowSchema> {
    let fields = columns(table).map(|(name, holds)| {
        let holds = match holds {
            Holds::Real | Holds::Gaps => DataType::Float64,
            Holds::Whole => DataType::Int32,
            Holds::Level(_) => DataType::Utf8,
        };
        Field::new(name, holds, true)
    });
    Arc::new(ArrowSchema::new(fields.collect::<Vec<_>>()))
}

fn write(folder: &Path, table: &str, records: usize) -> Fallible<(PathBuf, PathBuf)> {
    let (parquet, csv) = (folder.join(format!("{table}.parquet")), folder.join(format!("{table}.csv")));
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut packed = ArrowWriter::try_new(File::create(&parquet)?, fields(table), Some(properties))?;
    let mut text = arrow_csv::Writer::new(BufWriter::new(File::create(&csv)?));
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    };
    let mut left = records;
    while left > 0 {
        let count = left.min(BATCH);
        left -= count;
        let mut real = || ((f64::from(next()) / 1e9 - 2.0) * 1e6).round() / 1e6;
        let arrays = columns(table).map(|(_, holds)| -> ArrayRef {
            match holds {
                Holds::Real => Arc::new(Float64Array::from_iter_values((0..count).map(|_| real()))),
                Holds::Gaps => {
                    let cells = (0..count).map(|_| Some(real()).filter(|x| x.fract().abs() > 0.1));
                    Arc::new(Float64Array::from_iter(cells))
                }
                Holds::Whole => {
                    let cells = (0..count).map(|_| (real().abs() * 1e6) as i32 % 100);
                    Arc::new(Int32Array::from_iter_values(cells))
                }
                Holds::Level(most) => {
                    let levels = levels(most);
                    let cells = (0..count).map(|_| &levels[(real().abs() * 1e6) as usize % levels.len()]);
                    Arc::new(StringArray::from_iter_values(cells))
                }
            }
        });
        let batch = RecordBatch::try_new(fields(table), arrays.collect())?;
        packed.write(&batch)?;
        text.write(&batch)?;
    }
    packed.close()?;
    Ok((parquet, csv))
}
