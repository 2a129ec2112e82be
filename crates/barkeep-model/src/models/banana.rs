//! Models the banana of the thesis: ln p(x|θ) = Σ_j ln N(x_j; u_j, σ_j²) with u = θ but u₂ = θ₂ + a(θ₁−m)² + b.
//!
//! The prior is u ~ N(0, σ₀²·I), so that u has a Gaussian posterior and θ a banana (thesis, Theorem 5.2).
//! With a = b = 0 it is the Gaussian mean with independent coordinates.

use barkeep_machine::{Source, Writer};

use crate::entry::{Build, ModelEntry, PRIOR_VARIANCE, prior_variance, sides};
use crate::error::{require_finite, require_positive};
use crate::settings::key;
use crate::sums;
use crate::variates::normal;
use crate::{Error, Gradient, Likelihood, Model, numbered};

/// The model in a spec.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "banana",
    summary: "normal records around a bent mean (thesis, section 5.1); the posterior is a banana",
    keys: &[
        key("a", "20", "how strongly the second coordinate bends: u2 = theta2 + a·(theta1 − m)² + b"),
        key("b", "0", "shift of the bend"),
        key("m", "0", "where the bend is centred"),
        key("variances", "20, 2.5, then 1", "variances of a record's coordinates, a number per column"),
        PRIOR_VARIANCE,
    ],
    build: Build::Columns(|settings, columns| {
        let number = |key, default| Ok::<f64, Error>(settings.number(key)?.unwrap_or(default));
        let bend = Bend { a: number("a", 20.0)?, b: number("b", 0.0)?, m: number("m", 0.0)? };
        let variances = settings
            .vector("variances", columns)?
            .unwrap_or_else(|| [20.0, 2.5].into_iter().chain(std::iter::repeat(1.0)).take(columns).collect());
        Ok(sides(Banana::new(bend, &variances, prior_variance(settings)?)?))
    }),
};

/// The bend u₂ = θ₂ + a(θ₁−m)² + b of the second coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bend {
    /// How strongly it bends.
    pub a: f64,
    /// The shift.
    pub b: f64,
    /// Where the bend is centred.
    pub m: f64,
}

impl Bend {
    /// u₂ − θ₂.
    fn lift(self, first: f64) -> f64 {
        self.a * (first - self.m) * (first - self.m) + self.b
    }

    /// ∂u₂/∂θ₁.
    fn slope(self, first: f64) -> f64 {
        2.0 * self.a * (first - self.m)
    }
}

/// x ~ N(u(θ), diag σ²) with u(θ) ~ N(0, σ₀²·I).
pub struct Banana {
    names: Vec<String>,
    columns: Vec<String>,
    bend: Bend,
    variances: Vec<f64>,
    precisions: Vec<f64>,
    /// −½ ln det 2πΣ.
    normaliser: f64,
    prior_variance: f64,
}

impl Banana {
    /// The model with these likelihood variances σ², at least two, and prior variance σ₀².
    ///
    /// # Errors
    /// There are fewer, a variance is not finite and above 0, or the bend is not finite.
    pub fn new(bend: Bend, variances: &[f64], prior_variance: f64) -> Result<Self, Error> {
        if variances.len() < 2 {
            return Err(Error::Key { key: "variances", requirement: "must have at least two entries" });
        }
        require_finite("a", &[bend.a])?;
        require_finite("b", &[bend.b])?;
        require_finite("m", &[bend.m])?;
        require_positive("variances", variances)?;
        require_positive("prior_variance", &[prior_variance])?;
        let log_determinant: f64 = variances.iter().map(|v| libm::log(std::f64::consts::TAU * v)).sum();
        Ok(Self {
            names: numbered("theta", variances.len()),
            columns: numbered("x", variances.len()),
            bend,
            precisions: variances.iter().map(|variance| 1.0 / variance).collect(),
            variances: variances.to_vec(),
            normaliser: -0.5 * log_determinant,
            prior_variance,
        })
    }

    /// u_j(θ).
    fn centre(&self, theta: &[f64], j: usize) -> f64 {
        if j == 1 { theta[1] + self.bend.lift(theta[0]) } else { theta[j] }
    }

    /// u_j(θ') − u_j(θ) without cancellation.
    fn shift(&self, from: &[f64], to: &[f64], j: usize) -> f64 {
        let step = to[j] - from[j];
        if j == 1 {
            step + self.bend.a * (to[0] - from[0]) * ((to[0] - self.bend.m) + (from[0] - self.bend.m))
        } else {
            step
        }
    }

    /// What a log-ratio takes column j times, and the middle that it takes off before.
    fn ratio_term(&self, from: &[f64], to: &[f64], j: usize) -> (f64, f64) {
        let middle = 0.5 * (self.centre(from, j) + self.centre(to, j));
        (self.precisions[j] * self.shift(from, to, j), middle)
    }

    /// Jᵀ·diag(`weight`)·J for the Jacobian J of u, which is the identity but for ∂u₂/∂θ₁.
    fn pull_back(&self, theta: &[f64], weight: impl Fn(usize) -> f64, out: &mut [f64]) {
        let (d, slope) = (self.dimension(), self.bend.slope(theta[0]));
        out.fill(0.0);
        for (j, entry) in out.iter_mut().step_by(d + 1).enumerate() {
            *entry = weight(j);
        }
        out[0] += slope * slope * weight(1);
        out[1] = slope * weight(1);
        out[d] = out[1];
    }

    /// The posterior given `records` records with these means, the likelihood raised to the power `temper`.
    ///
    /// u_j has precision τ = nT/σ_j² + 1/σ₀² and mean (nT/σ_j²)·x̄_j/τ (thesis, Theorem 5.2).
    ///
    /// **Privacy.** The records' means are secret: this is for public simulated records.
    pub fn posterior(&self, records: f64, temper: f64, means: &[f64]) -> BananaPosterior {
        let weights: Vec<f64> =
            self.precisions.iter().map(|precision| records * temper * precision).collect();
        let totals: Vec<f64> = weights.iter().map(|weight| weight + 1.0 / self.prior_variance).collect();
        BananaPosterior {
            bend: self.bend,
            centre: weights
                .iter()
                .zip(&totals)
                .zip(means)
                .map(|((w, total), mean)| w * mean / total)
                .collect(),
            variances: totals.iter().map(|total| 1.0 / total).collect(),
        }
    }
}

impl Likelihood for Banana {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        let terms = (0..self.dimension()).map(|j| (-0.5 * self.precisions[j], self.centre(theta, j)));
        sums::quadratic(w, self.normaliser, terms)
    }

    /// Σ_j (x_j − ½(u_j+u'_j))·(u'_j−u_j)/σ_j²: linear in x, and only moved coordinates are read.
    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        sums::linear(w, (0..self.dimension()).map(|j| self.ratio_term(from, to, j)))
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        let deviations = sums::deviations(w, (0..self.dimension()).map(|j| self.centre(theta, j)));
        let lean = self.bend.slope(theta[0]) * self.precisions[1];
        let mut entries = vec![w.dot(0.0, [(self.precisions[0], deviations[0]), (lean, deviations[1])])];
        let others = deviations.iter().zip(&self.precisions).skip(1);
        entries.extend(others.map(|(deviation, weight)| w.mul(*weight, *deviation)));
        Gradient::Entries(entries)
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

impl Model for Banana {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.columns
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        let squares: f64 = (0..self.dimension()).map(|j| self.centre(theta, j) * self.centre(theta, j)).sum();
        let log_scale = libm::log(std::f64::consts::TAU * self.prior_variance);
        -0.5 * (squares / self.prior_variance + self.dimension() as f64 * log_scale)
    }

    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        for (j, out) in out.iter_mut().enumerate().take(self.dimension()) {
            *out = -self.centre(theta, j) / self.prior_variance;
        }
        out[0] -= self.bend.slope(theta[0]) * self.centre(theta, 1) / self.prior_variance;
    }

    fn fisher(&self, theta: &[f64], out: &mut [f64]) -> bool {
        self.pull_back(theta, |j| self.precisions[j], out);
        true
    }

    fn prior_precision(&self, theta: &[f64], out: &mut [f64]) {
        self.pull_back(theta, |_| 1.0 / self.prior_variance, out);
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        out.iter_mut().for_each(|out| *out = self.prior_variance.sqrt() * normal(uniform));
        out[1] -= self.bend.lift(out[0]);
        true
    }

    fn uniforms(&self) -> Option<usize> {
        Some(self.columns.len())
    }

    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        for (j, row) in row.iter_mut().enumerate().take(self.dimension()) {
            *row = self.centre(theta, j) + self.variances[j].sqrt() * normal(uniform);
        }
    }
}

/// The law of θ when u(θ) ~ N(μ, diag s²): Ban(μ, diag s², a, b, m) of the thesis.
#[derive(Debug, Clone, PartialEq)]
pub struct BananaPosterior {
    bend: Bend,
    centre: Vec<f64>,
    variances: Vec<f64>,
}

impl BananaPosterior {
    /// An independent draw of θ.
    pub fn sample(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) {
        for ((out, centre), variance) in out.iter_mut().zip(&self.centre).zip(&self.variances) {
            *out = centre + variance.sqrt() * normal(uniform);
        }
        out[1] -= self.bend.lift(out[0]);
    }

    /// Mean and covariance (row-major) of θ.
    ///
    /// With c = μ₁−m: E θ₂ = μ₂ − a(c² + s₁²) − b, Cov(θ₁,θ₂) = −2acs₁², Var θ₂ = s₂² + a²(4c²s₁² + 2s₁⁴).
    pub fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let d = self.centre.len();
        let Bend { a, b, m } = self.bend;
        let (offset, spread) = (self.centre[0] - m, self.variances[0]);
        let mut mean = self.centre.clone();
        mean[1] -= a * (offset * offset + spread) + b;
        let mut covariance = vec![0.0; d * d];
        covariance.iter_mut().step_by(d + 1).zip(&self.variances).for_each(|(entry, v)| *entry = *v);
        covariance[1] = -2.0 * a * offset * spread;
        covariance[d] = covariance[1];
        covariance[d + 1] += a * a * (4.0 * offset * offset * spread + 2.0 * spread * spread);
        (mean, covariance)
    }
}

#[cfg(test)]
mod tests;
