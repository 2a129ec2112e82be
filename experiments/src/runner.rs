//! Runs an experiment: computes the cells that are missing, then writes its numbers, its figure and its comparison.

use crate::experiment::{Comparison, Experiment, NONE, Row, Size, Task};
use crate::progress::Watch;
use crate::published::Published;
use crate::store::Store;
use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// What a run needs from outside.
pub(crate) struct Setting<'a> {
    /// Where results go.
    pub(crate) out: &'a Path,
    /// How much to do.
    pub(crate) size: Size,
    /// Whether cells that are known are computed again.
    pub(crate) fresh: bool,
    /// Parts of the names of cells to compute, in this order; all cells where there are none.
    pub(crate) cells: &'a [String],
    /// Today, as it is to be written.
    pub(crate) date: &'a str,
    /// Hears of what happens, and says when to stop.
    pub(crate) watch: &'a dyn Watch,
}

/// Runs an experiment and returns its comparison; nothing if it was stopped.
///
/// Cells are computed side by side, one to a processor: what they hold does not depend on how many there are.
///
/// # Errors
/// Faulty settings, a cell that fails, or files that cannot be written.
pub(crate) fn reproduce(
    experiment: &dyn Experiment,
    setting: &Setting<'_>,
) -> Result<Option<Comparison>, String> {
    std::fs::create_dir_all(setting.out)
        .map_err(|error| format!("cannot make {}: {}", setting.out.display(), error.kind()))?;
    let store = Store::open(&cells_path(setting.out, experiment, setting.size))?;
    let tasks = experiment.tasks(setting.size)?;
    let count = tasks.len();
    let keys: BTreeSet<String> = tasks.iter().map(|task| task.key.clone()).collect();
    let missing: VecDeque<Task> = tasks
        .into_iter()
        .filter(|task| setting.fresh || store.find(&task.key, &task.settings).is_none())
        .collect();
    let known = count - missing.len();
    let missing = chosen(missing, setting.cells);
    if known > 0 {
        setting.watch.say(&format!("{}: {known} of {count} cells are known", experiment.name()));
    }
    if setting.size == Size::Full && !missing.is_empty() {
        setting.watch.say(&announced(experiment, missing.len(), count));
    }
    let Some(store) = compute(experiment, setting, store, missing)? else { return Ok(None) };
    let comparison = show(experiment, &store, setting.out, setting.size)?;
    let spent: f64 = store.kept.iter().filter(|cell| keys.contains(&cell.key)).map(|cell| cell.seconds).sum();
    setting.watch.say(&format!("{}: {count} cells, {} on one thread", experiment.name(), duration(spent)));
    Ok(Some(comparison))
}

/// The tasks whose names contain one of these parts, in the parts' order; all where there are no parts.
fn chosen(mut tasks: VecDeque<Task>, parts: &[String]) -> VecDeque<Task> {
    if parts.is_empty() {
        return tasks;
    }
    let place = |task: &Task| parts.iter().position(|part| task.key.contains(part)).unwrap_or(parts.len());
    tasks.make_contiguous().sort_by_key(place);
    tasks.retain(|task| place(task) < parts.len());
    tasks
}

/// Writes figure and numbers of the cells that are known, and returns the comparison.
pub(crate) fn show(
    experiment: &dyn Experiment,
    store: &Store,
    out: &Path,
    size: Size,
) -> Result<Comparison, String> {
    let (figure, comparison) = experiment.show(&store.cells())?;
    write(&out.join(file_name(experiment, size, "svg")), &figure.svg())?;
    write(&out.join(file_name(experiment, size, "csv")), &csv(&comparison))?;
    Ok(comparison)
}

/// How long it will take: by the last full run, whose seconds are part of the program.
fn announced(experiment: &dyn Experiment, missing: usize, count: usize) -> String {
    let known = Published::new(include_str!("../results/seconds.csv"));
    let row = known.rows().find(|row| row.text("experiment") == experiment.name());
    let name = experiment.name();
    match row.map(|row| row.number("seconds") / row.number("cells") * missing as f64) {
        Some(seconds) if seconds.is_finite() => {
            let processors = rayon::current_num_threads();
            let each = duration(seconds / processors.min(missing) as f64);
            format!(
                "{name}: {missing} of {count} cells to compute; by the last full run about {} on one thread, {each} on {processors}",
                duration(seconds)
            )
        }
        _ => format!("{name}: {missing} of {count} cells to compute; no full run says how long that takes"),
    }
}

/// Computes cells and keeps each; nothing if it was stopped.
fn compute(
    experiment: &dyn Experiment,
    setting: &Setting<'_>,
    store: Store,
    missing: VecDeque<Task>,
) -> Result<Option<Store>, String> {
    let (began, todo) = (Instant::now(), missing.len());
    setting.watch.begin(experiment.name(), todo);
    let workers = rayon::current_num_threads().min(todo);
    // A cell that is alone may use all processors.
    let threads = if todo == 1 { rayon::current_num_threads() } else { 1 };
    let (queue, shared, failed) = (Mutex::new(missing), Mutex::new((store, 0_usize)), OnceLock::new());
    let next = || queue.lock().ok().filter(|_| failed.get().is_none() && !setting.watch.stop())?.pop_front();
    let one = |task: Task| -> Result<(), String> {
        let start = Instant::now();
        let values =
            (task.compute)().map_err(|error| format!("{}, {}: {error}", experiment.name(), task.key))?;
        let seconds = (start.elapsed().as_secs_f64() * 1000.0).round() / 1000.0;
        let mut shared = shared.lock().map_err(|_| "another cell failed".to_owned())?;
        shared.0.keep(&task.key, &task.settings, (setting.date, seconds), values)?;
        shared.1 += 1;
        let done = shared.1;
        // Cells differ in size, so this is a guess: the most informative cells come first, not the longest.
        let left = duration(began.elapsed().as_secs_f64() / done as f64 * (todo - done) as f64);
        let name = experiment.name();
        let line = format!("{name}: {done} of {todo}, {} in {seconds:.1} s, about {left} left", task.key);
        setting.watch.cell(&task.key, &line);
        Ok(())
    };
    let work = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let outcome = pool.map_err(|error| error.to_string()).and_then(|pool| {
            pool.install(|| {
                while let Some(task) = next() {
                    one(task)?;
                }
                Ok(())
            })
        });
        if let Err(reason) = outcome {
            // The first reason is the one that counts.
            let _ = failed.set(reason);
        }
    };
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| {
            scope.spawn(work);
        });
    });
    if let Some(reason) = failed.into_inner() {
        return Err(reason);
    }
    let (store, done) = shared.into_inner().map_err(|_| "a cell failed".to_owned())?;
    if done < todo {
        setting.watch.say("stopped; the same command goes on from here");
        return Ok(None);
    }
    Ok(Some(store))
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
    let [method, best] = &comparison.columns;
    let mut out = format!("what,{},{},{}\n", quoted(&comparison.reference), quoted(method), quoted(best));
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
pub(crate) fn table(comparison: &Comparison) -> String {
    let [method, best] = &comparison.columns;
    let head = ["".to_owned(), comparison.reference.clone(), method.clone(), best.clone()];
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
    let reference = &comparison.reference;
    let mut out = format!("| | {reference} | {method} | {best} |\n| --- | --- | --- | --- |\n");
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
