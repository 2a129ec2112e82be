//! Views a sample as points: one row per draw, all of one dimension, all finite.

/// A sample of points in R^d, borrowed row after row as [`Draws::pooled`](crate::run::draws::Draws::pooled) and
/// [`Chain::values`](crate::run::draws::Chain::values) give it.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    dimension: usize,
    values: &'a [f64],
}

impl<'a> Points<'a> {
    /// Reads `values` as points of `dimension` coordinates each.
    ///
    /// `None` if there is no point, the numbers do not fill whole points, or one of them is not finite.
    #[must_use]
    pub fn new(values: &'a [f64], dimension: usize) -> Option<Self> {
        let whole = dimension > 0 && !values.is_empty() && values.len().is_multiple_of(dimension);
        (whole && values.iter().all(|value| value.is_finite())).then_some(Self { dimension, values })
    }

    /// The number of points, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a sample without points is refused")]
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// The number of coordinates of a point, at least 1.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The points in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        self.values.chunks_exact(self.dimension)
    }

    /// Each coordinate's values over all points, by coordinate.
    #[must_use]
    pub fn columns(&self) -> Vec<Vec<f64>> {
        (0..self.dimension).map(|j| self.rows().map(|row| row[j]).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_no_sample() {
        assert!(Points::new(&[], 1).is_none());
        assert!(Points::new(&[1.0, 2.0, 3.0], 2).is_none());
        assert!(Points::new(&[1.0], 0).is_none());
        assert!(Points::new(&[1.0, f64::NAN], 1).is_none());
        let points = Points::new(&[1.0, 2.0, 3.0, 4.0], 2).unwrap();
        assert_eq!((points.len(), points.dimension()), (2, 2));
        assert_eq!(points.columns(), [[1.0, 3.0], [2.0, 4.0]]);
    }
}
