//! Chooses how narrow scores are clipped: the widest clip that costs little more than the best, noise and bias counted.

use crate::samplers::noise_aware::fit::expectation::{Round, Set};
use crate::samplers::noise_aware::fit::tail::Bias;
use barkeep_model::{NodeRoom, Regression, ScoreBlock, Scorer};
use barkeep_num::linear::{Spectrum, dot, product, transpose};

/// Clips that are tried, per root of a block's size.
pub(crate) const GRID: [f64; 19] =
    [0.5, 0.7, 1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.5, 8.0, 10.0, 13.0, 16.0, 20.0, 28.0, 40.0, 56.0];

/// Made-up records that a choice averages over.
const RECORDS: usize = 256;

/// The noise of a block's answers, all rounds together: σ/c for c = 1, and the number of records.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    /// σ of an answer over its clip, if the whole share were one answer.
    pub(crate) per_clip: f64,
    /// n.
    pub(crate) records: f64,
}

/// The clip of one block of a round, per root of the block's size.
pub(crate) fn choose(
    regression: &Regression,
    round: &Round,
    block: ScoreBlock,
    set: &Set,
    top: f64,
    noise: Noise,
    bias: &Bias,
) -> Option<f64> {
    let costs: Vec<(f64, f64)> = left(regression, round, block, (set, RECORDS), top, noise)
        .iter()
        .map(|left| (left.narrow, left.mean() + bias.at(left.narrow).powi(2)))
        .filter(|(_, cost)| cost.is_finite())
        .collect();
    let least = costs.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    let most = limit(least, bias);
    costs.iter().rev().find(|(_, cost)| *cost <= most).map(|(narrow, _)| *narrow)
}

/// What a clip may cost where the best costs `least`.
pub(crate) fn limit(least: f64, bias: &Bias) -> f64 {
    (bias.slack() * least).min(1.0 + 2.0 * (least - 1.0) + 0.02).max(least)
}

/// What a clip leaves of a block of parameters, in units of the posterior's variance without privacy, if all the share were one answer.
pub(crate) struct Left {
    /// The clip, per root of the block's size.
    pub(crate) narrow: f64,
    /// A⁻¹CA⁻ᵀ in whitened coordinates, row by row: what the clip makes of sampling.
    sampling: Vec<f64>,
    /// A⁻¹A⁻ᵀ times the noise: what that adds.
    noise: Vec<f64>,
    /// Directions that a made-up record informs about, as a projection.
    informed: Vec<f64>,
}

impl Left {
    /// The mean variance over informed directions.
    pub(crate) fn mean(&self) -> f64 {
        (trace(&self.sampling) + trace(&self.noise)) / trace(&self.informed)
    }

    /// The mean over the parameters themselves, whitened by W, of what sampling and of what noise leaves. A direction that no
    /// made-up record informs about is the prior's, with and without privacy.
    pub(crate) fn through(&self, whitening: &[f64]) -> (f64, f64) {
        let d = (whitening.len() as f64).sqrt() as usize;
        let (mut sampling, mut noise) = (0.0, 0.0);
        for j in 0..d {
            let own: Vec<f64> = (0..d).map(|k| whitening[k * d + j]).collect();
            let all = dot(&own, &own).max(1e-300) * d as f64;
            let seen = |matrix: &[f64]| -> f64 {
                matrix.chunks_exact(d).zip(&own).map(|(row, x)| x * dot(row, &own)).sum::<f64>() / all
            };
            sampling += seen(&self.sampling) + 1.0 / d as f64 - seen(&self.informed);
            noise += seen(&self.noise);
        }
        (sampling, noise)
    }
}

fn trace(matrix: &[f64]) -> f64 {
    let size = (matrix.len() as f64).sqrt() as usize;
    matrix.iter().step_by(size + 1).sum()
}

/// Clips that are tried, and what each leaves, by the first records of a set.
pub(crate) fn left(
    regression: &Regression,
    round: &Round,
    block: ScoreBlock,
    set: (&Set, usize),
    top: f64,
    noise: Noise,
) -> Vec<Left> {
    GRID.iter().filter_map(|narrow| left_by(regression, round, block, *narrow, set, top, noise)).collect()
}

fn left_by(
    regression: &Regression,
    round: &Round,
    block: ScoreBlock,
    narrow: f64,
    (set, count): (&Set, usize),
    top: f64,
    noise: Noise,
) -> Option<Left> {
    let round = Round { narrowness: (narrow, narrow), ..round.clone() };
    let (asked, size) = match block {
        ScoreBlock::Coefficients => (round.coefficients(), set.d),
        ScoreBlock::Nuisance => (round.nuisance(), 1),
    };
    let scorer = regression.scorer(asked, top)?;
    let rule = regression.nodes(&round.theta, top)?;
    let count = count.min(set.len());
    let (mut slope, mut spread, mut mean) = (vec![0.0; size * size], vec![0.0; size * size], vec![0.0; size]);
    let (mut room, mut nodes, mut whitened) =
        (NodeRoom::default(), NodeRoom::default(), vec![round.stretch; size]);
    for i in 0..count {
        let (predictor, trials) = set.predictor(i, &round.theta);
        let length = match block {
            ScoreBlock::Coefficients => scorer.whiten(set.row(i), &mut whitened),
            ScoreBlock::Nuisance => round.stretch.abs(),
        };
        let bound = scorer.bound(length);
        let centre = scorer.centre(predictor, trials, bound, &mut room);
        nodes.fill(&rule, predictor, trials);
        let slopes = scorer.slopes_of(predictor, trials, nodes.responses(), &mut room);
        let (mut first, mut square, mut cross) = (0.0, 0.0, 0.0);
        for (r, w) in slopes.iter().zip(nodes.weights()) {
            let factor = Scorer::factor(*r, bound, centre);
            first += w * factor;
            square += w * factor * factor;
            cross += w * factor * if r.is_finite() { *r } else { 0.0 };
        }
        let share = 1.0 / count as f64;
        for (j, a) in whitened.iter().enumerate() {
            mean[j] += share * a * first;
            for (k, b) in whitened.iter().enumerate() {
                slope[j * size + k] += share * a * b * cross;
                spread[j * size + k] += share * a * b * square;
            }
        }
    }
    let clip = narrow * (size as f64).sqrt();
    let added = (noise.per_clip * clip).powi(2) / noise.records;
    for j in 0..size {
        for k in 0..size {
            spread[j * size + k] -= mean[j] * mean[k];
        }
    }
    // The slope's matrix is symmetric and about the identity. A direction that no made-up record informs about, such as a level
    // that none of them has, is the prior's whatever the clip: it is left out.
    let spectrum = Spectrum::new(&slope, size)?;
    let least = 1e-9 * spectrum.range().1;
    let informed = |value: f64| value > least && value > 0.0;
    let inverse = spectrum.map(|value| if informed(value) { 1.0 / value } else { 0.0 });
    let informed = spectrum.map(|value| f64::from(u8::from(informed(value))));
    let transposed = transpose(&inverse, size);
    let sampling = product(&product(&inverse, &spread, size), &transposed, size);
    let noise = product(&inverse, &transposed, size).iter().map(|entry| added * entry).collect();
    (trace(&informed) > 0.5).then_some(Left { narrow, sampling, noise, informed })
}

#[cfg(test)]
mod tests;
