//! Describes what regressions share: a response, features, coefficients with priors, and η = α + Σ_j β_j·x_j.

use barkeep_data::Block;

use crate::cholesky::Cholesky;
use crate::error::require_length;
use crate::kernel::{fold_column, linear, sum_columns};
use crate::variates::normal;
use crate::{Belief, Error, Prior, Transform};

/// The public layout of a regression: the block's first column is the response, the next ones the features.
///
/// Coefficients are in the order intercept (if any), then features.
pub struct Design {
    columns: Vec<String>,
    intercept: bool,
    priors: Vec<Belief>,
    moments: Vec<f64>,
}

impl Design {
    /// A design with the same prior for every coefficient.
    ///
    /// **Errors** if there is neither a feature nor an intercept, or the prior is not one on the real line.
    pub fn new(
        response: impl Into<String>,
        features: Vec<String>,
        intercept: bool,
        prior: Prior,
    ) -> Result<Self, Error> {
        let coefficients = usize::from(intercept) + features.len();
        if coefficients == 0 {
            let requirement = "must name at least one column, or intercept be true";
            return Err(Error::Key { key: "features", requirement });
        }
        let mut columns = vec![response.into()];
        columns.extend(features);
        let mut moments = vec![0.0; coefficients * coefficients];
        moments.iter_mut().step_by(coefficients + 1).for_each(|entry| *entry = 1.0);
        Self { columns, intercept, priors: vec![], moments }.with_priors(&vec![prior; coefficients])
    }

    /// The same design with a prior for each coefficient.
    ///
    /// **Errors** if there are not as many priors as coefficients, or one is not a prior on the real line.
    pub fn with_priors(mut self, priors: &[Prior]) -> Result<Self, Error> {
        let expected = self.coefficients();
        if priors.len() != expected {
            return Err(Error::Length { key: "priors", expected });
        }
        let belief = |prior: &Prior| Belief::new(*prior, Transform::Identity, "priors");
        self.priors = priors.iter().map(belief).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// The same design with a public guess of E[x·xᵀ] (x with a leading 1 if there is an intercept; row by
    /// row), from which the expected information follows. Without it features count as standardised.
    ///
    /// **Errors** if it is not symmetric and positive definite of the right size.
    pub fn with_moments(mut self, moments: &[f64]) -> Result<Self, Error> {
        let coefficients = self.coefficients();
        require_length("moments", moments, coefficients * coefficients)?;
        let requirement = "must be symmetric and positive definite";
        Cholesky::new(moments, coefficients).ok_or(Error::Key { key: "moments", requirement })?;
        self.moments = moments.to_vec();
        Ok(self)
    }

    /// The number of coefficients, the intercept included.
    pub fn coefficients(&self) -> usize {
        usize::from(self.intercept) + self.columns.len() - 1
    }

    /// Whether the first coefficient is an intercept.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The response's name, then the features'.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The coefficients' names: `intercept`, then the features'.
    pub(crate) fn names(&self) -> Vec<String> {
        let intercept = self.intercept.then(|| "intercept".to_owned());
        intercept.into_iter().chain(self.columns.iter().skip(1).cloned()).collect()
    }

    /// E[x·xᵀ] as declared.
    pub(crate) fn moments(&self) -> &[f64] {
        &self.moments
    }

    /// Writes N sums r_n·y + α_n + Σ_j β_nj·x_j in one pass, where r = `response` and `coefficients(j)` are the
    /// N sums' coefficients in the order of the parameters.
    #[inline(always)]
    pub(crate) fn combine<const N: usize>(
        &self,
        block: Block<'_>,
        response: [f64; N],
        coefficients: impl Fn(usize) -> [f64; N],
        outs: [&mut [f64]; N],
    ) {
        let skip = usize::from(self.intercept);
        let start = if self.intercept { coefficients(0) } else { [0.0; N] };
        let weights = |j: usize| (if j == 0 { response } else { coefficients(j - 1 + skip) }, 0.0);
        sum_columns(block, self.columns.len(), start, outs, weights, linear);
    }

    /// Writes residual·x_j for each coefficient, coordinate by coordinate.
    pub(crate) fn scores(&self, block: Block<'_>, residual: &[f64], out: &mut [f64]) {
        let skip = usize::from(self.intercept);
        for (j, out) in out.chunks_exact_mut(block.len().max(1)).enumerate().take(self.coefficients()) {
            out.copy_from_slice(residual);
            if j >= skip {
                fold_column(block.column(j - skip + 1), out, |residual, x| residual * x);
            }
        }
    }

    /// Σ ln p of the coefficients.
    pub(crate) fn log_prior(&self, at: &[f64]) -> f64 {
        self.priors.iter().zip(at).map(|(prior, at)| prior.log_density(*at)).sum()
    }

    /// Mean and precision of each coefficient, if all priors are normal or flat.
    pub(crate) fn normal_priors(&self) -> Option<Vec<(f64, f64)>> {
        self.priors.iter().map(Belief::normal).collect()
    }

    /// Its gradient.
    pub(crate) fn prior_gradient(&self, at: &[f64], out: &mut [f64]) {
        for ((out, prior), at) in out.iter_mut().zip(&self.priors).zip(at) {
            *out = prior.derivative(*at);
        }
    }

    /// Adds the priors' curvatures to the diagonal of `out`, whose rows are `width` long.
    pub(crate) fn prior_precision(&self, at: &[f64], width: usize, out: &mut [f64]) {
        for ((out, prior), at) in out.iter_mut().step_by(width + 1).zip(&self.priors).zip(at) {
            *out += prior.precision(*at);
        }
    }

    /// Draws the coefficients; false if one prior is improper.
    pub(crate) fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        out.iter_mut()
            .zip(&self.priors)
            .all(|(out, prior)| prior.sample(uniform).map(|draw| *out = draw).is_some())
    }

    /// Draws standard normal features into `row`, leaving the response, and returns η.
    pub(crate) fn simulate_features(
        &self,
        at: &[f64],
        uniform: &mut dyn FnMut() -> f64,
        row: &mut [f64],
    ) -> f64 {
        let skip = usize::from(self.intercept);
        let mut predictor = if self.intercept { at[0] } else { 0.0 };
        for (x, coefficient) in row.iter_mut().skip(1).zip(&at[skip..]) {
            *x = normal(uniform);
            predictor += coefficient * *x;
        }
        predictor
    }
}
