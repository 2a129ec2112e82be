//! Convolves and takes powers under a tilt, on top of the transforms under test: each entry against its own saddle point.

use barkeep_num::convolution::{Cyclic, Estimate};
use barkeep_num::log_sum_exp;

/// Σᵢ aᵢ·bⱼ₋ᵢ for all j.
///
/// **Precision.** About 9·log₂N·2⁻⁵³·‖a‖₁·‖b‖₁ at worst; the returned error is proved.
///
/// None if either is empty or the result is longer than [`LONGEST`].
pub(super) fn convolve(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let length = a.len().checked_add(b.len())?.checked_sub(1)?;
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let cyclic = Cyclic::new(length.max(2).checked_next_power_of_two()?)?;
    let (a, b) = (cyclic.spectrum(a.to_vec()), cyclic.spectrum(b.to_vec()));
    let mut estimate = cyclic.powers(&[(&a, 1), (&b, 1)]);
    estimate.values.truncate(length);
    Some(estimate)
}

/// A power in the sense of convolution, held tilted: entry j of the truth is within
/// (`values[j]` ± `error`)·exp(`log_scale` − `tilt`·j).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TiltedEstimate {
    /// The tilted entries.
    pub(super) estimate: Estimate,
    /// The tilt s.
    pub(super) tilt: f64,
    /// Logarithm of what the tilted entries were divided by.
    pub(super) log_scale: f64,
}

impl TiltedEstimate {
    /// ln of a lower and an upper bound of entry `index`, for a sequence without negative entries.
    ///
    /// The lower is −∞ where the error swallows the entry. None beyond the end.
    pub(super) fn log_bounds(&self, index: usize) -> Option<(f64, f64)> {
        let value = *self.estimate.values.get(index)?;
        let shift = self.log_scale - self.tilt * index as f64;
        let slack = 2.0 * f64::EPSILON * (self.log_scale.abs() + (self.tilt * index as f64).abs() + 1.0);
        let log = |x: f64| if x > 0.0 { libm::log(x) + shift } else { f64::NEG_INFINITY };
        let error = self.estimate.error;
        Some((log(value - error) - slack, log(value.max(0.0) + error) + slack))
    }
}

/// The `power`-th convolution power of a sequence given by its logarithms, computed under the tilt s.
///
/// Entry j of the input is multiplied by e^(sj) and divided by the sum of all, the power is taken, and the answer says how to
/// undo it. Precision is then relative to the entries where the *tilted* power is large: choose s by [`saddle_tilt`].
///
/// **Precision.** The error covers the transform and the rounding of the tilted weights, at most 2⁻⁵⁰·(1 + |ln xⱼ| + |sj|) each.
///
/// None if the sequence is empty, has no finite positive sum under this tilt, or the power is longer than [`LONGEST`].
pub(super) fn tilted_power(log_values: &[f64], power: u64, tilt: f64) -> Option<TiltedEstimate> {
    let longest =
        usize::try_from(power).ok()?.checked_mul(log_values.len().checked_sub(1)?)?.checked_add(1)?;
    let cyclic = Cyclic::new(longest.max(2).checked_next_power_of_two()?)?;
    let tilted: Vec<f64> =
        log_values.iter().enumerate().map(|(index, log)| log + tilt * index as f64).collect();
    let log_sum = log_sum_exp(&tilted);
    if !log_sum.is_finite() {
        return None;
    }
    let mut rounding = 0.0;
    let weights: Vec<f64> = (tilted.iter().zip(log_values).enumerate())
        .map(|(index, (tilted, log))| {
            let weight = libm::exp(tilted - log_sum);
            if weight > 0.0 {
                rounding += weight
                    * (1.0 + log.abs() + (tilt * index as f64).abs() + log_sum.abs())
                    * (4.0 * f64::EPSILON);
            }
            weight
        })
        .collect();
    let spectrum = cyclic.spectrum(weights).of_values_within(rounding);
    let mut estimate = cyclic.powers(&[(&spectrum, power)]);
    estimate.values.truncate(longest);
    Some(TiltedEstimate { estimate, tilt, log_scale: power as f64 * log_sum })
}

/// The tilt under which a sequence, given by its logarithms, has the given mean index: the saddle point for that target.
///
/// The j-th entry of a k-th power is largest under its tilt, relative to the others, when the mean is j/k.
/// Found by bisection to about 1e-9; the ends of the sequence are never reached, so the mean is taken at least 1e-9 inside.
///
/// None if fewer than two entries are positive or the mean is not between the first and the last of them.
pub(super) fn saddle_tilt(log_values: &[f64], mean: f64) -> Option<f64> {
    let positive = |(index, log): (usize, &f64)| (*log > f64::NEG_INFINITY).then_some(index as f64);
    let first = log_values.iter().enumerate().find_map(positive)?;
    let last = log_values.iter().enumerate().rev().find_map(positive)?;
    if first >= last || !(first..=last).contains(&mean) {
        return None;
    }
    let margin = 1e-9 * (last - first);
    let target = mean.clamp(first + margin, last - margin);
    let tilted_mean = |tilt: f64| {
        let log = |(index, log): (usize, &f64)| log + tilt * index as f64;
        let largest = log_values.iter().enumerate().map(log).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut moment) = (0.0, 0.0);
        for (index, value) in log_values.iter().enumerate() {
            let weight = libm::exp(log((index, value)) - largest);
            sum += weight;
            moment += weight * index as f64;
        }
        moment / sum
    };
    let (mut low, mut high) = (-1.0, 1.0);
    while tilted_mean(low) > target && low > -1e9 {
        low *= 4.0;
    }
    while tilted_mean(high) < target && high < 1e9 {
        high *= 4.0;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if tilted_mean(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}
