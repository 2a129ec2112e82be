//! Models the mean of a multivariate Gaussian with known covariance: ln p(x|θ) = −½(x−θ)ᵀΣ⁻¹(x−θ) − ½ ln det 2πΣ.
//!
//! The prior is θ ~ N(μ₀, Σ₀), so the posterior is Gaussian and known in closed form (thesis, section 5.1).

use barkeep_data::Block;

use crate::cholesky::{Cholesky, dot};
use crate::error::{require_finite, require_length, require_positive};
use crate::kernel::sum_columns;
use crate::variates::normal;
use crate::{Error, Model, Scratch, numbered};

/// x ~ N(θ, Σ) with Σ known, θ ~ N(μ₀, Σ₀).
pub struct GaussianMean {
    names: Vec<String>,
    columns: Vec<String>,
    covariance: Cholesky,
    precision: Vec<f64>,
    diagonal: bool,
    /// −½ ln det 2πΣ.
    normaliser: f64,
    prior_mean: Vec<f64>,
    prior: Cholesky,
    prior_precision: Vec<f64>,
}

impl GaussianMean {
    /// The model with covariance Σ and prior N(μ₀, Σ₀), both matrices row by row.
    ///
    /// **Errors** if lengths differ from d = `prior_mean.len()` or a matrix is not a covariance.
    pub fn new(covariance: &[f64], prior_mean: &[f64], prior_covariance: &[f64]) -> Result<Self, Error> {
        let dimension = prior_mean.len();
        if dimension == 0 {
            return Err(Error::Key { key: "prior_mean", requirement: "must have at least one entry" });
        }
        require_finite("prior_mean", prior_mean)?;
        require_length("covariance", covariance, dimension.saturating_mul(dimension))?;
        require_length("prior_covariance", prior_covariance, dimension.saturating_mul(dimension))?;
        let requirement = "must be symmetric and positive definite";
        let factor = |key, matrix| Cholesky::new(matrix, dimension).ok_or(Error::Key { key, requirement });
        let prior = factor("prior_covariance", prior_covariance)?;
        let covariance_factor = factor("covariance", covariance)?;
        let diagonal =
            (0..dimension * dimension).all(|k| k / dimension == k % dimension || covariance[k] == 0.0);
        let log_tau = std::f64::consts::TAU.ln();
        Ok(Self {
            names: numbered("theta", dimension),
            columns: numbered("x", dimension),
            precision: covariance_factor.inverse(),
            diagonal,
            normaliser: -0.5 * (covariance_factor.log_determinant() + dimension as f64 * log_tau),
            covariance: covariance_factor,
            prior_mean: prior_mean.to_vec(),
            prior_precision: prior.inverse(),
            prior,
        })
    }

    /// Independent coordinates with these variances, and prior N(0, `prior_variance`·I).
    ///
    /// **Errors** as [`GaussianMean::new`].
    pub fn independent(variances: &[f64], prior_variance: f64) -> Result<Self, Error> {
        let dimension = variances.len();
        if dimension == 0 {
            return Err(Error::Key { key: "variances", requirement: "must have at least one entry" });
        }
        require_positive("variances", variances)?;
        require_positive("prior_variance", &[prior_variance])?;
        let diagonal = |value: &dyn Fn(usize) -> f64| {
            let mut matrix = vec![0.0; dimension * dimension];
            matrix.iter_mut().step_by(dimension + 1).enumerate().for_each(|(k, entry)| *entry = value(k));
            matrix
        };
        Self::new(&diagonal(&|k| variances[k]), &vec![0.0; dimension], &diagonal(&|_| prior_variance))
    }

    /// Mean and covariance (row-major) of the posterior given `records` records with this mean, the
    /// likelihood raised to the power `temper`.
    ///
    /// Precision nTΣ⁻¹ + Σ₀⁻¹, mean its inverse times nTΣ⁻¹x̄ + Σ₀⁻¹μ₀.
    ///
    /// **Privacy.** The records' mean is secret: this is for public simulated records.
    pub fn posterior(&self, records: f64, temper: f64, mean: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let weight = records * temper;
        let precision: Vec<f64> =
            self.precision.iter().zip(&self.prior_precision).map(|(p, prior)| weight * p + prior).collect();
        let covariance = Cholesky::new(&precision, self.dimension())?.inverse();
        let rows = self.precision.chunks_exact(self.dimension());
        let prior_rows = self.prior_precision.chunks_exact(self.dimension());
        let pull: Vec<f64> = rows
            .zip(prior_rows)
            .map(|(row, prior_row)| weight * dot(row, mean) + dot(prior_row, &self.prior_mean))
            .collect();
        let centre = covariance.chunks_exact(self.dimension()).map(|row| dot(row, &pull)).collect();
        Some((centre, covariance))
    }
}

impl Model for GaussianMean {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.columns
    }

    fn log_density(&self, block: Block<'_>, at: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let d = self.dimension();
        if self.diagonal {
            let half = |j: usize| (-0.5 * self.precision[j * d + j], at[j]);
            sum_columns(block, d, self.normaliser, out, half, |weight, z| weight * z * z);
            return;
        }
        // ½(x−θ)ᵀΣ⁻¹(x−θ) = ½‖L⁻¹(x−θ)‖², a coordinate of L⁻¹(x−θ) at a time.
        out.fill(self.normaliser);
        let [whitened] = scratch.buffers(out.len());
        for row in self.covariance.inverse_lower().chunks_exact(d) {
            sum_columns(block, d, 0.0, whitened, |j| (row[j], at[j]), |weight, z| weight * z);
            for (out, z) in out.iter_mut().zip(&*whitened) {
                *out -= 0.5 * z * z;
            }
        }
    }

    /// (x − ½(θ+θ'))ᵀΣ⁻¹(θ'−θ): linear in x. **Precision.** No cancellation of large log densities.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let d = self.dimension();
        let term = |j: usize| {
            let row = &self.precision[j * d..(j + 1) * d];
            let weight = if self.diagonal {
                row[j] * (to[j] - from[j])
            } else {
                row.iter().zip(from.iter().zip(to)).map(|(p, (from, to))| p * (to - from)).sum()
            };
            (weight, 0.5 * (from[j] + to[j]))
        };
        sum_columns(block, d, 0.0, out, term, |weight, z| weight * z);
    }

    fn gradient(&self, block: Block<'_>, at: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let d = self.dimension();
        for (row, out) in self.precision.chunks_exact(d).zip(out.chunks_exact_mut(block.len().max(1))) {
            sum_columns(block, d, 0.0, out, |k| (row[k], at[k]), |weight, z| weight * z);
        }
    }

    fn log_prior(&self, at: &[f64]) -> f64 {
        let d = self.dimension();
        let square: f64 = self
            .prior
            .inverse_lower()
            .chunks_exact(d)
            .map(|row| {
                let z: f64 = (0..d).map(|j| row[j] * (at[j] - self.prior_mean[j])).sum();
                z * z
            })
            .sum();
        -0.5 * (square + self.prior.log_determinant() + d as f64 * std::f64::consts::TAU.ln())
    }

    fn prior_gradient(&self, at: &[f64], out: &mut [f64]) {
        let d = self.dimension();
        for (row, out) in self.prior_precision.chunks_exact(d).zip(out) {
            *out = -(0..d).map(|k| row[k] * (at[k] - self.prior_mean[k])).sum::<f64>();
        }
    }

    fn fisher(&self, _at: &[f64], out: &mut [f64]) -> bool {
        out.copy_from_slice(&self.precision);
        true
    }

    fn prior_precision(&self, _at: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.prior_precision);
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        let standard: Vec<f64> = out.iter().map(|_| normal(uniform)).collect();
        self.prior.correlate(&standard, out);
        out.iter_mut().zip(&self.prior_mean).for_each(|(out, mean)| *out += mean);
        true
    }

    fn simulate(&self, at: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let standard: Vec<f64> = row.iter().map(|_| normal(uniform)).collect();
        self.covariance.correlate(&standard, row);
        row.iter_mut().zip(at).for_each(|(row, at)| *row += at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_density_and_ratio_in_two_correlated_dimensions() {
        // Σ = [[2, 1], [1, 2]], det 3, Σ⁻¹ = [[2, −1], [−1, 2]]/3; x − θ = (1, 2): quadratic form (2−4+8)/3 = 2.
        let model = GaussianMean::new(&[2.0, 1.0, 1.0, 2.0], &[0.0, 0.0], &[9.0, 0.0, 0.0, 9.0]).unwrap();
        let values = [1.5, 4.0];
        let block = Block::over(&values, 1, 1);
        let scratch = &mut Scratch::new();
        let mut out = [0.0];
        model.log_density(block, &[0.5, 2.0], &mut out, scratch);
        let expected = -1.0 - 0.5 * (4.0 * std::f64::consts::PI * std::f64::consts::PI * 3.0).ln();
        assert!((out[0] - expected).abs() < 1e-14);
        // At θ' = x the form is 0, so the ratio is 1.
        model.log_ratio(block, &[0.5, 2.0], &[1.5, 4.0], &mut out, scratch);
        assert!((out[0] - 1.0).abs() < 1e-14);
        let mut gradient = [0.0; 2];
        model.gradient(block, &[0.5, 2.0], &mut gradient, scratch);
        assert!((gradient[0] - 0.0).abs() < 1e-14 && (gradient[1] - 1.0).abs() < 1e-14);
    }
}
