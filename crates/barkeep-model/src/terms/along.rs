//! Writes log-ratios less what a path of gradients explains of them.

use barkeep_machine::{Binary, Output, Program, Source, Unary, Unsound, Writer};

use super::precondition::present;
use crate::{Gradient, Likelihood};

/// ln p(x|θ') − ln p(x|θ) − Σⱼ wⱼ·clip_b(∇ ln p(x|θⱼ)), the only output. Points θⱼ and weights wⱼ are given one after the other. A
/// gradient without a finite norm counts as 0, as in a sum.
///
/// # Errors
/// [`Unsound`] for a program that is larger than the machine runs.
pub fn along(
    likelihood: &dyn Likelihood,
    (from, to): (&[f64], &[f64]),
    points: &[f64],
    weights: &[f64],
    clip: f64,
) -> Result<Program, Unsound> {
    let mut w = Writer::default();
    let mut term = likelihood.write_ratio(from, to, &mut w);
    let dimension = likelihood.dimension().max(1);
    // The squares of a slope's columns are the same at every point.
    let mut columns = None;
    for (theta, weights) in points.chunks_exact(dimension).zip(weights.chunks_exact(dimension)) {
        let gradient = likelihood.write_gradient(theta, &mut w);
        let (square, product) = match gradient {
            Gradient::Entries(entries) => {
                let mut square = w.fill(0.0);
                for entry in &entries {
                    square = w.fused(*entry, *entry, square);
                }
                (square, w.dot(0.0, present(weights, entries.iter().copied())))
            }
            Gradient::Sloped { slope, intercept, first, features, nuisance } => {
                let (lead, start) = (usize::from(intercept), if intercept { weights[0] } else { 0.0 });
                let end = lead + features as usize;
                let read = || (first..first + features).map(Source::Column);
                let line = w.dot(start, present(&weights[lead..end], read()));
                let all = *columns.get_or_insert_with(|| {
                    let start = w.fill(f64::from(u8::from(intercept)));
                    read().fold(start, |sum, column| w.fused(column, column, sum))
                });
                let (slopes, product) = (w.unary(Unary::Square, slope), w.mul(slope, line));
                let square = w.mul(slopes, all);
                match nuisance {
                    Some(own) => (w.fused(own, own, square), w.fused(weights[end], own, product)),
                    None => (square, product),
                }
            }
        };
        let norm = w.unary(Unary::Sqrt, square);
        let is_long = w.binary(Binary::Less, clip, norm);
        let shorter = w.div(clip, norm);
        let factor = w.select(is_long, shorter, 1.0);
        let share = w.mul(factor, product);
        let is_finite = w.binary(Binary::Less, norm, f64::INFINITY);
        let share = w.select(is_finite, share, 0.0);
        term = w.sub(term, share);
    }
    w.finish([Output::Dense(term)])
}
