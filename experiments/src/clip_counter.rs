//! Watches a likelihood at work: how many log-ratios and gradients a clip cuts off, and where gradients are asked for.
//!
//! **Privacy.** What is counted depends on records and is never published over real ones; the experiments' records are simulated.

use barkeep::data::Block;
use barkeep::machine::{Machine, Source, Writer};
use barkeep::model::terms::{Precondition, gradient};
use barkeep::model::{Gradient, Likelihood};
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

/// A likelihood that counts: whenever a question is written, its terms of the simulated records are looked at.
pub(crate) struct ClipCounter {
    likelihood: Arc<dyn Likelihood>,
    clips: Clips,
    /// The records, column by column.
    records: Vec<f64>,
    log_ratios: [AtomicU64; 2],
    gradients: [AtomicU64; 2],
    /// How often gradients were asked for.
    asked: AtomicU64,
    /// Where gradients were asked for, in order, if that is to be known.
    path: Option<Mutex<Vec<Vec<f64>>>>,
}

/// Of so many questions about gradients one is looked at. A prime: no place of a path is left out.
const COUNTED: u64 = 17;

impl ClipCounter {
    /// Watches a likelihood on records that are given by their columns.
    pub(crate) fn new(likelihood: Arc<dyn Likelihood>, clips: Clips, columns: &[Vec<f64>]) -> Self {
        let none = || [AtomicU64::new(0), AtomicU64::new(0)];
        Self {
            likelihood,
            clips,
            records: columns.concat(),
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

    /// The records.
    fn block(&self) -> Block<'_> {
        let count = self.records.len() / self.likelihood.columns().max(1);
        Block::over(&self.records, count, count)
    }

    fn count_log_ratios(&self, from: &[f64], to: &[f64]) {
        let Some(bound) = self.clips.log_ratio else { return };
        let Ok(program) = self.likelihood.ratio_program(from, to) else { return };
        let distance = || from.iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let bound = if self.clips.by_distance { bound * distance() } else { bound };
        let mut out = vec![0.0; self.block().len()];
        Machine::default().write_all(&program, self.block(), &mut out);
        count(&self.log_ratios, out.iter().filter(|r| r.abs() > bound).count(), out.len());
    }

    fn count_gradients(&self, theta: &[f64]) {
        let Some(bound) = self.clips.gradient else { return };
        if !self.asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(COUNTED) {
            return;
        }
        let Ok(term) = gradient(&*self.likelihood, theta, Precondition::Identity, &[]) else { return };
        let records = self.block().len();
        let mut out = vec![0.0; term.row.width() * records];
        Machine::default().write_all(&term.row, self.block(), &mut out);
        let mut squares = vec![0.0; records];
        for coordinate in out.chunks_exact(records.max(1)) {
            squares.iter_mut().zip(coordinate).for_each(|(sum, g)| *sum += g * g);
        }
        count(&self.gradients, squares.iter().filter(|sum| **sum > bound * bound).count(), squares.len());
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

    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        self.likelihood.write_density(theta, w)
    }

    fn write_ratio(&self, from: &[f64], to: &[f64], w: &mut Writer) -> Source {
        self.count_log_ratios(from, to);
        self.likelihood.write_ratio(from, to, w)
    }

    fn has_gradient(&self) -> bool {
        self.likelihood.has_gradient()
    }

    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        if let Some(Ok(mut path)) = self.path.as_ref().map(Mutex::lock)
            && path.last().is_none_or(|last| last != theta)
        {
            path.push(theta.to_vec());
        }
        self.count_gradients(theta);
        self.likelihood.write_gradient(theta, w)
    }
}

#[cfg(test)]
mod tests;
