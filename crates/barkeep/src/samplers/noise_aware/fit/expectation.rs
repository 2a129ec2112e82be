//! Computes what answers are expected at θ: sums over made-up records and the nodes of their responses.

use crate::samplers::noise_aware::fit::persons::Gain;
use barkeep_model::{CentredScore, NodeRoom, Regression, ScoreBlock, Scorer};
use rayon::prelude::*;

/// Made-up records that work shares out together: always the same, so that sums do not depend on the number of threads.
const SHARE: usize = 32;

/// Made-up records as a regression meets them.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    /// Coefficients d.
    pub(crate) d: usize,
    /// Features with a leading 1 for an intercept, record by record.
    pub(crate) features: Vec<f64>,
    /// η at θ = 0.
    pub(crate) offsets: Vec<f64>,
    /// Trials.
    pub(crate) trials: Vec<f64>,
}

impl Set {
    /// From rows of the columns the model reads.
    pub(crate) fn new(regression: &Regression, rows: &[f64], columns: usize) -> Self {
        let (d, nuisance) = regression.parts();
        let zero = vec![0.0; d + usize::from(nuisance)];
        let mut set = Self { d, features: Vec::new(), offsets: Vec::new(), trials: Vec::new() };
        for row in rows.chunks_exact(columns) {
            set.features.extend(regression.features(row));
            let (offset, trials) = regression.predictor(&zero, row);
            set.offsets.push(offset);
            set.trials.push(trials);
        }
        set
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The features of record i.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.d..(i + 1) * self.d]
    }

    /// η and the trials of record i.
    pub(crate) fn predictor(&self, i: usize, theta: &[f64]) -> (f64, f64) {
        let line: f64 = self.row(i).iter().zip(theta).map(|(x, b)| x * b).sum();
        (self.offsets[i] + line, self.trials[i])
    }
}

/// One question about scores: where, through which matrix, how narrow.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    /// θ_k.
    pub(crate) theta: Vec<f64>,
    /// W of the coefficients, row by row.
    pub(crate) whitening: Vec<f64>,
    /// Whether W had to leave out directions that the columns hardly tell apart.
    pub(crate) is_singular: bool,
    /// W of the nuisance.
    pub(crate) stretch: f64,
    /// Clips per root of a block's size: of the coefficients and of the nuisance.
    pub(crate) narrowness: (f64, f64),
    /// What was answered, one entry per parameter.
    pub(crate) answer: Vec<f64>,
    /// The noise on it.
    pub(crate) noise: Vec<f64>,
    /// What is taken off a model's clipped score; empty for a regression, whose records have centres of their own.
    pub(crate) centre: Vec<f64>,
    /// Where persons have several rows: what the clip of their sums makes of the coefficients and of the nuisance.
    pub(crate) gains: Option<(Gain, Gain)>,
}

impl Round {
    /// c of the coefficients and of the nuisance.
    pub(crate) fn clips(&self) -> (f64, f64) {
        let d = (self.whitening.len() as f64).sqrt();
        (self.narrowness.0 * d.sqrt(), self.narrowness.1)
    }

    /// Clips of a record's or person's term: of the coefficients and of the nuisance.
    pub(crate) fn outer_clips(&self) -> (f64, f64) {
        self.gains.as_ref().map_or_else(|| self.clips(), |(first, second)| (first.clip, second.clip))
    }

    /// The gain of one parameter's block.
    pub(crate) fn gain(&self, is_nuisance: bool) -> Option<&Gain> {
        self.gains.as_ref().map(|(first, second)| if is_nuisance { second } else { first })
    }

    /// The question about the coefficients.
    pub(crate) fn coefficients(&self) -> CentredScore<'_> {
        CentredScore {
            theta: &self.theta,
            block: ScoreBlock::Coefficients,
            whitening: &self.whitening,
            clip: self.clips().0,
        }
    }

    /// The question about the nuisance.
    pub(crate) fn nuisance(&self) -> CentredScore<'_> {
        CentredScore {
            theta: &self.theta,
            block: ScoreBlock::Nuisance,
            whitening: std::slice::from_ref(&self.stretch),
            clip: self.clips().1,
        }
    }
}

/// What a round makes of each record of a set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Held {
    /// W·x, record by record.
    whitened: Vec<f64>,
    /// η_k, κ and m of each record for the coefficients.
    coefficients: Vec<(f64, f64, f64)>,
    /// κ and m of each record for the nuisance; empty without one.
    nuisance: Vec<(f64, f64)>,
    /// Of a model that is no regression: what is taken off the scores of each row, one entry after the other; or a line of what
    /// is expected, its level first.
    pub(crate) centres: Vec<f64>,
}

impl Held {
    /// Of a model that is no regression.
    pub(crate) fn of_rows(centres: Vec<f64>) -> Self {
        Self { centres, ..Self::default() }
    }

    /// `None` if the round does not fit the regression.
    pub(crate) fn new(regression: &Regression, round: &Round, set: &Set, top: f64) -> Option<Self> {
        let (d, has_nuisance) = regression.parts();
        let scorer = regression.scorer(round.coefficients(), top)?;
        let other = if has_nuisance { Some(regression.scorer(round.nuisance(), top)?) } else { None };
        let mut held = Self { whitened: vec![0.0; set.len() * d], ..Self::default() };
        let records: Vec<Kept> = held
            .whitened
            .par_chunks_mut(d)
            .enumerate()
            .map_init(NodeRoom::default, |room, (i, whitened)| {
                let (predictor, trials) = set.predictor(i, &round.theta);
                let bound = scorer.bound(scorer.whiten(set.row(i), whitened));
                let centre = scorer.centre(predictor, trials, bound, room);
                let nuisance = other.as_ref().map_or((0.0, 0.0), |other| {
                    let bound = other.bound(round.stretch.abs());
                    (bound, other.centre(predictor, trials, bound, room))
                });
                ((predictor, bound, centre), nuisance)
            })
            .collect();
        held.coefficients = records.iter().map(|record| record.0).collect();
        if has_nuisance {
            held.nuisance = records.iter().map(|record| record.1).collect();
        }
        Some(held)
    }
}

/// η, κ and m of a record for the coefficients, κ and m for the nuisance.
type Kept = ((f64, f64, f64), (f64, f64));

/// What is wanted beside the expected answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing.
    Mean,
    /// Their slopes in θ.
    Slopes,
    /// Their slopes and a record's covariance.
    Covariance,
}

/// Expectations per record over a set, for K rounds of D parameters.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// E ψ, K·D.
    pub(crate) mean: Vec<f64>,
    /// ∂E ψ/∂θ, K·D rows of D; empty unless wanted.
    pub(crate) slopes: Vec<f64>,
    /// Cov ψ, K·D rows of K·D; empty unless wanted.
    pub(crate) covariance: Vec<f64>,
}

impl Expected {
    /// Turns what is expected of rows into what is expected of persons, over the number of rows.
    pub(crate) fn squeeze(&mut self, rounds: &[(&Round, &Held)], d: usize) {
        let size = self.mean.len();
        let parameters = size / rounds.len().max(1);
        let width = self.slopes.len() / size.max(1);
        for (k, (round, _)) in rounds.iter().enumerate() {
            let Some((first, second)) = &round.gains else { continue };
            let at = k * parameters;
            for (gain, from, to) in [(first, at, at + d), (second, at + d, at + parameters)] {
                if from == to {
                    continue;
                }
                gain.squeeze(&mut self.mean[from..to], &mut self.slopes[from * width..to * width]);
                if !self.covariance.is_empty() {
                    let root = gain.share.sqrt();
                    for i in from..to {
                        (0..size).for_each(|j| self.covariance[i * size + j] *= root);
                        (0..size).for_each(|j| self.covariance[j * size + i] *= root);
                    }
                }
            }
        }
    }

    fn zero(size: usize, parameters: usize, wanted: Wanted) -> Self {
        let slopes = if wanted == Wanted::Mean { 0 } else { size * parameters };
        let covariance = if wanted == Wanted::Covariance { size * size } else { 0 };
        Self { mean: vec![0.0; size], slopes: vec![0.0; slopes], covariance: vec![0.0; covariance] }
    }

    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.mean, &other.mean),
            (&mut self.slopes, &other.slopes),
            (&mut self.covariance, &other.covariance),
        ];
        for (sum, share) in pairs {
            sum.iter_mut().zip(share).for_each(|(sum, share)| *sum += share);
        }
    }

    fn scale(&mut self, factor: f64) {
        for numbers in [&mut self.mean, &mut self.slopes, &mut self.covariance] {
            numbers.iter_mut().for_each(|number| *number *= factor);
        }
    }
}

/// Working memory of one thread.
#[derive(Default)]
struct Room {
    nodes: NodeRoom,
    slopes: Vec<f64>,
    others: Vec<f64>,
    /// ψ's factors at every node, round by round: coefficients, then the nuisance.
    factors: Vec<f64>,
    extra: Vec<f64>,
    spare: Vec<f64>,
}

/// Expected answers of all rounds at θ over the first `count` records of a set.
pub(crate) fn expect(
    regression: &Regression,
    rounds: &[(&Round, &Held)],
    (set, count): (&Set, usize),
    theta: &[f64],
    top: f64,
    wanted: Wanted,
) -> Option<Expected> {
    let (d, has_nuisance) = regression.parts();
    let parameters = d + usize::from(has_nuisance);
    let size = rounds.len() * parameters;
    let rule = regression.nodes(theta, top)?;
    let count = count.min(set.len());
    let shares: Vec<Expected> = (0..count.div_ceil(SHARE))
        .into_par_iter()
        .map_init(Room::default, |room, share| {
            let mut sums = Expected::zero(size, parameters, wanted);
            for i in share * SHARE..((share + 1) * SHARE).min(count) {
                let (predictor, trials) = set.predictor(i, theta);
                room.nodes.fill(&rule, predictor, trials);
                let nodes = rule.len();
                let Room { nodes: filled, slopes, others, factors, extra, spare } = room;
                let (responses, weights) = (filled.responses(), filled.weights());
                factors.resize(rounds.len() * nodes, 0.0);
                extra.resize(if has_nuisance { rounds.len() * nodes } else { 0 }, 0.0);
                for (k, (round, held)) in rounds.iter().enumerate() {
                    let (eta, bound, centre) = held.coefficients[i];
                    let factors = &mut factors[k * nodes..(k + 1) * nodes];
                    let extra =
                        if has_nuisance { &mut extra[k * nodes..(k + 1) * nodes] } else { &mut [][..] };
                    regression.slopes(&round.theta, (eta, trials), responses, factors, extra);
                    factors.iter_mut().for_each(|r| *r = Scorer::factor(*r, bound, centre));
                    if let Some((bound, centre)) = held.nuisance.get(i) {
                        let stretch = round.stretch;
                        extra.iter_mut().for_each(|s| *s = stretch * Scorer::factor(*s, *bound, *centre));
                    }
                }
                if wanted != Wanted::Mean {
                    slopes.resize(nodes, 0.0);
                    others.resize(extra.len().min(nodes), 0.0);
                    regression.slopes(theta, (predictor, trials), responses, slopes, others);
                    slopes.iter_mut().zip(weights).for_each(|(r, w)| *r *= w);
                    others.iter_mut().zip(weights).for_each(|(s, w)| *s *= w);
                }
                let x = set.row(i);
                for (k, (_, held)) in rounds.iter().enumerate() {
                    let a = &held.whitened[i * d..(i + 1) * d];
                    let factors = &factors[k * nodes..(k + 1) * nodes];
                    let extra = extra.get(k * nodes..(k + 1) * nodes);
                    let at = k * parameters;
                    let mean = dot(factors, weights);
                    sums.mean[at..at + d].iter_mut().zip(a).for_each(|(sum, a)| *sum += a * mean);
                    if let Some(extra) = extra {
                        sums.mean[at + d] += dot(extra, weights);
                    }
                    if wanted == Wanted::Mean {
                        continue;
                    }
                    let (by_slope, by_other) = (dot(factors, slopes), dot(factors, others));
                    for (j, a) in a.iter().enumerate() {
                        let row = &mut sums.slopes[(at + j) * parameters..(at + j + 1) * parameters];
                        row.iter_mut().zip(x).for_each(|(sum, x)| *sum += a * x * by_slope);
                        if has_nuisance {
                            row[d] += a * by_other;
                        }
                    }
                    if let Some(extra) = extra {
                        let (by_slope, by_other) = (dot(extra, slopes), dot(extra, others));
                        let row = &mut sums.slopes[(at + d) * parameters..(at + d + 1) * parameters];
                        row.iter_mut().zip(x).for_each(|(sum, x)| *sum += x * by_slope);
                        row[d] += by_other;
                    }
                }
                if wanted == Wanted::Covariance {
                    add_products(
                        rounds,
                        (i, d, parameters),
                        (factors, extra, weights),
                        spare,
                        &mut sums.covariance,
                    );
                }
            }
            sums
        })
        .collect();
    let mut total = Expected::zero(size, parameters, wanted);
    shares.iter().for_each(|share| total.add(share));
    total.scale(1.0 / count.max(1) as f64);
    if wanted == Wanted::Covariance {
        for i in 0..size {
            for j in 0..=i {
                let entry = total.covariance[i * size + j] - total.mean[i] * total.mean[j];
                total.covariance[i * size + j] = entry;
                total.covariance[j * size + i] = entry;
            }
        }
    }
    Some(total)
}

/// Adds E ψψᵀ of record i given its features to the lower triangle of `out`.
fn add_products(
    rounds: &[(&Round, &Held)],
    (i, d, parameters): (usize, usize, usize),
    (factors, extra, weights): (&[f64], &[f64], &[f64]),
    spare: &mut Vec<f64>,
    out: &mut [f64],
) {
    let (nodes, size) = (weights.len(), rounds.len() * parameters);
    let of = |numbers: &[f64], k: usize| -> Vec<f64> { numbers[k * nodes..(k + 1) * nodes].to_vec() };
    for (k, (_, held)) in rounds.iter().enumerate() {
        let a = &held.whitened[i * d..(i + 1) * d];
        spare.clear();
        spare.extend(of(factors, k).iter().zip(weights).map(|(factor, weight)| factor * weight));
        let weighted: Vec<f64> = if extra.is_empty() {
            Vec::new()
        } else {
            of(extra, k).iter().zip(weights).map(|(s, w)| s * w).collect()
        };
        for (l, (_, other)) in rounds.iter().enumerate().take(k + 1) {
            let b = &other.whitened[i * d..(i + 1) * d];
            let their = &factors[l * nodes..(l + 1) * nodes];
            let both = dot(spare, their);
            for (j, a) in a.iter().enumerate() {
                let row = &mut out[(k * parameters + j) * size + l * parameters..][..d];
                row.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b * both);
            }
            if !extra.is_empty() {
                let theirs = &extra[l * nodes..(l + 1) * nodes];
                let (mixed, crossed, squares) =
                    (dot(spare, theirs), dot(&weighted, their), dot(&weighted, theirs));
                for (j, a) in a.iter().enumerate() {
                    out[(k * parameters + j) * size + l * parameters + d] += a * mixed;
                }
                let row = &mut out[(k * parameters + d) * size + l * parameters..][..d + 1];
                row[..d].iter_mut().zip(b).for_each(|(sum, b)| *sum += b * crossed);
                row[d] += squares;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    barkeep_num::linear::dot(a, b)
}

/// The information of one record about the coefficients (d×d) and about the nuisance, at θ over the first `count` records.
pub(crate) fn information(
    regression: &Regression,
    (set, count): (&Set, usize),
    theta: &[f64],
    top: f64,
) -> Option<(Vec<f64>, f64)> {
    let (d, has_nuisance) = regression.parts();
    let rule = regression.nodes(theta, top)?;
    let count = count.min(set.len());
    let (mut matrix, mut other) = (vec![0.0; d * d], 0.0);
    let mut room = NodeRoom::default();
    let mut slopes = vec![0.0; rule.len()];
    let mut others = vec![0.0; if has_nuisance { rule.len() } else { 0 }];
    for i in 0..count {
        let (predictor, trials) = set.predictor(i, theta);
        room.fill(&rule, predictor, trials);
        regression.slopes(theta, (predictor, trials), room.responses(), &mut slopes, &mut others);
        let square = |slopes: &[f64]| slopes.iter().zip(room.weights()).map(|(r, w)| w * r * r).sum::<f64>();
        let weight = square(&slopes) / count as f64;
        other += square(&others) / count as f64;
        let x = set.row(i);
        for (row, a) in matrix.chunks_exact_mut(d).zip(x) {
            row.iter_mut().zip(x).for_each(|(sum, b)| *sum += weight * a * b);
        }
    }
    Some((matrix, other))
}

#[cfg(test)]
mod tests;
