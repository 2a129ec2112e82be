//! Reads tables of published values, and averages of ours to set beside them.

/// A table of text cells under named columns, from CSV without quotes.
pub(crate) struct Published {
    header: Vec<&'static str>,
    rows: Vec<Vec<&'static str>>,
}

impl Published {
    /// Reads a file that is part of the program.
    pub(crate) fn new(text: &'static str) -> Self {
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        Self { header: lines.next().unwrap_or_default(), rows: lines.collect() }
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Entry<'_>> {
        self.rows.iter().map(|cells| Entry { header: &self.header, cells })
    }
}

/// A row.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    header: &'a [&'static str],
    cells: &'a [&'static str],
}

impl Entry<'_> {
    /// The text of a column, empty if there is none.
    pub(crate) fn text(&self, column: &str) -> &'static str {
        let index = self.header.iter().position(|name| *name == column);
        index.and_then(|index| self.cells.get(index).copied()).unwrap_or("")
    }

    /// The number of a column, or not a number.
    pub(crate) fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or(f64::NAN)
    }
}

/// Lower quartile, median and upper quartile, interpolated linearly; none for an empty list.
pub(crate) fn quartiles(values: &[f64]) -> Option<[f64; 3]> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let position = share * (values.len().checked_sub(1)?) as f64;
        let (below, rest) = (position as usize, position.fract());
        let above = values[(below + 1).min(values.len() - 1)];
        Some(values[below] + rest * (above - values[below]))
    };
    Some([at(0.25)?, at(0.5)?, at(0.75)?])
}

/// Mean and variance; not numbers for fewer than one and two values.
pub(crate) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0))
}

#[cfg(test)]
mod tests;
