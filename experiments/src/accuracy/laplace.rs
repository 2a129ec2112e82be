//! Finds the posterior without privacy of simulated records: its mode by Newton's method, its covariance, and its mean beside the mode.

use barkeep::Plan;
use barkeep::data::Block;
use barkeep::model::{Likelihood, Model, Scratch};
use barkeep::num::linear::{Cholesky, dot};

/// Records a gradient takes at once.
const BLOCK: usize = 1024;

/// The posterior's mean and standard deviations.
pub(crate) struct Posterior {
    pub(crate) mean: Vec<f64>,
    pub(crate) sd: Vec<f64>,
}

/// Records as the model sees them, column by column in blocks.
pub(crate) struct Seen {
    width: usize,
    records: usize,
    /// Blocks of [`BLOCK`] records, columns one after the other.
    blocks: Vec<Vec<f64>>,
}

impl Seen {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, records: 0, blocks: Vec::new() }
    }

    pub(crate) fn push(&mut self, row: &[f64]) {
        let place = self.records % BLOCK;
        if place == 0 {
            self.blocks.push(vec![0.0; self.width * BLOCK]);
        }
        if let Some(block) = self.blocks.last_mut() {
            row.iter().enumerate().for_each(|(j, x)| block[j * BLOCK + place] = *x);
        }
        self.records += 1;
    }

    /// The gradient of the log posterior.
    fn gradient(&self, model: &dyn Model, likelihood: &dyn Likelihood, theta: &[f64]) -> Vec<f64> {
        let d = theta.len();
        let mut out = vec![0.0; d];
        model.prior_gradient(theta, &mut out);
        let (mut terms, mut scratch) = (vec![0.0; d * BLOCK], Scratch::default());
        for (k, block) in self.blocks.iter().enumerate() {
            let length = (self.records - k * BLOCK).min(BLOCK);
            let terms = &mut terms[..d * length];
            likelihood.gradient(Block::over(block, BLOCK, length), theta, terms, &mut scratch);
            out.iter_mut()
                .zip(terms.chunks_exact(length))
                .for_each(|(sum, terms)| *sum += terms.iter().sum::<f64>());
        }
        out
    }

    /// Newton steps from a start, with the Hessian by differences of gradients.
    ///
    /// # Errors
    /// A search that does not end.
    pub(crate) fn posterior(&self, plan: &Plan, start: &[f64]) -> Result<Posterior, String> {
        const STEP: f64 = 1e-4;
        let d = start.len();
        let (model, likelihood) = (&**plan.spec().model(), &**plan.spec().likelihood());
        let gradient_at = |theta: &[f64]| self.gradient(model, likelihood, theta);
        let mut theta = start.to_vec();
        for _ in 0..50 {
            let gradient = gradient_at(&theta);
            let mut hessian = vec![0.0; d * d];
            for j in 0..d {
                let mut moved = theta.clone();
                moved[j] += STEP;
                let up = gradient_at(&moved);
                moved[j] -= 2.0 * STEP;
                let down = gradient_at(&moved);
                for k in 0..d {
                    let entry = (down[k] - up[k]) / (4.0 * STEP);
                    hessian[j * d + k] += entry;
                    hessian[k * d + j] += entry;
                }
            }
            // Far from the mode the Hessian may not be positive definite: then its diagonal is raised.
            let largest = (0..d).map(|j| hessian[j * d + j].abs()).fold(0.0, f64::max);
            let factor = (0..40).find_map(|k| {
                let raised: Vec<f64> = hessian
                    .iter()
                    .enumerate()
                    .map(|(at, entry)| {
                        let added = if k == 0 { 0.0 } else { largest * 1e-6 * 2_f64.powi(k) };
                        if at % (d + 1) == 0 { entry + added } else { *entry }
                    })
                    .collect();
                Cholesky::new(&raised, d)
            });
            let covariance = factor.ok_or("a posterior without a mode")?.inverse();
            let step: Vec<f64> = covariance.chunks_exact(d).map(|row| dot(row, &gradient)).collect();
            let longest = step.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
            let shorten = (0.5 / longest).min(1.0);
            theta.iter_mut().zip(&step).for_each(|(x, step)| *x += shorten * step);
            let sd: Vec<f64> = (0..d).map(|j| covariance[j * d + j].sqrt()).collect();
            if step.iter().zip(&sd).all(|(step, sd)| step.abs() < 1e-4 * sd) {
                let factor = Cholesky::new(&covariance, d).ok_or("a covariance that is none")?;
                let mean = shifted(&theta, &factor, &covariance, gradient_at);
                return Ok(Posterior { mean, sd });
            }
        }
        Err("a posterior whose mode was not found".to_owned())
    }
}

/// The mean of a skewed posterior, from its mode. The gradient g of a log density has mean 0 under it; with θ = mode + δ + L·z
/// that reads −Hδ + E g(mode + L·z) ≈ 0, so δ ≈ Σ·E g(mode + L·z), by points ±√d along each column of L, exact to third order.
fn shifted(
    mode: &[f64],
    factor: &Cholesky,
    covariance: &[f64],
    gradient_at: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let d = mode.len();
    let mut average = vec![0.0; d];
    for j in 0..d {
        for sign in [1.0, -1.0] {
            let point: Vec<f64> =
                (0..d).map(|k| mode[k] + sign * (d as f64).sqrt() * factor.lower()[k * d + j]).collect();
            let gradient = gradient_at(&point);
            average.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g / (2 * d) as f64);
        }
    }
    mode.iter().zip(covariance.chunks_exact(d)).map(|(x, row)| x + dot(row, &average)).collect()
}

#[cfg(test)]
mod tests;
