//! Tests of `store`.

use super::*;
use crate::experiment::values;

#[test]
fn an_interrupted_file_loses_its_torn_line_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.jsonl");
    let mut store = Store::open(&path).unwrap();
    for key in ["a", "b"] {
        store.keep(key, "s", ("2026-01-01", 1.0), values([("x", vec![0.1, 2.0])])).unwrap();
    }
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.truncate(text.len() - 9);
    std::fs::write(&path, &text).unwrap();
    let mut store = Store::open(&path).unwrap();
    assert!(store.find("a", "s").is_some() && store.find("b", "s").is_none());
    store.keep("b", "s", ("2026-01-01", 1.0), values([("x", vec![3.0])])).unwrap();
    assert_eq!(Store::open(&path).unwrap().cells().numbers("b", "x"), Some(&[3.0][..]));
}

#[test]
fn what_is_not_a_number_is_kept_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.jsonl");
    let mut store = Store::open(&path).unwrap();
    store.keep("a", "s", ("2026-01-01", 1.0), values([("x", vec![f64::NAN, 2.0])])).unwrap();
    let cells = Store::open(&path).unwrap().cells();
    assert!(matches!(cells.numbers("a", "x"), Some([first, 2.0]) if first.is_nan()));
}

#[test]
fn other_settings_make_a_cell_stale() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.jsonl");
    let mut store = Store::open(&path).unwrap();
    store.keep("a", "tau = 1", ("2026-01-01", 1.0), values([("x", vec![1.0])])).unwrap();
    assert!(store.find("a", "tau = 2").is_none());
    store.keep("a", "tau = 2", ("2026-01-01", 1.0), values([("x", vec![2.0])])).unwrap();
    assert_eq!(Store::open(&path).unwrap().kept.len(), 1);
}

#[test]
fn a_damaged_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.jsonl");
    std::fs::write(&path, "nonsense\n").unwrap();
    assert!(Store::open(&path).unwrap_err().contains("line 1"));
}
