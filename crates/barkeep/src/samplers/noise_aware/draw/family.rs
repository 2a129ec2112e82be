//! Asks whether responses follow their family: the tail's bins against what the fit expects of them. Costs no question.
//!
//! Bins are counted less their probability given the record's own features, so their mean is 0 whatever the features' law, if the
//! response follows the family and θ is right. What is left is noise, sampling, and that θ is known only as well as the answers
//! before say.

use crate::samplers::noise_aware::fit::expectation::{Round, Set};
use crate::samplers::noise_aware::fit::posterior::{Fit, Scene, chi_square_tail, quadratic};
use crate::samplers::noise_aware::fit::tail::EDGES;
use barkeep_model::{NodeRoom, ScoreBlock};
use barkeep_num::linear::Cholesky;

/// Bins that are off as in fewer runs than this, on records that follow their family, show that records stray from it.
const STRAYS: f64 = 1e-3;
/// Made-up records that probabilities are averaged over.
const RECORDS: usize = 256;
/// Bins of a block.
const BINS: usize = EDGES.len();

/// The bins of one block, per record, and the noise on each.
pub(crate) struct Bins {
    pub(crate) block: ScoreBlock,
    pub(crate) excess: [f64; BINS],
    pub(crate) noise: f64,
}

/// How the bins lie to the family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Straying {
    /// How often bins lie as far off by chance.
    pub(crate) chance: f64,
}

impl Straying {
    /// Judges the bins asked for at a round by the fit so far; `None` where they cannot be judged.
    pub(crate) fn judge(scene: &Scene<'_>, round: &Round, bins: &[Bins], fit: &Fit) -> Option<Self> {
        let size = BINS * bins.len();
        let here = shares(scene, round, bins, &round.theta)?;
        let (d, lower) = (fit.mode.len(), fit.factor.lower());
        let mut variance = vec![0.0; size * size];
        for k in 0..d {
            // One reported standard deviation along each principal direction of the fit.
            let there: Vec<f64> = (0..d).map(|j| round.theta[j] + lower[j * d + k]).collect();
            let moved: Vec<f64> = shares(scene, round, bins, &there)?
                .iter()
                .zip(&here)
                .map(|(there, here)| there - here)
                .collect();
            for (row, a) in variance.chunks_exact_mut(size).zip(&moved) {
                row.iter_mut().zip(&moved).for_each(|(sum, b)| *sum += a * b);
            }
        }
        for (b, own) in bins.iter().enumerate() {
            for j in 0..BINS {
                let at = b * BINS + j;
                variance[at * size + at] += own.noise * own.noise + here[at].max(0.0) / scene.records;
            }
        }
        let excess: Vec<f64> = bins.iter().flat_map(|bins| bins.excess).collect();
        let precision = Cholesky::new(&variance, size)?.inverse();
        Some(Self { chance: chi_square_tail(quadratic(&precision, &excess), size as f64) })
    }

    /// Whether records stray from their family.
    pub(crate) fn is_sure(self) -> bool {
        self.chance < STRAYS
    }
}

/// The probability of every bin of a round's scores if θ is true.
fn shares(scene: &Scene<'_>, round: &Round, bins: &[Bins], theta: &[f64]) -> Option<Vec<f64>> {
    let rule = scene.regression.nodes(theta, scene.top)?;
    let set: &Set = scene.set;
    let count = set.len().min(RECORDS);
    let (mut room, mut beyond) = (NodeRoom::default(), vec![0.0; BINS + 1]);
    let mut all = Vec::new();
    for own in bins {
        let (asked, size) = match own.block {
            ScoreBlock::Coefficients => (round.coefficients(), set.d),
            ScoreBlock::Nuisance => (round.nuisance(), 1),
        };
        let scorer = scene.regression.scorer(asked, scene.top)?;
        let (mut whitened, mut sums) = (vec![0.0; size], [0.0; BINS]);
        for i in 0..count {
            let length = match own.block {
                ScoreBlock::Coefficients => scorer.whiten(set.row(i), &mut whitened) / (size as f64).sqrt(),
                ScoreBlock::Nuisance => round.stretch.abs(),
            };
            let (centre, _) = set.predictor(i, theta);
            let record = set.predictor(i, &round.theta);
            scorer.shares_beyond((&rule, centre), record, length, &EDGES, &mut beyond, &mut room);
            for (sum, pair) in sums.iter_mut().zip(beyond.windows(2)) {
                *sum += (pair[0] - pair[1]).max(0.0) / count as f64;
            }
        }
        all.extend(sums);
    }
    Some(all)
}

#[cfg(test)]
mod tests;
