//! Integrates the mixture's posterior exactly, tempered or not, by quadrature over a grid.

use barkeep::model::{Mixture, Model};

/// The records, binned, and the model: enough to evaluate the posterior everywhere.
pub(crate) struct Posterior<'a> {
    model: &'a Mixture,
    /// What a record counts.
    weight: f64,
    /// How many records a bin holds, and their mean.
    bins: Vec<(f64, f64)>,
}

impl<'a> Posterior<'a> {
    /// Bins the records at 0.01, where a component has standard deviation 1.4, and lets them count as `counted`.
    pub(crate) fn new(model: &'a Mixture, records: &[f64], counted: f64) -> Self {
        let width = 0.01;
        let low = records.iter().copied().fold(f64::INFINITY, f64::min);
        let high = records.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut bins = vec![(0.0_f64, 0.0_f64); ((high - low) / width) as usize + 1];
        for x in records {
            let bin = &mut bins[((x - low) / width) as usize];
            *bin = (bin.0 + 1.0, bin.1 + x);
        }
        let filled = bins.into_iter().filter(|bin| bin.0 > 0.0);
        let bins = filled.map(|(count, sum)| (count, sum / count)).collect();
        Self { model, weight: counted / records.len() as f64, bins }
    }

    /// ln of the posterior density, up to a constant.
    fn log_density(&self, at: [f64; 2]) -> f64 {
        // ln p(x|θ) up to a constant: −(x−θ₁)²/4 + ln(1 + e^{θ₂(x−θ₁)/2 − θ₂²/4}), as the model has it with variance 2.
        let term = |&(count, x): &(f64, f64)| {
            let z = x - at[0];
            let odds = 0.5 * at[1] * z - 0.25 * at[1] * at[1];
            let soft = if odds > 0.0 { odds + (-odds).exp().ln_1p() } else { odds.exp().ln_1p() };
            count * (soft - 0.25 * z * z)
        };
        self.bins.iter().map(term).sum::<f64>() * self.weight + self.model.log_prior(&at)
    }

    /// Its log-density at `nodes` places in each direction, the first parameter running fastest.
    pub(crate) fn grid(&self, nodes: usize, range: Range) -> Vec<f64> {
        (0..nodes * nodes).map(|k| self.log_density(range.node(k, nodes))).collect()
    }
}

/// Ends of both parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
}

impl Range {
    /// Where the posterior of records made at (0, 1) lives, with its mirror image.
    pub(crate) const WHOLE: Self = Self { x: (-1.5, 2.5), y: (-4.0, 4.0) };

    /// The place of a node.
    fn node(self, k: usize, nodes: usize) -> [f64; 2] {
        let at = |i: usize, (low, high): (f64, f64)| low + (high - low) * i as f64 / (nodes - 1) as f64;
        [at(k % nodes, self.x), at(k / nodes, self.y)]
    }
}

/// Means and variances of both parameters from a grid of log-densities.
pub(crate) fn moments(grid: &[f64], nodes: usize, range: Range) -> [f64; 4] {
    let at = |k: usize| range.node(k, nodes);
    let most = grid.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = grid.iter().map(|log| (log - most).exp()).sum();
    let expect = |f: &dyn Fn([f64; 2]) -> f64| {
        grid.iter().enumerate().map(|(k, log)| (log - most).exp() * f(at(k))).sum::<f64>() / total
    };
    let mean = [0, 1].map(|j| expect(&|at| at[j]));
    let variance = [0, 1].map(|j| expect(&|at| (at[j] - mean[j]).powi(2)));
    [mean[0], mean[1], variance[0], variance[1]]
}
