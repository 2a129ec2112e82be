//! Sums numbers up for pictures: quantiles, and smooth densities.

use barkeep::diagnostics::moments::{Moments, quantile, sorted};
use barkeep::diagnostics::shown;

/// Points of a density.
const POINTS: usize = 90;

/// The 5.5 %, 50 % and 94.5 % quantiles; nothing where a number is not finite.
pub(crate) fn quantiles(values: Vec<f64>) -> Option<[f64; 3]> {
    let ordered = sorted(values)?;
    Some([quantile(&ordered, 0.055)?, quantile(&ordered, 0.5)?, quantile(&ordered, 0.945)?])
}

/// An interval, to the second digit of `unit`.
pub(crate) fn interval([low, high]: [f64; 2], unit: f64) -> String {
    format!("{} to {}", shown(low, unit), shown(high, unit))
}

/// A Gaussian kernel estimate of the density between two ends, its largest value 1. The width is Silverman's, by the quartiles,
/// which heavy tails do not reach.
pub(crate) fn density(values: &[f64], (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let Some(ordered) = sorted(values.to_vec()) else { return Vec::new() };
    let quartiles = quantile(&ordered, 0.25).zip(quantile(&ordered, 0.75));
    let (Some((first, third)), Some(moments)) = (quartiles, Moments::of(values)) else { return Vec::new() };
    let spread =
        [moments.sd, (third - first) / 1.34].into_iter().filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min);
    if !spread.is_finite() || low >= high {
        return Vec::new();
    }
    let width = 0.9 * spread * (values.len() as f64).powf(-0.2);
    let at = |x: f64| {
        // Beyond eight widths a kernel adds nothing that is seen.
        let from = ordered.partition_point(|value| *value < x - 8.0 * width);
        let to = ordered.partition_point(|value| *value < x + 8.0 * width);
        ordered[from..to].iter().map(|value| (-0.5 * ((x - value) / width).powi(2)).exp()).sum::<f64>()
    };
    let grid = (0..POINTS).map(|k| low + (high - low) * k as f64 / (POINTS - 1) as f64);
    let mut curve: Vec<(f64, f64)> = grid.map(|x| (x, at(x))).collect();
    let top = curve.iter().map(|(_, y)| *y).fold(f64::MIN_POSITIVE, f64::max);
    curve.iter_mut().for_each(|(_, y)| *y /= top);
    curve
}
