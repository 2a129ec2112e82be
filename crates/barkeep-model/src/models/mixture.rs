//! Models two equal Gaussian components: p(x|θ) = ½N(x; θ₁, σ²) + ½N(x; θ₁+θ₂, σ²).
//!
//! Priors θ₁ ~ N(0, σ₁²), θ₂ ~ N(0, σ₂²), as in Heikkilä et al. (2019), section 5. With z = x−θ₁ and the second
//! component's log odds t = (zθ₂ − ½θ₂²)/σ², ln p = −½z²/σ² + ln(1 + eᵗ) − ln 2 − ½ ln 2πσ².

use barkeep_data::Block;
use barkeep_num::vector::scalar::sigmoid;

use crate::entry::{Build, ModelEntry, sides};
use crate::error::require_positive;
use crate::kernel::{fold_columns, map_column};
use crate::soft::{softplus, softplus_difference};
use crate::settings::key;
use crate::variates::normal;
use crate::{Error, Likelihood, Model, Scratch};

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
    /// **Errors** unless all are finite and above 0.
    pub fn new(variance: f64, prior_variances: [f64; 2]) -> Result<Self, Error> {
        require_positive("variance", &[variance])?;
        require_positive("prior_variances", &prior_variances)?;
        let names = vec!["theta1".into(), "theta2".into()];
        Ok(Self { names, columns: vec!["x".into()], variance, prior_variances })
    }

    /// The second component's log odds t as a function of x: slope·(x − middle).
    #[inline(always)]
    fn log_odds(&self, theta: &[f64]) -> impl Fn(f64) -> f64 + Copy + use<> {
        let (slope, middle) = (theta[1] / self.variance, theta[0] + 0.5 * theta[1]);
        move |x| slope * (x - middle)
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

    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let start = -std::f64::consts::LN_2 - 0.5 * libm::log(std::f64::consts::TAU * self.variance);
        let (weight, centre, odds) = (-0.5 / self.variance, theta[0], self.log_odds(theta));
        map_column(
            block.column(0),
            out,
            #[inline(always)]
            |x| {
                let z = x - centre;
                softplus(odds(x)) + (weight * z * z + start)
            },
        );
    }

    /// (θ'₁−θ₁)(x − ½(θ₁+θ'₁))/σ² plus the difference of the softplus terms.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        let (before, after) = (self.log_odds(from), self.log_odds(to));
        let (slope, middle) = ((to[0] - from[0]) / self.variance, 0.5 * (from[0] + to[0]));
        map_column(
            block.column(0),
            out,
            #[inline(always)]
            |x| softplus_difference(after(x), before(x)) + slope * (x - middle),
        );
    }

    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let [share] = scratch.buffers(block.len());
        let odds = self.log_odds(theta);
        map_column(
            block.column(0),
            share,
            #[inline(always)]
            |x| sigmoid(odds(x)),
        );
        let (precision, centre, distance) = (1.0 / self.variance, theta[0], theta[1]);
        let (first, second) = out.split_at_mut(block.len());
        fold_columns([block.column(0), share], first, |_, [x, w]| {
            score(x - centre, w, distance, precision)[0]
        });
        fold_columns([block.column(0), share], second, |_, [x, w]| {
            score(x - centre, w, distance, precision)[1]
        });
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
        // Around each component in turn: between far components there is nothing to add.
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

    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let centre = if uniform() < 0.5 { theta[0] } else { theta[0] + theta[1] };
        row[0] = centre + self.variance.sqrt() * normal(uniform);
    }
}

#[cfg(test)]
mod tests {
    use num_dual::{Dual64, DualNum};

    use super::*;
    use crate::check;

    fn model() -> Mixture {
        Mixture::new(2.0, [10.0, 1.0]).unwrap()
    }

    fn normal_density(x: f64, mean: Dual64, variance: f64) -> Dual64 {
        ((mean - x) * (mean - x) * (-0.5 / variance)).exp() / (std::f64::consts::TAU * variance).sqrt()
    }

    #[test]
    fn agrees_with_dual_numbers() {
        let density = |x: &[f64], theta: &[Dual64]| {
            let mixed = normal_density(x[0], theta[0], 2.0) + normal_density(x[0], theta[0] + theta[1], 2.0);
            (mixed * 0.5).ln()
        };
        let prior = |theta: &[Dual64]| {
            normal_density(0.0, theta[0], 10.0).ln() + normal_density(0.0, theta[1], 1.0).ln()
        };
        check::against_oracle(&model(), &[0.0, 1.0], 3.0, density, prior);
    }

    #[test]
    fn behaves_as_every_model_must() {
        check::one_component_moves(&model(), &[0.0, 1.0]);
        check::scores(&model(), &[0.0, 1.0], true);
        check::scores(&model(), &[1.0, -8.0], true);
        check::any_values(&model(), &[0.0, 1.0]);
        check::prior_draws(&model());
    }

    #[test]
    fn far_records_keep_their_digits() {
        // 1000 standard deviations out both component densities underflow; ln p does not.
        let mut out = [0.0];
        let x = [1000.0 * 2f64.sqrt()];
        model().log_density(Block::over(&x, 1, 1), &[0.0, 1.0], &mut out, &mut Scratch::new());
        let nearer = -0.5 * (x[0] - 1.0).powi(2) / 2.0 - 0.5 * (4.0 * std::f64::consts::PI).ln() - 2f64.ln();
        assert!((out[0] - nearer).abs() < 1e-9);
    }

    #[test]
    fn information_when_components_coincide_or_part() {
        let mut fisher = [0.0; 4];
        // θ₂ = 0: the score is (z, z/2)/σ², the information [[1, ½], [½, ¼]]/σ².
        assert!(model().fisher(&[3.0, 0.0], &mut fisher));
        for (found, expected) in fisher.iter().zip([0.5, 0.25, 0.25, 0.125]) {
            assert!((found - expected).abs() < 1e-12);
        }
        // Far apart every record tells its component: [[1, ½], [½, ½]]/σ².
        assert!(model().fisher(&[3.0, 500.0], &mut fisher));
        for (found, expected) in fisher.iter().zip([0.5, 0.25, 0.25, 0.25]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn information_agrees_with_a_plain_integral() {
        // Midpoint rule over [−30, 40] of ∂ᵢp·∂ⱼp/p, the densities as they stand.
        let density =
            |x: f64, mean: f64| (-(x - mean) * (x - mean) / 4.0).exp() / (4.0 * std::f64::consts::PI).sqrt();
        for distance in [0.5, 1.0, -3.0, 9.0] {
            let mut expected = [0.0; 4];
            let step = 70.0 / 200_000.0;
            for k in 0..200_000 {
                let x = -30.0 + (f64::from(k) + 0.5) * step;
                let (one, two) = (0.5 * density(x, 1.0), 0.5 * density(x, 1.0 + distance));
                if one + two > 0.0 {
                    let slope = [
                        (one * (x - 1.0) + two * (x - 1.0 - distance)) / 2.0,
                        two * (x - 1.0 - distance) / 2.0,
                    ];
                    for (entry, total) in expected.iter_mut().enumerate() {
                        *total += slope[entry / 2] * slope[entry % 2] / (one + two) * step;
                    }
                }
            }
            let mut fisher = [0.0; 4];
            assert!(model().fisher(&[1.0, distance], &mut fisher));
            for (found, expected) in fisher.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-10, "{distance}: {found} {expected}");
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let message = |result: Result<Mixture, Error>| result.err().map(|error| error.to_string());
        assert_eq!(
            message(Mixture::new(0.0, [1.0, 1.0])).as_deref(),
            Some("model.variance must be finite and above 0")
        );
        assert_eq!(
            message(Mixture::new(1.0, [1.0, f64::NAN])).as_deref(),
            Some("model.prior_variances must be finite and above 0")
        );
    }
}
