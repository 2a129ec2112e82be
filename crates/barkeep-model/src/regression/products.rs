//! Gives linear regression its sufficient statistics: products of features with each other and with the response.

use barkeep_data::{Column, Schema};
use barkeep_machine::{Output, Program, Source, Unsound, Writer};

use super::Design;
use crate::Statistics;
use barkeep_num::linear::{Cholesky, Spectrum, dot};

/// How many times the coefficients that scale the noise are fitted.
const ROUNDS: usize = 8;

/// u·uᵀ (its upper triangle, entries off the diagonal times √2) and u·v, where u are the features, v the response, each
/// divided by the largest size its column's range allows.
///
/// The norm squared is ‖u‖⁴ + ‖u‖²v² ≤ k² + k for k coefficients.
///
/// Write A = Σu·uᵀ and b = Σu·v: given A and the coefficients φ in these units, b has law N(Aφ, s²A). Observed are A' = A + E and
/// b' = b + e with independent normal noise. With a flat prior on A, b' given A' and φ has mean A'φ and covariance
/// s²A + σ²I + Cov(Eφ), where Cov(Eφ) = ½σ²(‖φ‖²I + φφᵀ) for the symmetric E above. The posterior is taken to be normal
/// with that covariance at the fitted φ, where A' without its negative eigenvalues stands for A.
pub(crate) struct Products<'a> {
    design: &'a Design,
    priors: Vec<(f64, f64)>,
    sd: f64,
    /// The largest size of the response, then of each regressor.
    response: f64,
    sizes: Vec<f64>,
}

impl<'a> Products<'a> {
    /// The statistics.
    ///
    /// # Errors
    /// A prior is not normal, or a column has no bounds.
    pub(crate) fn new(design: &'a Design, sd: f64, schema: &Schema) -> Result<Self, &'static str> {
        let priors = design.normal_priors().ok_or("needs normal or flat priors for the coefficients")?;
        let size = |column: &Column| {
            let (low, high) = column.range();
            let size = low.abs().max(high.abs());
            if size > 0.0 { size } else { 1.0 }
        };
        let mut columns = schema.columns().iter().map(size);
        let response = columns.next().ok_or("needs a response")?;
        let intercept = design.has_intercept().then_some(1.0);
        let sizes: Vec<f64> = intercept.into_iter().chain(columns).take(design.coefficients()).collect();
        if sizes.len() < design.coefficients() {
            return Err("needs a column for every feature");
        }
        // A sum of squares must not overflow.
        if sizes.iter().chain([&response]).any(|size| *size > 1e100) {
            return Err("needs columns with bounds");
        }
        Ok(Self { design, priors, sd, response, sizes })
    }

    fn coefficients(&self) -> usize {
        self.sizes.len()
    }

    /// The program of a record's statistics.
    ///
    /// # Errors
    /// [`Unsound`] for more of them than the machine hands out.
    pub(crate) fn program(&self) -> Result<Program, Unsound> {
        let mut w = Writer::default();
        let first = if self.design.has_intercept() { 0 } else { 1 };
        let features: Vec<Source> = (first..)
            .zip(&self.sizes)
            .map(|(column, size)| match column {
                0 => w.fill(1.0),
                _ => w.div(Source::Column(column), *size),
            })
            .collect();
        let mut entries = Vec::new();
        for (j, k) in self.pairs() {
            let weighted = if j == k { features[j] } else { w.mul(std::f64::consts::SQRT_2, features[j]) };
            entries.push(w.mul(weighted, features[k]));
        }
        let response = w.div(Source::Column(0), self.response);
        entries.extend(features.iter().map(|feature| w.mul(*feature, response)));
        w.finish(entries.into_iter().map(Output::Dense))
    }

    /// The places of the upper triangle, row by row.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let k = self.coefficients();
        (0..k).flat_map(move |i| (i..k).map(move |j| (i, j)))
    }
}

impl Statistics for Products<'_> {
    fn width(&self) -> usize {
        let k = self.coefficients();
        k * (k + 1) / 2 + k
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of coefficients is small")]
    fn bound(&self) -> f64 {
        let k = self.coefficients() as f64;
        (k * k + k).sqrt() * (1.0 + 1e-9)
    }

    fn posterior(&self, _records: f64, noisy: &[f64], variance: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let k = self.coefficients();
        let (squares, cross) = noisy.split_at_checked(noisy.len().checked_sub(k)?)?;
        let mut moments = vec![0.0; k * k];
        for ((i, j), value) in self.pairs().zip(squares) {
            let value = if i == j { *value } else { value / std::f64::consts::SQRT_2 };
            (moments[i * k + j], moments[j * k + i]) = (value, value);
        }
        let positive = Spectrum::new(&moments, k)?.map(|value| value.max(0.0));
        // φ_j = θ_j·size_j/response.
        let units: Vec<f64> = self.sizes.iter().map(|size| self.response / size).collect();
        let noise = (self.sd / self.response).powi(2);
        let mut fitted = vec![0.0; k];
        let mut covariance = Vec::new();
        for _ in 0..ROUNDS {
            let length = dot(&fitted, &fitted);
            let spread = (0..k * k).map(|entry| {
                let (i, j) = (entry / k, entry % k);
                let round = if i == j { variance * (1.0 + 0.5 * length) } else { 0.0 };
                noise * positive[entry] + round + 0.5 * variance * fitted[i] * fitted[j]
            });
            let weight = Cholesky::new(&spread.collect::<Vec<_>>(), k)?.inverse();
            // A'C⁻¹, one row per coefficient.
            let lever: Vec<f64> = (0..k * k)
                .map(|entry| (0..k).map(|l| moments[entry / k * k + l] * weight[l * k + entry % k]).sum())
                .collect();
            let mut precision: Vec<f64> = (0..k * k)
                .map(|entry| dot(&lever[entry / k * k..][..k], &moments[entry % k * k..][..k]))
                .collect();
            for i in 0..k {
                for j in 0..i {
                    precision[i * k + j] = precision[j * k + i];
                }
            }
            let mut pull: Vec<f64> = lever.chunks_exact(k).map(|row| dot(row, cross)).collect();
            for (j, (mean, prior)) in self.priors.iter().enumerate() {
                let prior = prior * units[j] * units[j];
                precision[j * k + j] += prior;
                pull[j] += prior * mean / units[j];
            }
            covariance = Cholesky::new(&precision, k)?.inverse();
            fitted = covariance.chunks_exact(k).map(|row| dot(row, &pull)).collect();
        }
        let mean = fitted.iter().zip(&units).map(|(phi, unit)| phi * unit).collect();
        for (entry, value) in covariance.iter_mut().enumerate() {
            *value *= units[entry / k] * units[entry % k];
        }
        Some((mean, covariance))
    }

    fn neglects(&self) -> Option<&'static str> {
        Some("noise on the features' products enters at the fitted coefficients, as if normal")
    }
}
