//! Finds other values that explain a model's records as well as the true ones, before anything is asked.
//!
//! Labels of a mixture's components can be swapped: the posterior without privacy then has several modes, and its standard
//! deviations are the distances between them. An error within a mode is small in that unit, and what moves one mode up may move
//! another down.

use crate::samplers::noise_aware::fit::whole::Source;
use barkeep_data::Block;
use barkeep_model::Scratch;
use barkeep_num::linear::{Cholesky, dot};

/// Made-up records that heights and slopes are averaged over.
const RECORDS: usize = 256;
/// Steps of a climb, and how often one is halved.
const STEPS: usize = 25;
const HALVED: usize = 8;
/// A mode lower than the true one by more than this counts nothing.
const DEPTH: f64 = 12.0;
/// Modes nearer than this, as a squared distance in posterior standard deviations, are one.
const NEAR: f64 = 9.0;

/// A mode of n·E ln p(x|θ) + ln p(θ), for records that follow a true value.
struct Mode {
    theta: Vec<f64>,
    height: f64,
    /// Its curvature's inverse and ½ ln of that one's determinant.
    covariance: Vec<f64>,
    root: f64,
}

impl Source {
    /// What is left of the square of an error within the mode of a true θ, in variances of the posterior with all its modes, as a mean over the
    /// parameters: 1 where no climb from the starts finds a rival.
    pub(crate) fn beside_rivals(&self, theta: &[f64], starts: &[Vec<f64>]) -> Option<f64> {
        let (values, count) = self.few(theta)?;
        let own = self.climb(theta, &values, count)?;
        let d = theta.len();
        let mut modes: Vec<Mode> = Vec::new();
        for start in starts {
            let Some(mode) = self.climb(start, &values, count) else { continue };
            let is_new = modes.iter().chain([&own]).all(|known| distance(known, &mode.theta) > NEAR);
            if is_new && mode.height > own.height - DEPTH {
                modes.push(mode);
            }
        }
        modes.push(own);
        let top = modes.iter().map(|mode| mode.height + mode.root).fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = modes.iter().map(|mode| libm::exp(mode.height + mode.root - top)).collect();
        let total: f64 = weights.iter().sum();
        let over = |of: &dyn Fn(&Mode) -> f64| -> f64 {
            modes.iter().zip(&weights).map(|(mode, weight)| weight / total * of(mode)).sum()
        };
        // A record moves a mode by its curvature's inverse times the record's gradient there, and the mean by what all modes move.
        let mut pooled = vec![0.0; d * count];
        let mut alone = Vec::new();
        for (mode, weight) in modes.iter().zip(&weights) {
            alone = vec![0.0; d * count];
            let slopes = self.gradients(&mode.theta, &values, count);
            for (row, out) in mode.covariance.chunks_exact(d).zip(alone.chunks_exact_mut(count)) {
                for (entry, lane) in row.iter().zip(slopes.chunks_exact(count)) {
                    out.iter_mut().zip(lane).for_each(|(sum, slope)| *sum += entry * slope);
                }
            }
            pooled.iter_mut().zip(&alone).for_each(|(sum, moved)| *sum += weight / total * moved);
        }
        let own = modes.last()?;
        let shares = (0..d).map(|j| {
            let mean = over(&|mode| mode.theta[j]);
            let apart = over(&|mode| (mode.theta[j] - mean).powi(2));
            let within = own.covariance[j * (d + 1)];
            let square =
                |moved: &[f64]| dot(&moved[j * count..(j + 1) * count], &moved[j * count..(j + 1) * count]);
            let together = square(&pooled) / square(&alone).max(1e-300);
            together.min(1.0) * within / (within + apart)
        });
        Some(shares.sum::<f64>() / d as f64)
    }

    /// The first made-up records at θ, column by column.
    fn few(&self, theta: &[f64]) -> Option<(Vec<f64>, usize)> {
        let sample = self.made_up(theta)?;
        let all = sample.weights.len();
        let count = all.min(RECORDS);
        Some((sample.values.chunks_exact(all).flat_map(|lane| lane[..count].to_vec()).collect(), count))
    }

    /// The mode that steps of Fisher scoring reach from a start.
    fn climb(&self, start: &[f64], values: &[f64], count: usize) -> Option<Mode> {
        let (n, d) = (self.records, start.len());
        let height = |theta: &[f64]| {
            let mut logs = vec![0.0; count];
            self.likelihood.log_density(
                Block::over(values, count, count),
                theta,
                &mut logs,
                &mut Scratch::default(),
            );
            n * logs.iter().sum::<f64>() / count as f64 + self.model.log_prior(theta)
        };
        let curvature = |theta: &[f64]| -> Option<Cholesky> {
            let (mut matrix, mut prior) = (self.information(theta)?, vec![0.0; d * d]);
            self.model.prior_precision(theta, &mut prior);
            matrix.iter_mut().zip(&prior).for_each(|(entry, prior)| *entry = n * *entry + prior);
            Cholesky::new(&matrix, d)
        };
        let mut theta = start.to_vec();
        let mut here = height(&theta);
        for _ in 0..STEPS {
            let mut gradient = vec![0.0; d];
            self.model.prior_gradient(&theta, &mut gradient);
            let slopes = self.gradients(&theta, values, count);
            for (entry, lane) in gradient.iter_mut().zip(slopes.chunks_exact(count)) {
                *entry += n * lane.iter().sum::<f64>() / count as f64;
            }
            let inverse = curvature(&theta)?.inverse();
            let step: Vec<f64> = inverse.chunks_exact(d).map(|row| dot(row, &gradient)).collect();
            let next = (0..HALVED).map(|k| 0.5_f64.powi(k as i32)).find_map(|length| {
                let next: Vec<f64> = theta.iter().zip(&step).map(|(x, step)| x + length * step).collect();
                let there = height(&next);
                (there > here).then_some((next, there))
            });
            let Some((next, there)) = next else { break };
            let gained = there - here;
            (theta, here) = (next, there);
            if gained < 1e-3 {
                break;
            }
        }
        let covariance = curvature(&theta)?.inverse();
        let factor = Cholesky::new(&covariance, d)?;
        let root = (0..d).map(|j| libm::log(factor.lower()[j * (d + 1)])).sum();
        here.is_finite().then_some(Mode { theta, height: here, covariance, root })
    }
}

/// The squared distance of θ from a mode, in its standard deviations.
fn distance(mode: &Mode, theta: &[f64]) -> f64 {
    let d = theta.len();
    let away: Vec<f64> = theta.iter().zip(&mode.theta).map(|(x, y)| x - y).collect();
    let Some(factor) = Cholesky::new(&mode.covariance, d) else { return f64::INFINITY };
    factor.inverse().chunks_exact(d).zip(&away).map(|(row, x)| x * dot(row, &away)).sum()
}

#[cfg(test)]
mod tests;
