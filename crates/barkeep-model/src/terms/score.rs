//! Puts second moments next to gradients: one vector per unit holds both, and one clip bounds both.
//!
//! For a gradient x and a public weight c the vector is (x, c·x₁x₁, c·√2·x₁x₂, …, c·x_d x_d), over pairs j ≤ k row by row. Its
//! squared norm is ‖x‖² + c²‖x‖⁴, since ‖xxᵀ‖² = ‖x‖⁴ counts each pair j < k twice.
//!
//! **Privacy.** It is clipped, rounded and summed like any other vector, so its share of a sum is bounded by the same proof,
//! whatever the record is. A clip at √(B² + c²B⁴) leaves gradients of norm up
//! to B as they are; c = 1/(7B), the weight Algorithm 4 of Wang, Fienberg and Smola (2015, supplement) gives its two
//! releases, makes that 1.01·B: the moments cost one hundredth of the noise.

use std::f64::consts::SQRT_2;

use barkeep_machine::{Fold, Output, Source, Term, Unsound, Writer};

use super::Precondition;
use crate::Likelihood;

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
/// let found = barkeep_model::terms::second_moments(&sum, 2, 0.5);
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

/// The gradient of every unit at θ and its products: a person's are those of the sum over the person's rows.
///
/// # Errors
/// [`Unsound`] for a program that is larger than the machine runs.
pub fn score(
    likelihood: &dyn Likelihood,
    theta: &[f64],
    precondition: Precondition<'_>,
    weight: f64,
) -> Result<Term, Unsound> {
    let row = super::gradient(likelihood, theta, precondition, &[])?.row;
    let dimension = row.width();
    let entry = |k: usize| Source::Column(k as u32);
    let mut w = Writer::default();
    let mut outputs: Vec<Output> = (0..dimension).map(|k| Output::Dense(entry(k))).collect();
    for (j, k) in pairs(dimension) {
        let weighted = w.mul(weight * scale(j, k), entry(j));
        outputs.push(Output::Dense(w.mul(weighted, entry(k))));
    }
    Term::new(row, Fold::Sum, Some(w.finish(outputs)?))
}

/// All j ≤ k, row by row.
fn pairs(dimension: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..dimension).flat_map(move |j| (j..dimension).map(move |k| (j, k)))
}

/// What the product of two coordinates is multiplied by.
fn scale(j: usize, k: usize) -> f64 {
    if j == k { 1.0 } else { SQRT_2 }
}
