//! Maps gradients by a public matrix before they are clipped, so that the clip is round where the posterior is.

use barkeep_machine::{Source, Writer};

use crate::Gradient;

/// A public linear map of gradients.
///
/// **Privacy.** It is applied to each record on its own before the clip, so the sensitivity does not depend on it;
/// it must be chosen without the records, or paid for.
#[derive(Debug, Clone, Copy)]
pub enum Precondition<'a> {
    /// Leaves them as they are.
    Identity,
    /// Multiplies each coordinate by its entry.
    Diagonal(&'a [f64]),
    /// Multiplies by a d×d matrix, given row by row.
    Dense(&'a [f64]),
}

impl Precondition<'_> {
    /// Whether the map has the right size and only finite entries.
    #[must_use]
    pub fn fits(self, dimension: usize) -> bool {
        let (entries, length) = match self {
            Self::Identity => return true,
            Self::Diagonal(entries) => (entries, dimension),
            Self::Dense(entries) => (entries, dimension * dimension),
        };
        entries.len() == length && entries.iter().all(|entry| entry.is_finite())
    }

    /// Writes the entries of a mapped gradient. A matrix meets a slope's columns, not the products with them: W·(r·x) is r·(W·x).
    pub(crate) fn write(self, gradient: Gradient, w: &mut Writer) -> Vec<Source> {
        match (self, gradient) {
            (Self::Identity, gradient) => gradient.entries(w),
            (Self::Diagonal(factors), gradient) => {
                let entries = gradient.entries(w);
                entries.into_iter().zip(factors).map(|(entry, factor)| w.mul(*factor, entry)).collect()
            }
            (Self::Dense(matrix), Gradient::Entries(entries)) => {
                let rows = matrix.chunks_exact(entries.len().max(1));
                rows.map(|row| w.dot(0.0, present(row, entries.iter().copied()))).collect()
            }
            (Self::Dense(matrix), Gradient::Sloped { slope, intercept, first, features, nuisance }) => {
                let coefficients = usize::from(intercept) + features as usize;
                let width = coefficients + usize::from(nuisance.is_some());
                let mut write_row = |row: &[f64]| {
                    let line = write_line(w, &row[..coefficients], intercept, first);
                    let entry = w.mul(slope, line);
                    match nuisance.filter(|_| row[coefficients] != 0.0) {
                        Some(nuisance) => w.fused(row[coefficients], nuisance, entry),
                        None => entry,
                    }
                };
                matrix.chunks_exact(width.max(1)).map(&mut write_row).collect()
            }
        }
    }
}

/// Writes α + Σ_j β_j·x_j over the columns from `first` on, where α is the first weight if there is an intercept.
pub(super) fn write_line(w: &mut Writer, weights: &[f64], intercept: bool, first: u32) -> Source {
    let (start, weights) = match weights {
        [start, rest @ ..] if intercept => (*start, rest),
        all => (0.0, all),
    };
    w.dot(start, present(weights, (first..).map(Source::Column)))
}

/// The values whose weight is not 0.
pub(super) fn present(
    weights: &[f64],
    values: impl Iterator<Item = Source>,
) -> impl Iterator<Item = (f64, Source)> {
    weights.iter().copied().zip(values).filter(|(weight, _)| *weight != 0.0)
}
