//! Views a sample as points: one row per draw, all of one dimension, all finite.

use super::moments::Moments;

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

    /// How far the sample's mean and variance lie from a known posterior's, per coordinate and in its units.
    ///
    /// `None` if `mean` and `sd` are not of the sample's dimension, or a standard deviation is not positive and
    /// finite.
    ///
    /// ```
    /// use barkeep::diagnostics::Points;
    ///
    /// let sample = Points::new(&[0.0, 4.0, 8.0], 1).unwrap(); // mean 4, variance 16
    /// let distance = sample.distance_to(&[3.0], &[2.0]).unwrap();
    /// assert_eq!((distance.mean[0], distance.variance[0]), (0.5, 3.0));
    /// ```
    #[must_use]
    pub fn distance_to(&self, mean: &[f64], sd: &[f64]) -> Option<MomentDistance> {
        let scales = sd.iter().all(|sd| *sd > 0.0 && sd.is_finite());
        if mean.len() != self.dimension || sd.len() != self.dimension || !scales {
            return None;
        }
        let moments: Vec<Moments> =
            self.columns().iter().map(|column| Moments::of(column)).collect::<Option<_>>()?;
        let each = || moments.iter().zip(mean).zip(sd);
        Some(MomentDistance {
            mean: each().map(|((found, mean), sd)| (found.mean - mean).abs() / sd).collect(),
            variance: each()
                .map(|((found, _), sd)| {
                    // As a product, so that close variances do not cancel and large ones do not overflow early.
                    let ratio = found.sd / sd;
                    (ratio - 1.0).abs() * (ratio + 1.0)
                })
                .collect(),
        })
    }
}

/// Distances of a sample's moments from a posterior with mean m and standard deviation s, per coordinate.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MomentDistance {
    /// |m̂ − m|/s.
    pub mean: Vec<f64>,
    /// |v̂ − s²|/s², v̂ with divisor n − 1.
    pub variance: Vec<f64>,
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

    #[test]
    fn distances_are_per_coordinate() {
        // Coordinate 1: mean 2, variance 1; coordinate 2: mean 20, variance 300.
        let points = Points::new(&[1.0, 10.0, 2.0, 40.0, 3.0, 10.0], 2).unwrap();
        let found = points.distance_to(&[3.0, 20.0], &[2.0, 10.0]).unwrap();
        assert_eq!(found.mean, [0.5, 0.0]);
        assert!((found.variance[0] - 0.75).abs() < 1e-15);
        assert!((found.variance[1] - 2.0).abs() < 1e-14);
    }

    #[test]
    fn refuses_a_posterior_of_another_shape() {
        let points = Points::new(&[1.0, 2.0], 1).unwrap();
        assert_eq!(points.distance_to(&[1.0, 2.0], &[1.0]), None);
        for sd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(points.distance_to(&[1.0], &[sd]), None);
        }
    }
}
