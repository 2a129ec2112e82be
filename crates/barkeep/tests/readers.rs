//! Changes every cell of one record, and in CSV the number of its cells, and reads the file again: all other records keep their bits, from CSV, Parquet and a frame alike.
//!
//! TRUSTED.md believes that readers read row by row; this test looks for a cell that proves them wrong.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::data::{
    Cell, Column, Count, CsvOptions, Error, Frame, Schema, Sink, Unavailable, View, read, read_frame,
};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use proptest::prelude::*;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const COLUMNS: [&str; 3] = ["income", "age", "city"];

/// A cell's bytes; none where it is missing.
type Text = Option<Vec<u8>>;
type Row = [Text; 3];

fn view() -> View {
    let columns = vec![
        Column::real("income", 0.0, 100.0, 50.0).unwrap(),
        Column::integer("age", 0.0, 120.0, 40.0).unwrap(),
        Column::category("city", vec!["Oslo".into(), "Rome".into(), "a,\"b".into()], "Rome").unwrap(),
    ];
    View::all(Schema::new(columns).unwrap())
}

/// What a reader handed on, record by record, in bits.
#[derive(Default)]
struct Collected(Vec<[u64; 3]>);

impl Sink for Collected {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        let start = self.0.len();
        self.0.resize(start + records, [0; 3]);
        let mut values = vec![f64::NAN; records];
        for index in 0..3 {
            write(index, &mut values);
            for (record, value) in self.0[start..].iter_mut().zip(&values) {
                record[index] = value.to_bits();
            }
        }
    }
}

/// Writes a cell between quotes, as it must be where it holds a delimiter, a quote or a line break.
fn quoted(text: &Text, out: &mut Vec<u8>) {
    let Some(text) = text else { return };
    out.push(b'"');
    for byte in text {
        out.extend(if *byte == b'"' { vec![b'"'; 2] } else { vec![*byte] });
    }
    out.push(b'"');
}

/// Writes rows of three cells; the one at `odd.0` gets `odd.1` more or fewer.
fn write_csv(path: &Path, rows: &[Row], odd: (usize, isize)) {
    let mut out = COLUMNS.join(",").into_bytes();
    for (place, row) in rows.iter().enumerate() {
        let cells = if place == odd.0 { 3_usize.saturating_add_signed(odd.1) } else { 3 };
        for (index, cell) in row.iter().cycle().take(cells).enumerate() {
            out.push(if index == 0 { b'\n' } else { b',' });
            match cell {
                // A line without a byte would be no row.
                None if cells == 1 => quoted(&Some(Vec::new()), &mut out),
                cell => quoted(cell, &mut out),
            }
        }
    }
    out.push(b'\n');
    std::fs::write(path, out).unwrap();
}

fn number(text: &Text) -> Option<f64> {
    std::str::from_utf8(text.as_ref()?).ok()?.parse().ok()
}

/// Writes incomes as numbers, the others as text; one row group for each stretch of rows.
fn write_parquet(path: &Path, rows: &[Row], group: usize, dictionary: bool) {
    let column = |name: &str, physical, logical| {
        let column = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        Arc::new(column.with_repetition(Repetition::OPTIONAL).build().unwrap())
    };
    let text = |name| column(name, Physical::BYTE_ARRAY, Some(LogicalType::String));
    let fields = vec![column("income", Physical::DOUBLE, None), text("age"), text("city")];
    let schema = Type::group_type_builder("people").with_fields(fields).build().unwrap();
    let properties = WriterProperties::builder().set_dictionary_enabled(dictionary).build();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    for rows in rows.chunks(group) {
        let mut writing = writer.next_row_group().unwrap();
        let incomes: Vec<Option<f64>> = rows.iter().map(|row| number(&row[0])).collect();
        let levels = |there: &mut dyn Iterator<Item = bool>| there.map(i16::from).collect::<Vec<_>>();
        let mut column = writing.next_column().unwrap().unwrap();
        let present = levels(&mut incomes.iter().map(Option::is_some));
        let values: Vec<f64> = incomes.into_iter().flatten().collect();
        column.typed::<DoubleType>().write_batch(&values, Some(&present), None).unwrap();
        column.close().unwrap();
        for index in 1..3 {
            let mut column = writing.next_column().unwrap().unwrap();
            let present = levels(&mut rows.iter().map(|row| row[index].is_some()));
            let values: Vec<ByteArray> =
                rows.iter().filter_map(|row| row[index].clone()).map(ByteArray::from).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&present), None).unwrap();
            column.close().unwrap();
        }
        writing.close().unwrap();
    }
    writer.close().unwrap();
}

/// The rows as a frame of one batch.
struct Held<'a> {
    header: Vec<String>,
    rows: &'a [Row],
    turned: bool,
}

impl Frame for Held<'_> {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn refused(&self, _position: usize) -> Option<&'static str> {
        None
    }

    fn unidentifying(&self, _position: usize) -> Option<&'static str> {
        None
    }

    fn turn(&mut self) -> Result<Option<usize>, Unavailable> {
        Ok((!std::mem::replace(&mut self.turned, true)).then_some(self.rows.len()))
    }

    fn cells(&self, position: usize, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>)) {
        for row in &self.rows[rows] {
            show(match (&row[position], number(&row[position])) {
                (_, Some(number)) if position == 0 => Cell::Double(number),
                (Some(text), _) => Cell::Text(text),
                (None, _) => Cell::Missing,
            });
        }
    }
}

/// How the rows are stored.
#[derive(Debug, Clone, Copy)]
enum Stored {
    /// The changed row gets this many cells more or fewer.
    Csv {
        odd: isize,
    },
    Parquet {
        group: usize,
        dictionary: bool,
    },
    Frame,
}

fn records(folder: &Path, rows: &[Row], stored: Stored, changed: usize) -> Result<Vec<[u64; 3]>, Error> {
    let (view, count, mut collected) = (view(), Count::Exactly(rows.len()), Collected::default());
    let file = |name: &str| -> PathBuf { folder.join(name) };
    let path = match stored {
        Stored::Csv { odd } => {
            write_csv(&file("people.csv"), rows, (changed, odd));
            file("people.csv")
        }
        Stored::Parquet { group, dictionary } => {
            write_parquet(&file("people.parquet"), rows, group, dictionary);
            file("people.parquet")
        }
        Stored::Frame => {
            let mut frame = Held { header: COLUMNS.map(str::to_owned).to_vec(), rows, turned: false };
            read_frame(&mut frame, &view, count, &mut collected, &mut |_| {})?;
            return Ok(collected.0);
        }
    };
    read(path, &view, count, CsvOptions::default(), &mut collected, &mut |_| {})?;
    Ok(collected.0)
}

/// A cell that is missing, a number, a level, or bytes that readers may trip over.
fn cell() -> impl Strategy<Value = Text> {
    let hostile = prop::collection::vec(
        prop::sample::select(b"0159.-+eEinfNa \t\"',;#\\\n\r\x00\xff\xc3\x28OsloRme".to_vec()),
        0..12,
    );
    prop_oneof![
        1 => Just(None),
        2 => (-20.0..140.0_f64).prop_map(|number| Some(number.to_string().into_bytes())),
        2 => prop::sample::select(vec!["Oslo", "Rome", "a,\"b", "NaN", "inf", "1e999", "-0", ""])
            .prop_map(|text| Some(text.as_bytes().to_vec())),
        4 => hostile.prop_map(Some),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    [cell(), cell(), cell()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_record_changes_no_other(
        mut rows in prop::collection::vec(row(), 1..40),
        place in any::<prop::sample::Index>(),
        other in row(),
        stored in prop_oneof![
            (-2_isize..3).prop_map(|odd| Stored::Csv { odd }),
            (1_usize..40, any::<bool>()).prop_map(|(group, dictionary)| Stored::Parquet { group, dictionary }),
            Just(Stored::Frame),
        ],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let place = place.index(rows.len());
        // Before, every row has as many cells as the header.
        let before = records(folder.path(), &rows, stored, rows.len());
        prop_assert!(before.is_ok(), "{stored:?} {:?}", before.err());
        rows[place] = other;
        let after = records(folder.path(), &rows, stored, place);
        prop_assert!(after.is_ok(), "{stored:?} {:?}", after.err());
        let (mut before, after) = (before.unwrap(), after.unwrap());
        prop_assert_eq!(after.len(), rows.len());
        before[place] = after[place];
        prop_assert_eq!(before, after);
    }
}
