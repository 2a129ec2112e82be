//! Solves symmetric positive definite systems.

/// Solves Ax = b by Cholesky's factorisation, in place: `right` becomes x, `matrix` (row by row) its lower factor.
///
/// False, and rubbish in both, if A is not positive definite in double precision.
#[must_use]
pub fn solve(matrix: &mut [f64], right: &mut [f64]) -> bool {
    let n = right.len();
    for j in 0..n {
        let (above, row) = matrix.split_at_mut(j * n);
        for k in 0..j {
            let dot: f64 = above[k * n..k * n + k].iter().zip(&row[..k]).map(|(a, b)| a * b).sum();
            row[k] = (row[k] - dot) / above[k * n + k];
        }
        let square = row[j] - row[..j].iter().map(|a| a * a).sum::<f64>();
        if square.is_nan() || square <= 0.0 {
            return false;
        }
        row[j] = square.sqrt();
    }
    for i in 0..n {
        let dot: f64 = matrix[i * n..i * n + i].iter().zip(right.iter()).map(|(a, x)| a * x).sum();
        right[i] = (right[i] - dot) / matrix[i * n + i];
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

#[cfg(test)]
mod tests;
