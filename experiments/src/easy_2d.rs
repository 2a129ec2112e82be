//! Quartiles of distances.

/// Lower quartile, median and upper quartile.
pub(crate) fn quartiles(values: Vec<f64>) -> [f64; 3] {
    crate::published::quartiles(&values).unwrap_or([f64::NAN; 3])
}
