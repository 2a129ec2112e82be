//! Models a circle's radius: ln p(r|x,y) = −a(x² + y² − r²)², with a flat prior on (x, y).
//!
//! Up to a constant in θ, r² is Gaussian around x² + y² with variance 1/(2a); the posterior is a ring around the
//! origin (thesis, section 5.1).

use barkeep_data::Block;

use crate::entry::{Build, ModelEntry, sides};
use crate::error::require_positive;
use crate::kernel::map_column;
use crate::settings::key;
use crate::variates::normal;
use crate::{Error, Likelihood, Model, Scratch};

/// The model in a spec.
pub const ENTRY: ModelEntry = ModelEntry {
    name: "circle",
    summary: "a ring-shaped posterior from noisy radii (thesis, section 5.1); flat prior",
    keys: &[key("a", "1e-5", "sharpness: ln p(r|x, y) = −a·(x² + y² − r²)²")],
    build: Build::Columns(|settings, _| {
        Ok(sides(Circle::new(settings.positive("a")?.unwrap_or(1e-5))?))
    }),
};

/// One observed radius per record; θ = (x, y) anywhere on a circle explains it equally well.
pub struct Circle {
    names: Vec<String>,
    columns: Vec<String>,
    a: f64,
}

impl Circle {
    /// The model with sharpness a. **Errors** unless a is finite and above 0.
    pub fn new(a: f64) -> Result<Self, Error> {
        require_positive("a", &[a])?;
        Ok(Self { names: vec!["x".into(), "y".into()], columns: vec!["r".into()], a })
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

    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let (a, centre) = (self.a, squared_radius(theta));
        map_column(block.column(0), out, |r| {
            let miss = centre - r * r;
            -a * miss * miss
        });
    }

    /// −a(s'−s)(s'+s−2r²) with s = x² + y²: the squares never meet.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let difference = (to[0] - from[0]) * (to[0] + from[0]) + (to[1] - from[1]) * (to[1] + from[1]);
        let weight = 2.0 * self.a * difference;
        let middle = 0.5 * (squared_radius(from) + squared_radius(to));
        map_column(block.column(0), out, |r| weight * (r * r - middle));
    }

    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let centre = squared_radius(theta);
        for (out, theta) in out.chunks_exact_mut(block.len().max(1)).zip(theta) {
            let weight = 4.0 * self.a * theta;
            map_column(block.column(0), out, |r| weight * (r * r - centre));
        }
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
mod tests {
    use num_dual::Dual64;

    use super::*;
    use crate::check;

    #[test]
    fn agrees_with_dual_numbers() {
        let density = |x: &[f64], theta: &[Dual64]| {
            let miss = theta[0] * theta[0] + theta[1] * theta[1] - x[0] * x[0];
            miss * miss * -1e-2
        };
        let flat = |_: &[Dual64]| Dual64::new(0.0, 0.0);
        check::against_oracle(&Circle::new(1e-2).unwrap(), &[0.0, 0.0], 4.0, density, flat);
    }

    #[test]
    fn behaves_as_every_model_must() {
        let model = Circle::new(1e-5).unwrap();
        check::one_component_moves(&model, &[2.0, -1.0]);
        check::any_values(&model, &[2.0, -1.0]);
        assert!(!model.sample_prior(&mut check::uniform(1), &mut [0.0; 2]), "a flat prior has no draws");
    }

    #[test]
    fn information_is_the_second_moment_of_the_score() {
        // E over q = r² ~ N(s, 1/(2a)) by the trapezoid rule; a is large enough that q stays positive.
        let (a, theta) = (2.0, [3.0, -4.0]);
        let model = Circle::new(a).unwrap();
        let nodes: Vec<f64> = (-400..=400).map(|k| f64::from(k) / 40.0).collect();
        let radii: Vec<f64> = nodes.iter().map(|z| (25.0 + z / (2.0 * a).sqrt()).sqrt()).collect();
        let mut gradient = vec![0.0; 2 * nodes.len()];
        let block = Block::over(&radii, radii.len(), radii.len());
        model.gradient(block, &theta, &mut gradient, &mut Scratch::new());
        let mut fisher = [0.0; 4];
        assert!(model.fisher(&theta, &mut fisher));
        for k in 0..4 {
            let (first, second) = (&gradient[k / 2 * nodes.len()..], &gradient[k % 2 * nodes.len()..]);
            let total: f64 = (0..nodes.len())
                .map(|i| (-0.5 * nodes[i] * nodes[i]).exp() * first[i] * second[i] / 40.0)
                .sum();
            let expected = total / std::f64::consts::TAU.sqrt();
            assert!((fisher[k] - expected).abs() < 1e-9 * expected.abs());
        }
    }

    #[test]
    fn simulated_radii_are_the_thesis_ones() {
        let model = Circle::new(1e-5).unwrap();
        let radii = check::columns(&model, &[0.0, 3.0], 10_000, 9);
        let mean = radii.iter().sum::<f64>() / 10_000.0;
        let variance = radii.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 10_000.0;
        // Standard errors 0.01 and 0.014.
        assert!((mean - 3.0).abs() < 0.05 && (variance - 1.0).abs() < 0.07);
    }

    #[test]
    fn nonsense_is_refused() {
        for a in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let message = Circle::new(a).err().map(|error| error.to_string());
            assert_eq!(message.as_deref(), Some("model.a must be finite and above 0"));
        }
    }
}
