//! Models two equal Gaussian components: p(x|θ) = ½N(x; θ₁, σ²) + ½N(x; θ₁+θ₂, σ²).
//!
//! Priors θ₁ ~ N(0, σ₁²), θ₂ ~ N(0, σ₂²), as in Heikkilä et al. (2019), section 5. With z = x−θ₁ and the second
//! component's log odds t = (zθ₂ − ½θ₂²)/σ², ln p = −½z²/σ² + ln(1 + eᵗ) − ln 2 − ½ ln 2πσ².

use barkeep_machine::{Binary, Source, Unary, Writer};
use barkeep_num::vector::scalar::sigmoid;

use crate::entry::{Build, ModelEntry, sides};
use crate::error::require_positive;
use crate::settings::key;
use crate::variates::normal;
use crate::{Error, Gradient, Likelihood, Model};

/// The model in a spec.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "mixture",
    summary: "two normals of equal weight at theta1 and theta1 + theta2 (Heikkilä et al. 2019); normal priors",
    keys: &[
        key("variance", "2", "variance of a record around either centre"),
        key("prior_variances", "[10, 1]", "variances of the normal priors of theta1 and theta2"),
    ],
    build: Build::Columns(|settings, _| {
        let prior = settings.vector("prior_variances", 2)?.unwrap_or_else(|| vec![10.0, 1.0]);
        let variance = settings.positive("variance")?.unwrap_or(2.0);
        Ok(sides(Mixture::new(variance, [prior[0], prior[1]])?))
    }),
};

/// The two-component mixture; θ₁ places the first component, θ₂ the second relative to it.
pub struct Mixture {
    names: Vec<String>,
    columns: Vec<String>,
    variance: f64,
    prior_variances: [f64; 2],
}

/// Half the width, in standard deviations, of the interval that [`Mixture::fisher`] integrates over.
const WIDTH: f64 = 10.0;
/// The number of its nodes per standard deviation. The component's share has its nearest pole at a distance of
/// πσ²/|θ₂| from the real line, half way between the components: the trapezoid rule's error is of the order of
/// exp(−16π²σ/|θ₂|) times the density there, below 1e-12 for any θ₂.
const NODES: f64 = 8.0;

impl Mixture {
    /// The model with component variance σ² and prior variances σ₁², σ₂².
    ///
    /// # Errors
    /// One of them is not finite and above 0.
    pub fn new(variance: f64, prior_variances: [f64; 2]) -> Result<Self, Error> {
        require_positive("variance", &[variance])?;
        require_positive("prior_variances", &prior_variances)?;
        let names = vec!["theta1".into(), "theta2".into()];
        Ok(Self { names, columns: vec!["x".into()], variance, prior_variances })
    }

    /// Writes the second component's log odds t, or −t for the sign −1.
    fn write_odds(&self, theta: &[f64], sign: f64, w: &mut Writer) -> Source {
        let apart = w.sub(Source::Column(0), theta[0] + 0.5 * theta[1]);
        w.mul(sign * theta[1] / self.variance, apart)
    }
}

/// The score (∂₁, ∂₂) of a record with residual z whose second component, δ away, has share w.
#[inline(always)]
fn score(z: f64, w: f64, distance: f64, precision: f64) -> [f64; 2] {
    [precision * (z - w * distance), precision * (w * (z - distance))]
}

impl Likelihood for Mixture {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        let start = -std::f64::consts::LN_2 - 0.5 * libm::log(std::f64::consts::TAU * self.variance);
        let against = self.write_odds(theta, -1.0, w);
        let log_share = w.unary(Unary::LogSigmoid, against);
        let z = w.sub(Source::Column(0), theta[0]);
        let weighted = w.mul(-0.5 / self.variance, z);
        let square = w.mul(weighted, z);
        let first = w.add(square, start);
        w.sub(first, log_share)
    }

    /// (θ'₁−θ₁)(x − ½(θ₁+θ'₁))/σ² plus the difference of the softplus terms.
    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        let (before, after) = (self.write_odds(from, -1.0, w), self.write_odds(to, -1.0, w));
        let difference = w.binary(Binary::LogSigmoidDifference, after, before);
        let apart = w.sub(Source::Column(0), 0.5 * (from[0] + to[0]));
        let linear = w.mul((to[0] - from[0]) / self.variance, apart);
        w.sub(linear, difference)
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        let (precision, distance) = (1.0 / self.variance, theta[1]);
        let odds = self.write_odds(theta, 1.0, w);
        let share = w.unary(Unary::Sigmoid, odds);
        let z = w.sub(Source::Column(0), theta[0]);
        let lift = w.mul(share, distance);
        let first = w.sub(z, lift);
        let beyond = w.sub(z, distance);
        let second = w.mul(share, beyond);
        Gradient::Entries(vec![w.mul(precision, first), w.mul(precision, second)])
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

impl Model for Mixture {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.columns
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        let term =
            |(theta, v): (&f64, &f64)| -0.5 * (theta * theta / v + libm::log(std::f64::consts::TAU * v));
        theta.iter().zip(&self.prior_variances).map(term).sum()
    }

    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        for ((out, theta), variance) in out.iter_mut().zip(theta).zip(&self.prior_variances) {
            *out = -theta / variance;
        }
    }

    /// By the trapezoid rule over the density, which depends on θ₂ alone.
    fn fisher(&self, theta: &[f64], out: &mut [f64]) -> bool {
        let sd = self.variance.sqrt();
        let step = sd / NODES;
        let mut total = [0.0; 4];
        // Around each component in turn: between distant components the density is negligible.
        for component in [0.0, theta[1]] {
            for k in 0..=(2.0 * WIDTH * NODES) as i32 {
                let deviation = (f64::from(k) - WIDTH * NODES) * step;
                let z = component + deviation;
                let density = 0.5 * libm::exp(-0.5 * deviation * deviation / self.variance)
                    / (std::f64::consts::TAU * self.variance).sqrt();
                let share = sigmoid(theta[1] / self.variance * (z - 0.5 * theta[1]));
                let score = score(z, share, theta[1], 1.0 / self.variance);
                for (entry, total) in total.iter_mut().enumerate() {
                    *total += density * step * score[entry / 2] * score[entry % 2];
                }
            }
        }
        out.copy_from_slice(&total);
        true
    }

    fn prior_precision(&self, _theta: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[1.0 / self.prior_variances[0], 0.0, 0.0, 1.0 / self.prior_variances[1]]);
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        for (out, variance) in out.iter_mut().zip(&self.prior_variances) {
            *out = variance.sqrt() * normal(uniform);
        }
        true
    }

    fn uniforms(&self) -> Option<usize> {
        Some(2)
    }

    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let centre = if uniform() < 0.5 { theta[0] } else { theta[0] + theta[1] };
        row[0] = centre + self.variance.sqrt() * normal(uniform);
    }
}

#[cfg(test)]
mod tests;
