//! Says what every experiment of the papers has in common: cells to compute, a figure and a comparison made from them.

use barkeep_plot::Figure;
use std::collections::BTreeMap;

/// How much of an experiment to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Enough to see that it works: fewer cells, chains or records.
    Quick,
    /// As published.
    Full,
}

impl Size {
    /// One of two values.
    #[must_use]
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Numbers by name: what a cell yields.
pub(crate) type Values = BTreeMap<String, Vec<f64>>;

/// A cell: a piece of work whose numbers are kept as soon as they are known.
pub(crate) struct Task {
    /// Names the cell among those of its store.
    pub(crate) key: String,
    /// Everything the numbers depend on, as text; numbers kept under other settings are computed again.
    pub(crate) settings: String,
    /// Does it.
    pub(crate) compute: Box<dyn FnOnce() -> Result<Values, String> + Send>,
}

impl Task {
    /// A cell.
    pub(crate) fn new(
        key: impl Into<String>,
        settings: impl Into<String>,
        compute: impl FnOnce() -> Result<Values, String> + Send + 'static,
    ) -> Self {
        Self { key: key.into(), settings: settings.into(), compute: Box::new(compute) }
    }
}

/// Builds the numbers of a cell.
#[must_use]
pub(crate) fn values<const N: usize>(named: [(&str, Vec<f64>); N]) -> Values {
    named.into_iter().map(|(name, numbers)| (name.to_owned(), numbers)).collect()
}

/// The cells that are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cells(pub BTreeMap<String, Values>);

impl Cells {
    /// Numbers of a cell by its key and their name.
    #[must_use]
    pub(crate) fn numbers(&self, key: &str, name: &str) -> Option<&[f64]> {
        self.0.get(key)?.get(name).map(Vec::as_slice)
    }

    /// A single number of a cell.
    #[must_use]
    pub(crate) fn number(&self, key: &str, name: &str) -> Option<f64> {
        self.numbers(key, name)?.first().copied()
    }
}

/// One line of a comparison; a dash stands where there is no such value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// What is compared.
    pub(crate) what: String,
    /// As published, or what stands in for it: see [`Comparison::reference`].
    pub(crate) published: String,
    /// Ours by the paper's own method.
    pub(crate) method: String,
    /// Ours at our best.
    pub(crate) best: String,
}

/// The first column where it holds a paper's own numbers.
const PUBLISHED: &str = "published";

/// What stands where a value does not exist.
pub(crate) const NONE: &str = "-";

impl Row {
    /// A line; values that do not exist are shown as a dash.
    pub(crate) fn new(
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
pub(crate) struct Comparison {
    /// What the first column holds. "published" is a paper's own number; its public code run by us is "run again", a rewrite of that code
    /// "rewritten".
    pub(crate) reference: String,
    /// What "by the paper's method" and "at our best" mean here.
    pub(crate) columns: [String; 2],
    /// The lines.
    pub(crate) rows: Vec<Row>,
    /// What a reader must know: findings, deviations, reasons.
    pub(crate) notes: Vec<String>,
    /// Where barkeep is better than the papers, and by how much.
    pub(crate) better: Vec<String>,
    /// Where it is not.
    pub(crate) not_better: Vec<String>,
}

impl Comparison {
    /// An empty one, beside what a paper states itself.
    #[must_use]
    pub(crate) fn new(method: &str, best: &str) -> Self {
        let reference = PUBLISHED.to_owned();
        Self { reference, columns: [method.to_owned(), best.to_owned()], ..Self::default() }
    }

    /// The same beside something else.
    #[must_use]
    pub(crate) fn beside(self, reference: &str) -> Self {
        Self { reference: reference.to_owned(), ..self }
    }
}

/// An experiment of the papers, or ours.
pub(crate) trait Experiment: Sync {
    /// As the program knows it.
    fn name(&self) -> &'static str;

    /// What it shows, in a line.
    fn about(&self) -> &'static str;

    /// Where its cells are kept; experiments that draw different figures from the same chains share them.
    fn store(&self) -> &'static str {
        self.name()
    }

    /// The cells, the most informative ones first.
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
