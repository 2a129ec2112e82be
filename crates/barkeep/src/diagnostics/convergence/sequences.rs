//! Transforms equally long sequences of draws, and computes R-hat and effective size of what results.

use barkeep_num::lagged::LaggedProducts;
use barkeep_num::normal_quantile;

use super::FEWEST_DRAWS;
use crate::diagnostics::moments::{Moments, binary_scale, quantile, sorted};

/// Sequences of one length, laid one after the other.
pub(super) struct Sequences {
    length: usize,
    values: Vec<f64>,
}

impl Sequences {
    /// The first n draws of each chain, n the shortest length, if they are enough and all finite.
    pub(super) fn new<C: AsRef<[f64]>>(chains: &[C]) -> Option<Self> {
        let length = chains.iter().map(|chain| chain.as_ref().len()).min()?;
        let values: Vec<f64> =
            chains.iter().flat_map(|chain| chain.as_ref().iter().take(length)).copied().collect();
        let usable = length >= FEWEST_DRAWS && values.iter().all(|value| value.is_finite());
        usable.then_some(Self { length, values })
    }

    /// All values, sequence after sequence.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    fn each(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.length)
    }

    fn is_constant(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] == pair[1])
    }

    fn map(&self, function: impl Fn(f64) -> f64) -> Self {
        Self { length: self.length, values: self.values.iter().copied().map(function).collect() }
    }

    /// The first and the last half of each sequence, without the middle one of an odd number of draws.
    pub(super) fn halves(&self) -> Self {
        let half = self.length / 2;
        let halves = self.each().flat_map(|draws| [&draws[..half], &draws[self.length - half..]]);
        Self { length: half, values: halves.flatten().copied().collect() }
    }

    /// |x − median|, the median taken over all sequences; beyond the largest f64 it is infinite, which is fit to
    /// be ranked.
    pub(super) fn folded(&self) -> Self {
        let median = sorted(self.values.clone()).and_then(|ordered| quantile(&ordered, 0.5)).unwrap_or(0.0);
        self.map(|value| (value - median).abs())
    }

    /// The indicator of x ≤ bound.
    pub(super) fn at_most(&self, bound: f64) -> Self {
        self.map(|value| f64::from(u8::from(value <= bound)))
    }

    /// z = Φ⁻¹((r − 3/8)/(S + 1/4)), r the rank among all S values, equal values sharing the mean of their ranks
    /// (Blom 1958).
    pub(super) fn rank_normalised(&self) -> Self {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_unstable_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        let mut values = vec![0.0; order.len()];
        let mut below = 0_usize;
        for equal in order.chunk_by(|&a, &b| self.values[a] == self.values[b]) {
            let rank = below as f64 + (equal.len() as f64 + 1.0) / 2.0;
            let z = normal_quantile((rank - 0.375) / (order.len() as f64 + 0.25));
            for &position in equal {
                values[position] = z;
            }
            below += equal.len();
        }
        Self { length: self.length, values }
    }

    /// √((B/W + n − 1)/n), n the length, W the mean variance, B/n the variance of the means; infinite if only W vanishes, `None` if both do.
    pub(super) fn r_hat(&self) -> Option<f64> {
        if self.is_constant() {
            return None;
        }
        let each: Vec<Moments> = self.each().map(Moments::of).collect::<Option<_>>()?;
        let length = self.length as f64;
        let within = each.iter().map(|sequence| sequence.variance).sum::<f64>() / each.len() as f64;
        let means: Vec<f64> = each.iter().map(|sequence| sequence.mean).collect();
        let between = length * Moments::of(&means)?.variance;
        let found = ((between / within + length - 1.0) / length).sqrt();
        (!found.is_nan()).then_some(found)
    }

    /// The effective size S/τ of the S values, τ the integrated autocorrelation time by Geyer's initial monotone
    /// sequence.
    ///
    /// With s_t the autocovariance at lag t averaged over sequences (divisor n), W = s_0·n/(n−1) and
    /// V = s_0 + variance of the means: ρ_t = 1 − (W − s_t)/V. Pairs P_k = ρ_2k + ρ_2k+1 are summed up to the
    /// first that is not positive, each cut to the smallest before it; the even term of the pair that ended the
    /// sum enters once, which helps antithetic chains. τ = −1 + 2ΣP_k + last is kept from below
    /// by 1/log₁₀S, which bounds the gain that antithetic chains may claim (Vehtari et al. 2021, section 3.2).
    ///
    /// `None` if all values are equal.
    pub(super) fn effective_size(&self) -> Option<f64> {
        if self.is_constant() {
            return None;
        }
        let size = self.values.len() as f64;
        let length = self.length as f64;
        let (autocovariance, means) = self.autocovariance()?;
        let within = autocovariance[0] * length / (length - 1.0);
        let total = autocovariance[0] + Moments::of(&means)?.variance;
        let correlation = |lag: usize| 1.0 - (within - autocovariance[lag]) / total;

        let (mut even, mut odd) = (1.0, correlation(1));
        let (mut lag, mut ceiling, mut pairs) = (0, f64::INFINITY, 0.0);
        // The last lags rest on one or two products; the reference implementations stop before them.
        while lag + 4 < self.length && even + odd > 0.0 {
            ceiling = f64::min(ceiling, even + odd);
            pairs += ceiling;
            lag += 2;
            (even, odd) = (correlation(lag), correlation(lag + 1));
        }
        let last = if even > 0.0 || even + odd >= 0.0 { even } else { 0.0 };
        let time = (-1.0 + 2.0 * pairs + last).max(1.0 / size.log10());
        Some(size / time).filter(|found| found.is_finite())
    }

    /// Autocovariances at all lags, averaged over the sequences, and the sequences' means, of values divided by a
    /// power of two so that squares neither overflow nor vanish, less the first value so that means far from zero
    /// do not lose what tells them apart.
    ///
    /// **Precision.** That of [`LaggedProducts`]: an absolute error of about 1e-15 times the variance.
    fn autocovariance(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let scale = binary_scale(&self.values)?;
        let first = self.values.first()? / scale;
        let mut products = LaggedProducts::new(self.length)?;
        let (mut centred, mut means) = (vec![0.0; self.length], Vec::new());
        for sequence in self.each() {
            for (entry, value) in centred.iter_mut().zip(sequence) {
                *entry = value / scale - first;
            }
            let mean = Moments::of(&centred)?.mean;
            centred.iter_mut().for_each(|value| *value -= mean);
            means.push(mean);
            products.add(&centred)?;
        }
        let mut covariances = products.sums()?;
        covariances.iter_mut().for_each(|sum| *sum /= self.values.len() as f64);
        Some((covariances, means))
    }
}
