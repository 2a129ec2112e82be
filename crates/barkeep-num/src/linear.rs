//! Small dense linear algebra: factors, spectra and products of matrices given row by row.

mod cholesky;
mod solve;
mod spectrum;

pub use cholesky::Cholesky;
pub use solve::solve;
pub use spectrum::Spectrum;

/// Σ aᵢ·bᵢ in order.
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The d×d matrix with this diagonal, row by row.
#[must_use]
pub fn diagonal(entries: &[f64]) -> Vec<f64> {
    let d = entries.len();
    let mut matrix = vec![0.0; d * d];
    matrix.iter_mut().step_by(d + 1).zip(entries).for_each(|(slot, entry)| *slot = *entry);
    matrix
}

/// Aᵀ of a d×d matrix.
#[must_use]
pub fn transpose(matrix: &[f64], d: usize) -> Vec<f64> {
    (0..d * d).map(|k| matrix[(k % d) * d + k / d]).collect()
}

/// A·B of d×d matrices.
#[must_use]
pub fn product(a: &[f64], b: &[f64], d: usize) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for (row, out) in a.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
        for (entry, b) in row.iter().zip(b.chunks_exact(d)) {
            out.iter_mut().zip(b).for_each(|(out, b)| *out += entry * b);
        }
    }
    out
}
