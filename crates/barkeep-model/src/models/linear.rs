//! Models a linear response: ln p(y|x,θ) = −½(y−η)²/σ² − ln σ − ½ ln 2π with η = α + Σ_j β_j·x_j.
//!
//! The noise σ is known, or a parameter ln σ with a prior on σ.

use barkeep_data::{Block, Schema};

use super::products::Products;
use crate::error::require_positive;
use crate::kernel::{fold_column, map_column, map_in_place};
use crate::variates::normal;
use crate::{Belief, Design, Error, Model, Prior, Scratch, Statistics, Transform};

/// What is known of the noise's standard deviation σ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// It is this.
    Known {
        /// σ.
        sd: f64,
    },
    /// It is a parameter, `log_sd`, with this prior on σ itself.
    Unknown {
        /// The prior of σ, on its positive half.
        prior: Prior,
    },
}

enum Spread {
    Known(f64),
    Unknown(Belief),
}

/// y ~ N(η, σ²).
pub struct LinearRegression {
    names: Vec<String>,
    design: Design,
    spread: Spread,
}

impl LinearRegression {
    /// The regression. **Errors** unless a known σ is finite and above 0, or its prior is one.
    pub fn new(design: Design, noise: Noise) -> Result<Self, Error> {
        let mut names = design.names();
        let spread = match noise {
            Noise::Known { sd } => {
                require_positive("sd", &[sd])?;
                Spread::Known(libm::log(sd))
            }
            Noise::Unknown { prior } => {
                names.push("log_sd".into());
                Spread::Unknown(Belief::new(prior, Transform::Positive, "sd_prior")?)
            }
        };
        Ok(Self { names, design, spread })
    }

    fn log_sd(&self, at: &[f64]) -> f64 {
        match &self.spread {
            Spread::Known(log_sd) => *log_sd,
            Spread::Unknown(_) => at[self.design.coefficients()],
        }
    }
}

impl Model for LinearRegression {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        self.design.columns()
    }

    fn log_density(&self, block: Block<'_>, at: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let log_sd = self.log_sd(at);
        let weight = -0.5 * libm::exp(-2.0 * log_sd);
        let start = -log_sd - 0.5 * libm::log(std::f64::consts::TAU);
        self.design.combine(block, [1.0], |j| [-at[j]], [out]);
        map_in_place(out, |residual| weight * residual * residual + start);
    }

    /// D·m/σ'² + ½(1/σ² − 1/σ'²)e² + ln σ/σ', where D = η'−η, m = y − ½(η+η') and e = y − η = m + ½D: squares
    /// are never subtracted from each other.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let (log_from, log_to) = (self.log_sd(from), self.log_sd(to));
        let precision = libm::exp(-2.0 * log_to);
        let excess = 0.5 * precision * libm::expm1(2.0 * (log_to - log_from));
        let start = log_from - log_to;
        let [shift] = scratch.buffers(out.len());
        let coefficients = |j: usize| [to[j] - from[j], -0.5 * (from[j] + to[j])];
        self.design.combine(block, [0.0, 1.0], coefficients, [shift, out]);
        fold_column(shift, out, |middle, shift| {
            let residual = middle + 0.5 * shift;
            precision * shift * middle + (excess * residual * residual + start)
        });
    }

    fn gradient(&self, block: Block<'_>, at: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let precision = libm::exp(-2.0 * self.log_sd(at));
        let [residual] = scratch.buffers(block.len());
        self.design.combine(block, [1.0], |j| [-at[j]], [residual]);
        if let Spread::Unknown(_) = self.spread {
            let start = self.design.coefficients() * block.len();
            map_column(residual, &mut out[start..], |residual| precision * residual * residual - 1.0);
        }
        map_in_place(residual, |residual| precision * residual);
        self.design.scores(block, residual, out);
    }

    fn log_prior(&self, at: &[f64]) -> f64 {
        let spread = match &self.spread {
            Spread::Known(_) => 0.0,
            Spread::Unknown(belief) => belief.log_density(self.log_sd(at)),
        };
        self.design.log_prior(at) + spread
    }

    fn prior_gradient(&self, at: &[f64], out: &mut [f64]) {
        self.design.prior_gradient(at, out);
        if let Spread::Unknown(belief) = &self.spread {
            out[self.design.coefficients()] = belief.derivative(self.log_sd(at));
        }
    }

    /// E[x·xᵀ]/σ² for the coefficients, by the design's declared moments, and 2 for ln σ.
    fn fisher(&self, at: &[f64], out: &mut [f64]) -> bool {
        let (d, k) = (self.dimension(), self.design.coefficients());
        let precision = libm::exp(-2.0 * self.log_sd(at));
        out.fill(0.0);
        for (out, moments) in out.chunks_exact_mut(d).zip(self.design.moments().chunks_exact(k)) {
            out.iter_mut().zip(moments).for_each(|(out, moment)| *out = precision * moment);
        }
        if let Spread::Unknown(_) = self.spread {
            out[d * d - 1] = 2.0;
        }
        true
    }

    fn prior_precision(&self, at: &[f64], out: &mut [f64]) {
        let d = self.dimension();
        out.fill(0.0);
        self.design.prior_precision(at, d, out);
        if let Spread::Unknown(belief) = &self.spread {
            out[d * d - 1] = belief.precision(self.log_sd(at));
        }
    }

    fn statistics(&self, schema: &Schema) -> Result<Box<dyn Statistics + '_>, &'static str> {
        let Spread::Known(log_sd) = self.spread else {
            return Err("needs a known sd: with an unknown one the posterior is not normal");
        };
        Ok(Box::new(Products::new(&self.design, libm::exp(log_sd), schema)?))
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        let proper = self.design.sample_prior(uniform, out);
        match &self.spread {
            Spread::Known(_) => proper,
            Spread::Unknown(belief) => {
                let draw = belief.sample(uniform);
                out[self.design.coefficients()] = draw.unwrap_or(0.0);
                proper && draw.is_some()
            }
        }
    }

    /// Features are standard normal.
    fn simulate(&self, at: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let predictor = self.design.simulate_features(at, uniform, row);
        row[0] = predictor + libm::exp(self.log_sd(at)) * normal(uniform);
    }
}

#[cfg(test)]
mod tests {
    use num_dual::{Dual64, DualNum};

    use super::*;
    use crate::check;

    fn design(intercept: bool) -> Design {
        let features = (1..=5).map(|j| format!("x{j}")).collect();
        Design::new("y", features, intercept, Prior::Normal { mean: 0.0, sd: 3.0 }).unwrap()
    }

    fn log_normal(x: Dual64, sd: Dual64) -> Dual64 {
        (x / sd).powi(2) * -0.5 - sd.ln() - 0.5 * std::f64::consts::TAU.ln()
    }

    fn constant(value: f64) -> Dual64 {
        Dual64::new(value, 0.0)
    }

    fn coefficient_prior(theta: &[Dual64]) -> Dual64 {
        theta.iter().fold(constant(0.0), |sum, theta| sum + log_normal(*theta, constant(3.0)))
    }

    #[test]
    fn agrees_with_dual_numbers_when_the_noise_is_known() {
        let model = LinearRegression::new(design(false), Noise::Known { sd: 0.7 }).unwrap();
        let density = |row: &[f64], theta: &[Dual64]| {
            let predictor =
                theta.iter().zip(&row[1..]).fold(constant(0.0), |sum, (theta, x)| sum + *theta * *x);
            log_normal(constant(row[0]) - predictor, constant(0.7))
        };
        check::against_oracle(&model, &[0.5, -1.0, 0.0, 2.0, 0.1], 1.0, density, coefficient_prior);
    }

    #[test]
    fn agrees_with_dual_numbers_when_the_noise_is_unknown() {
        let noise = Noise::Unknown { prior: Prior::Exponential { rate: 0.5 } };
        let model = LinearRegression::new(design(true), noise).unwrap();
        assert_eq!(model.parameter_names(), ["intercept", "x1", "x2", "x3", "x4", "x5", "log_sd"]);
        let density = |row: &[f64], theta: &[Dual64]| {
            let sum = theta[1..6].iter().zip(&row[1..]).fold(theta[0], |sum, (theta, x)| sum + *theta * *x);
            log_normal(constant(row[0]) - sum, theta[6].exp())
        };
        let prior =
            |theta: &[Dual64]| coefficient_prior(&theta[..6]) + 0.5f64.ln() - theta[6].exp() * 0.5 + theta[6];
        check::against_oracle(&model, &[0.5, -1.0, 0.0, 2.0, 0.1, 1.0, 0.3], 1.0, density, prior);
    }

    #[test]
    fn behaves_as_every_model_must() {
        let noise = Noise::Unknown { prior: Prior::HalfNormal { scale: 2.0 } };
        let model = LinearRegression::new(design(true), noise).unwrap();
        let at = [0.5, -1.0, 0.0, 2.0, 0.1, 1.0, 0.3];
        check::one_component_moves(&model, &at);
        check::scores(&model, &at, true);
        check::any_values(&model, &at);
        check::prior_draws(&model);
        let known = LinearRegression::new(design(false), Noise::Known { sd: 0.7 }).unwrap();
        check::one_component_moves(&known, &at[..5]);
        check::scores(&known, &at[..5], true);
        check::any_values(&known, &at[..5]);
    }

    #[test]
    fn declared_moments_make_the_information() {
        let design = Design::new("y", vec!["x".into()], true, Prior::Flat).unwrap();
        let design = design.with_moments(&[1.0, 0.5, 0.5, 2.0]).unwrap();
        let model = LinearRegression::new(design, Noise::Known { sd: 0.5 }).unwrap();
        let (mut fisher, mut precision) = ([f64::NAN; 4], [f64::NAN; 4]);
        assert!(model.fisher(&[0.0, 0.0], &mut fisher));
        for (found, expected) in fisher.iter().zip([4.0, 2.0, 2.0, 8.0]) {
            assert!((found - expected).abs() < 1e-14);
        }
        model.prior_precision(&[0.0, 0.0], &mut precision);
        assert_eq!(precision, [0.0; 4]);
        assert!(!model.sample_prior(&mut check::uniform(1), &mut [0.0; 2]));
    }

    #[test]
    fn nonsense_is_refused() {
        let prior = Prior::Normal { mean: 0.0, sd: 1.0 };
        let message = |error: Option<Error>| error.map(|error| error.to_string());
        let cases = [
            (
                Design::new("y", vec![], false, prior).err(),
                "model.features must name at least one column, or intercept be true",
            ),
            (design(true).with_priors(&[prior]).err(), "model.priors must have 6 entries"),
            (
                Design::new("y", vec![], true, Prior::HalfNormal { scale: 1.0 }).err(),
                "model.priors must be a prior on the whole real line",
            ),
            (design(false).with_moments(&[1.0]).err(), "model.moments must have 25 entries"),
            (
                design(false).with_moments(&[0.0; 25]).err(),
                "model.moments must be symmetric and positive definite",
            ),
            (
                LinearRegression::new(design(true), Noise::Known { sd: 0.0 }).err(),
                "model.sd must be finite and above 0",
            ),
            (
                LinearRegression::new(
                    design(true),
                    Noise::Unknown { prior: Prior::Exponential { rate: 0.0 } },
                )
                .err(),
                "model.sd_prior must have a finite scale (and degrees of freedom) above 0",
            ),
        ];
        for (error, expected) in cases {
            assert_eq!(message(error).as_deref(), Some(expected));
        }
    }
}
