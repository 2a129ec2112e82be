//! Models the mean of a multivariate Gaussian with known covariance: ln p(x|θ) = −½(x−θ)ᵀΣ⁻¹(x−θ) − ½ ln det 2πΣ.
//!
//! The prior is θ ~ N(μ₀, Σ₀), so the posterior is Gaussian and known in closed form (thesis, section 5.1).

use barkeep_data::{Column, Schema};
use barkeep_machine::{Output, Program, Source, Writer};

use crate::entry::{Build, ModelEntry, PRIOR_VARIANCE, prior_variance, sides};
use crate::error::{require_finite, require_length, require_positive};
use crate::settings::key;
use crate::sums;
use crate::variates::normal;
use crate::{Error, Gradient, Likelihood, Model, ReadAs, Statistics, numbered};
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
    /// # Errors
    /// Lengths differ from d = `prior_mean.len()`, or a matrix is not a covariance.
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
    /// # Errors
    /// As [`GaussianMean::new`].
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

    /// What a log-ratio takes column j times, and the middle that it takes off before.
    fn ratio_term(&self, from: &[f64], to: &[f64], j: usize) -> (f64, f64) {
        let d = self.dimension();
        let row = &self.precision[j * d..(j + 1) * d];
        let weight = if self.diagonal {
            row[j] * (to[j] - from[j])
        } else {
            row.iter().zip(from.iter().zip(to)).map(|(p, (from, to))| p * (to - from)).sum()
        };
        (weight, 0.5 * (from[j] + to[j]))
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
/// c + L·Y/n has law N(θ, Σ(n + σ²)/n²), that of the mean of n²/(n + σ²) records. The posterior given the noisy sum is
/// therefore the posterior given n²/(n + σ²) records with that mean. This is exact but for the bounds on records.
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
        // The slack of 1e-9 covers more than 2^20 roundings.
        let bound = square.sqrt() * (1.0 + 1e-9);
        if bound.is_finite() { Ok(Self { model, centre, bound }) } else { Err("needs columns with bounds") }
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

/// A row of a matrix with what it is multiplied by, zeros left out.
fn through(row: &[f64], deviations: &[Source]) -> Vec<(f64, Source)> {
    row.iter().copied().zip(deviations.iter().copied()).filter(|(entry, _)| *entry != 0.0).collect()
}

impl Likelihood for GaussianMean {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        let d = self.dimension();
        if self.diagonal {
            let terms = (0..d).map(|j| (-0.5 * self.precision[j * d + j], theta[j]));
            return sums::quadratic(w, self.normaliser, terms);
        }
        // ½(x−θ)ᵀΣ⁻¹(x−θ) = ½‖L⁻¹(x−θ)‖², a coordinate of L⁻¹(x−θ) at a time.
        let deviations = sums::deviations(w, theta.iter().copied());
        let mut density = w.fill(self.normaliser);
        for row in self.covariance.inverse_lower().chunks_exact(d) {
            let whitened = w.dot(0.0, through(row, &deviations));
            let half = w.mul(0.5, whitened);
            let square = w.mul(half, whitened);
            density = w.sub(density, square);
        }
        density
    }

    /// (x − ½(θ+θ'))ᵀΣ⁻¹(θ'−θ): linear in x. **Precision.** No cancellation of large log densities.
    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        sums::linear(w, (0..self.dimension()).map(|j| self.ratio_term(from, to, j)))
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        let deviations = sums::deviations(w, theta.iter().copied());
        let rows = self.precision.chunks_exact(self.dimension()).enumerate();
        let entry = |(j, row): (usize, &[f64])| match self.diagonal {
            true => w.mul(row[j], deviations[j]),
            false => w.dot(0.0, through(row, &deviations)),
        };
        Gradient::Entries(rows.map(entry).collect())
    }

    fn statistics_program(&self, schema: &Schema) -> Result<Program, &'static str> {
        let MeanStatistics { centre, .. } = MeanStatistics::new(self, schema)?;
        let mut w = Writer::default();
        let deviations = sums::deviations(&mut w, centre);
        let rows = self.covariance.inverse_lower().chunks_exact(self.dimension());
        let entries: Vec<Output> =
            rows.map(|row| Output::Dense(w.dot(0.0, through(row, &deviations)))).collect();
        w.finish(entries).map_err(|_| "needs fewer columns")
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

impl Model for GaussianMean {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.columns
    }

    fn read_as(&self, parameter: usize) -> ReadAs {
        ReadAs::LocationOf(parameter)
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

    fn uniforms(&self) -> Option<usize> {
        Some(self.columns.len())
    }

    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let standard: Vec<f64> = row.iter().map(|_| normal(uniform)).collect();
        self.covariance.correlate(&standard, row);
        row.iter_mut().zip(theta).for_each(|(row, theta)| *row += theta);
    }
}

#[cfg(test)]
mod tests;
