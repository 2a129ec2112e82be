//! Defines the public side of a model: names, prior, information, bounds and simulation.

use barkeep_data::Schema;

use crate::statistics::NO_STATISTICS;
use crate::{Regression, Statistics};

/// What people read in place of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadAs {
    /// The parameter.
    Itself,
    /// The location of this column of those the model reads, in that column's own unit.
    LocationOf(usize),
    /// The quantity of this name, of which the parameter is the logarithm.
    LogOf(&'static str),
    /// The share of this name, of which the parameter is the log-odds.
    LogOddsOf(&'static str),
    /// [Quantities](Model::quantities) of the model.
    Quantities,
}

/// The public facts of a model: everything a sampler may know of it without looking at a record.
///
/// Parameters are unconstrained; a model with constrained ones maps them by a [`Transform`](crate::Transform) and puts
/// the log-Jacobian into its prior. What reads records is the [`Likelihood`](crate::Likelihood), which a type
/// implements beside this trait; the two must agree on the numbers of parameters and columns.
///
/// **Privacy.** Nothing here is given a record: results follow from the model's constants, the schema and θ, all public.
///
/// Lengths are the caller's promise: `theta`, `from`, `to` have one entry per parameter, `out` is as long as stated.
pub trait Model: Send + Sync {
    /// The parameters' names, in order; there are d.
    fn parameter_names(&self) -> &[String];

    /// What the data columns mean, in order; simulated records are named so.
    fn column_names(&self) -> &[String];

    /// ln p(θ), up to a constant if the prior is improper.
    fn log_prior(&self, theta: &[f64]) -> f64;

    /// Writes ∂ ln p(θ)/∂θ_j to `out[j]`; given wherever [`Likelihood::has_gradient`](crate::Likelihood::has_gradient).
    fn prior_gradient(&self, _theta: &[f64], out: &mut [f64]) {
        out.fill(f64::NAN);
    }

    /// Writes the expected information of one record, E[∇ℓ·∇ℓᵀ] under p(x|θ), to `out` (d×d, row-major) and
    /// returns true; returns false where it is not known.
    fn fisher(&self, _theta: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// Writes a positive semidefinite curvature of −ln p(θ) to `out` (d×d, row-major): the prior's share of
    /// a preconditioner. The default is zero, a flat prior's.
    fn prior_precision(&self, _theta: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// A bound on ‖∇ ln p(x|θ)‖₂ for every θ and every record the schema admits: at this clip no record is clipped.
    /// `None` where there is none. Rounded up.
    ///
    /// It also bounds |log ratio| by itself times ‖θ'−θ‖.
    fn lipschitz(&self, _schema: &Schema) -> Option<f64> {
        None
    }

    /// A bound on ‖A·∇ ln p(x|θ)‖₂ for every θ and every record the schema admits, A a d×d matrix given row by row: tighter
    /// than A's norm times [`lipschitz`](Model::lipschitz). `None` where none is known.
    ///
    /// **Precision.** To 1e-9 relative, not rounded up.
    fn lipschitz_through(&self, _schema: &Schema, _matrix: &[f64]) -> Option<f64> {
        None
    }

    /// A bound on the largest eigenvalue of A·H·Aᵀ, H the mean over records of −∂² ln p(x|θ) wherever the schema lets their
    /// columns lie, A a d×d matrix given row by row. Parameters beside coefficients are left out. `None` where the
    /// information of [`fisher`](Model::fisher) rests on no guess of columns.
    ///
    /// Dynamics whose whitening rests on such a guess oscillate, and with a free scale settle at a wrong point, if
    /// their steps are longer than four over it.
    fn stiffness_through(&self, _schema: &Schema, _theta: &[f64], _matrix: &[f64]) -> Option<f64> {
        None
    }

    /// The least and the largest ln p(x|θ') − ln p(x|θ) over all records the schema admits; `None` where that is not known.
    fn log_ratio_range(&self, _schema: &Schema, _from: &[f64], _to: &[f64]) -> Option<(f64, f64)> {
        None
    }

    /// Whether single gradients may be far longer than they are on average, because a response's law is skewed or real
    /// responses do not follow it. A clip then has to be wide: a narrow one biases the posterior.
    fn has_long_gradients(&self) -> bool {
        false
    }

    /// The regression that this model is, if it is one: expectations over its responses are public.
    fn regression(&self) -> Option<&Regression> {
        None
    }

    /// What is public of the records' sufficient statistics under the schema's bounds.
    ///
    /// # Errors
    /// The reason why there are none.
    fn statistics(&self, _schema: &Schema) -> Result<Box<dyn Statistics + '_>, &'static str> {
        Err(NO_STATISTICS)
    }

    /// Draws θ from the prior with `uniform` (independent, uniform on the open interval (0, 1)) and returns
    /// true; returns false if the prior is improper.
    fn sample_prior(&self, _uniform: &mut dyn FnMut() -> f64, _out: &mut [f64]) -> bool {
        false
    }

    /// Whether [`simulate`](Model::simulate) draws records from the model's own law; a bare log density has no draws.
    fn simulates(&self) -> bool {
        true
    }

    /// How many uniforms [`simulate`](Model::simulate) takes for a record, where it draws by inversion from the very law whose density
    /// the likelihood is; `None` elsewhere, and for models of responses given features.
    fn uniforms(&self) -> Option<usize> {
        None
    }

    /// The names of further quantities that people read, such as `shape` where the parameter is its logarithm.
    fn quantity_names(&self) -> &[String] {
        &[]
    }

    /// Those quantities at θ.
    fn quantities(&self, _theta: &[f64]) -> Vec<f64> {
        Vec::new()
    }

    /// What people read in place of a parameter, by its position.
    fn read_as(&self, _parameter: usize) -> ReadAs {
        ReadAs::Itself
    }

    /// Simulates one record at θ into `row`, one value per column, with `uniform` as in
    /// [`sample_prior`](Model::sample_prior).
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]);

    /// The places of the columns that [`respond`](Model::respond) draws given the others; none for a model of whole records.
    fn responses(&self) -> &[usize] {
        &[]
    }

    /// Whether [`respond`](Model::respond) may draw a response as censored, so that it is not what its law would give.
    fn censors(&self) -> bool {
        false
    }

    /// Draws the responses of a record into their places of `row`, given its other columns there, with `uniform` as in
    /// [`sample_prior`](Model::sample_prior).
    fn respond(&self, _theta: &[f64], _uniform: &mut dyn FnMut() -> f64, _row: &mut [f64]) {}
}

/// Counts that follow from the names; inherent, so that a type with both traits in scope has one `dimension`, its
/// likelihood's.
impl dyn Model + '_ {
    /// The number d of parameters.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.parameter_names().len()
    }

    /// The number of data columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.column_names().len()
    }
}
