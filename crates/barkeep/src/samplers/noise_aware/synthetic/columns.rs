//! Learns where each column lies and how wide it is from noisy moments: a posterior on a grid of means and spreads.

/// Means of the grid, and of a column with two values, where a rare one is to be counted.
const MEANS: usize = 200;
const SHARES: usize = 4001;
/// Spreads of the grid.
const SPREADS: usize = 80;
/// The prior of a spread: ln s ~ N(ln 0.35, 0.7²).
const TYPICAL: f64 = 0.35;
const RANGE: f64 = 0.7;

/// What is known of one column: ln of the posterior over (m, s) on a grid, m alone where the column has two values.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    binary: bool,
    log: Vec<f64>,
}

/// A posterior summed up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// E m.
    pub(crate) mean: f64,
    /// Var m.
    pub(crate) variance: f64,
    /// E s².
    pub(crate) square: f64,
    /// exp E ln s, or √E s² of a column with two values.
    pub(crate) spread: f64,
}

/// A mean of the grid. A value that no record has is possible; a number that never varies is not.
fn mean_at(i: usize, binary: bool) -> f64 {
    match binary {
        true => -1.0 + 2.0 * i as f64 / (SHARES - 1) as f64,
        false => -0.995 + 1.99 * i as f64 / (MEANS - 1) as f64,
    }
}

fn spread_at(i: usize) -> f64 {
    libm::exp(libm::log(0.01) * (1.0 - i as f64 / (SPREADS - 1) as f64))
}

impl Grid {
    /// The prior.
    pub(crate) fn new(binary: bool) -> Self {
        let log = if binary {
            vec![0.0; SHARES]
        } else {
            let cell = |k: usize| {
                let (m, s) = (mean_at(k / SPREADS, false), spread_at(k % SPREADS));
                let t = (libm::log(s) - libm::log(TYPICAL)) / RANGE;
                if m * m + s * s <= 1.0 { -0.5 * t * t } else { f64::NEG_INFINITY }
            };
            (0..MEANS * SPREADS).map(cell).collect()
        };
        Self { binary, log }
    }

    /// Takes in a number seen with normal noise: `expected(m, s)` says its mean and variance.
    pub(crate) fn observe(&mut self, seen: f64, expected: impl Fn(f64, f64) -> (f64, f64)) {
        let spreads = if self.binary { 1 } else { SPREADS };
        for (k, log) in self.log.iter_mut().enumerate() {
            let m = mean_at(k / spreads, self.binary);
            let s = if self.binary { (1.0 - m * m).max(0.0).sqrt() } else { spread_at(k % spreads) };
            let (mean, variance) = expected(m, s);
            *log -= 0.5 * (seen - mean) * (seen - mean) / variance;
        }
    }

    /// Takes in the noisy mean of z over n records and, where the column has more than two values, that of z² − 1.
    pub(crate) fn observe_moments(&mut self, first: f64, second: Option<f64>, noise: f64, records: f64) {
        let noise = noise * noise;
        self.observe(first, |m, s| (m, noise + s * s / records));
        if let Some(second) = second {
            self.observe(second + 1.0, |m, s| {
                (m * m + s * s, noise + (2.0 * s.powi(4) + 4.0 * m * m * s * s) / records)
            });
        }
    }

    /// Normalised weights.
    fn weights(&self) -> Vec<f64> {
        let largest = self.log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weights: Vec<f64> = self.log.iter().map(|log| libm::exp(log - largest)).collect();
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        weights
    }

    /// The posterior in four numbers.
    pub(crate) fn known(&self) -> Known {
        let spreads = if self.binary { 1 } else { SPREADS };
        let (mut mean, mut second, mut square, mut log) = (0.0, 0.0, 0.0, 0.0);
        for (k, weight) in self.weights().iter().enumerate() {
            let m = mean_at(k / spreads, self.binary);
            let s = if self.binary { (1.0 - m * m).max(0.0).sqrt() } else { spread_at(k % spreads) };
            mean += weight * m;
            second += weight * m * m;
            square += weight * s * s;
            log += if self.binary { 0.0 } else { weight * libm::log(s) };
        }
        let spread = if self.binary { square.sqrt() } else { libm::exp(log) };
        Known { mean, variance: (second - mean * mean).max(0.0), square, spread }
    }

    /// How many of so many records have the second of two values, two standard deviations to either side.
    pub(crate) fn count(&self, records: f64) -> (f64, f64) {
        let known = self.known();
        let (middle, reach) = (0.5 * (1.0 + known.mean), known.variance.sqrt());
        (records * (middle - reach).max(0.0), records * (middle + reach).min(1.0))
    }

    /// A draw of (m, s), given a uniform number.
    pub(crate) fn draw(&self, uniform: f64) -> (f64, f64) {
        let spreads = if self.binary { 1 } else { SPREADS };
        let mut left = uniform;
        let weights = self.weights();
        let mut chosen = weights.len() - 1;
        for (k, weight) in weights.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                chosen = k;
                break;
            }
        }
        let m = mean_at(chosen / spreads, self.binary);
        (m, if self.binary { (1.0 - m * m).max(0.0).sqrt() } else { spread_at(chosen % spreads) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precise_moments_are_found_again() {
        let mut grid = Grid::new(false);
        grid.observe_moments(0.3, Some(0.3 * 0.3 + 0.2 * 0.2 - 1.0), 1e-3, 1e6);
        let known = grid.known();
        assert!((known.mean - 0.3).abs() < 0.01 && (known.spread - 0.2).abs() < 0.02, "{known:?}");
        let mut grid = Grid::new(true);
        grid.observe_moments(-0.6, None, 1e-3, 1e6);
        let known = grid.known();
        assert!((known.mean + 0.6).abs() < 0.01 && (known.square - 0.64).abs() < 0.02, "{known:?}");
    }

    /// 0, 200 or 4000 of 10⁴ records have a value; the answer's noise is 50 records, and it is off by one, none or minus one of that.
    #[test]
    fn rare_values_are_counted_down_to_none() {
        for (records, off, least, most) in
            [(0.0, 1.0, 0.0, 160.0), (200.0, 0.0, 90.0, 310.0), (4e3, -1.0, 3.8e3, 4.1e3)]
        {
            let mut grid = Grid::new(true);
            let noise = 2.0 * 50.0 / 1e4;
            grid.observe_moments(2.0 * records / 1e4 - 1.0 + off * noise, None, noise, 1e4);
            let (low, high) = grid.count(1e4);
            assert!(
                low >= least && low <= records && high >= records && high <= most,
                "{records}: {low} {high}"
            );
        }
    }

    #[test]
    fn nothing_seen_leaves_the_prior() {
        let known = Grid::new(false).known();
        assert!(known.mean.abs() < 1e-12 && (0.2..0.5).contains(&known.spread), "{known:?}");
    }
}
