//! Puts second moments beside gradients: one vector per record holds both, and one clip bounds both.
//!
//! For a gradient x and a public weight c the vector is (x, c·x₁x₁, c·√2·x₁x₂, …, c·x_d x_d), over pairs j ≤ k row by row. Its
//! squared norm is ‖x‖² + c²‖x‖⁴, since ‖xxᵀ‖² = ‖x‖⁴ counts each pair j < k twice.
//!
//! **Privacy.** It is clipped, rounded and summed like any other vector, so its share of a sum is bounded by the same proof,
//! whatever the record is: [`sum_sensitivity`](crate::sum_sensitivity). A clip at √(B² + c²B⁴) leaves gradients of norm up
//! to B as they are; c = 1/(7B), the weight Algorithm 4 of Wang, Fienberg and Smola (2015, supplement) gives its two
//! releases, makes that 1.01·B: the moments cost one hundredth of the noise.

use std::f64::consts::SQRT_2;

/// The length of the vector: d + d(d+1)/2.
#[must_use]
pub fn score_width(dimension: usize) -> usize {
    dimension + dimension * (dimension + 1) / 2
}

/// The matrix Σ x·xᵀ, row by row and symmetric, in a (noisy) sum of vectors with weight c.
///
/// **Privacy.** Post-processing. The noise on an entry is the sum's over c, and √2 smaller off the diagonal.
///
/// ```
/// let sum = [1.0, 2.0, 0.5 * 1.0, 0.5 * 2_f64.sqrt() * 2.0, 0.5 * 4.0];
/// let found = barkeep_curator::second_moments(&sum, 2, 0.5);
/// assert!(found.iter().zip([1.0, 2.0, 2.0, 4.0]).all(|(found, expected)| (found - expected).abs() < 1e-15));
/// ```
#[must_use]
pub fn second_moments(sum: &[f64], dimension: usize, weight: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; dimension * dimension];
    for ((j, k), entry) in pairs(dimension).zip(sum.iter().skip(dimension)) {
        let entry = entry / (weight * scale(j, k));
        matrix[j * dimension + k] = entry;
        matrix[k * dimension + j] = entry;
    }
    matrix
}

/// Writes coordinate-major gradients, and their squares after them, to `out`.
pub(crate) fn write_score(gradients: &[f64], dimension: usize, records: usize, weight: f64, out: &mut [f64]) {
    let (copies, squares) = out.split_at_mut(dimension * records);
    copies.copy_from_slice(gradients);
    for ((j, k), out) in pairs(dimension).zip(squares.chunks_exact_mut(records.max(1))) {
        let (first, second) = (&gradients[j * records..][..records], &gradients[k * records..][..records]);
        let weight = weight * scale(j, k);
        out.iter_mut().zip(first.iter().zip(second)).for_each(|(out, (x, y))| *out = weight * x * y);
    }
}

/// All j ≤ k, row by row.
fn pairs(dimension: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dimension).flat_map(move |j| (j..dimension).map(move |k| (j, k)))
}

/// What the product of two coordinates is multiplied by.
fn scale(j: usize, k: usize) -> f64 {
    if j == k { 1.0 } else { SQRT_2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_tells_its_gradient_and_its_square() {
        let rows = [[1.0, -2.0, 0.5], [0.0, 3.0, 4.0]];
        let gradients: Vec<f64> = (0..3).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
        let mut terms = vec![f64::NAN; score_width(3) * 2];
        write_score(&gradients, 3, 2, 0.25, &mut terms);
        for (i, row) in rows.iter().enumerate() {
            let vector: Vec<f64> = terms.iter().skip(i).step_by(2).copied().collect();
            assert_eq!(vector[..3], row[..]);
            let square: f64 = row.iter().map(|x| x * x).sum();
            let norm: f64 = vector.iter().map(|x| x * x).sum();
            assert!((norm - (square + square * square / 16.0)).abs() < 1e-12 * norm);
            for (entry, (j, k)) in
                second_moments(&vector, 3, 0.25).into_iter().zip((0..9).map(|e| (e / 3, e % 3)))
            {
                assert!((entry - row[j] * row[k]).abs() < 1e-14 * square);
            }
        }
    }
}
