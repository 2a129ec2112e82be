//! Runs an experiment: computes the cells that are missing, then writes its numbers, its figure and its comparison.

use crate::experiment::{Comparison, Experiment, NONE, Row, Size};
use crate::store::Store;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// What a run needs from outside.
pub struct Setting<'a> {
    /// Where results go.
    pub out: &'a Path,
    /// How much to do.
    pub size: Size,
    /// Whether cells that are known are computed again.
    pub fresh: bool,
    /// Today, as it is to be written.
    pub date: &'a str,
    /// Takes a line about what happens.
    pub say: &'a mut dyn FnMut(&str),
    /// Whether to stop before the next cell.
    pub stop: &'a dyn Fn() -> bool,
}

/// Runs an experiment and returns its comparison; nothing if it was stopped.
///
/// # Errors
/// Faulty settings, a cell that fails, or files that cannot be written.
pub fn reproduce(
    experiment: &dyn Experiment,
    setting: &mut Setting<'_>,
) -> Result<Option<Comparison>, String> {
    std::fs::create_dir_all(setting.out)
        .map_err(|error| format!("cannot make {}: {}", setting.out.display(), error.kind()))?;
    let mut store = Store::open(&cells_path(setting.out, experiment, setting.size))?;
    let tasks = experiment.tasks(setting.size)?;
    let count = tasks.len();
    let missing: Vec<_> = tasks
        .into_iter()
        .filter(|task| setting.fresh || store.find(&task.key, &task.settings).is_none())
        .collect();
    let (began, todo) = (Instant::now(), missing.len());
    if todo < count {
        (setting.say)(&format!("{}: {} of {count} cells are known", experiment.name(), count - todo));
    }
    for (done, task) in missing.into_iter().enumerate() {
        if (setting.stop)() {
            (setting.say)(&format!("stopped; the same command goes on with {}", task.key));
            return Ok(None);
        }
        let start = Instant::now();
        let values =
            (task.compute)().map_err(|error| format!("{}, {}: {error}", experiment.name(), task.key))?;
        let seconds = (start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        store.keep(&task.key, &task.settings, (setting.date, seconds), values)?;
        // Cells differ in size, so this is a guess; the most telling cells come first, not the longest.
        let left = began.elapsed().as_secs_f64() / (done + 1) as f64 * (todo - done - 1) as f64;
        (setting.say)(&format!(
            "{}: {} of {todo}, {} in {seconds:.1} s, about {} left",
            experiment.name(),
            done + 1,
            task.key,
            duration(left)
        ));
    }
    let cells = store.cells();
    let (figure, comparison) = experiment.show(&cells)?;
    write(&setting.out.join(file_name(experiment, setting.size, "svg")), &figure.svg())?;
    write(&setting.out.join(file_name(experiment, setting.size, "csv")), &csv(&comparison))?;
    let spent: f64 = store.kept.iter().map(|cell| cell.seconds).sum();
    (setting.say)(&format!("{}: {count} cells, computed in {}", experiment.name(), duration(spent)));
    Ok(Some(comparison))
}

/// Where an experiment's cells are kept.
#[must_use]
pub(crate) fn cells_path(out: &Path, experiment: &dyn Experiment, size: Size) -> std::path::PathBuf {
    out.join(format!("{}{}.jsonl", experiment.store(), size.pick("-quick", "")))
}

/// The name of an experiment's file.
#[must_use]
pub(crate) fn file_name(experiment: &dyn Experiment, size: Size, kind: &str) -> String {
    format!("{}{}.{kind}", experiment.name(), size.pick("-quick", ""))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {}", path.display(), error.kind()))
}

/// A time as people say it.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

fn csv(comparison: &Comparison) -> String {
    let quoted = |text: &str| match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let mut out = "what,published,paper's method,barkeep's best\n".to_owned();
    for Row { what, published, method, best } in &comparison.rows {
        let line: Vec<String> =
            [what, published, method, best].into_iter().map(|text| quoted(text)).collect();
        // Writing to a string does not fail; so below.
        let _ = writeln!(out, "{}", line.join(","));
    }
    out
}

/// The comparison as aligned text.
#[must_use]
pub fn table(comparison: &Comparison) -> String {
    let [method, best] = &comparison.columns;
    let head = ["".to_owned(), "published".to_owned(), method.clone(), best.clone()];
    let rows = comparison
        .rows
        .iter()
        .map(|row| [&row.what, &row.published, &row.method, &row.best].map(String::clone));
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let mut out = String::new();
    for row in &rows {
        let padded = row.iter().zip(widths).map(|(text, width)| format!("{text:<width$}"));
        let _ = writeln!(out, "{}", padded.collect::<Vec<_>>().join("  ").trim_end());
    }
    for note in &comparison.notes {
        let _ = writeln!(out, "* {note}");
    }
    out
}

/// The comparison as a Markdown table.
pub(crate) fn markdown(comparison: &Comparison) -> String {
    let [method, best] = &comparison.columns;
    let mut out = format!("| | published | {method} | {best} |\n| --- | --- | --- | --- |\n");
    for Row { what, published, method, best } in &comparison.rows {
        if [published, method, best].iter().any(|value| *value != NONE) {
            let _ = writeln!(out, "| {what} | {published} | {method} | {best} |");
        }
    }
    for note in &comparison.notes {
        let _ = write!(out, "\n* {note}");
    }
    if !comparison.notes.is_empty() {
        out.push('\n');
    }
    out
}
