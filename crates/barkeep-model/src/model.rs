//! Defines what a model owes the curator: per-record log densities and gradients, a block at a time.

use barkeep_data::{Block, Schema};

use crate::{Affine, Scratch, Statistics};

/// A likelihood ln p(x|θ) of single records and a prior on θ ∈ ℝᵈ.
///
/// Parameters are unconstrained; a model with constrained ones maps them by a [`Transform`](crate::Transform)
/// and puts the log-Jacobian into its prior. Terms are per record: a model never clips, rounds or sums over
/// records, and its work does not depend on what they say.
///
/// **Privacy.** Models are trusted code: they see records, and what they write goes to the curator alone.
/// They hold no state that a record could change (`&self`, no interior mutability).
///
/// Lengths are the caller's promise, which the curator checks once: `at`, `from`, `to` have
/// [`dimension`](Model::dimension) entries, a block has [`columns`](Model::columns) columns, `out` is as long
/// as stated.
pub trait Model: Send + Sync {
    /// The model's name as a spec spells it.
    fn name(&self) -> &'static str;

    /// The number d of parameters.
    fn dimension(&self) -> usize {
        self.parameter_names().len()
    }

    /// The parameters' names, in order.
    fn parameter_names(&self) -> &[String];

    /// The number of data columns read, the first ones of every block.
    fn columns(&self) -> usize {
        self.column_names().len()
    }

    /// What the data columns mean, in order; simulated records are named so.
    fn column_names(&self) -> &[String];

    /// Writes ln p(x_i|θ) for each record to `out`, which is as long as the block.
    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch);

    /// Writes ln p(x_i|θ') − ln p(x_i|θ) for each record to `out`, which is as long as the block.
    ///
    /// **Precision.** This default subtracts and so cancels; models override it where a closed form exists.
    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        let mut at_from = std::mem::take(&mut scratch.difference);
        at_from.resize(block.len(), 0.0);
        self.log_density(block, from, &mut at_from, scratch);
        self.log_density(block, to, out, scratch);
        for (out, at_from) in out.iter_mut().zip(&at_from) {
            *out -= at_from;
        }
        scratch.difference = at_from;
    }

    /// Writes ∂ ln p(x_i|θ)/∂θ_j to `out[j·len + i]`, where len is the block's length.
    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch);

    /// Writes the gradient at θ as an affine function of the record and returns true; returns false where it is not one of
    /// that form.
    ///
    /// **Precision.** [`gradient`](Model::gradient) writes the same bits, but for the sign of zeros: fl(w·fl(x − c)), and
    /// the first coordinate with lean·fl(x₂ − c₂) added in one rounding unless the lean is 0.
    fn affine_gradient(&self, _at: &[f64], _out: &mut Affine) -> bool {
        false
    }

    /// ln p(θ), up to a constant if the prior is improper.
    fn log_prior(&self, theta: &[f64]) -> f64;

    /// Writes ∂ ln p(θ)/∂θ_j to `out[j]`.
    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]);

    /// Writes the expected information of one record, E[∇ℓ·∇ℓᵀ] under p(x|θ), to `out` (d×d, row-major) and
    /// returns true; returns false where it is not known.
    ///
    /// **Privacy.** Public: computed from the model and declared facts, never from records.
    fn fisher(&self, _at: &[f64], _out: &mut [f64]) -> bool {
        false
    }

    /// Writes a positive semidefinite curvature of −ln p(θ) to `out` (d×d, row-major): the prior's share of
    /// a preconditioner. The default is zero, a flat prior's.
    fn prior_precision(&self, _at: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// A bound on ‖∇ ln p(x|θ)‖₂ for every θ and every record the schema admits, so that nothing need be
    /// clipped; `None` where there is none. Rounded up.
    ///
    /// It also bounds |log ratio| by itself times ‖θ'−θ‖.
    fn lipschitz(&self, _schema: &Schema) -> Option<f64> {
        None
    }

    /// The least and the largest ln p(x|θ') − ln p(x|θ) over all records the schema admits; `None` where that is not known.
    fn log_ratio_range(&self, _schema: &Schema, _from: &[f64], _to: &[f64]) -> Option<(f64, f64)> {
        None
    }

    /// The records' sufficient statistics under the schema's public bounds.
    ///
    /// **Errors** why there are none.
    fn statistics(&self, _schema: &Schema) -> Result<Box<dyn Statistics + '_>, &'static str> {
        Err(
            "needs a model whose posterior follows from sums over records: \"gaussian\" or a linear regression",
        )
    }

    /// A bound on ‖A·∇ ln p(x|θ)‖₂ for every θ and every record the schema admits, A a d×d matrix given row by row: tighter
    /// than A's norm times [`lipschitz`](Model::lipschitz). `None` where none is known.
    ///
    /// **Precision.** To 1e-9 relative, not rounded up.
    fn lipschitz_through(&self, _schema: &Schema, _matrix: &[f64]) -> Option<f64> {
        None
    }

    /// Whether single gradients may be far longer than they are on average, because a response's law is skewed or real
    /// responses do not follow it: a clip then has to be wide, lest it biases.
    fn has_long_gradients(&self) -> bool {
        false
    }

    /// Draws θ from the prior with `uniform` (independent, uniform on the open interval (0, 1)) and returns
    /// true; returns false if the prior is improper.
    fn sample_prior(&self, _uniform: &mut dyn FnMut() -> f64, _out: &mut [f64]) -> bool {
        false
    }

    /// Simulates one record at θ into `row`, one value per column, with `uniform` as in
    /// [`sample_prior`](Model::sample_prior).
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]);

    /// Draws the response of a record into `row[0]`, given its other columns there, with `uniform` as in
    /// [`sample_prior`](Model::sample_prior), and returns true; returns false for a model of whole records.
    fn respond(&self, _at: &[f64], _uniform: &mut dyn FnMut() -> f64, _row: &mut [f64]) -> bool {
        false
    }
}
