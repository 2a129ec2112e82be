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
        let mut lower = vec![0.0; dimension * dimension];
        for i in 0..dimension {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| lower[i * dimension + k] * lower[j * dimension + k]).sum();
                let rest = entry(i, j) - dot;
                lower[i * dimension + j] = if i == j {
                    if !(rest > 0.0 && rest.is_finite()) {
                        return None;
                    }
                    rest.sqrt()
                } else {
                    rest / lower[j * dimension + j]
                };
            }
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

#[cfg(test)]
mod tests;
