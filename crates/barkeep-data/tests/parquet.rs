//! Reads Parquet files that another program wrote, whole and damaged, and checks that refusals show no record.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its file has failed")]

mod collected;

use std::path::{Path, PathBuf};

use barkeep_data::{
    Column, Count, CsvOptions, Error, Factor, Feature, Schema, Shape, View, inspect, read_header,
    read_persons, seal,
};
use collected::{Collected, read};
use proptest::prelude::*;

const RECORDS: usize = 2500;

fn bundled(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet").join(format!("{name}.parquet"))
}

fn schema() -> Schema {
    Schema::new(vec![
        Column::real("income", 0.0, 100.0, 50.0).unwrap(),
        Column::integer("age", 0.0, 120.0, 40.0).unwrap(),
        Column::category("city", vec!["Oslo".into(), "Rome".into()], "Rome").unwrap(),
        Column::boolean("member", false).unwrap(),
    ])
    .unwrap()
}

/// The file of this build's Zstandard, or another where it has none.
const ZSTD: &str = if cfg!(feature = "zstd") { "zstd" } else { "snappy" };

fn open(path: &Path, records: usize) -> Result<Collected, Error> {
    read(path, &View::all(schema()), Count::Exactly(records), CsvOptions::default(), &mut |_| {})
}

fn refused(path: &Path, records: usize) -> Error {
    open(path, records).map(|_| ()).unwrap_err()
}

/// What `make.py` wrote, as the schema admits it.
fn expected(index: usize) -> Vec<f64> {
    (0..RECORDS)
        .map(|i| {
            let missing = i % 7 == 3;
            match index {
                0 if missing => 50.0,
                0 => ((i % 300) as f64 / 2.0 - 10.0).clamp(0.0, 100.0),
                1 if missing => 40.0,
                1 => ((i % 130) as f64).min(120.0),
                // Paris is not declared.
                2 => f64::from(u8::from(missing || i % 3 != 0)),
                _ => f64::from(u8::from(!missing && i % 3 == 0)),
            }
        })
        .collect()
}

#[test]
fn text_and_whole_numbers_say_whose_row_it_is() {
    let income = Schema::new(vec![Column::real("income", 0.0, 100.0, 50.0).unwrap()]).unwrap();
    let view = View::all(income.clone());
    // 130 ages, 3 cities: each of the missing ones is a person as well.
    for (name, person, count) in
        [("plain", "age", 131), ("gzip", "age", 131), ("plain", "city", 4), ("encodings", "age", 131)]
    {
        let mut sink = Collected::of(&income);
        let of = |count: Count, sink: &mut Collected| {
            read_persons(bundled(name), &view, person, count, CsvOptions::default(), sink)
        };
        let roster = of(Count::Exactly(count), &mut sink).unwrap();
        assert_eq!((roster.persons(), roster.rows().len(), sink.records()), (count, RECORDS, RECORDS));
        // Two rows are one person's where their cells say the same.
        let same = |i: usize, j: usize| roster.rows()[i] == roster.rows()[j];
        match person {
            "age" => assert!(same(3, 10) && same(0, 130) && !same(0, 131) && !same(0, 3)),
            _ => assert!(same(3, 10) && same(0, 6) && !same(0, 1) && !same(1, 2)),
        }
        for wrong in [count - 1, count + 1] {
            let error = of(Count::Exactly(wrong), &mut Collected::of(&income)).err().unwrap();
            assert!(matches!(error, Error::Persons { .. }), "{name} {person}");
        }
    }
}

/// Whole numbers beyond 2^53 are one floating-point number: persons would merge where one missing cell made a library write floats.
#[test]
fn a_column_of_floats_names_nobody_by_its_type() {
    let income = Schema::new(vec![Column::real("income", 0.0, 100.0, 50.0).unwrap()]).unwrap();
    for (name, person, holds) in
        [("text", "age", "floating-point numbers"), ("plain", "member", "true or false")]
    {
        let (view, any, options) = (View::all(income.clone()), Count::About(1), CsvOptions::default());
        let read = read_persons(bundled(name), &view, person, any, options, &mut Collected::of(&income));
        let error = read.err().unwrap().to_string();
        assert!(error.contains(&format!("data.person = \"{person}\"")) && error.contains(holds), "{error}");
    }
}

/// One data set has one identity, in whatever file it is.
#[test]
fn files_of_the_same_cells_have_one_identity() {
    let identity = |name: &str| {
        let found = inspect(&[bundled(name)], &schema(), Some("age"), CsvOptions::default()).unwrap();
        assert_eq!((found.records, found.odd_rows), (RECORDS, 0));
        let persons = found.persons.unwrap();
        assert_eq!(
            (persons.number, persons.unnamed_rows),
            (131, (0..RECORDS).filter(|i| i % 7 == 3).count())
        );
        found.identity
    };
    let plain = identity("plain");
    assert!(["snappy", "gzip", "pages_v2", "encodings"].iter().all(|name| identity(name) == plain));
}

#[test]
fn every_codec_encoding_and_type_reads_the_same() {
    for name in ["plain", "snappy", "gzip", ZSTD, "pages_v2", "encodings", "text", "decimal"] {
        let table = open(&bundled(name), RECORDS).unwrap();
        assert_eq!(table.records(), RECORDS);
        for index in 0..4 {
            assert!(table.column(index) == expected(index), "{name}: column {index} differs");
        }
    }
}

#[test]
fn stores_are_named_by_their_scheme_and_hold_parquet() {
    let text = refused(Path::new("s3://bucket/records.csv"), RECORDS);
    assert!(matches!(text, Error::Data { key: "path", .. }), "{text}");
    assert!(read_header("s3://bucket/records.csv", CsvOptions::default()).is_err());
    if !cfg!(feature = "object-store") {
        let path = Path::new("s3://bucket/records.parquet");
        assert!(refused(path, RECORDS).to_string().contains("build barkeep with the feature object-store"));
        assert!(seal(path).is_none());
    }
}

#[test]
fn numbers_may_be_levels() {
    let levels = ["7", "3", "0"].map(str::to_owned).to_vec();
    let schema = Schema::new(vec![
        Column::category("age", levels, "0").unwrap(),
        Column::category("member", vec!["false".into(), "true".into()], "false").unwrap(),
    ])
    .unwrap();
    for name in ["plain", ZSTD, "text"] {
        let table = read(
            bundled(name),
            &View::all(schema.clone()),
            Count::Exactly(RECORDS),
            CsvOptions::default(),
            &mut |_| {},
        )
        .unwrap();
        let index = |i: usize| match (i % 7 == 3, i % 130) {
            (false, 7) => 0.0,
            (false, 3) => 1.0,
            _ => 2.0,
        };
        assert!(table.column(0) == (0..RECORDS).map(index).collect::<Vec<_>>(), "{name}");
        assert!(table.column(1) == expected(3), "{name}");
    }
}

#[test]
fn features_are_computed_as_records_come() {
    let factor = |column, shape| Factor { column, shape, scaled: true };
    let features = vec![
        Feature::column("member", 3),
        Feature {
            name: "Rome:income".into(),
            factors: vec![factor(2, Shape::Level(1)), factor(0, Shape::Value)],
        },
        Feature { name: "sqrt(income)".into(), factors: vec![factor(0, Shape::Sqrt)] },
    ];
    let view = View::new(schema(), features).unwrap();
    let mut heard = Vec::new();
    let table = read(bundled("snappy"), &view, Count::Exactly(RECORDS), CsvOptions::default(), &mut |read| {
        heard.push(read)
    })
    .unwrap();
    assert_eq!(heard.last(), Some(&RECORDS));
    assert!(heard.is_sorted());
    let (income, rome) = (expected(0), expected(2));
    let product: Vec<f64> = income.iter().zip(&rome).map(|(income, rome)| income * rome).collect();
    assert!(table.column(0) == expected(3));
    assert!(table.column(1) == product);
    assert!(table.column(2) == income.iter().map(|income| income.sqrt()).collect::<Vec<_>>());
    assert_eq!(view.schema().columns()[1].range(), (0.0, 100.0));
}

#[test]
fn what_no_kind_can_hold_is_refused_by_column() {
    for (name, holds) in [("dates", "dates or times"), ("lists", "lists or records")] {
        let path = bundled(name);
        let shown = refused(&path, RECORDS).to_string();
        // A list's leaf has another name than its column.
        let by_name = shown.starts_with("data.columns.age") && (shown.contains(holds) || name == "lists");
        assert!(by_name, "{shown}");
    }
    let path = bundled("brotli");
    assert_eq!(refused(&path, RECORDS), Error::Codec { path, codec: "Brotli" });
    if !cfg!(feature = "zstd") {
        let path = bundled("zstd");
        let error = refused(&path, RECORDS);
        assert!(error.to_string().contains("feature zstd"), "{error}");
        assert_eq!(error, Error::Codec { path, codec: "Zstandard" });
    }
}

#[test]
fn headers_and_counts_are_checked() {
    let path = bundled("snappy");
    assert_eq!(
        read_header(&path, CsvOptions::default()).unwrap(),
        ["note", "age", "city", "income", "member"]
    );
    for declared in [RECORDS - 1, RECORDS + 1, 1] {
        assert_eq!(refused(&path, declared), Error::Count { path: path.clone(), declared });
    }
    let schema = Schema::new(vec![Column::real("incom", 0.0, 1.0, 0.0).unwrap()]).unwrap();
    let error = read(&path, &View::all(schema), Count::Exactly(RECORDS), CsvOptions::default(), &mut |_| {})
        .map(|_| ())
        .unwrap_err();
    assert_eq!(error, Error::UnknownColumn { path, column: "incom".into(), nearest: Some("income".into()) });
    let path = bundled("nowhere");
    assert_eq!(refused(&path, 1), Error::Missing { path });
}

#[test]
fn a_truncated_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.parquet");
    let whole = std::fs::read(bundled("snappy")).unwrap();
    for length in (0..whole.len()).step_by(97) {
        std::fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(refused(&path, RECORDS), Error::Unreadable { path: path.clone() });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bytes changed anywhere give records within their bounds or a refusal, never a panic that gets out.
    #[test]
    fn damage_is_refused_or_admitted(
        name in prop::sample::select(vec!["plain", "snappy", "gzip", "zstd", "pages_v2", "encodings"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = std::fs::read(bundled(name)).unwrap();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.parquet");
        std::fs::write(&path, bytes).unwrap();
        if let Ok(table) = open(&path, RECORDS) {
            prop_assert!(table.column(0).iter().all(|income| (0.0..=100.0).contains(income)));
        }
    }
}
