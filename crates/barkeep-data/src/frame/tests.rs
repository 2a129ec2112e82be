//! Frames give the records that the CSV file of the same rows gives, whatever types their owner chose.

use super::*;
use crate::{Column, CsvOptions, Schema};

/// Keeps each column.
struct Kept(Vec<Vec<f64>>);

impl Sink for Kept {
    fn take(&mut self, records: usize, write: &mut dyn FnMut(usize, &mut [f64])) {
        for (index, column) in self.0.iter_mut().enumerate() {
            let start = column.len();
            column.resize(start + records, f64::NAN);
            write(index, &mut column[start..]);
        }
    }
}

/// A column's cells.
enum Made {
    Bools(Vec<Option<bool>>),
    Wholes(Vec<Option<i64>>),
    Counts(Vec<Option<u64>>),
    Doubles(Vec<f64>),
    Texts(Vec<&'static str>),
    Dates,
}

/// A frame in batches of two rows.
struct Batches {
    header: Vec<String>,
    columns: Vec<Made>,
    rows: usize,
    turned: usize,
}

impl Batches {
    fn new(columns: Vec<(&str, Made)>, rows: usize) -> Self {
        let (header, columns) = columns.into_iter().map(|(name, made)| (name.to_owned(), made)).unzip();
        Self { header, columns, rows, turned: 0 }
    }
}

impl Frame for Batches {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn refused(&self, position: usize) -> Option<&'static str> {
        matches!(self.columns[position], Made::Dates).then_some("dates or times")
    }

    fn unidentifying(&self, position: usize) -> Option<&'static str> {
        matches!(self.columns[position], Made::Doubles(_)).then_some("floating-point numbers")
    }

    fn turn(&mut self) -> Result<Option<usize>, Unavailable> {
        self.turned += 1;
        let before = 2 * (self.turned - 1);
        Ok((before < self.rows).then(|| (self.rows - before).min(2)))
    }

    fn cells(&self, position: usize, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>)) {
        let before = 2 * (self.turned - 1);
        for row in before + rows.start..before + rows.end {
            show(match &self.columns[position] {
                Made::Bools(cells) => cells[row].map_or(Cell::Missing, Cell::Bool),
                Made::Wholes(cells) => cells[row].map_or(Cell::Missing, Cell::Signed),
                Made::Counts(cells) => cells[row].map_or(Cell::Missing, Cell::Unsigned),
                Made::Doubles(cells) => Cell::Double(cells[row]),
                Made::Texts(cells) => Cell::Text(cells[row].as_bytes()),
                Made::Dates => Cell::Missing,
            });
        }
    }
}

fn schema() -> Schema {
    Schema::new(vec![
        Column::boolean("late", false).unwrap(),
        Column::integer("hour", 5.0, 23.0, 12.0).unwrap(),
        Column::category("stop", vec!["1".into(), "2".into(), "JFK".into()], "JFK").unwrap(),
        Column::real("dose", 0.0, 1.0, 0.5).unwrap(),
    ])
    .unwrap()
}

fn kept(frame: &mut dyn Frame, count: Count) -> Result<Vec<Vec<f64>>, Error> {
    let mut sink = Kept(vec![Vec::new(); 4]);
    read_frame(frame, &View::all(schema()), count, &mut sink, &mut |_| {})?;
    Ok(sink.0)
}

#[test]
fn every_type_is_read_as_the_file_of_the_same_rows() {
    let csv = "dose,late,stop,hour\n0.25,true,1,7\n,,2,\n-3,no,3,99\n1e-3,1,,-1\n0.1,0,2,12\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, csv).unwrap();
    let mut expected = Kept(vec![Vec::new(); 4]);
    let (view, count) = (View::all(schema()), Count::Exactly(5));
    crate::read(&path, &view, count, CsvOptions::default(), &mut expected, &mut |_| {}).unwrap();

    let late = || Made::Bools(vec![Some(true), None, Some(false), Some(true), Some(false)]);
    let dose = || Made::Doubles(vec![0.25, f64::NAN, -3.0, 1e-3, 0.1]);
    // Whole numbers; floats, as where one value is missing; text.
    let hours = [
        Made::Wholes(vec![Some(7), None, Some(99), Some(-1), Some(12)]),
        Made::Doubles(vec![7.0, f64::NAN, 99.0, -1.0, 12.0]),
        Made::Texts(vec!["7", "", "99", "-1", "12"]),
    ];
    let stops = [
        Made::Counts(vec![Some(1), Some(2), Some(3), None, Some(2)]),
        Made::Doubles(vec![1.0, 2.0, 3.0, f64::NAN, 2.0]),
        Made::Texts(vec!["1", "2", "3", "", "2"]),
    ];
    for (hour, stop) in hours.into_iter().zip(stops) {
        let columns = vec![("dose", dose()), ("late", late()), ("stop", stop), ("hour", hour)];
        let mut frame = Batches::new(columns, 5);
        assert!(kept(&mut frame, count).unwrap() == expected.0);
    }
}

#[test]
fn persons_are_told_apart_by_what_their_names_look_like() {
    let view = View::all(Schema::new(vec![Column::real("dose", 0.0, 1.0, 0.5).unwrap()]).unwrap());
    for names in [
        Made::Wholes(vec![Some(7), Some(8), Some(7), None, Some(8)]),
        Made::Texts(vec!["7", "8", " 7", "", "8"]),
    ] {
        let columns = vec![("who", names), ("dose", Made::Doubles(vec![0.1; 5]))];
        let mut frame = Batches::new(columns, 5);
        let mut sink = Kept(vec![Vec::new()]);
        let roster = read_frame_persons(&mut frame, &view, "who", Count::Exactly(3), &mut sink).unwrap();
        assert_eq!(roster.rows(), [0, 1, 0, 2, 1]);
    }
    let columns = vec![("who", Made::Doubles(vec![7.0; 5])), ("dose", Made::Doubles(vec![0.1; 5]))];
    let mut sink = Kept(vec![Vec::new()]);
    let read = read_frame_persons(&mut Batches::new(columns, 5), &view, "who", Count::Exactly(1), &mut sink);
    let error = read.err().unwrap().to_string();
    assert!(error.contains("the frame holds floating-point numbers there"), "{error}");
}

/// A frame has the identity of the files of its cells, taken while someone else reads it.
#[test]
fn a_frame_is_known_by_its_cells() {
    let schema = Schema::new(vec![
        Column::real("dose", 0.0, 1.0, 0.5).unwrap(),
        Column::integer("hour", 5.0, 23.0, 12.0).unwrap(),
    ])
    .unwrap();
    let csv = "hour,who,dose\n7, 7,0.25\n9,8,\n9,7,7\n,,-0\n8,8,0.5\n";
    let folder = tempfile::tempdir().unwrap();
    let identity_of = |text: &str| {
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, text).unwrap();
        crate::inspect(&[path], &schema, Some("who"), CsvOptions::default()).unwrap().identity
    };
    let expected = identity_of(csv);
    assert_eq!(identity_of(&(csv.replace('\n', "\r\n") + "\r\n")), expected);
    assert_ne!(identity_of(&csv.replace("0.25", "0.125")), expected);
    assert_ne!(identity_of(&csv.replace(",8,", ",6,")), expected);
    let mut frame = Batches::new(
        vec![
            ("dose", Made::Doubles(vec![0.25, f64::NAN, 7.0, 0.0, 0.5])),
            ("who", Made::Wholes(vec![Some(7), Some(8), Some(7), None, Some(8)])),
            ("hour", Made::Doubles(vec![7.0, 9.0, 9.0, f64::NAN, 8.0])),
        ],
        5,
    );
    // Scales and a choice of columns are the reader's own.
    let dose = schema.columns()[0].clone().scaled(crate::Scale::Bounds).unwrap();
    let (mut sink, view) = (Kept(vec![Vec::new()]), View::all(Schema::new(vec![dose]).unwrap()));
    let mut identified = crate::Identified::new(&mut frame, &schema, Some("who")).unwrap();
    read_frame(&mut identified, &view, Count::Exactly(5), &mut sink, &mut |_| {}).unwrap();
    assert_eq!(sink.0, [[-0.5, 0.0, 1.0, -1.0, 0.0]]);
    assert_eq!(identified.finish().unwrap(), expected);
}

#[test]
fn refusals_name_columns_and_declared_numbers_only() {
    let made = |late, rows| {
        Batches::new(
            vec![
                ("late", late),
                ("hour", Made::Wholes(vec![Some(77_777); rows])),
                ("stop", Made::Texts(vec!["canary"; rows])),
                ("dose", Made::Doubles(vec![77_777.0; rows])),
            ],
            rows,
        )
    };
    let falses = |rows| Made::Bools(vec![None; rows]);
    for rows in [0, 4, 6, 7] {
        let error = kept(&mut made(falses(rows), rows), Count::Exactly(5)).unwrap_err();
        assert_eq!(error.to_string(), "data.records = 5: the frame holds another number of records");
        assert!(kept(&mut made(falses(rows), rows), Count::About(5)).is_ok());
    }
    let error = kept(&mut made(Made::Dates, 5), Count::Exactly(5)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "data.columns.late: the frame holds dates or times there; numbers, true/false or text are required"
    );
    let mut frame = made(falses(5), 5);
    frame.header[1] = "hours".to_owned();
    let error = kept(&mut frame, Count::Exactly(5)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "data.columns.hour: the header of the frame has no such column; did you mean hours?"
    );
    frame.header[1] = "late".to_owned();
    frame.header.push("hour".to_owned());
    frame.columns.push(Made::Wholes(vec![None; 5]));
    let error = kept(&mut frame, Count::Exactly(5)).unwrap_err();
    assert_eq!(error.to_string(), "data.path: the header of the frame names column late twice");
}
