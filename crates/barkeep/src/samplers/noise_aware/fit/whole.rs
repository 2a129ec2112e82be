//! Expects answers about models that are no regressions: sums over records made up at a nearby θ.
//!
//! A record's term is ψ = clip_c(clip_c(u) − m), u = W∇ln p(x|θ_k), with m near E_{θ_k} clip_c(u), or near that expectation given the
//! record's columns that are no responses. Its mean at θ is taken over records made up at a reference θ₀ near by ([`Origin`]),
//! with weights p(x|θ)/p(x|θ₀). Few records give the weighted mean's move away from θ₀, and many its level there: both are
//! smooth in θ and cheap.

use crate::samplers::noise_aware::fit::expectation::{Expected, Held, Round, Wanted};
use crate::samplers::noise_aware::fit::posterior::{Answered, DISCREPANCY, Expects, Fit, Posterior};
use crate::samplers::noise_aware::fit::tail::Bias;
use crate::samplers::noise_aware::fit::terms::{
    Right, Weighted, clip_each, finite, mean, second_moments, shift,
};
use crate::samplers::noise_aware::policy::clip::{GRID, Noise, limit};
use crate::samplers::noise_aware::synthetic::origin::{Origin, Rows, Sample};
use barkeep_data::Block;
use barkeep_model::{Centring, Likelihood, Model, Scratch};
use barkeep_num::linear::{Cholesky, Spectrum, diagonal, dot, product, transpose};
use barkeep_num::vector;
use rayon::prelude::*;
use std::sync::Arc;

/// Weights that leave fewer records than this share of them say nothing.
const LEAST: f64 = 0.05;
/// How often the reference follows the mode.
const RENEWALS: usize = 12;

/// A model, and how its records are made up.
#[derive(Clone)]
pub(crate) struct Source {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) likelihood: Arc<dyn Likelihood>,
    pub(crate) origin: Origin,
    /// n.
    pub(crate) records: f64,
}

impl Source {
    pub(crate) fn dimension(&self) -> usize {
        self.likelihood.dimension()
    }

    /// Made-up records at θ; `None` if the model cannot say how.
    pub(crate) fn made_up(&self, theta: &[f64]) -> Option<Sample> {
        self.origin.sample(&*self.model, &*self.likelihood, theta)
    }

    /// ∇ln p of each record, one entry after the other.
    pub(crate) fn gradients(&self, theta: &[f64], values: &[f64], count: usize) -> Vec<f64> {
        let mut gradients = vec![0.0; self.dimension() * count];
        let block = Block::over(values, count, count);
        self.likelihood.gradient(block, theta, &mut gradients, &mut Scratch::default());
        gradients
    }

    /// u of each record, one entry after the other.
    fn whitened(&self, theta: &[f64], whitening: &[f64], values: &[f64], count: usize) -> Vec<f64> {
        let gradients = self.gradients(theta, values, count);
        let (d, mut out) = (self.dimension(), vec![0.0; gradients.len()]);
        vector::dispatch(
            #[inline(always)]
            || {
                for (row, out) in whitening.chunks_exact(d).zip(out.chunks_exact_mut(count)) {
                    for (weight, lane) in row.iter().zip(gradients.chunks_exact(count)) {
                        out.iter_mut().zip(lane).for_each(|(sum, x)| *sum += weight * x);
                    }
                }
            },
        );
        out
    }

    /// The information of one record at θ.
    pub(crate) fn information(&self, theta: &[f64]) -> Option<Vec<f64>> {
        let d = self.dimension();
        match &self.origin {
            Origin::Whole { .. } => {
                let mut matrix = vec![0.0; d * d];
                self.model.fisher(theta, &mut matrix).then_some(matrix)
            }
            Origin::Given(_) => {
                let sample = self.made_up(theta)?;
                let count = sample.weights.len();
                let scores = finite(self.gradients(theta, &sample.values, count));
                let matrix = second_moments(&scores, &scores, &sample.weights);
                matrix.iter().all(|entry| entry.is_finite()).then_some(matrix)
            }
        }
    }

    /// W at θ: the root of the inverse information of a record and of the prior's share.
    fn whitening(&self, theta: &[f64]) -> Option<Vec<f64>> {
        let d = self.dimension();
        let mut matrix = self.information(theta)?;
        let mut prior = vec![0.0; d * d];
        self.model.prior_precision(theta, &mut prior);
        matrix.iter_mut().zip(&prior).for_each(|(entry, prior)| *entry += prior / self.records);
        let units: Vec<f64> = (0..d).map(|j| 1.0 / matrix[j * d + j].max(1e-300).sqrt()).collect();
        let scaled: Vec<f64> = (0..d * d).map(|k| matrix[k] * units[k / d] * units[k % d]).collect();
        let spectrum = Spectrum::new(&scaled, d)?;
        let least = 1e-4 * spectrum.range().1;
        let whitening = product(&spectrum.map(|value| 1.0 / value.max(least).sqrt()), &diagonal(&units), d);
        whitening.iter().all(|entry| entry.is_finite()).then_some(whitening)
    }

    /// A round at θ whose clip suits the noise of all rounds together.
    pub(crate) fn round(&self, theta: &[f64], noise: Noise) -> Option<Round> {
        let (clips, scene) = self.clips(theta)?;
        let (_, narrow) = clips.chosen(noise)?;
        // Where records have centres of their own, the gate computes them.
        let centre = if self.origin.has_columns() {
            Vec::new()
        } else {
            self.centred(&scene, narrow, &mut Vec::new()).0
        };
        let (d, whitening) = (self.dimension(), scene.whitening);
        Some(Round {
            theta: theta.to_vec(),
            whitening,
            is_singular: false,
            stretch: 0.0,
            narrowness: (narrow, 1.0),
            answer: vec![0.0; d],
            noise: vec![0.0; d],
            gains: None,
            centre,
        })
    }

    /// What clips make of scores at θ, whatever the noise.
    pub(crate) fn clips(&self, theta: &[f64]) -> Option<(Clips, Scored)> {
        let d = self.dimension();
        let whitening = self.whitening(theta)?;
        let sample = self.made_up(theta)?;
        let count = sample.weights.len();
        let seen = finite(self.whitened(theta, &whitening, sample.seen(), count));
        let own =
            sample.is_admitted().then(|| finite(self.whitened(theta, &whitening, &sample.values, count)));
        let mut prior = vec![0.0; d * d];
        self.model.prior_precision(theta, &mut prior);
        prior.iter_mut().for_each(|entry| *entry /= self.records);
        let prior = product(&product(&whitening, &prior, d), &transpose(&whitening, d), d);
        let scene = Scored { whitening, sample, seen };
        let (weights, mut terms) = (&scene.sample.weights, Vec::new());
        let scores = Right::new(own.as_ref().unwrap_or(&scene.seen), count);
        let (mut left, mut right) = (Weighted::new(&[], weights), Right::new(&[], count));
        let mut tried = Vec::new();
        for narrow in GRID {
            let (_, is_clipped) = self.centred(&scene, narrow, &mut terms);
            left.fill(&terms, weights);
            right.fill(&terms, None);
            tried.push((left.products(&scores), left.squares(&right)));
            if !is_clipped {
                break;
            }
        }
        Some((Clips { d, prior, tried }, scene))
    }

    /// Writes scores clipped per root of their dimension; returns what was taken off them, and whether a clip changed any.
    fn centred(&self, scored: &Scored, narrow: f64, terms: &mut Vec<f64>) -> (Vec<f64>, bool) {
        let Scored { sample, seen, .. } = scored;
        let (d, count) = (self.dimension(), sample.weights.len());
        let clip = narrow * (d as f64).sqrt();
        terms.clone_from(seen);
        let is_clipped = clip_each(terms, count, clip);
        let centre = self.origin.centres(terms, sample);
        let rows = centre.len() / d;
        let place = |i: usize| if rows == 1 { 0 } else { i * rows / count };
        let is_clipped = shift(terms, count, clip, |j, i| centre[j * rows + place(i)]) || is_clipped;
        (centre, is_clipped)
    }

    /// An answered round: with the centres of every made-up row, and what it expects near θ_k for columns as they might be.
    pub(crate) fn answered(&self, round: Round) -> Answered {
        let Origin::Given(columns) = &self.origin else {
            return Answered { round, held: Held::default(), others: Vec::new() };
        };
        if !columns.has_columns {
            return Answered { round, held: Held::default(), others: Vec::new() };
        }
        let rows = &columns.believed;
        let mut centres = vec![0.0; self.dimension() * rows.count];
        if let Ok(given) = self.likelihood.given() {
            let centring =
                Centring { theta: &round.theta, whitening: &round.whitening, clip: round.clips().0 };
            let sides = (&*self.likelihood, given);
            centring.write(sides, rows.block(), &mut centres, &mut Scratch::default());
        }
        let shortest = columns.others.iter().map(|rows| rows.count).min();
        let first = shortest.map(|count| rows.first(count));
        let sets: Vec<&Rows> = first.iter().chain(&columns.others).collect();
        let line = |rows: &Rows| Held::of_rows(self.line(&round, rows).unwrap_or_default());
        let others = sets.into_par_iter().map(line).collect();
        Answered { round, held: Held::of_rows(centres), others }
    }

    /// E ψ at θ_k over some rows, and then its slope in θ, row by row.
    fn line(&self, round: &Round, rows: &Rows) -> Option<Vec<f64>> {
        let sample = rows.sample(&*self.likelihood, &round.theta, None)?;
        let (count, clip) = (sample.weights.len(), round.clips().0);
        let mut terms = self.whitened(&round.theta, &round.whitening, sample.seen(), count);
        clip_each(&mut terms, count, clip);
        let centres = self.origin.centres(&terms, &sample);
        shift(&mut terms, count, clip, |j, i| centres[j * rows.count + i / sample.each]);
        let scores = finite(self.gradients(&round.theta, &sample.values, count));
        let mut line: Vec<f64> = terms.chunks_exact(count).map(|lane| mean(lane, &sample.weights)).collect();
        line.extend(second_moments(&terms, &scores, &sample.weights));
        Some(line)
    }

    /// ψ of made-up records for a round, one entry after the other. `centres` are those of the rows, where they have any.
    fn terms(&self, round: &Round, centres: &[f64], sample: &Sample) -> Vec<f64> {
        let (count, clip) = (sample.weights.len(), round.clips().0);
        let mut terms = self.whitened(&round.theta, &round.whitening, sample.seen(), count);
        clip_each(&mut terms, count, clip);
        let rows = centres.len() / self.dimension();
        shift(&mut terms, count, clip, |j, i| match round.centre.get(j) {
            Some(centre) => *centre,
            None => centres[j * rows + i / sample.each],
        });
        terms
    }

    /// The posterior given answers, from a start: its fit, and what is expected near it.
    pub(crate) fn fit(&self, answered: &[Answered], start: &[f64]) -> Option<(Fit, Whole<'_>)> {
        let mut theta = start.to_vec();
        let mut found = None;
        for _ in 0..RENEWALS {
            let Some(whole) = Whole::new(self, answered, &theta) else { break };
            let posterior = Posterior { model: &*self.model, records: self.records, expects: &whole };
            let fit = posterior.fit(answered, &theta, &(Bias::none(), Bias::none()), 1)?;
            let (d, lower) = (theta.len(), fit.factor.lower());
            let moved = (0..d).map(|j| {
                let square = dot(&lower[j * d..(j + 1) * d], &lower[j * d..(j + 1) * d]);
                (fit.mode[j] - theta[j]).abs() / square.sqrt()
            });
            let has_settled = moved.fold(0.0, f64::max) < 0.1;
            theta.clone_from(&fit.mode);
            found = Some((fit, whole));
            if has_settled {
                break;
            }
        }
        found
    }
}

/// Made-up records at θ and their scores.
pub(crate) struct Scored {
    whitening: Vec<f64>,
    sample: Sample,
    /// W∇ln p of each as the table would hold it.
    seen: Vec<f64>,
}

/// What clips make of scores at θ, before noise.
pub(crate) struct Clips {
    d: usize,
    /// The prior's share of a record, in whitened coordinates.
    prior: Vec<f64>,
    /// Slope and spread for each clip of the grid up to the first that changes no record; wider ones leave the same.
    tried: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Clips {
    /// The widest clip that costs little more than the best, per root of the dimension, after the variance that it leaves in units of
    /// the posterior's without privacy, as a geometric mean over directions.
    ///
    /// Under the model clips of nearly equal cost are equally good. Records that do not follow it are cut less by a wider one.
    pub(crate) fn chosen(&self, noise: Noise) -> Option<(f64, f64)> {
        // A clip wider than the first that changes no record only adds noise.
        let costs: Vec<(f64, f64)> = GRID
            .into_iter()
            .zip(&self.tried)
            .filter_map(|(narrow, (slope, spread))| Some((self.cost(slope, spread, narrow, noise)?, narrow)))
            .collect();
        let least = costs.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
        let most = limit(least, &Bias::none());
        costs.into_iter().rev().find(|(cost, _)| *cost <= most)
    }

    fn cost(&self, slope: &[f64], spread: &[f64], narrow: f64, noise: Noise) -> Option<f64> {
        let d = self.d;
        let mut spread = spread.to_vec();
        let added = (noise.per_clip * narrow).powi(2) * d as f64 / noise.records;
        spread.iter_mut().step_by(d + 1).for_each(|entry| *entry += added);
        let inverse = Cholesky::new(&spread, d)?.inverse();
        let mut precision = product(&product(&transpose(slope, d), &inverse, d), slope, d);
        precision.iter_mut().zip(&self.prior).for_each(|(entry, prior)| *entry += prior);
        let even: Vec<f64> =
            (0..d * d).map(|k| 0.5 * (precision[k] + precision[(k % d) * d + k / d])).collect();
        let factor = Cholesky::new(&even, d)?;
        // A direction that nothing informs about weighs on all clips alike.
        let root: f64 = (0..d).map(|j| libm::log(factor.lower()[j * (d + 1)])).sum();
        Some(libm::exp(-2.0 * root / d as f64)).filter(|cost| cost.is_finite())
    }
}

/// What is expected near a reference.
pub(crate) struct Whole<'a> {
    source: &'a Source,
    reference: Vec<f64>,
    sample: Sample,
    /// ψ of the few records, one entry after the other, round by round.
    terms: Vec<f64>,
    /// What their mean lacks of the mean over all.
    lacks: Vec<f64>,
}

impl<'a> Whole<'a> {
    /// `None` if no records can be made up there.
    pub(crate) fn new(source: &'a Source, answered: &[Answered], reference: &[f64]) -> Option<Self> {
        let sample = source.made_up(reference)?;
        let (count, few) = (sample.weights.len(), sample.few);
        let few_weights = sample.few_weights();
        let (mut terms, mut lacks) = (Vec::new(), Vec::new());
        for Answered { round, held, .. } in answered {
            let all = source.terms(round, &held.centres, &sample);
            for lane in all.chunks_exact(count) {
                lacks.push(mean(lane, &sample.weights) - mean(&lane[..few], &few_weights));
                terms.extend_from_slice(&lane[..few]);
            }
        }
        Some(Self { source, reference: reference.to_vec(), sample, terms, lacks })
    }

    /// The few records.
    fn block(&self) -> Block<'_> {
        Block::over(&self.sample.values, self.sample.weights.len(), self.sample.few)
    }

    /// Weights of the few records at θ, which add up to 1; `None` where hardly one counts.
    fn weights(&self, theta: &[f64], scratch: &mut Scratch) -> Option<Vec<f64>> {
        let few = self.sample.few_weights();
        let mut weights = vec![0.0; few.len()];
        self.source.likelihood.log_ratio(self.block(), &self.reference, theta, &mut weights, scratch);
        // Records without weight may be anywhere, and their ratios anything.
        weights.iter_mut().zip(&few).filter(|(_, own)| **own == 0.0).for_each(|(ratio, _)| {
            *ratio = f64::NEG_INFINITY;
        });
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().for_each(|weight| *weight = libm::exp(*weight - largest));
        let squares: f64 = weights.iter().zip(&few).map(|(ratio, own)| own * ratio * ratio).sum();
        weights.iter_mut().zip(&few).for_each(|(weight, own)| *weight *= own);
        let total: f64 = weights.iter().sum();
        let counting = total * total / squares;
        if counting.is_nan() || counting < LEAST {
            return None;
        }
        weights.iter_mut().for_each(|weight| *weight /= total);
        Some(weights)
    }
}

impl Expects for Whole<'_> {
    fn parts(&self) -> (usize, bool) {
        (self.source.dimension(), false)
    }

    fn size(&self) -> usize {
        self.sample.few
    }

    fn bend(&self) -> usize {
        self.sample.few
    }

    fn expected(&self, _: &[Answered], theta: &[f64], _: usize, wanted: Wanted) -> Option<Expected> {
        let (d, size, few) = (self.source.dimension(), self.lacks.len(), self.sample.few);
        let mut scratch = Scratch::default();
        let weights = self.weights(theta, &mut scratch)?;
        let lanes: Vec<&[f64]> = self.terms.chunks_exact(few).collect();
        let own: Vec<f64> = lanes.iter().map(|lane| dot(lane, &weights)).collect();
        let mean = own.iter().zip(&self.lacks).map(|(own, lacks)| own + lacks).collect();
        let (mut slopes, mut covariance) = (Vec::new(), Vec::new());
        if wanted != Wanted::Mean {
            let mut scores = vec![0.0; d * few];
            self.source.likelihood.gradient(self.block(), theta, &mut scores, &mut scratch);
            let mut scores = finite(scores);
            for score in scores.chunks_exact_mut(few) {
                let centre = dot(score, &weights);
                score
                    .iter_mut()
                    .zip(&weights)
                    .for_each(|(score, weight)| *score = weight * (*score - centre));
            }
            slopes = lanes
                .iter()
                .flat_map(|lane| scores.chunks_exact(few).map(|score| dot(lane, score)))
                .collect();
        }
        if wanted == Wanted::Covariance {
            covariance = vec![0.0; size * size];
            for (i, lane) in lanes.iter().enumerate() {
                let weighted: Vec<f64> =
                    lane.iter().zip(&weights).map(|(term, weight)| term * weight).collect();
                for (j, other) in lanes.iter().enumerate().take(i + 1) {
                    let entry = dot(&weighted, other) - own[i] * own[j];
                    covariance[i * size + j] = entry;
                    covariance[j * size + i] = entry;
                }
            }
        }
        Some(Expected { mean, slopes, covariance })
    }

    /// By each round's line round θ_k: exact where rounds end.
    fn moved(&self, answered: &[Answered], theta: &[f64]) -> Option<Vec<Vec<f64>>> {
        let d = theta.len();
        let sets = answered.iter().map(|one| one.others.len()).min().unwrap_or(0);
        let at = |one: &Answered, r: usize| -> Vec<f64> {
            let (level, slopes) = one.others[r].centres.split_at(d.min(one.others[r].centres.len()));
            let away: Vec<f64> = theta.iter().zip(&one.round.theta).map(|(x, y)| x - y).collect();
            level.iter().zip(slopes.chunks_exact(d)).map(|(level, slope)| level + dot(slope, &away)).collect()
        };
        // The first is that of columns as they are believed to be.
        let moved = (1..sets).map(|r| {
            let differences = answered.iter().flat_map(|one| {
                let (own, base) = (at(one, r), at(one, 0));
                own.into_iter().zip(base).map(|(a, b)| self.source.records * (a - b)).collect::<Vec<f64>>()
            });
            differences.collect::<Vec<f64>>()
        });
        Some(moved.filter(|moved| moved.len() == answered.len() * d).collect())
    }

    /// Whole records are taken to follow the model, which is all there is; columns that responses are given may differ from
    /// made-up ones.
    fn discrepancy(&self) -> f64 {
        if self.source.origin.has_columns() { DISCREPANCY } else { 0.0 }
    }
}

#[cfg(test)]
pub(crate) use tests::source as source_of;

#[cfg(test)]
mod tests;
