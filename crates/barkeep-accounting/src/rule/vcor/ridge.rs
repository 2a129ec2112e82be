//! Fits the correction by ridge regression, as Seita et al. do: fast, but masses come out negative and are cut off.

use super::quality::logistic_tail;
use crate::{Component, Correction, Error};
use barkeep_num::linear;

/// Atoms lie in [−10, 10], the points of the regression in [−20, 20].
const HALF_WIDTH: f64 = 10.0;

/// Atoms on each side of 0; the points are as dense.
const SIDE: usize = 250;

/// The published penalty, 10 for 4000 atoms a side; the solution depends on penalty over squared number only, so with fewer
/// atoms the law is the same to three digits.
const PENALTY: f64 = 10.0 * (SIDE as f64 / 4000.0) * (SIDE as f64 / 4000.0);

/// Minimises Σ_i (Σ_j Φ((y_i − x_j)/√C)·u_j − S(y_i))² + λΣu_j² over masses u on a grid, then sets negative masses to zero,
/// symmetrises and normalises.
///
/// Seita, Pan, Chen, Canny, *An Efficient Minibatch Acceptance Test for Metropolis–Hastings*, 2017, section 4.2.
pub(super) fn fit(variance: f64) -> Result<Correction, Error> {
    let sd = libm::sqrt(variance);
    let step = HALF_WIDTH / SIDE as f64;
    let atoms = 2 * SIDE + 1;
    let points = 4 * SIDE + 1;
    // x_j = (j − SIDE)·step, y_i = (i − 2·SIDE)·step: Φ depends on i − j only, from −2·SIDE to 4·SIDE.
    let kernel: Vec<f64> = (0..=6 * SIDE)
        .map(|shifted| barkeep_num::normal_cdf((shifted as f64 - 3.0 * SIDE as f64) * step / sd))
        .collect();
    let phi = |i: usize, j: usize| kernel[i + 2 * SIDE - j];
    let mut gram = vec![0.0; atoms * atoms];
    for j in 0..atoms {
        for k in 0..=j {
            // Along a diagonal one term of the sum enters and one leaves.
            gram[j * atoms + k] = if k == 0 {
                (0..points).map(|i| phi(i, j) * phi(i, 0)).sum()
            } else {
                let entering = kernel[2 * SIDE - j] * kernel[2 * SIDE - k];
                let leaving = phi(points - 1, j - 1) * phi(points - 1, k - 1);
                gram[(j - 1) * atoms + k - 1] + entering - leaving
            };
        }
    }
    for j in 0..atoms {
        gram[j * atoms + j] += PENALTY;
    }
    let target = |i: usize| logistic_tail((2.0 * SIDE as f64 - i as f64) * step);
    let mut masses: Vec<f64> = (0..atoms).map(|j| (0..points).map(|i| phi(i, j) * target(i)).sum()).collect();
    if !linear::solve(&mut gram, &mut masses) {
        return Err(Error::Unresolved {
            what: "the ridge correction",
            reason: "the regression is singular in double precision",
        });
    }
    let pair = |offset: usize| {
        let both = masses[SIDE + offset] + masses[SIDE - offset];
        if offset == 0 { 0.5 * both } else { both }.max(0.0)
    };
    let total: f64 = (0..=SIDE).map(pair).sum();
    let halves = (0..=SIDE)
        .map(|offset| Component { weight: pair(offset) / total, mean: offset as f64 * step, sd: 0.0 })
        .filter(|component| component.weight > 0.0);
    super::mirrored(halves)
}
