//! Factors small symmetric positive definite matrices: covariances and precisions of a model.

use super::dot;

/// The lower triangular L with L·Lᵀ = A, and its inverse, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Cholesky {
    dimension: usize,
    lower: Vec<f64>,
    inverse: Vec<f64>,
}

impl Cholesky {
    /// Factors the symmetric `matrix`, given row by row; `None` unless it is square, finite, symmetric to
    /// 1e-12 relative, and positive definite in f64.
    #[must_use]
    pub fn new(matrix: &[f64], dimension: usize) -> Option<Self> {
        if dimension == 0 || Some(matrix.len()) != dimension.checked_mul(dimension) {
            return None;
        }
        let entry = |i: usize, j: usize| matrix[i * dimension + j];
        for i in 0..dimension {
            for j in 0..=i {
                let allowed = 1e-12 * entry(i, j).abs().max(entry(j, i).abs());
                // Written so that a NaN is refused too.
                if !((entry(i, j) - entry(j, i)).abs() <= allowed && entry(i, j).is_finite()) {
                    return None;
                }
            }
        }
        let mut lower = matrix.to_vec();
        if !factor(&mut lower, dimension) {
            return None;
        }
        for (i, row) in lower.chunks_exact_mut(dimension).enumerate() {
            row[i + 1..].fill(0.0);
        }
        let mut inverse = vec![0.0; dimension * dimension];
        for j in 0..dimension {
            for i in j..dimension {
                let dot: f64 = (j..i).map(|k| lower[i * dimension + k] * inverse[k * dimension + j]).sum();
                let unit = if i == j { 1.0 } else { 0.0 };
                inverse[i * dimension + j] = (unit - dot) / lower[i * dimension + i];
            }
        }
        Some(Self { dimension, lower, inverse })
    }

    /// The number of rows.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// L, row-major with zeros above the diagonal.
    #[must_use]
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// L⁻¹, row-major with zeros above the diagonal.
    #[must_use]
    pub fn inverse_lower(&self) -> &[f64] {
        &self.inverse
    }

    /// ln det A.
    #[must_use]
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.lower.iter().step_by(self.dimension + 1).map(|pivot| pivot.ln()).sum::<f64>()
    }

    /// A⁻¹ = L⁻ᵀ·L⁻¹, row-major, exactly symmetric.
    #[must_use]
    pub fn inverse(&self) -> Vec<f64> {
        let d = self.dimension;
        let mut inverse = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                let dot: f64 = (i..d).map(|k| self.inverse[k * d + i] * self.inverse[k * d + j]).sum();
                inverse[i * d + j] = dot;
                inverse[j * d + i] = dot;
            }
        }
        inverse
    }

    /// L·z: a draw with covariance A if z is standard normal.
    pub fn correlate(&self, standard: &[f64], out: &mut [f64]) {
        for (row, out) in self.lower.chunks_exact(self.dimension).zip(out) {
            *out = dot(row, standard);
        }
    }
}

/// Replaces the lower triangle of a symmetric matrix, given row by row, by its factor L; does not look above the diagonal.
///
/// False, and rubbish in the matrix, if it is not positive definite in f64.
pub(super) fn factor(matrix: &mut [f64], n: usize) -> bool {
    for j in 0..n {
        let (above, row) = matrix.split_at_mut(j * n);
        for k in 0..j {
            row[k] = (row[k] - dot(&above[k * n..k * n + k], &row[..k])) / above[k * n + k];
        }
        let square = row[j] - dot(&row[..j], &row[..j]);
        // Written so that a NaN is refused too.
        if !(square > 0.0 && square.is_finite()) {
            return false;
        }
        row[j] = square.sqrt();
    }
    true
}
