//! Watches a likelihood at work: how many log-ratios and gradients a clip cuts off, and where gradients are asked for.
//!
//! **Privacy.** What is counted depends on records and is never published over real ones; the experiments' records are simulated.

use barkeep::data::Block;
use barkeep::model::{Affine, Likelihood, Scratch};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Bounds to watch; those of the sampler, which does the clipping itself.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Clips {
    /// Bound on a log-ratio.
    pub(crate) log_ratio: Option<f64>,
    /// Whether it is to be multiplied by the length of the move.
    pub(crate) by_distance: bool,
    /// Bound on a gradient's Euclidean norm.
    pub(crate) gradient: Option<f64>,
}

/// A likelihood that counts.
pub(crate) struct ClipCounter {
    likelihood: Arc<dyn Likelihood>,
    clips: Clips,
    log_ratios: [AtomicU64; 2],
    gradients: [AtomicU64; 2],
    /// How often gradients were asked for that need not be written to be added up.
    asked: AtomicU64,
    /// Where gradients were asked for, in order, if that is to be known.
    path: Option<Mutex<Vec<Vec<f64>>>>,
}

/// Of gradients that need not be written one question in so many is, and counted. A prime: no place of a path is left out.
const COUNTED: u64 = 17;

impl ClipCounter {
    /// Watches a likelihood.
    pub(crate) fn new(likelihood: Arc<dyn Likelihood>, clips: Clips) -> Self {
        let none = || [AtomicU64::new(0), AtomicU64::new(0)];
        Self {
            likelihood,
            clips,
            log_ratios: none(),
            gradients: none(),
            asked: AtomicU64::new(0),
            path: None,
        }
    }

    /// The same, remembering where gradients are asked for.
    pub(crate) fn tracing(self) -> Self {
        Self { path: Some(Mutex::default()), ..self }
    }

    /// The share of log-ratios beyond their bound; nothing if none was asked for or there is no bound.
    pub(crate) fn clipped_log_ratios(&self) -> Option<f64> {
        share(&self.log_ratios)
    }

    /// The share of gradients beyond theirs, of the questions that are counted.
    pub(crate) fn clipped_gradients(&self) -> Option<f64> {
        share(&self.gradients)
    }

    /// Where gradients were asked for.
    pub(crate) fn path(&self) -> Vec<Vec<f64>> {
        let path = self.path.as_ref().and_then(|path| path.lock().ok());
        path.map(|path| path.clone()).unwrap_or_default()
    }
}

fn share(counts: &[AtomicU64; 2]) -> Option<f64> {
    let [beyond, all] = counts.each_ref().map(|count| count.load(Ordering::Relaxed) as f64);
    (all > 0.0).then_some(beyond / all)
}

fn count(counts: &[AtomicU64; 2], beyond: usize, all: usize) {
    counts[0].fetch_add(beyond as u64, Ordering::Relaxed);
    counts[1].fetch_add(all as u64, Ordering::Relaxed);
}

impl Likelihood for ClipCounter {
    fn dimension(&self) -> usize {
        self.likelihood.dimension()
    }

    fn columns(&self) -> usize {
        self.likelihood.columns()
    }

    fn log_density(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        self.likelihood.log_density(block, theta, out, scratch);
    }

    fn log_ratio(&self, block: Block<'_>, from: &[f64], to: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        self.likelihood.log_ratio(block, from, to, out, scratch);
        if let Some(bound) = self.clips.log_ratio {
            let distance = || from.iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            let bound = if self.clips.by_distance { bound * distance() } else { bound };
            count(&self.log_ratios, out.iter().filter(|r| r.abs() > bound).count(), out.len());
        }
    }

    fn has_gradient(&self) -> bool {
        self.likelihood.has_gradient()
    }

    /// Gradients are added up much faster where they are not written first. Sums have the same bits either way.
    fn affine_gradient(&self, theta: &[f64], out: &mut Affine) -> bool {
        let written = self.clips.gradient.is_some()
            && self.asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(COUNTED);
        self.path.is_none() && !written && self.likelihood.affine_gradient(theta, out)
    }

    fn gradient(&self, block: Block<'_>, theta: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        self.likelihood.gradient(block, theta, out, scratch);
        if let Some(Ok(mut path)) = self.path.as_ref().map(Mutex::lock)
            && path.last().is_none_or(|last| last != theta)
        {
            path.push(theta.to_vec());
        }
        if let Some(bound) = self.clips.gradient {
            let mut squares = vec![0.0; block.len()];
            for coordinate in out.chunks_exact(block.len()) {
                squares.iter_mut().zip(coordinate).for_each(|(sum, g)| *sum += g * g);
            }
            count(&self.gradients, squares.iter().filter(|sum| **sum > bound * bound).count(), squares.len());
        }
    }
}

#[cfg(test)]
mod tests;
