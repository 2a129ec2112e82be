//! Models the mean of a multivariate Gaussian with known covariance: ln p(x|θ) = −½(x−θ)ᵀΣ⁻¹(x−θ) − ½ ln det 2πΣ.
//!
//! The prior is θ ~ N(μ₀, Σ₀), so the posterior is Gaussian and known in closed form (thesis, section 5.1).

use barkeep_data::{Block, Column, Schema};

use crate::entry::{Build, ModelEntry, PRIOR_VARIANCE, prior_variance, sides};
use crate::error::{require_finite, require_length, require_positive};
use crate::kernel::{fold_column, linear, map_column, quadratic, sum_columns};
use crate::settings::key;
use crate::variates::normal;
use crate::{Affine, Error, Likelihood, Model, RecordStatistics, Scratch, Statistics, numbered};
use barkeep_num::linear::{Cholesky, diagonal, dot};

/// The model in a spec.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "gaussian",
    summary: "mean of a multivariate normal with known covariance; normal prior",
    keys: &[
        key(
            "covariance",
            "1",
            "of one record: a variance, a list of variances, or a matrix as a list of rows",
        ),
        key("prior_mean", "0 everywhere", "mean of the normal prior, a number per parameter"),
        PRIOR_VARIANCE,
    ],
    build: Build::Columns(|settings, columns| {
        let covariance =
            settings.matrix("covariance", columns)?.unwrap_or_else(|| diagonal(&vec![1.0; columns]));
        let mean = settings.vector("prior_mean", columns)?.unwrap_or_else(|| vec![0.0; columns]);
        let prior = diagonal(&vec![prior_variance(settings)?; columns]);
        Ok(sides(GaussianMean::new(&covariance, &mean, &prior)?))
    }),
};

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
        let prior = diagonal(&vec![prior_variance; dimension]);
        Self::new(&diagonal(variances), &vec![0.0; dimension], &prior)
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

/// L⁻¹(x − c), where Σ = LLᵀ and c is the middle of the columns' ranges.
///
/// Their sum Y over n records, with noise of variance σ² per coordinate, has law N(nL⁻¹(θ − c), (n + σ²)I) given θ. So
/// c + L·Y/n has law N(θ, Σ(n + σ²)/n²), that of the mean of n²/(n + σ²) records: the posterior given the noisy sum is the
/// posterior given so many records with that mean, exactly (but for the range of records being bounded).
struct MeanStatistics<'a> {
    model: &'a GaussianMean,
    centre: Vec<f64>,
    bound: f64,
}

impl<'a> MeanStatistics<'a> {
    fn new(model: &'a GaussianMean, schema: &Schema) -> Result<Self, &'static str> {
        let d = model.dimension();
        let ranges: Vec<(f64, f64)> = schema.columns().iter().take(d).map(Column::range).collect();
        if ranges.len() < d {
            return Err("needs a column for every coordinate of a record");
        }
        let centre = ranges.iter().map(|(low, high)| 0.5 * low + 0.5 * high).collect();
        let half: Vec<f64> = ranges.iter().map(|(low, high)| 0.5 * high - 0.5 * low).collect();
        let rows = model.covariance.inverse_lower().chunks_exact(d);
        let reach = |row: &[f64]| row.iter().zip(&half).map(|(entry, half)| entry.abs() * half).sum::<f64>();
        let square: f64 = rows.map(|row| reach(row) * reach(row)).sum();
        // 2^20 roundings would not use up the hair.
        let bound = square.sqrt() * (1.0 + 1e-9);
        if bound.is_finite() { Ok(Self { model, centre, bound }) } else { Err("needs columns with bounds") }
    }
}

impl RecordStatistics for MeanStatistics<'_> {
    fn width(&self) -> usize {
        self.centre.len()
    }

    fn write(&self, block: Block<'_>, out: &mut [f64]) {
        let d = self.centre.len();
        let rows = self.model.covariance.inverse_lower().chunks_exact(d);
        for (row, out) in rows.zip(out.chunks_exact_mut(block.len().max(1))) {
            sum_columns(block, d, [0.0], [out], |k| ([row[k]], self.centre[k]), linear);
        }
    }
}

impl Statistics for MeanStatistics<'_> {
    fn width(&self) -> usize {
        self.centre.len()
    }

    fn bound(&self) -> f64 {
        self.bound
    }

    fn posterior(&self, records: f64, noisy: &[f64], variance: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let mut mean = vec![0.0; self.centre.len()];
        self.model.covariance.correlate(noisy, &mut mean);
        let middle = self.centre.iter();
        mean.iter_mut().zip(middle).for_each(|(mean, centre)| *mean = centre + *mean / records);
        self.model.posterior(records * (records / (records + variance)), 1.0, &mean)
    }
}

impl Likelihood for GaussianMean {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let d = self.dimension();
        if self.diagonal {
            let half = |j: usize| ([-0.5 * self.precision[j * d + j]], theta[j]);
            sum_columns(block, d, [self.normaliser], [out], half, quadratic);
            return;
        }
        // ½(x−θ)ᵀΣ⁻¹(x−θ) = ½‖L⁻¹(x−θ)‖², a coordinate of L⁻¹(x−θ) at a time.
        out.fill(self.normaliser);
        let [whitened] = scratch.buffers(out.len());
        for row in self.covariance.inverse_lower().chunks_exact(d) {
            sum_columns(block, d, [0.0], [whitened], |j| ([row[j]], theta[j]), linear);
            fold_column(whitened, out, |out, z| out - 0.5 * z * z);
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
            ([weight], 0.5 * (from[j] + to[j]))
        };
        sum_columns(block, d, [0.0], [out], term, linear);
    }

    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let d = self.dimension();
        let coordinates = out.chunks_exact_mut(block.len().max(1));
        for (j, (row, out)) in self.precision.chunks_exact(d).zip(coordinates).enumerate() {
            let (weight, centre) = (row[j], theta[j]);
            match self.diagonal {
                true => map_column(
                    block.column(j),
                    out,
                    #[inline(always)]
                    |x| weight * (x - centre),
                ),
                false => sum_columns(block, d, [0.0], [out], |k| ([row[k]], theta[k]), linear),
            }
        }
    }

    fn affine_gradient(&self, theta: &[f64], out: &mut Affine) -> bool {
        out.weights.clear();
        out.weights.extend(self.precision.iter().step_by(self.dimension() + 1));
        out.centres.clear();
        out.centres.extend_from_slice(theta);
        out.lean = 0.0;
        self.diagonal
    }

    fn record_statistics(&self, schema: &Schema) -> Result<Box<dyn RecordStatistics + '_>, &'static str> {
        Ok(Box::new(MeanStatistics::new(self, schema)?))
    }
}

impl Model for GaussianMean {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.columns
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        let d = self.dimension();
        let square: f64 = self
            .prior
            .inverse_lower()
            .chunks_exact(d)
            .map(|row| {
                let z: f64 = (0..d).map(|j| row[j] * (theta[j] - self.prior_mean[j])).sum();
                z * z
            })
            .sum();
        -0.5 * (square + self.prior.log_determinant() + d as f64 * std::f64::consts::TAU.ln())
    }

    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        let d = self.dimension();
        for (row, out) in self.prior_precision.chunks_exact(d).zip(out) {
            *out = -(0..d).map(|k| row[k] * (theta[k] - self.prior_mean[k])).sum::<f64>();
        }
    }

    fn fisher(&self, _theta: &[f64], out: &mut [f64]) -> bool {
        out.copy_from_slice(&self.precision);
        true
    }

    fn prior_precision(&self, _theta: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.prior_precision);
    }

    /// The ratio is linear in each coordinate of a record, so its ends are at ends of the columns' ranges.
    fn log_ratio_range(&self, schema: &Schema, from: &[f64], to: &[f64]) -> Option<(f64, f64)> {
        let d = self.dimension();
        let (mut least, mut largest) = (0.0, 0.0);
        for (j, row) in self.precision.chunks_exact(d).enumerate() {
            let weight: f64 =
                row.iter().zip(from.iter().zip(to)).map(|(p, (from, to))| p * (to - from)).sum();
            let (low, high) = schema.columns().get(j)?.range();
            let middle = 0.5 * (from[j] + to[j]);
            let (a, b) = (weight * (low - middle), weight * (high - middle));
            least += a.min(b);
            largest += a.max(b);
        }
        Some((least, largest))
    }

    fn statistics(&self, schema: &Schema) -> Result<Box<dyn Statistics + '_>, &'static str> {
        Ok(Box::new(MeanStatistics::new(self, schema)?))
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        let standard: Vec<f64> = out.iter().map(|_| normal(uniform)).collect();
        self.prior.correlate(&standard, out);
        out.iter_mut().zip(&self.prior_mean).for_each(|(out, mean)| *out += mean);
        true
    }

    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let standard: Vec<f64> = row.iter().map(|_| normal(uniform)).collect();
        self.covariance.correlate(&standard, row);
        row.iter_mut().zip(theta).for_each(|(row, theta)| *row += theta);
    }
}

#[cfg(test)]
mod tests {
    use num_dual::Dual64;

    use super::*;
    use crate::check;

    /// Σ = [[2, 1], [1, 2]], det 3, Σ⁻¹ = [[2, −1], [−1, 2]]/3; the prior N((1, −1), 9·I).
    fn correlated() -> GaussianMean {
        GaussianMean::new(&[2.0, 1.0, 1.0, 2.0], &[1.0, -1.0], &[9.0, 0.0, 0.0, 9.0]).unwrap()
    }

    fn log_normal(x: f64, mean: Dual64, variance: f64) -> Dual64 {
        (mean - x) * (mean - x) * (-0.5 / variance) - 0.5 * (std::f64::consts::TAU * variance).ln()
    }

    fn correlated_density(x: &[f64], theta: &[Dual64]) -> Dual64 {
        let (u, v) = (theta[0] - x[0], theta[1] - x[1]);
        let form = (u * u * 2.0 - u * v * 2.0 + v * v * 2.0) / 3.0;
        form * -0.5 - 0.5 * (3.0 * std::f64::consts::TAU.powi(2)).ln()
    }

    #[test]
    fn agrees_with_dual_numbers() {
        let prior = |theta: &[Dual64]| log_normal(1.0, theta[0], 9.0) + log_normal(-1.0, theta[1], 9.0);
        check::against_oracle(&correlated(), &[0.5, 2.0], 3.0, correlated_density, prior);
        let variances = [20.0, 2.5, 1.0, 1.0, 0.25, 3.0];
        let independent = GaussianMean::independent(&variances, 7.0).unwrap();
        let sum = |terms: &mut dyn Iterator<Item = Dual64>| terms.fold(Dual64::new(0.0, 0.0), |a, b| a + b);
        let density = |x: &[f64], theta: &[Dual64]| {
            sum(&mut theta.iter().zip(x).zip(variances).map(|((theta, x), v)| log_normal(*x, *theta, v)))
        };
        let prior = |theta: &[Dual64]| sum(&mut theta.iter().map(|theta| log_normal(0.0, *theta, 7.0)));
        check::against_oracle(&independent, &[0.0, 3.0, 0.0, 0.0, 1.0, -1.0], 2.0, density, prior);
    }

    #[test]
    fn behaves_as_every_model_must() {
        let model = correlated();
        check::one_component_moves(&model, &[0.5, 2.0]);
        check::scores(&model, &[0.5, 2.0], true);
        check::any_values(&model, &[0.5, 2.0]);
        check::prior_draws(&model);
        let independent = GaussianMean::independent(&[20.0, 2.5, 1.0, 1.0, 1.0], 1000.0).unwrap();
        check::one_component_moves(&independent, &[0.0, 3.0, 0.0, 0.0, 0.0]);
        check::any_values(&independent, &[0.0; 5]);
    }

    #[test]
    fn log_ratio_keeps_its_digits_far_from_the_records() {
        // x = 2²⁶ and steps of 2⁻³⁰: the ratio is exactly 2⁻⁴ − 2⁻³⁰·(θ + 2⁻³¹), the difference of densities,
        // each near 2⁵¹, has no correct digit.
        let model = GaussianMean::independent(&[1.0], 1.0).unwrap();
        let step = (-30f64).exp2();
        let values = [26f64.exp2()];
        let mut out = [0.0];
        let scratch = &mut Scratch::new();
        model.log_ratio(Block::over(&values, 1, 1), &[0.0], &[step], &mut out, scratch);
        assert_eq!(out[0], 0.0625 - step * step / 2.0);
    }

    #[test]
    fn the_posterior_of_a_case_worked_by_hand() {
        // One dimension: variance 4, prior N(1, 2²), n = 10, T = ½, mean 3: precision 10·½/4 + 1/4 = 3/2, mean
        // (15/4 + 1/4)/(3/2) = 8/3.
        let model = GaussianMean::new(&[4.0], &[1.0], &[4.0]).unwrap();
        let (mean, covariance) = model.posterior(10.0, 0.5, &[3.0]).unwrap();
        assert!((mean[0] - 8.0 / 3.0).abs() < 1e-14 && (covariance[0] - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn nonsense_is_refused() {
        let unit = [1.0, 0.0, 0.0, 1.0];
        let message = |result: Result<GaussianMean, Error>| result.err().map(|error| error.to_string());
        let cases = [
            (GaussianMean::new(&[], &[], &[]), "model.prior_mean must have at least one entry"),
            (GaussianMean::new(&[1.0], &[0.0, 0.0], &unit), "model.covariance must have 4 entries"),
            (GaussianMean::new(&unit, &[0.0, 0.0], &[1.0]), "model.prior_covariance must have 4 entries"),
            (GaussianMean::new(&unit, &[0.0, f64::NAN], &unit), "model.prior_mean must be finite"),
            (
                GaussianMean::new(&[1.0, 2.0, 2.0, 1.0], &[0.0, 0.0], &unit),
                "model.covariance must be symmetric and positive definite",
            ),
            (GaussianMean::independent(&[], 1.0), "model.variances must have at least one entry"),
            (GaussianMean::independent(&[0.0], 1.0), "model.variances must be finite and above 0"),
            (GaussianMean::independent(&[1.0], f64::NAN), "model.prior_variance must be finite and above 0"),
        ];
        for (result, expected) in cases {
            assert_eq!(message(result).as_deref(), Some(expected));
        }
    }
}
