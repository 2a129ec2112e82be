//! Tests of `report`.

use super::*;
use crate::experiment::{Cells, Row, values};
use barkeep_plot::Figure;

struct Two;

impl Experiment for Two {
    fn name(&self) -> &'static str {
        "two"
    }
    fn about(&self) -> &'static str {
        "two cells"
    }
    fn tasks(&self, _: Size) -> Result<Vec<Task>, String> {
        Ok(["a", "b"].map(|key| Task::new(key, "", || Ok(values([])))).into_iter().collect())
    }
    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison = Comparison::new("method", "best");
        comparison.rows.push(Row::new("count", None, Some(cells.0.len().to_string()), None));
        comparison.better.push("twice as good".to_owned());
        Ok((Figure::new("", 1, Vec::new()), comparison))
    }
}

#[test]
fn a_formula_keeps_its_letters() {
    assert_eq!(capital("ε of a chain"), "ε of a chain");
    assert_eq!(capital("the circle"), "The circle");
}

#[test]
fn what_was_not_run_is_said_to_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let text = report(&[&Two], folder.path(), "results").unwrap();
    assert!(text.contains("`two` (not run)") && !text.contains("twice as good"));
    let mut store = Store::open(&folder.path().join("two.jsonl")).unwrap();
    store.keep("a", "", ("2026-01-02", 3.0), values([])).unwrap();
    let text = report(&[&Two], folder.path(), "results").unwrap();
    assert!(text.contains("1 of 2 cells") && text.contains("2026-01-02") && text.contains("twice as good"));
    assert!(text.contains("| count | - | 1 | - |"));
    store.keep("b", "", ("2026-01-03", 3.0), values([])).unwrap();
    let text = report(&[&Two], folder.path(), "results").unwrap();
    assert!(!text.contains("missing") && text.contains("2026-01-02 to 2026-01-03"));
    assert_eq!(seconds(&[&Two], folder.path()).unwrap(), "experiment,cells,seconds\ntwo,2,6\n");
}
