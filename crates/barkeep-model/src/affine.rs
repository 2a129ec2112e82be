//! Describes gradients that are affine in a record, so that they need not be written before they are summed.

/// A gradient whose coordinate j is w_j·(x_j − c_j), with lean·(x_2 − c_2) added to the first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Affine {
    /// w, one entry per coordinate.
    pub weights: Vec<f64>,
    /// c, one entry per coordinate.
    pub centres: Vec<f64>,
    /// What the second column adds to the first coordinate; 0 unless there are two.
    pub lean: f64,
}
