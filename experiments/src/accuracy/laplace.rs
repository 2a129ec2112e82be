//! Finds the posterior without privacy of simulated records by Newton's method: its mode and covariance.

use barkeep::data::Block;
use barkeep::model::{Likelihood as _, Model, Regression, Scratch};
use barkeep::num::linear::{Cholesky, dot};

/// Records a gradient takes at once.
const BLOCK: usize = 1024;

/// The posterior's mode and standard deviations.
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
    fn gradient(&self, model: &dyn Model, regression: &Regression, theta: &[f64]) -> Vec<f64> {
        let d = theta.len();
        let mut out = vec![0.0; d];
        model.prior_gradient(theta, &mut out);
        let (mut terms, mut scratch) = (vec![0.0; d * BLOCK], Scratch::default());
        for (k, block) in self.blocks.iter().enumerate() {
            let length = (self.records - k * BLOCK).min(BLOCK);
            let terms = &mut terms[..d * length];
            regression.gradient(Block::over(block, BLOCK, length), theta, terms, &mut scratch);
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
    pub(crate) fn posterior(&self, model: &dyn Model, start: &[f64]) -> Result<Posterior, String> {
        const STEP: f64 = 1e-4;
        let d = start.len();
        let regression = model.regression().ok_or("a model that is not a regression")?;
        let gradient_at = |theta: &[f64]| self.gradient(model, regression, theta);
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
                return Ok(Posterior { mean: theta, sd });
            }
        }
        Err("a posterior whose mode was not found".to_owned())
    }
}
