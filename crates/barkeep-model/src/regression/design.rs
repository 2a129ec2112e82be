//! Describes what regressions share: a response, features, coefficients with priors, and η = o + α + Σ_j β_j·x_j.

use barkeep_data::Schema;
use barkeep_machine::{Source, Writer};
use barkeep_num::up_by;

use crate::error::{require_finite, require_length, require_positive};
use crate::variates::normal;
use crate::{Belief, Error, Prior, Transform};
use barkeep_num::linear::{Cholesky, diagonal, dot};

/// The trials of a binomial response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Trials {
    /// The same for every record.
    Fixed(f64),
    /// A column's; the number is a public guess of them.
    Column(f64),
}

/// The public layout of a regression. A block's first column is the response, then come the trials and the offset o,
/// if the design has them, then the features.
///
/// Coefficients are in the order intercept (if any), then features.
pub struct Design {
    columns: Vec<String>,
    features: usize,
    intercept: bool,
    trials: Trials,
    offset: bool,
    /// E[o], and ln E[e^o].
    typical_offset: (f64, f64),
    priors: Vec<Belief>,
    moments: Vec<f64>,
    means: Vec<f64>,
    corners: Vec<f64>,
}

impl Design {
    /// A design with the same prior for every coefficient, one trial and no offset.
    ///
    /// # Errors
    /// There is neither a feature nor an intercept, or the prior is not one on the real line.
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
        let moments = diagonal(&vec![1.0; coefficients]);
        let mut means = vec![0.0; coefficients];
        means.iter_mut().take(usize::from(intercept)).for_each(|mean| *mean = 1.0);
        let count = features.len();
        let columns = std::iter::once(response.into()).chain(features).collect();
        let trials = Trials::Fixed(1.0);
        Self {
            columns,
            features: count,
            intercept,
            trials,
            offset: false,
            typical_offset: (0.0, 0.0),
            priors: vec![],
            moments,
            means,
            corners: vec![],
        }
        .with_priors(&vec![prior; coefficients])
    }

    /// The same design for a binomial response, every record with this number of trials.
    ///
    /// # Errors
    /// `trials` is not finite and above 0.
    pub fn with_fixed_trials(mut self, trials: f64) -> Result<Self, Error> {
        require_positive("trials", &[trials])?;
        self.trials = Trials::Fixed(trials);
        Ok(self)
    }

    /// The same design for a binomial response whose trials are the second column; `typical` is a public guess of them.
    /// Must come before [`with_offset`](Self::with_offset).
    ///
    /// # Errors
    /// `typical` is not finite and above 0.
    pub fn with_trials(mut self, column: impl Into<String>, typical: f64) -> Result<Self, Error> {
        require_positive("trials", &[typical])?;
        self.trials = Trials::Column(typical);
        self.columns.insert(1, column.into());
        Ok(self)
    }

    /// The same design with a column o that is added to η as it is; it comes right before the features. `typical` is a
    /// public guess of `E[o]` and `ln E[e^o]`.
    ///
    /// # Errors
    /// One of the guesses is not finite.
    pub fn with_offset(mut self, column: impl Into<String>, typical: (f64, f64)) -> Result<Self, Error> {
        require_finite("offset", &[typical.0, typical.1])?;
        let place = self.columns.len() - self.features;
        self.columns.insert(place, column.into());
        self.offset = true;
        self.typical_offset = typical;
        Ok(self)
    }

    /// The same design with a prior for each coefficient.
    ///
    /// # Errors
    /// There are not as many priors as coefficients, or one is not a prior on the real line.
    pub fn with_priors(mut self, priors: &[Prior]) -> Result<Self, Error> {
        let expected = self.coefficients();
        if priors.len() != expected {
            return Err(Error::Length { key: "priors", expected });
        }
        let belief = |prior: &Prior| Belief::new(*prior, Transform::Identity, "priors");
        self.priors = priors.iter().map(belief).collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// The same design with a public guess of `E[x]` and `E[x·xᵀ]` (x with a leading 1 if there is an intercept; row by
    /// row), from which the expected information follows. Without it features count as standardised.
    ///
    /// # Errors
    /// The moments are not symmetric and positive definite, or a length is wrong.
    pub fn with_moments(mut self, means: &[f64], moments: &[f64]) -> Result<Self, Error> {
        let coefficients = self.coefficients();
        require_length("means", means, coefficients)?;
        require_finite("means", means)?;
        require_length("moments", moments, coefficients * coefficients)?;
        let requirement = "must be symmetric and positive definite";
        Cholesky::new(moments, coefficients).ok_or(Error::Key { key: "moments", requirement })?;
        self.moments = moments.to_vec();
        self.means = means.to_vec();
        Ok(self)
    }

    /// The same design with feature vectors (a leading 1 if there is an intercept; one after the other) among which
    /// ‖A·x‖ is largest for every matrix A, over all records the bounds and levels allow. None means not known.
    ///
    /// # Errors
    /// They are not whole vectors or not finite.
    pub fn with_corners(mut self, corners: &[f64]) -> Result<Self, Error> {
        if !corners.len().is_multiple_of(self.coefficients()) {
            return Err(Error::Length { key: "corners", expected: self.coefficients() });
        }
        require_finite("corners", corners)?;
        self.corners = corners.to_vec();
        Ok(self)
    }

    /// The largest ‖A·x‖₂ over the corners, A having as many columns as `width` and its further columns left out.
    pub(crate) fn reach_through(&self, matrix: &[f64], width: usize) -> Option<f64> {
        let k = self.coefficients();
        let length = |corner: &[f64]| {
            matrix.chunks_exact(width).map(|row| dot(&row[..k], corner).powi(2)).sum::<f64>().sqrt()
        };
        self.corners.chunks_exact(k).map(length).reduce(f64::max)
    }

    /// The number of coefficients, the intercept included.
    pub fn coefficients(&self) -> usize {
        usize::from(self.intercept) + self.features
    }

    /// Whether the first coefficient is an intercept.
    pub(crate) fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// Whether a column is added to η as it is.
    pub(crate) fn has_offset(&self) -> bool {
        self.offset
    }

    /// The number of columns before the features.
    pub(crate) fn lead(&self) -> usize {
        self.columns.len() - self.features
    }

    /// The trials of a response.
    pub(crate) fn trials(&self) -> Trials {
        self.trials
    }

    /// The logarithm of E[e^η] if η were normal with the declared moments, but for the offset; and E[η].
    pub(crate) fn typical_predictor(&self, theta: &[f64]) -> (f64, f64) {
        let k = self.coefficients();
        let theta = &theta[..k];
        let mean = dot(theta, &self.means);
        let square: f64 =
            theta.iter().zip(self.moments.chunks_exact(k)).map(|(b, row)| b * dot(row, theta)).sum();
        let (offset, log_offset) = self.typical_offset;
        (log_offset + mean + 0.5 * (square - mean * mean).max(0.0), offset + mean)
    }

    /// A bound on ‖x‖₂, with 1 for an intercept, and the most trials, over the columns' ranges. Rounded up.
    pub(crate) fn reach(&self, schema: &Schema) -> Option<(f64, f64)> {
        let columns = schema.columns().get(..self.columns.len())?;
        let trials = match self.trials {
            Trials::Fixed(trials) => trials,
            Trials::Column(_) => columns.get(1)?.range().1,
        };
        let mut squares = if self.intercept { 1.0 } else { 0.0 };
        for column in columns.get(self.lead()..)? {
            let (low, high) = column.range();
            let largest = low.abs().max(high.abs());
            squares += largest * largest;
        }
        // Each of the features' products and sums and the root err by half an ulp at most.
        let length = up_by(squares.sqrt(), u32::try_from(self.features).ok()?.checked_add(3)?);
        Some((length, trials))
    }

    /// The columns' names: response, trials, offset, features.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The coefficients' names: `intercept`, then the features'.
    pub(crate) fn names(&self) -> Vec<String> {
        let intercept = self.intercept.then(|| "intercept".to_owned());
        intercept.into_iter().chain(self.columns.iter().skip(self.lead()).cloned()).collect()
    }

    /// E[x·xᵀ] as declared.
    pub(crate) fn moments(&self) -> &[f64] {
        &self.moments
    }

    /// Writes r·y + q·o + α + Σ_j β_j·x_j to a program, in the order of the columns; those whose weight is 0 are not read.
    pub(crate) fn write_line(
        &self,
        w: &mut Writer,
        (response, offset): (f64, f64),
        coefficients: impl Fn(usize) -> f64,
    ) -> Source {
        let (skip, lead) = (usize::from(self.intercept), self.lead());
        let start = if self.intercept { coefficients(0) } else { 0.0 };
        let weight = |j: usize| match j {
            0 => response,
            _ if j >= lead => coefficients(j - lead + skip),
            _ if self.offset && j + 1 == lead => offset,
            _ => 0.0,
        };
        let terms = (0..self.columns.len()).map(|j| (weight(j), Source::Column(j as u32)));
        w.dot(start, terms.filter(|(weight, _)| *weight != 0.0))
    }

    /// Σ ln p of the coefficients.
    pub(crate) fn log_prior(&self, theta: &[f64]) -> f64 {
        self.priors.iter().zip(theta).map(|(prior, theta)| prior.log_density(*theta)).sum()
    }

    /// Mean and precision of each coefficient, if all priors are normal or flat.
    pub(crate) fn normal_priors(&self) -> Option<Vec<(f64, f64)>> {
        self.priors.iter().map(Belief::normal).collect()
    }

    /// The gradient of [`log_prior`](Self::log_prior).
    pub(crate) fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        for ((out, prior), theta) in out.iter_mut().zip(&self.priors).zip(theta) {
            *out = prior.derivative(*theta);
        }
    }

    /// Adds the priors' curvatures to the diagonal of `out`, whose rows are `width` long. They are taken at the priors'
    /// centres: a preconditioner must not depend on the position because of a heavy-tailed prior alone.
    pub(crate) fn prior_precision(&self, width: usize, out: &mut [f64]) {
        for (out, prior) in out.iter_mut().step_by(width + 1).zip(&self.priors) {
            *out += prior.central_precision().unwrap_or(0.0);
        }
    }

    /// Draws the coefficients; false if one prior is improper.
    pub(crate) fn sample_prior(&self, uniform: &mut dyn FnMut() -> f64, out: &mut [f64]) -> bool {
        out.iter_mut()
            .zip(&self.priors)
            .all(|(out, prior)| prior.sample(uniform).map(|draw| *out = draw).is_some())
    }

    /// Draws standard normal features into `row`, typical trials and no offset, leaving the response.
    pub(crate) fn simulate_features(&self, uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        let lead = self.lead();
        row.iter_mut().take(lead).for_each(|cell| *cell = 0.0);
        if let (Trials::Column(typical), Some(cell)) = (self.trials, row.get_mut(1)) {
            *cell = typical.ceil();
        }
        row.iter_mut().skip(lead).for_each(|x| *x = normal(uniform));
    }

    /// η and the trials of one record.
    pub(crate) fn predictor(&self, theta: &[f64], row: &[f64]) -> (f64, f64) {
        let (skip, lead) = (usize::from(self.intercept), self.lead());
        let start = if self.intercept { theta[0] } else { 0.0 };
        let offset = if self.offset { row[lead - 1] } else { 0.0 };
        let trials = match self.trials {
            Trials::Fixed(trials) => trials.floor(),
            Trials::Column(_) => row[1],
        };
        let terms = row[lead..].iter().zip(&theta[skip..]).map(|(x, coefficient)| coefficient * x);
        (terms.fold(start + offset, |sum, term| sum + term), trials)
    }
}
