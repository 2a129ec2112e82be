//! Learns how columns hang together from noisy products, and makes records up that look like that: a Gaussian copula.

use crate::public_rng::PublicRng;
use crate::samplers::noise_aware::questions::coordinates::{Coordinates, Raw, RawKind};
use crate::samplers::noise_aware::synthetic::columns::Grid;
use crate::samplers::noise_aware::synthetic::sobol::Sobol;
use barkeep_num::linear::{Cholesky, Spectrum};
use barkeep_num::{normal_cdf, normal_quantile};

/// The prior of a correlation: N(0, 0.35²).
const CORRELATION: f64 = 0.35;
/// The smallest eigenvalue of a correlation matrix.
const FLOOR: f64 = 0.05;

/// Fewer records than this say nothing of their level.
const FEW: f64 = 30.0;

/// No level that is there is believed to be rarer.
const RAREST: f64 = 0.002;

/// What is believed of the columns: a mean, a spread and correlations.
#[derive(Debug, Clone)]
pub(crate) struct Belief {
    means: Vec<f64>,
    spreads: Vec<f64>,
    correlations: Vec<f64>,
}

/// The noisy products of standardised columns, per record, and the noise on them.
#[derive(Debug, Clone)]
pub(crate) struct Products {
    /// What columns were standardised by.
    pub(crate) centres: Vec<f64>,
    pub(crate) spreads: Vec<f64>,
    /// E x, E x·xᵀ row by row, both divided by what the clip takes off a normal.
    pub(crate) firsts: Vec<f64>,
    pub(crate) seconds: Vec<f64>,
    /// Noise on a first, a square and a pair.
    pub(crate) noise: (f64, f64, f64),
    /// What standardised records are shortened to.
    pub(crate) radius: f64,
}

impl Products {
    /// Lets the columns' grids see the products, but for values so rare that their standardised coordinate alone is longer than the
    /// products' radius: records that have them are shortened, and would count as fewer.
    pub(crate) fn update(&self, grids: &mut [Grid], raws: &[Raw]) {
        let p = raws.len();
        for (j, grid) in grids.iter_mut().enumerate().take(p) {
            let (centre, spread) = (self.centres[j], self.spreads[j]);
            let (first, square, _) = self.noise;
            if raws[j].is_binary() && (1.0 + centre.abs()) / spread > self.radius {
                continue;
            }
            grid.observe(self.firsts[j], |m, _| ((m - centre) / spread, first * first));
            if !raws[j].is_binary() {
                grid.observe(self.seconds[j * p + j], |m, s| {
                    let m = (m - centre) / spread;
                    (m * m + (s / spread) * (s / spread), square * square + 0.05 * 0.05)
                });
            }
        }
    }
}

impl Belief {
    /// The posterior's centre, or a draw where `rng` is given.
    pub(crate) fn new(
        raws: &[Raw],
        grids: &[Grid],
        products: Option<&Products>,
        mut rng: Option<&mut PublicRng>,
    ) -> Self {
        let p = raws.len();
        let (mut means, mut spreads) = (vec![0.0; p], vec![0.0; p]);
        for (j, grid) in grids.iter().enumerate().take(p) {
            (means[j], spreads[j]) = match &mut rng {
                Some(rng) => grid.draw(rng.uniform()),
                None => (grid.known().mean, grid.known().spread),
            };
        }
        let stretch: Vec<f64> = raws.iter().zip(&means).map(|(raw, mean)| biserial(raw, *mean)).collect();
        let mut correlations = vec![0.0; p * p];
        for i in 0..p {
            correlations[i * p + i] = 1.0;
            for j in 0..i {
                let same = raws[i].source == raws[j].source;
                let drawn = rng.as_mut().map_or(0.0, |rng| rng.normal());
                let entry = match products {
                    Some(products) if !same => {
                        let unit = |k: usize| spreads[k] / products.spreads[k];
                        let mean = |k: usize| (means[k] - products.centres[k]) / products.spreads[k];
                        let weight = stretch[i] * stretch[j] / (unit(i) * unit(j));
                        let seen =
                            ((products.seconds[i * p + j] - mean(i) * mean(j)) * weight).clamp(-1.5, 1.5);
                        let noise = (products.noise.2.hypot(0.03) * weight).powi(2);
                        let variance = 1.0 / (CORRELATION.powi(-2) + 1.0 / noise);
                        variance * seen / noise + drawn * variance.sqrt()
                    }
                    None if !same => CORRELATION * drawn,
                    Some(_) | None => 0.0,
                };
                correlations[i * p + j] = entry;
                correlations[j * p + i] = entry;
            }
        }
        Self { means, spreads, correlations: floored(&correlations, p) }
    }

    /// Before any answer: as [`Belief::new`], with all levels of a category as likely, and numbers spread evenly over what is
    /// declared to be typical.
    pub(crate) fn before(coordinates: &Coordinates, grids: &[Grid]) -> Self {
        let raws = &coordinates.raws;
        let mut belief = Self::new(raws, grids, None, None);
        for (j, raw) in raws.iter().enumerate() {
            if matches!(raw.kind, RawKind::Level(_)) {
                let coded = raws.iter().filter(|other| other.source == raw.source).count();
                belief.means[j] = 2.0 / (coded as f64 + 1.0) - 1.0;
            } else if let Some((low, high)) = coordinates.typical(raw) {
                belief.means[j] = 0.5 * (low + high);
                belief.spreads[j] = ((high - low) / 12.0_f64.sqrt()).max(1e-3);
            }
        }
        belief
    }

    /// The same without some levels or values: no made-up record has them.
    pub(crate) fn without(mut self, absent: &[usize]) -> Self {
        absent.iter().for_each(|j| self.means[*j] = -1.0);
        self
    }

    /// The same with uneven levels, as [`shares`] has them; they are taken to be declared from the commonest to the rarest.
    pub(crate) fn uneven(mut self, raws: &[Raw]) -> Self {
        for (j, raw) in raws.iter().enumerate() {
            let (level, levels) = match raw.kind {
                RawKind::Level(level) => {
                    (level, 1 + raws.iter().filter(|it| it.source == raw.source).count())
                }
                RawKind::Bool => (1, 2),
                RawKind::Number { .. } | RawKind::Trials => continue,
            };
            self.means[j] = 2.0 * shares(levels)[level] - 1.0;
        }
        self
    }

    /// The least share of a level or of a true-or-false value; 1 without any.
    pub(crate) fn rarest(&self, raws: &[Raw]) -> f64 {
        let binary = raws.iter().zip(&self.means).filter(|(raw, _)| raw.is_binary());
        binary.map(|(_, mean)| share(*mean).min(share(-mean))).fold(1.0, f64::min)
    }

    /// Makes records up: one row of raw coordinates for each row of standard normals, which has p entries and one for each
    /// category with several coded levels.
    fn raw(&self, raws: &[Raw], normals: &[f64], factor: Option<&Cholesky>, out: &mut [f64]) {
        let p = raws.len();
        match factor {
            Some(factor) => factor.correlate(&normals[..p], out),
            None => out.copy_from_slice(&normals[..p]),
        }
        let (mut j, mut group) = (0, p);
        while j < p {
            let levels = raws[j..].iter().take_while(|raw| raw.source == raws[j].source).count();
            if levels > 1 {
                // One level by the largest of ln p − ln(−ln Φ(u)); the first level has a coordinate of its own.
                let shares: Vec<f64> = (j..j + levels).map(|k| share(self.means[k])).collect();
                let first = (1.0 - shares.iter().sum::<f64>()).max(0.002);
                let score = |share: f64, normal: f64| {
                    libm::log(share) - libm::log(-libm::log(normal_cdf(normal).clamp(1e-12, 1.0 - 1e-12)))
                };
                let mut best = (score(first, normals[group]), None);
                for (k, share) in shares.iter().enumerate() {
                    let score = score(*share, out[j + k]);
                    if score > best.0 {
                        best = (score, Some(k));
                    }
                }
                (0..levels).for_each(|k| out[j + k] = if best.1 == Some(k) { 1.0 } else { -1.0 });
                group += 1;
            } else if raws[j].is_binary() {
                out[j] = if normal_cdf(out[j]) > 1.0 - share(self.means[j]) { 1.0 } else { -1.0 };
            } else {
                out[j] = (self.means[j] + self.spreads[j] * out[j]).clamp(-1.0, 1.0);
            }
            j += levels;
        }
    }

    /// The first `count` rows of what the model would see of made-up records, one after the other.
    pub(crate) fn rows(&self, coordinates: &Coordinates, columns: usize, count: usize) -> Vec<f64> {
        let raws = &coordinates.raws;
        let (p, width) = (raws.len(), width(raws));
        let factor = Cholesky::new(&self.correlations, p);
        let sobol = Sobol::new(width);
        let (mut normals, mut z, mut values) = (vec![0.0; width], vec![0.0; p], Vec::new());
        let mut seen = vec![0.0; coordinates.view.features().len()];
        let mut rows = Vec::with_capacity(count * columns);
        for i in 0..count {
            sobol.point(i, &mut normals);
            normals.iter_mut().for_each(|normal| *normal = normal_quantile(*normal));
            self.raw(raws, &normals, factor.as_ref(), &mut z);
            coordinates.push(&z, &mut values, &mut seen);
            rows.extend_from_slice(&seen[..columns]);
        }
        rows
    }
}

/// Dimensions of the sequence that rows of these coordinates take.
pub(crate) fn width(raws: &[Raw]) -> usize {
    raws.len() + groups(raws)
}

/// Categories with more than one coded level.
fn groups(raws: &[Raw]) -> usize {
    raws.windows(2)
        .filter(|pair| pair[0].source == pair[1].source && matches!(pair[0].kind, RawKind::Level(1)))
        .count()
}

/// Shares of L levels that nobody knows, the commonest first.
///
/// Take all shares that add up to 1 to be as likely. Then the j-th commonest level has (1/j + … + 1/L)/L of the records on average. But
/// the error of a level's coefficient is about 1/√p standard deviations, and a mean square error needs the mean of 1/p,
/// which is (L − 1)(ln(1/p₀) − 1 − … − 1/(L − 2)) for shares above p₀. So the rarest level is as rare as gives all levels this
/// mean of 1/p together.
fn shares(levels: usize) -> Vec<f64> {
    let count = levels as f64;
    let sum = |from: usize, to: usize| (from..=to).map(|i| 1.0 / i as f64).sum::<f64>();
    let mut shares: Vec<f64> = (1..=levels).map(|j| sum(j, levels) / count).collect();
    let mean = (count - 1.0) * (-libm::log(RAREST) - sum(1, levels.saturating_sub(2)));
    if let Some((last, others)) = shares.split_last_mut() {
        let left = count * mean - others.iter().map(|share| 1.0 / share).sum::<f64>();
        *last = (1.0 / left.max(1.0 / *last)).max(RAREST);
        let rest = (1.0 - *last) / others.iter().sum::<f64>();
        others.iter_mut().for_each(|share| *share *= rest);
    }
    shares
}

/// The share of a coordinate at 1, its mean in [−1, 1] given; none where that is −1.
fn share(mean: f64) -> f64 {
    if mean <= -1.0 { 0.0 } else { (0.5 * (1.0 + mean)).clamp(RAREST, 1.0 - RAREST) }
}

/// Levels and values that may have no record: their count, less two standard deviations, is below [`FEW`].
///
/// Without records every answer about such a coefficient is noise whatever θ is. Rounds would take a first step of noise for a
/// finding that later ones confirm. No made-up record has them, so that no answer depends on their coefficients, which keep their prior.
pub(crate) fn absent(raws: &[Raw], grids: &[Grid], records: f64) -> Vec<usize> {
    let candidates = raws.iter().zip(grids).enumerate().filter(|(_, (raw, _))| raw.is_binary());
    candidates.filter(|(_, (_, grid))| grid.count(records).0 < FEW).map(|(j, _)| j).collect()
}

/// √(p(1−p))/φ(Φ⁻¹(p)): what the correlation of a cut normal is multiplied by to be the normal's; 1 for a number.
fn biserial(raw: &Raw, mean: f64) -> f64 {
    if !raw.is_binary() {
        return 1.0;
    }
    let p = (0.5 * (1.0 + mean)).clamp(0.01, 0.99);
    let cut = normal_quantile(p);
    (p * (1.0 - p)).sqrt() / (libm::exp(-0.5 * cut * cut) / std::f64::consts::TAU.sqrt())
}

/// A symmetric matrix with its eigenvalues raised to the floor, rescaled to a unit diagonal.
fn floored(matrix: &[f64], p: usize) -> Vec<f64> {
    let Some(spectrum) = Spectrum::new(matrix, p) else { return matrix.to_vec() };
    let mut raised = spectrum.map(|value| value.max(FLOOR));
    let scale: Vec<f64> = (0..p).map(|j| raised[j * p + j].sqrt()).collect();
    for (k, entry) in raised.iter_mut().enumerate() {
        *entry /= scale[k / p] * scale[k % p];
    }
    raised
}

#[cfg(test)]
mod tests;
