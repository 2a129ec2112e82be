//! Measures how far two samples are apart by the maximum mean discrepancy with a Gaussian kernel.
//!
//! MMD² = E k(x,x') + E k(y,y') − 2 E k(x,y) with k(x,y) = exp(−‖x−y‖²/(2w²)) vanishes only between equal
//! distributions (Gretton, Borgwardt, Rasch, Schölkopf and Smola 2012, "A kernel two-sample test", JMLR 13).
//! [`mmd`] is the distance in the tables of the thesis on DP Metropolis–Hastings, as its code computes it.

use barkeep_num::vector;

use super::moments::{quantile, sorted};
use super::points::Points;
use crate::public_rng::PublicRng;

#[cfg(test)]
mod tests;

/// How many pairs the width rule draws: 500 in the thesis' code, where its text says 50.
pub const WIDTH_PAIRS: usize = 500;

/// How many squared distances are held at a time: few enough for the first-level cache.
const BLOCK: usize = 1024;

/// Both estimates of MMD² between samples of n and m points.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct SquaredMmd {
    /// The U-statistic: pairs of a point with itself are left out. Unbiased, so it may be negative; `None` if a
    /// sample has a single point.
    pub unbiased: Option<f64>,
    /// The V-statistic: all pairs count. The squared distance of the two empirical distributions, so never
    /// negative but for rounding, and too large by about (2 − E k(x,x') − E k(y,y'))/n for equal n = m.
    pub biased: f64,
}

/// Estimates MMD² between two samples for a kernel of the given `width` w.
///
/// With S_xx = Σ_{i<j} k(x_i,x_j), S_yy alike and S_xy = Σ_{i,j} k(x_i,y_j):
/// U = 2S_xx/(n(n−1)) + 2S_yy/(m(m−1)) − 2S_xy/(nm) and V = (2S_xx+n)/n² + (2S_yy+m)/m² − 2S_xy/(nm).
///
/// `None` if the samples differ in dimension or `width` is not a positive normal number. Work (n+m)²d/2, memory
/// (n+m)d.
///
/// **Precision.** Differences are taken before they are scaled, so a common offset of the samples costs nothing;
/// absolute error of about 1e-15, which is what matters for U near 0.
///
/// ```
/// use barkeep::diagnostics::{Points, mmd::squared_mmd};
///
/// let (x, y) = ([0.0, 1.0], [0.0, 1.0]);
/// let (x, y) = (Points::new(&x, 1).unwrap(), Points::new(&y, 1).unwrap());
/// let found = squared_mmd(&x, &y, 1.0).unwrap();
/// assert!(found.biased.abs() < 1e-15);
/// // 2e^{−1/2} − (2 + 2e^{−1/2})/2: a sample is closer to itself than chance, and U says so.
/// assert!((found.unbiased.unwrap() - ((-0.5_f64).exp() - 1.0)).abs() < 1e-15);
/// ```
#[must_use]
pub fn squared_mmd(x: &Points<'_>, y: &Points<'_>, width: f64) -> Option<SquaredMmd> {
    if x.dimension() != y.dimension() || width <= 0.0 || !width.is_normal() {
        return None;
    }
    let (n, m) = (x.len() as f64, y.len() as f64);
    let (x_columns, y_columns) = (x.columns(), y.columns());
    let mut kernel = Kernel { inverse_width: 1.0 / width, buffer: [0.0; BLOCK] };
    let mut within = |points: &Points<'_>, columns: &[Vec<f64>]| -> f64 {
        points.rows().enumerate().map(|(i, row)| kernel.sum(row, columns, i + 1)).sum()
    };
    let (s_xx, s_yy) = (within(x, &x_columns), within(y, &y_columns));
    let s_xy: f64 = x.rows().map(|row| kernel.sum(row, &y_columns, 0)).sum();
    let cross = 2.0 * s_xy / (n * m);
    Some(SquaredMmd {
        unbiased: (x.len() > 1 && y.len() > 1)
            .then(|| 2.0 * s_xx / (n * (n - 1.0)) + 2.0 * s_yy / (m * (m - 1.0)) - cross),
        biased: (2.0 * s_xx + n) / (n * n) + (2.0 * s_yy + m) / (m * m) - cross,
    })
}

/// The kernel, with room for a block of its values.
struct Kernel {
    inverse_width: f64,
    buffer: [f64; BLOCK],
}

impl Kernel {
    /// Σ_{j ≥ from} k(point, y_j), the points y given coordinate by coordinate.
    fn sum(&mut self, point: &[f64], columns: &[Vec<f64>], from: usize) -> f64 {
        let count = columns.first().map_or(0, Vec::len);
        let mut total = 0.0;
        for start in (from..count).step_by(BLOCK) {
            let end = count.min(start + BLOCK);
            let block = &mut self.buffer[..end - start];
            block.fill(0.0);
            for (coordinate, column) in point.iter().zip(columns) {
                for (square, other) in block.iter_mut().zip(&column[start..end]) {
                    // Finite numbers and a finite factor: infinite at worst, and exp(−∞) = 0; never 0·∞.
                    let difference = (coordinate - other) * self.inverse_width;
                    *square += difference * difference;
                }
            }
            block.iter_mut().for_each(|square| *square *= -0.5);
            vector::exp(block);
            total += lane_sum(block);
        }
        total
    }
}

/// Sums in eight lanes, so that additions need not wait for one another.
fn lane_sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().sum::<f64>()
}

/// The kernel width by the thesis' rule: the median of [`WIDTH_PAIRS`] distances ‖x_i − y_j‖, i and j drawn uniformly
/// with replacement.
///
/// The width is random; repeated on the same samples the MMD varies with standard deviation 0.004 to 0.006.
/// `None` if the samples differ in dimension.
#[must_use]
pub fn median_width(x: &Points<'_>, y: &Points<'_>, rng: &mut PublicRng) -> Option<f64> {
    if x.dimension() != y.dimension() {
        return None;
    }
    let (x, y): (Vec<&[f64]>, Vec<&[f64]>) = (x.rows().collect(), y.rows().collect());
    let distances = (0..WIDTH_PAIRS)
        .map(|_| {
            let (from, to) = (x[rng.index(x.len())], y[rng.index(y.len())]);
            from.iter().zip(to).fold(0.0_f64, |length, (from, to)| length.hypot(from - to))
        })
        .collect();
    quantile(&sorted(distances)?, 0.5)
}

/// The thesis' distance between samples: √|U| with the width of [`median_width`].
///
/// `None` if the samples differ in dimension, one has a single point, or the width is 0, as when more than half
/// of the pairs coincide.
#[must_use]
pub fn mmd(x: &Points<'_>, y: &Points<'_>, rng: &mut PublicRng) -> Option<f64> {
    let width = median_width(x, y, rng)?;
    squared_mmd(x, y, width)?.unbiased.map(|squared| squared.abs().sqrt())
}
