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

impl Affine {
    /// Whether it has so many coordinates and asks for no more than so many columns.
    #[must_use]
    pub fn fits(&self, dimension: usize, columns: usize) -> bool {
        let leans_on = if self.lean == 0.0 { 0 } else { 2 };
        [self.weights.len(), self.centres.len()] == [dimension; 2]
            && dimension.max(leans_on) <= columns
            && dimension >= leans_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_its_coordinates_and_columns_fits() {
        let affine =
            |length: usize, lean| Affine { weights: vec![1.0; length], centres: vec![0.0; length], lean };
        assert!(affine(2, 0.5).fits(2, 2) && affine(1, 0.0).fits(1, 1) && affine(2, 0.0).fits(2, 3));
        // Too few or too many coordinates, too few columns, nothing to lean on.
        assert!(!affine(1, 0.0).fits(2, 2) && !affine(3, 0.0).fits(2, 3));
        assert!(!affine(3, 0.0).fits(3, 2) && !affine(1, 0.5).fits(1, 2));
        assert!(!Affine { centres: vec![0.0], ..affine(2, 0.0) }.fits(2, 2));
    }
}
