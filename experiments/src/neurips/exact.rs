//! Integrates the tempered posterior of the mixture exactly, by quadrature over a grid.

use barkeep::model::{Mixture, Model};

/// What the likelihood is tempered to.
const COUNTED: f64 = 100.0;

/// The records, binned, and the model: enough to evaluate the posterior everywhere.
pub(super) struct Posterior<'a> {
    model: &'a Mixture,
    records: f64,
    /// How many records a bin holds, and their mean.
    bins: Vec<(f64, f64)>,
}

impl<'a> Posterior<'a> {
    /// Bins the records at 0.01, where a component has standard deviation 1.4.
    pub(super) fn new(model: &'a Mixture, records: &[f64]) -> Self {
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
        Self { model, records: records.len() as f64, bins }
    }

    /// ln of the posterior density, up to a constant.
    pub(super) fn log_density(&self, at: [f64; 2]) -> f64 {
        // ln p(x|θ) up to a constant: −(x−θ₁)²/4 + ln(1 + e^{θ₂(x−θ₁)/2 − θ₂²/4}), as the model has it with variance 2.
        let term = |&(count, x): &(f64, f64)| {
            let z = x - at[0];
            let odds = 0.5 * at[1] * z - 0.25 * at[1] * at[1];
            let soft = if odds > 0.0 { odds + (-odds).exp().ln_1p() } else { odds.exp().ln_1p() };
            count * (soft - 0.25 * z * z)
        };
        self.bins.iter().map(term).sum::<f64>() * COUNTED / self.records + self.model.log_prior(&at)
    }

    /// Where the posterior lives.
    pub(super) const X: (f64, f64) = (-1.5, 2.5);
    /// The same for the second parameter.
    pub(super) const Y: (f64, f64) = (-4.0, 4.0);

    /// Its log-density at `nodes` places in each direction, the first parameter running fastest.
    pub(super) fn grid(&self, nodes: usize) -> Vec<f64> {
        let node = |i: usize, (low, high): (f64, f64)| low + (high - low) * i as f64 / (nodes - 1) as f64;
        (0..nodes * nodes)
            .map(|k| self.log_density([node(k % nodes, Self::X), node(k / nodes, Self::Y)]))
            .collect()
    }
}

/// Means and variances of both parameters from a grid of log-densities.
pub(super) fn moments(grid: &[f64], nodes: usize) -> [f64; 4] {
    let node = |i: usize, (low, high): (f64, f64)| low + (high - low) * i as f64 / (nodes - 1) as f64;
    let at = |k: usize| [node(k % nodes, Posterior::X), node(k / nodes, Posterior::Y)];
    let most = grid.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = grid.iter().map(|log| (log - most).exp()).sum();
    let expect = |f: &dyn Fn([f64; 2]) -> f64| {
        grid.iter().enumerate().map(|(k, log)| (log - most).exp() * f(at(k))).sum::<f64>() / total
    };
    let mean = [0, 1].map(|j| expect(&|at| at[j]));
    let variance = [0, 1].map(|j| expect(&|at| (at[j] - mean[j]).powi(2)));
    [mean[0], mean[1], variance[0], variance[1]]
}
