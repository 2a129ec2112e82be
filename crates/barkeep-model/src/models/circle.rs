//! Models a circle's radius: ln p(r|x,y) = −a(x² + y² − r²)², with a flat prior on (x, y).
//!
//! Up to a constant in θ, r² is Gaussian around x² + y² with variance 1/(2a); the posterior is a ring around the
//! origin (thesis, section 5.1).

use barkeep_machine::{Source, Unary, Writer};

use crate::entry::{Build, ModelEntry, sides};
use crate::error::require_positive;
use crate::settings::key;
use crate::variates::normal;
use crate::{Error, Gradient, Likelihood, Model};

/// The model in a spec.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "circle",
    summary: "a ring-shaped posterior from noisy radii (thesis, section 5.1); flat prior",
    keys: &[key("a", "1e-5", "sharpness: ln p(r|x, y) = −a·(x² + y² − r²)²")],
    build: Build::Columns(|settings, _| Ok(sides(Circle::new(settings.positive("a")?.unwrap_or(1e-5))?))),
};

/// One observed radius per record; θ = (x, y) anywhere on a circle explains it equally well.
pub struct Circle {
    names: Vec<String>,
    columns: Vec<String>,
    a: f64,
}

impl Circle {
    /// The model with sharpness a.
    ///
    /// # Errors
    /// a is not finite and above 0.
    pub fn new(a: f64) -> Result<Self, Error> {
        require_positive("a", &[a])?;
        Ok(Self { names: vec!["x".into(), "y".into()], columns: vec!["r".into()], a })
    }
}

impl Circle {
    /// What a log-ratio takes r² times, and the middle that it takes off before.
    fn ratio_term(&self, from: &[f64], to: &[f64]) -> (f64, f64) {
        let difference = (to[0] - from[0]) * (to[0] + from[0]) + (to[1] - from[1]) * (to[1] + from[1]);
        (2.0 * self.a * difference, 0.5 * (squared_radius(from) + squared_radius(to)))
    }
}

/// x² + y².
fn squared_radius(theta: &[f64]) -> f64 {
    theta[0] * theta[0] + theta[1] * theta[1]
}

impl Likelihood for Circle {
    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        let square = w.unary(Unary::Square, Source::Column(0));
        let miss = w.sub(squared_radius(theta), square);
        let weighted = w.mul(-self.a, miss);
        w.mul(weighted, miss)
    }

    /// −a(s'−s)(s'+s−2r²) with s = x² + y²: the squares never meet.
    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        let (weight, middle) = self.ratio_term(from, to);
        let square = w.unary(Unary::Square, Source::Column(0));
        let apart = w.sub(square, middle);
        w.mul(weight, apart)
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        let square = w.unary(Unary::Square, Source::Column(0));
        let miss = w.sub(square, squared_radius(theta));
        Gradient::Entries(theta.iter().map(|theta| w.mul(4.0 * self.a * theta, miss)).collect())
    }

    fn has_gradient(&self) -> bool {
        true
    }
}

impl Model for Circle {
    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        &self.columns
    }

    fn log_prior(&self, _theta: &[f64]) -> f64 {
        0.0
    }

    fn prior_gradient(&self, _theta: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// 8a·θθᵀ, for r² Gaussian around x² + y²: of rank one, since records say nothing of the angle.
    fn fisher(&self, theta: &[f64], out: &mut [f64]) -> bool {
        for (k, out) in out.iter_mut().enumerate().take(4) {
            *out = 8.0 * self.a * theta[k / 2] * theta[k % 2];
        }
        true
    }

    /// r ~ N(√(x²+y²), 1), the thesis' choice at radius 3: the likelihood itself is no density of r.
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        row[0] = squared_radius(theta).sqrt() + normal(uniform);
    }
}

#[cfg(test)]
mod tests;
