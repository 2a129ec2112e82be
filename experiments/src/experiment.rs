//! Says what every experiment of the papers has in common: cells to compute, a figure and a comparison made from them.

use crate::svg::Figure;
use std::collections::BTreeMap;

/// How much of an experiment to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Enough to see that it works: fewer cells, chains or records.
    Quick,
    /// As published.
    Full,
}

impl Size {
    /// One of two values.
    #[must_use]
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Numbers by name: what a cell yields.
pub type Values = BTreeMap<String, Vec<f64>>;

/// A cell: a piece of work whose numbers are kept as soon as they are known.
pub struct Task {
    /// Names the cell among those of its store.
    pub key: String,
    /// Everything the numbers depend on, as text; numbers kept under other settings are computed again.
    pub settings: String,
    /// Does it.
    pub compute: Box<dyn FnOnce() -> Result<Values, String> + Send>,
}

impl Task {
    /// A cell.
    pub fn new(
        key: impl Into<String>,
        settings: impl Into<String>,
        compute: impl FnOnce() -> Result<Values, String> + Send + 'static,
    ) -> Self {
        Self { key: key.into(), settings: settings.into(), compute: Box::new(compute) }
    }
}

/// Builds the numbers of a cell.
#[must_use]
pub fn values<const N: usize>(named: [(&str, Vec<f64>); N]) -> Values {
    named.into_iter().map(|(name, numbers)| (name.to_owned(), numbers)).collect()
}

/// The cells that are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cells(pub BTreeMap<String, Values>);

impl Cells {
    /// Numbers of a cell by its key and their name.
    #[must_use]
    pub fn numbers(&self, key: &str, name: &str) -> Option<&[f64]> {
        self.0.get(key)?.get(name).map(Vec::as_slice)
    }

    /// A single number of a cell.
    #[must_use]
    pub fn number(&self, key: &str, name: &str) -> Option<f64> {
        self.numbers(key, name)?.first().copied()
    }
}

/// One line of a comparison; a dash stands where there is no such value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What is compared.
    pub what: String,
    /// As published.
    pub published: String,
    /// Ours by the paper's own method.
    pub method: String,
    /// Ours at our best.
    pub best: String,
}

/// What stands where a value does not exist.
pub const NONE: &str = "-";

impl Row {
    /// A line; values that do not exist are shown as a dash.
    pub fn new(
        what: impl Into<String>,
        published: Option<String>,
        method: Option<String>,
        best: Option<String>,
    ) -> Self {
        let shown = |value: Option<String>| value.unwrap_or_else(|| NONE.to_owned());
        Self { what: what.into(), published: shown(published), method: shown(method), best: shown(best) }
    }
}

/// Published values beside ours.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What "by the paper's method" and "at our best" mean here.
    pub columns: [String; 2],
    /// The lines.
    pub rows: Vec<Row>,
    /// What a reader must know: findings, deviations, reasons.
    pub notes: Vec<String>,
    /// Where barkeep is better than the papers, and by how much.
    pub better: Vec<String>,
    /// Where it is not.
    pub not_better: Vec<String>,
}

impl Comparison {
    /// An empty one.
    #[must_use]
    pub fn new(method: &str, best: &str) -> Self {
        Self { columns: [method.to_owned(), best.to_owned()], ..Self::default() }
    }
}

/// An experiment of the papers, or ours.
pub trait Experiment: Sync {
    /// As `barkeep reproduce` knows it.
    fn name(&self) -> &'static str;

    /// What it shows, in a line.
    fn about(&self) -> &'static str;

    /// Where its cells are kept; experiments that draw different figures from the same chains share them.
    fn store(&self) -> &'static str {
        self.name()
    }

    /// The cells, the most telling ones first.
    ///
    /// # Errors
    /// Faulty settings.
    fn tasks(&self, size: Size) -> Result<Vec<Task>, String>;

    /// The figure and the comparison, of those cells that are known.
    ///
    /// # Errors
    /// Faulty settings.
    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String>;
}
