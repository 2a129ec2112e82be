//! Models a rate: ln p(x|u) = x·u − ln(1 + e^u) for x in {0, 1}, u = ln r/(1 − r) the log-odds of the rate r.
//!
//! The prior is r ~ Beta(a, b), so the posterior is Beta(a + TΣx, b + TΣ(1 − x)), known in closed form.

use barkeep_data::Schema;
use barkeep_machine::{Source, Writer, softplus, softplus_difference};
use barkeep_num::ln_gamma;
use barkeep_num::vector::scalar::sigmoid;

use crate::entry::{Build, ModelEntry, sides};
use crate::error::require_positive;
use crate::settings::key;
use crate::variates::gamma;
use crate::{Error, Gradient, Likelihood, Model, ReadAs};

/// The model in a spec.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "bernoulli",
    summary: "a rate of zeros and ones, by its log-odds; Beta prior",
    keys: &[key(
        "prior",
        "[1, 1]",
        "a and b of the Beta prior of the rate: as if a ones and b zeros had been seen",
    )],
    build: Build::Columns(|settings, _| {
        let prior = settings.vector("prior", 2)?.unwrap_or_else(|| vec![1.0, 1.0]);
        Ok(sides(BernoulliRate::new(prior[0], prior[1])?))
    }),
};

/// x ~ Bernoulli(r), r ~ Beta(a, b), seen through the log-odds of r.
pub struct BernoulliRate {
    names: Vec<String>,
    columns: Vec<String>,
    ones: f64,
    zeros: f64,
}

impl BernoulliRate {
    /// The model with prior Beta(`ones`, `zeros`): as if that many ones and zeros had been seen before.
    ///
    /// # Errors
    /// One of them is not finite and above 0.
    pub fn new(ones: f64, zeros: f64) -> Result<Self, Error> {
        require_positive("prior", &[ones, zeros])?;
        Ok(Self { names: vec!["log_odds".into()], columns: vec!["x".into()], ones, zeros })
    }
}

impl Likelihood for BernoulliRate {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        let linear = w.mul(Source::Column(0), theta[0]);
        w.sub(linear, softplus(theta[0]))
    }

    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        let linear = w.mul(Source::Column(0), to[0] - from[0]);
        w.sub(linear, softplus_difference(to[0], from[0]))
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        Gradient::Entries(vec![w.sub(Source::Column(0), sigmoid(theta[0]))])
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

impl Model for BernoulliRate {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.columns
    }

    /// ln r^a(1 − r)^b/B(a, b): the Beta density times dr/du = r(1 − r).
    fn read_as(&self, _parameter: usize) -> ReadAs {
        ReadAs::LogOddsOf("rate")
    }

    fn log_prior(&self, theta: &[f64]) -> f64 {
        let beta = ln_gamma(self.ones) + ln_gamma(self.zeros) - ln_gamma(self.ones + self.zeros);
        -self.ones * softplus(-theta[0]) - self.zeros * softplus(theta[0]) - beta
    }

    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        out[0] = self.ones * sigmoid(-theta[0]) - self.zeros * sigmoid(theta[0]);
    }

    fn fisher(&self, theta: &[f64], out: &mut [f64]) -> bool {
        out[0] = sigmoid(theta[0]) * sigmoid(-theta[0]);
        true
    }

    fn prior_precision(&self, theta: &[f64], out: &mut [f64]) {
        out[0] = (self.ones + self.zeros) * sigmoid(theta[0]) * sigmoid(-theta[0]);
    }

    fn lipschitz(&self, schema: &Schema) -> Option<f64> {
        let (low, high) = schema.columns().first()?.range();
        let bound = high.max(1.0 - low);
        bound.is_finite().then_some(bound)
    }

    fn log_ratio_range(&self, schema: &Schema, from: &[f64], to: &[f64]) -> Option<(f64, f64)> {
        let (low, high) = schema.columns().first()?.range();
        let (shift, normaliser) = (to[0] - from[0], softplus_difference(to[0], from[0]));
        let (a, b) = (low * shift - normaliser, high * shift - normaliser);
        Some((a.min(b), a.max(b)))
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        // The odds of a Beta are a quotient of two Gammas.
        out[0] = libm::log(gamma(self.ones, uniform)) - libm::log(gamma(self.zeros, uniform));
        out[0].is_finite()
    }

    fn uniforms(&self) -> Option<usize> {
        Some(1)
    }

    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        row[0] = f64::from(u8::from(uniform() < sigmoid(theta[0])));
    }
}

#[cfg(test)]
mod tests;
