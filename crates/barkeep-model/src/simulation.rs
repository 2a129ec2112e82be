//! Draws public records from a model, for demonstrations, tests and the papers' experiments.

use barkeep_data::{Schema, Table, TableBuilder};

use crate::error::{require_finite, require_length};
use crate::{Error, Model};

/// A table of `records` independent records simulated from `model` at θ.
///
/// `uniform` gives independent variates, uniform on the open interval (0, 1). The table's columns are
/// unbounded reals: values are kept as drawn.
///
/// # Errors
/// θ has the wrong length or is not finite, or `records` is 0 or too large for the memory.
pub fn simulate(
    model: &dyn Model,
    theta: &[f64],
    records: usize,
    uniform: &mut dyn FnMut() -> f64,
) -> Result<Table, Error> {
    require_length("theta", theta, model.dimension())?;
    require_finite("theta", theta)?;
    let mut builder = TableBuilder::new(Schema::unbounded(model.column_names())?, records)?;
    let mut row = vec![0.0; model.columns()];
    for _ in 0..records {
        model.simulate(theta, uniform, &mut row);
        builder.push_row(&row)?;
    }
    Ok(builder.finish()?)
}
