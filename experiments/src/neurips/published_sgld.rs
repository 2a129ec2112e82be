//! Figure 3's DP-SGLD, rewritten from its authors' public code: drift and noise as coded, and with the noise that its drift wants.
//!
//! As coded a step is θ ← θ + η·(Σ clip_L(τ·∇ℓᵢ)/b + ∇ln prior/N) + N(0, η/N) over a batch of b = 100 drawn with replacement, τ = 10⁻⁴,
//! L = 0.01, η = 70. The drift is η/N times the gradient of the tempered log-posterior, so the noise should be 2η/N; with η/N the chain's law is
//! the squared posterior. ε is what their accountant says of these settings, clip and all; no step here depends on it.

use crate::experiment::{Values, values};
use crate::published::mean_and_variance;
use barkeep::PublicRng;

/// What noise a step adds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Variant {
    /// η/N.
    AsCoded,
    /// 2η/N.
    Fixed,
}

impl Variant {
    pub(crate) const BOTH: [Self; 2] = [Self::AsCoded, Self::Fixed];

    /// As `published/neurips-3-sgld.csv` names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::AsCoded => "as_coded",
            Self::Fixed => "noise2",
        }
    }

    /// As figures name it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::AsCoded => "DP-SGLD, rewritten as coded (squared posterior)",
            Self::Fixed => "DP-SGLD, rewritten, its noise fixed",
        }
    }

    fn noise(self) -> f64 {
        match self {
            Self::AsCoded => 1.0,
            Self::Fixed => 2.0,
        }
    }
}

/// Runs of each variant.
pub(crate) const RUNS: u64 = 4;
const STEP: f64 = 70.0;
const BATCH: usize = 100;
const CLIP: f64 = 0.01;
const BURN_IN: usize = 100_000;
/// One state in so many is kept: states move by a hundredth of a posterior standard deviation.
const EVERY: usize = 100;
/// Steps after which a chain is judged, as in `published/neurips-3-sgld.csv`.
pub(crate) const CHECKPOINTS: [usize; 7] =
    [500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 6_000_000];

/// One chain's moments after each checkpoint, of which the first `checkpoints` are run.
pub(crate) fn chain(
    records: &[f64],
    counted: f64,
    variant: Variant,
    seed: u64,
    checkpoints: usize,
) -> Values {
    let n = records.len() as f64;
    let temper = counted / n;
    let sd = (variant.noise() * STEP / n).sqrt();
    let mut rng = PublicRng::new(seed, 0);
    let mut theta = [rng.normal(), rng.normal()];
    let mut series = [Vec::new(), Vec::new()];
    let mut found = values([("steps", Vec::new())]);
    let last = checkpoints.checked_sub(1).and_then(|last| CHECKPOINTS.get(last));
    for t in 1..=last.copied().unwrap_or(0) {
        let mut sum = [0.0; 2];
        for _ in 0..BATCH {
            let place = (rng.open_uniform() * n) as usize;
            let gradient = gradient(records[place.min(records.len() - 1)], theta);
            let [first, second] = gradient.map(|entry| temper * entry);
            let square = first * first + second * second;
            let factor = if square > CLIP * CLIP { CLIP / square.sqrt() } else { 1.0 };
            sum = [sum[0] + factor * first, sum[1] + factor * second];
        }
        // The priors' variances are 10 and 1.
        let prior = [-theta[0] / 10.0, -theta[1]];
        for j in 0..2 {
            theta[j] += STEP * (sum[j] / BATCH as f64 + prior[j] / n) + sd * rng.normal();
        }
        if t > BURN_IN && t.is_multiple_of(EVERY) {
            series.iter_mut().zip(theta).for_each(|(series, x)| series.push(x));
        }
        if CHECKPOINTS.contains(&t) {
            found.entry("steps".to_owned()).or_default().push(t as f64);
            for (j, series) in series.iter().enumerate() {
                let (mean, variance) = mean_and_variance(series);
                found.entry(format!("mean_{}", j + 1)).or_default().push(mean);
                found.entry(format!("variance_{}", j + 1)).or_default().push(variance);
            }
        }
    }
    found
}

/// ∇ ln(½N(x; θ₁, 2) + ½N(x; θ₁ + θ₂, 2)).
fn gradient(x: f64, [first, second]: [f64; 2]) -> [f64; 2] {
    let (left, right) = (x - first, x - first - second);
    // The share of the second component: odds e^(left²/4 − right²/4).
    let share = 1.0 / (1.0 + (0.25 * (right * right - left * left)).exp());
    [0.5 * ((1.0 - share) * left + share * right), 0.5 * share * right]
}

#[cfg(test)]
mod tests;
