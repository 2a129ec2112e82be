//! Models a true/false response: ln p(y|x,θ) = y·η − ln(1 + e^η) with η = α + Σ_j β_j·x_j.

use barkeep_data::{Block, Schema};
use barkeep_num::up_by;
use barkeep_num::vector::scalar::sigmoid;

use crate::kernel::{fold_column, fold_columns};
use crate::soft::{softplus, softplus_difference};
use crate::{Design, Model, Scratch};

/// y ~ Bernoulli(1/(1 + e^(−η))), y held as 0 or 1.
pub struct LogisticRegression {
    names: Vec<String>,
    design: Design,
}

impl LogisticRegression {
    /// The regression.
    pub fn new(design: Design) -> Self {
        Self { names: design.names(), design }
    }
}

impl Model for LogisticRegression {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn parameter_names(&self) -> &[String] {
        &self.names
    }

    fn column_names(&self) -> &[String] {
        self.design.columns()
    }

    fn log_density(&self, block: Block<'_>, at: &[f64], out: &mut [f64], _scratch: &mut Scratch) {
        self.design.combine(block, [0.0], |j| [at[j]], [out]);
        fold_column(
            block.column(0),
            out,
            #[inline(always)]
            |predictor, y| y * predictor - softplus(predictor),
        );
    }

    /// y·(η'−η) − (ln(1 + e^η') − ln(1 + e^η)), the first difference from moved coefficients alone.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let [shift] = scratch.buffers(out.len());
        self.design.combine(block, [0.0; 2], |j| [to[j] - from[j], from[j]], [shift, out]);
        fold_columns(
            [shift, block.column(0)],
            out,
            #[inline(always)]
            |before, [shift, y]| y * shift - softplus_difference(before + shift, before),
        );
    }

    fn gradient(&self, block: Block<'_>, at: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let [residual] = scratch.buffers(block.len());
        self.design.combine(block, [0.0], |j| [at[j]], [residual]);
        fold_column(
            block.column(0),
            residual,
            #[inline(always)]
            |predictor, y| y - sigmoid(predictor),
        );
        self.design.scores(block, residual, out);
    }

    fn log_prior(&self, at: &[f64]) -> f64 {
        self.design.log_prior(at)
    }

    fn prior_gradient(&self, at: &[f64], out: &mut [f64]) {
        self.design.prior_gradient(at, out);
    }

    /// E[x·xᵀ]/4 by the design's declared moments: exact at θ = 0, where each answer is as likely as the other,
    /// and the largest it can be elsewhere.
    fn fisher(&self, _at: &[f64], out: &mut [f64]) -> bool {
        out.iter_mut().zip(self.design.moments()).for_each(|(out, moment)| *out = 0.25 * moment);
        true
    }

    fn prior_precision(&self, at: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.design.prior_precision(at, self.dimension(), out);
    }

    /// |y − p|·‖x‖ at its largest over the columns' ranges; p ∈ (0, 1).
    fn lipschitz(&self, schema: &Schema) -> Option<f64> {
        let mut ranges = schema.columns().iter().map(|column| column.range());
        let (low, high) = ranges.next()?;
        let residual = high.max(1.0 - low);
        let features = self.columns() - 1;
        let mut squares = if self.design.has_intercept() { 1.0 } else { 0.0 };
        for _ in 0..features {
            let (low, high) = ranges.next()?;
            let largest = low.abs().max(high.abs());
            squares += largest * largest;
        }
        // Each of the features' products and sums, the root and the last product err by half an ulp at most.
        let bound = up_by(residual * squares.sqrt(), u32::try_from(features).ok()?.checked_add(4)?);
        bound.is_finite().then_some(bound)
    }

    fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        self.design.sample_prior(uniform, out)
    }

    /// Features are standard normal.
    fn simulate(&self, at: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let share = sigmoid(self.design.simulate_features(at, uniform, row));
        row[0] = f64::from(u8::from(uniform() < share));
    }
}

#[cfg(test)]
mod tests {
    use barkeep_data::{Column, Scale};
    use num_dual::{Dual64, DualNum};

    use super::*;
    use crate::{Prior, check};

    fn model() -> LogisticRegression {
        let features = (1..=6).map(|j| format!("x{j}")).collect();
        let prior = Prior::StudentT { degrees: 4.0, location: 0.0, scale: 2.5 };
        LogisticRegression::new(Design::new("y", features, true, prior).unwrap())
    }

    #[test]
    fn agrees_with_dual_numbers() {
        // p for true, 1 − p for false, by the plain formula.
        let density = |row: &[f64], theta: &[Dual64]| {
            let sum = theta[1..].iter().zip(&row[1..]).fold(theta[0], |sum, (theta, x)| sum + *theta * *x);
            let sign = if row[0] == 1.0 { -1.0 } else { 1.0 };
            -((sum * sign).exp() + 1.0).ln()
        };
        // Γ(5/2)/Γ(2) = ¾√π, so the density at 0 is ¾√π/(√(4π)·2.5) = 3/20.
        let prior = |theta: &[Dual64]| {
            theta.iter().fold(Dual64::new(0.0, 0.0), |sum, theta| {
                sum + ((*theta / 2.5).powi(2) / 4.0 + 1.0).ln() * -2.5 + 0.15f64.ln()
            })
        };
        check::against_oracle(&model(), &[0.5, -1.0, 0.0, 2.0, 0.1, 1.0, 0.3], 1.0, density, prior);
    }

    #[test]
    fn behaves_as_every_model_must() {
        let at = [0.5, -1.0, 0.0, 2.0, 0.1, 1.0, 0.3];
        check::one_component_moves(&model(), &at);
        check::any_values(&model(), &at);
        check::prior_draws(&model());
        // The stated information is exact at zero coefficients.
        check::scores(&model(), &[0.0; 7], true);
    }

    #[test]
    fn no_gradient_is_longer_than_the_lipschitz_bound() {
        let mut columns = vec![Column::boolean("y", false).unwrap()];
        columns.extend((1..=6).map(|j| {
            Column::real(format!("x{j}"), -f64::from(j), 3.0, 0.0).unwrap().scaled(Scale::None).unwrap()
        }));
        let schema = Schema::new(columns).unwrap();
        let bound = model().lipschitz(&schema).unwrap();
        // 1 + 9 + 9 + 9 + 16 + 25 + 36 = 105.
        assert!(bound >= 105f64.sqrt() && bound < 105f64.sqrt() * (1.0 + 1e-14));
        // The worst record at the worst θ comes as close as the sigmoid's tail allows.
        let record = [1.0, 3.0, 3.0, 3.0, -4.0, -5.0, -6.0];
        let worst: Vec<f64> = [-10.0, -10.0, -10.0, -10.0, 10.0, 10.0, 10.0].to_vec();
        let mut gradient = [0.0; 7];
        model().gradient(Block::over(&record, 1, 1), &worst, &mut gradient, &mut Scratch::new());
        let norm = gradient.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        assert!(norm <= bound && norm > bound * 0.999_999);
        // Unbounded or missing columns have no bound.
        assert!(model().lipschitz(&Schema::unbounded(["y"]).unwrap()).is_none());
        assert!(
            model().lipschitz(&Schema::unbounded(["y", "a", "b", "c", "d", "e", "f"]).unwrap()).is_none()
        );
    }
}
