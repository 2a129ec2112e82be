//! Rows of small files, with buffers of any size.

use super::*;
use std::io::Write;

/// What is found below the header, and whether the file may hide a record.
fn rows(text: &str) -> (Vec<Vec<String>>, bool) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let (mut rows, header) = Rows::open(file.path(), CsvOptions::default()).unwrap();
    let mut found = Vec::new();
    while rows.turn().unwrap() {
        let cell = |position| String::from_utf8(rows.cell(position).to_vec()).unwrap();
        found.push((0..header.len()).map(cell).collect());
    }
    (found, rows.bytes.get_ref().may_hide_a_record())
}

#[test]
fn an_empty_line_is_a_record_of_one_column_and_of_no_more() {
    let cases: [(&str, &[&str], bool); 11] = [
        ("a\n1\n2\n", &["1", "2"], true),
        ("a\n1\n\n2\n", &["1", "", "2"], true),
        ("a\n\n\n\n", &["", "", ""], true),
        ("a\r\n\r\n1\r\n\r\n", &["", "1", ""], true),
        ("a\r\r1\r", &["", "1"], true),
        ("a\n1\n2", &["1", "2"], false),
        ("\n\na\n\n1", &["", "1"], false),
        ("\u{feff}\"a,b\"\n\n\"1\n\n\"\"2\"\n\n", &["", "1\n\n\"2", ""], true),
        ("a\n\"\"\n\"x\"\"\n\ny\"z\n", &["", "x\"\n\nyz"], true),
        ("a\nx\"\n\ny\n", &["x\"", "", "y"], true),
        ("a\n", &[], true),
    ];
    for (text, expected, hides) in cases {
        let expected: Vec<Vec<String>> = expected.iter().map(|cell| vec![(*cell).to_owned()]).collect();
        assert_eq!(rows(text), (expected, hides), "{text:?}");
    }
    let two = vec![vec!["1".to_owned(), String::new()], vec![String::new(), "2".to_owned()]];
    assert_eq!(rows("a,b\n1,\n\n,2\n\n"), (two, false));
}

/// What `Lines` hands on does not depend on the size of the pieces it is read in.
#[test]
fn pieces_of_any_size_are_handed_on_alike() {
    let text = "\u{feff}a\r\n\r\n\"1\n\n\"\"2\"\r\n\n x\"\n";
    let whole = |size: usize| {
        let mut lines = Lines::new(text.as_bytes(), CsvOptions::default());
        let (mut all, mut piece) = (Vec::new(), vec![0; size]);
        while let Ok(read @ 1..) = lines.read(&mut piece) {
            all.extend_from_slice(&piece[..read]);
        }
        all
    };
    assert!([1, 2, 3, 7].iter().all(|size| whole(*size) == whole(100)));
}

#[test]
fn a_row_with_another_number_of_cells_has_none() {
    let (found, _) = rows("a,b,c\n1,2,3\n1,2\n1,2,3,4\n1,2,3,4,5,6,7\n4,5,6\n\"7,8\"\n7,,9");
    let expected = [["1", "2", "3"], [""; 3], [""; 3], [""; 3], ["4", "5", "6"], [""; 3], ["7", "", "9"]];
    assert_eq!(found, expected.map(|row| row.map(str::to_owned).to_vec()));
}
