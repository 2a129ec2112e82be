//! Describes gradients and log-ratios that are affine in a record: the curator sums them without writing them first.

/// A gradient whose coordinate j is w_j·(x_j − c_j), with lean·(x_2 − c_2) added to the first; or a log-ratio, which is the sum of such
/// coordinates.
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
    /// Replaces it by the one with these pairs of w_j and c_j, without a lean.
    pub fn replace(&mut self, terms: impl Iterator<Item = (f64, f64)>) {
        self.weights.clear();
        self.centres.clear();
        terms.for_each(|(weight, centre)| {
            self.weights.push(weight);
            self.centres.push(centre);
        });
        self.lean = 0.0;
    }

    /// Whether it has `dimension` coordinates and reads at most `columns` columns.
    #[must_use]
    pub fn fits(&self, dimension: usize, columns: usize) -> bool {
        let leans_on = if self.lean == 0.0 { 0 } else { 2 };
        [self.weights.len(), self.centres.len()] == [dimension; 2]
            && dimension.max(leans_on) <= columns
            && dimension >= leans_on
    }
}

#[cfg(test)]
mod tests;
