//! Solves symmetric positive definite systems.

use super::cholesky::factor;
use super::dot;

/// Solves Ax = b by Cholesky's factorisation, in place: `right` becomes x, `matrix` (row by row) its lower factor.
///
/// False, and rubbish in both, if A is not positive definite in double precision.
#[must_use]
pub fn solve(matrix: &mut [f64], right: &mut [f64]) -> bool {
    let n = right.len();
    if !factor(matrix, n) {
        return false;
    }
    for i in 0..n {
        right[i] = (right[i] - dot(&matrix[i * n..i * n + i], right)) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        right[i] /= matrix[i * n + i];
        let x = right[i];
        for (entry, a) in right[..i].iter_mut().zip(&matrix[i * n..i * n + i]) {
            *entry -= a * x;
        }
    }
    true
}
