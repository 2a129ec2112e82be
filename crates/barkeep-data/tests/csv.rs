//! Reads whole files as a user writes them, and checks that refusals never show a row or a cell.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its file has failed")]

mod collected;

use std::io::Write;
use std::path::{Path, PathBuf};

use barkeep_data::{
    BLOCK, Column, Count, CsvOptions, Error, Schema, View, read_files, read_files_persons, read_header,
    read_persons,
};
use collected::{Collected, read};
use proptest::prelude::*;

fn file(folder: &tempfile::TempDir, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join("people.csv");
    std::fs::File::create(&path).unwrap().write_all(content.as_ref()).unwrap();
    path
}

fn schema() -> Schema {
    Schema::new(vec![
        Column::real("income", 0.0, 100.0, 50.0).unwrap(),
        Column::integer("age", 0.0, 120.0, 40.0).unwrap(),
        Column::category("city", vec!["Oslo".into(), "Rome".into()], "Rome").unwrap(),
    ])
    .unwrap()
}

fn read_csv(path: impl AsRef<Path>, schema: &Schema, records: usize) -> Result<Collected, Error> {
    read_csv_with(path, schema, records, CsvOptions::default())
}

fn read_csv_with(
    path: impl AsRef<Path>,
    schema: &Schema,
    records: usize,
    options: CsvOptions,
) -> Result<Collected, Error> {
    read(path, &View::all(schema.clone()), Count::Exactly(records), options, &mut |_| {})
}

fn refused(path: &Path, records: usize) -> Error {
    read_csv(path, &schema(), records).map(|_| ()).unwrap_err()
}

/// The person of each row, and the rows' first column.
fn persons(path: &Path, person: &str, count: Count) -> Result<(Vec<u32>, Vec<f64>), Error> {
    let mut sink = Collected::of(&schema());
    let view = View::all(schema());
    let roster = read_persons(path, &view, person, count, CsvOptions::default(), &mut sink)?;
    Ok((roster.rows().to_vec(), sink.column(0).to_vec()))
}

#[test]
fn rows_are_read_with_whose_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let text = "who,income,age,city\nbo,1,2,Oslo\n,2,2,Oslo\n ada ,3,2,Oslo\nbo,4,2,Oslo\n\"\",5,2,Oslo\nada,6,2,Oslo\n";
    let path = file(&folder, text);
    let (rows, income) = persons(&path, "who", Count::Exactly(3)).unwrap();
    assert_eq!((rows, income), (vec![0, 1, 2, 0, 1, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert!(persons(&path, "who", Count::About(70)).is_ok());
    for count in [2, 4] {
        let error = persons(&path, "who", Count::Exactly(count)).unwrap_err();
        assert!(matches!(&error, Error::Persons { declared, .. } if *declared == count));
        assert!(!error.to_string().contains("ada"));
    }
    let error = persons(&path, "Who_", Count::Exactly(3)).unwrap_err().to_string();
    assert!(error.contains("data.person") && error.contains("did you mean who?"), "{error}");
}

#[test]
fn several_files_are_one_set_of_records() {
    let folder = tempfile::tempdir().unwrap();
    let part = |name: &str, rows: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("who,city,age,income\n{rows}")).unwrap();
        path
    };
    let paths =
        [part("a.csv", "bo,Oslo,2,1\nada,Rome,2,2\n"), part("b.csv", ""), part("c.csv", "bo,Oslo,2,3\n")];
    let (view, options) = (View::all(schema()), CsvOptions::default());
    let read = |paths: &[PathBuf], count| {
        let mut sink = Collected::of(&schema());
        read_files(paths, &view, count, options, &mut sink, &mut |_| {}).map(|()| sink.column(0).to_vec())
    };
    assert_eq!(read(&paths, Count::Exactly(3)).unwrap(), [1.0, 2.0, 3.0]);
    for wrong in [1, 2, 4] {
        let error = read(&paths, Count::Exactly(wrong)).unwrap_err();
        assert!(matches!(error, Error::Count { declared, .. } if declared == wrong));
    }
    assert!(matches!(read(&[], Count::Exactly(3)), Err(Error::Data { key: "path", .. })));
    // Whose rows they are does not depend on the file.
    let mut sink = Collected::of(&schema());
    let roster = read_files_persons(&paths, &view, "who", Count::Exactly(2), options, &mut sink).unwrap();
    assert_eq!(roster.rows(), [0, 1, 0]);
}

#[test]
fn columns_are_chosen_by_name_and_bad_cells_become_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let mut content = b"\xef\xbb\xbfage,note, city ,income\r\n".to_vec();
    content.extend(b"31,\"said \"\"hello, you\"\"\nand left\",Oslo,12.5\r\n");
    content.extend(b"\r\n");
    content.extend(b"31.6,,Paris,1e9\n");
    content.extend(b",x,Rome,\n");
    content.extend(b"old,\xff\xfe,\xc3\x28,-3\n");
    let table = read_csv(file(&folder, content), &schema(), 4).unwrap();
    assert_eq!(table.records(), 4);
    assert_eq!(table.column(0), [12.5, 100.0, 50.0, 0.0]);
    assert_eq!(table.column(1), [31.0, 32.0, 40.0, 40.0]);
    assert_eq!(table.column(2), [0.0, 1.0, 1.0, 1.0]);
}

#[test]
fn many_blocks_are_streamed_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let records = 2 * BLOCK + 17;
    let rows: String =
        (0..records).map(|i| format!("{};Oslo;{}\n", i % 100, f64::from(i as u32) / 64.0)).collect();
    let path = file(&folder, format!("age;city;income\n{rows}"));
    let options = CsvOptions { delimiter: b';', ..CsvOptions::default() };
    let table = read_csv_with(path, &schema(), records, options).unwrap();
    let incomes: Vec<f64> = (0..records).map(|i| f64::from(i as u32) / 64.0).collect();
    assert_eq!(table.column(0), incomes);
    assert_eq!(table.column(1), (0..records).map(|i| (i % 100) as f64).collect::<Vec<_>>());
}

#[test]
fn a_file_that_is_not_there_or_not_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("absent.csv");
    assert_eq!(refused(&path, 1), Error::Missing { path });
    let path = folder.path().to_path_buf();
    assert_eq!(refused(&path, 1), Error::Unreadable { path });
}

#[test]
fn a_file_without_a_usable_header_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for content in ["", "\n\n"] {
        let path = file(&folder, content);
        assert_eq!(refused(&path, 1), Error::Empty { path });
    }
    let path = file(&folder, "71234,33,Oslo\n71235,34,Rome\n");
    let error = refused(&path, 2);
    assert_eq!(error, Error::Header { path, column: "income".into() });
    assert!(!error.to_string().contains("71234"));
}

#[test]
fn an_unknown_column_is_refused_with_the_nearest_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "Income,age,city\n1,2,Oslo\n");
    let error = refused(&path, 1);
    assert_eq!(
        error,
        Error::UnknownColumn { path: path.clone(), column: "income".into(), nearest: Some("Income".into()) }
    );
    assert_eq!(
        error.to_string(),
        format!(
            "data.columns.income: the header of {} has no such column; did you mean Income?",
            path.display()
        )
    );
    // A first row of unlike words may be a record: none of it is shown.
    let path = file(&folder, "Alice,Smith,Oslo\nBob,Jones,Rome\n");
    assert_eq!(refused(&path, 2), Error::UnknownColumn { path, column: "income".into(), nearest: None });
}

#[test]
fn another_delimiter_or_encoding_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "income;age;city\n71234;2;Oslo\n");
    assert_eq!(refused(&path, 1), Error::Undelimited { path, column: "income".into() });
    let wide: Vec<u8> =
        "\u{feff}income,age,city\n71234,2,Oslo\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let path = file(&folder, &wide);
    assert_eq!(refused(&path, 1), Error::Encoding { path });
    // A mark of UTF-8 before the first name is no part of it.
    let path = file(&folder, "\u{feff}income,age,city\n1,2,Oslo\n");
    assert_eq!(read_csv(path, &schema(), 1).unwrap().records(), 1);
}

#[test]
fn a_repeated_header_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "income,age,city,age\n1,2,Oslo,3\n");
    assert_eq!(refused(&path, 1), Error::DuplicateHeader { path, column: "age".into() });
    let path = file(&folder, "71234,71234,71234\n1,2,3\n");
    assert!(!refused(&path, 1).to_string().contains("71234"));
}

/// What a cell says can make a row ragged, as where somebody chooses the delimiter: it must end no run.
#[test]
fn a_ragged_row_is_a_record_of_missing_cells() {
    let folder = tempfile::tempdir().unwrap();
    for row in ["7,2", "7,2,Oslo,4", "7", "7,2,Oslo,4,5,6,7,8,9"] {
        let path = file(&folder, format!("income,age,city\n1,2,Oslo\n{row}\n5,6,Rome\n"));
        let table = read_csv(&path, &schema(), 3).unwrap();
        assert_eq!(table.column(0), [1.0, 50.0, 5.0]);
        assert_eq!(table.column(1), [2.0, 40.0, 6.0]);
        assert_eq!(table.column(2), [0.0, 1.0, 1.0]);
    }
    // It names nobody, too.
    let path = file(&folder, "who,income,age,city\na,1,2,Oslo\nb,1,2\n,1,2,Oslo\na,1,2,Oslo\n");
    assert_eq!(persons(&path, "who", Count::Exactly(2)).unwrap().0, [0, 1, 1, 0]);
}

#[test]
fn another_count_than_declared_is_refused_without_saying_which() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "income,age,city\n1,2,Oslo\n3,4,Rome\n");
    for declared in [1, 3] {
        let error = refused(&path, declared);
        assert_eq!(error, Error::Count { path: path.clone(), declared });
        let shown = format!("{error} {error:?}").replace(&*path.to_string_lossy(), "");
        assert!(!shown.contains('2'), "the count found stays unheard");
    }
    assert_eq!(refused(&path, 0).to_string(), "data.records must be at least 1");
    let path = file(&folder, "income,age,city\n");
    assert_eq!(refused(&path, 1), Error::Count { path, declared: 1 });
}

#[test]
fn a_gzipped_file_reads_like_the_plain_one() {
    let folder = tempfile::tempdir().unwrap();
    let plain = "income,age,city\n1.5,2,Oslo\n3,4,Rome\n";
    let pack = |text: &str| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    };
    let whole = pack(plain);
    let table = read_csv(file(&folder, &whole), &schema(), 2).unwrap();
    assert_eq!(table.column(0), [1.5, 3.0]);
    // Concatenated members are one file.
    let (first, second) = plain.split_at(20);
    let table = read_csv(file(&folder, [pack(first), pack(second)].concat()), &schema(), 2).unwrap();
    assert_eq!(table.column(1), [2.0, 4.0]);
    // A truncated or damaged one is refused.
    let path = file(&folder, &whole[..whole.len() - 9]);
    assert_eq!(refused(&path, 2), Error::Unreadable { path });
    let mut damaged = whole.clone();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    let path = file(&folder, damaged);
    assert_eq!(refused(&path, 2), Error::Unreadable { path });
}

#[test]
fn a_header_is_read_without_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, " income ,\"age, in years\",city\n71234,ragged\n");
    let names = read_header(&path, CsvOptions::default()).unwrap();
    assert_eq!(names, ["income", "age, in years", "city"]);
    for content in ["71234,Oslo\n", "income,,city\n", "income,-1e3\n"] {
        let path = file(&folder, content);
        let error = read_header(&path, CsvOptions::default()).unwrap_err();
        assert_eq!(error, Error::Headless { path });
    }
    let path = file(&folder, "");
    assert_eq!(read_header(&path, CsvOptions::default()), Err(Error::Empty { path }));
}

#[test]
fn a_delimiter_that_cannot_delimit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "income,age,city\n1.5,2,Oslo\n");
    for delimiter in [b'"', b'\n', b'\r'] {
        let options = CsvOptions { delimiter, ..CsvOptions::default() };
        let error = read_csv_with(&path, &schema(), 1, options).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "data.delimiter must differ from the quote and from line breaks");
    }
}

#[test]
fn a_million_columns_are_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    let names: String = (0..1_000_000).map(|j| format!("c{j},")).collect();
    let path = file(&folder, format!("{names}income,age,city\n"));
    assert_eq!(refused(&path, 1), Error::Count { path, declared: 1 });
    let path = file(&folder, format!("{names}incomes,age,city\n"));
    assert!(
        matches!(refused(&path, 1), Error::UnknownColumn { nearest: Some(name), .. } if name == "incomes")
    );
}

#[test]
fn a_row_without_end_is_a_record_of_missing_cells_and_fills_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    // Sixty-four MiB of one cell, in a few KiB of gzip; and a quote that is never closed.
    for opening in ["1,2,", "1,2,\""] {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(format!("income,age,city\n{opening}").as_bytes()).unwrap();
        (0..64).for_each(|_| packer.write_all(&vec![b'O'; 1 << 20]).unwrap());
        if opening == "1,2," {
            packer.write_all(b"\n7,8,Oslo\n").unwrap();
        }
        let path = file(&folder, packer.finish().unwrap());
        let rest = if opening == "1,2," { vec![7.0] } else { vec![] };
        let table = read_csv(&path, &schema(), 1 + rest.len()).unwrap();
        assert_eq!(table.column(0), [vec![50.0], rest].concat());
    }
    // Rows are counted one by one: many long ones are none too long.
    let long = format!("1,2,{}\n", "O".repeat(5 << 20));
    let path = file(&folder, format!("income,age,city\n{}", long.repeat(5)));
    assert_eq!(read_csv(&path, &schema(), 5).unwrap().records(), 5);
}

#[test]
fn progress_tells_how_many_records_were_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, format!("income,age,city\n{}", "1,2,Oslo\n".repeat(3 * BLOCK)));
    let mut heard = Vec::new();
    let view = View::all(schema());
    read(path, &view, Count::Exactly(3 * BLOCK), CsvOptions::default(), &mut |read| heard.push(read))
        .unwrap();
    assert_eq!(heard, [BLOCK, 2 * BLOCK, 3 * BLOCK]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the bytes, the reader returns: records within their bounds, or words without a cell.
    #[test]
    fn any_bytes_give_admitted_records_or_a_refusal(
        body in prop::collection::vec(
            prop::sample::select(b"income,age,city\n\"\r\xff\x00;1-e. \x1f\x8bPAR1".to_vec()), 0..120),
        headed in any::<bool>(),
        records in 1_usize..6,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut content = if headed { b"income,age,city\n".to_vec() } else { Vec::new() };
        content.extend(&body);
        for path in [file(&folder, &content), folder.path().join("people.parquet")] {
            std::fs::write(&path, &content).unwrap();
            match read_csv(&path, &schema(), records) {
                Ok(table) => {
                    prop_assert_eq!(table.records(), records);
                    prop_assert!(table.column(0).iter().all(|income| (0.0..=100.0).contains(income)));
                    prop_assert!(table.column(2).iter().all(|city| *city == 0.0 || *city == 1.0));
                }
                Err(error) => prop_assert!(!error.to_string().contains('"')),
            }
        }
    }
}
