//! Writes sums over a record's first columns to programs.

use barkeep_machine::{Source, Writer};

/// x_j − c_j of each of the first columns.
pub(crate) fn deviations(w: &mut Writer, centres: impl IntoIterator<Item = f64>) -> Vec<Source> {
    centres.into_iter().zip(0..).map(|(centre, column)| w.sub(Source::Column(column), centre)).collect()
}

/// Σ_j w_j·(x_j − c_j), the terms added to 0 in order with one rounding each; columns whose weight is 0 are not read.
pub(crate) fn linear(w: &mut Writer, terms: impl IntoIterator<Item = (f64, f64)>) -> Source {
    let read = terms.into_iter().zip(0..).filter(|((weight, _), _)| *weight != 0.0);
    let terms: Vec<(f64, Source)> =
        read.map(|((weight, centre), column)| (weight, w.sub(Source::Column(column), centre))).collect();
    w.dot(0.0, terms)
}

/// start + Σ_j w_j·(x_j − c_j)², the terms added in order with two roundings each.
pub(crate) fn quadratic(w: &mut Writer, start: f64, terms: impl IntoIterator<Item = (f64, f64)>) -> Source {
    let mut sum = w.fill(start);
    for ((weight, centre), column) in terms.into_iter().zip(0..) {
        let deviation = w.sub(Source::Column(column), centre);
        let weighted = w.mul(weight, deviation);
        sum = w.fused(weighted, deviation, sum);
    }
    sum
}
