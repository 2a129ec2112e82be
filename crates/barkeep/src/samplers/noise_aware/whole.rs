//! Expects answers about models of whole records, which have no features: sums over records made up at a nearby θ.
//!
//! A record's term is ψ = clip_c(clip_c(u) − m), u = W∇ln p(x|θ_k), with a public m near E_{θ_k} clip_c(u). Its mean at θ is taken over
//! records simulated by inversion at a reference θ₀ near by, a Sobol sequence through the model, with weights p(x|θ)/p(x|θ₀). Few
//! records give the weighted mean's move away from θ₀, and many its level there: both are smooth in θ and cheap.

use super::clip::{GRID, Noise};
use super::expectation::{Expected, Round, Wanted};
use super::fit::{Answered, Expects, Fit, Posterior};
use super::sobol::Sobol;
use super::tail::Bias;
use barkeep_data::Block;
use barkeep_model::{Likelihood, Model, Scratch};
use barkeep_num::linear::{Cholesky, Spectrum, diagonal, dot, product, transpose};
use std::sync::Arc;

/// Made-up records that levels are taken over, and those that follow a move away from the reference.
const MANY: usize = 1 << 14;
const FEW: usize = 1 << 11;
/// Weights that leave fewer records than this share of them say nothing.
const LEAST: f64 = 0.05;
/// How often the reference follows the mode.
const RENEWALS: usize = 12;

/// A model of whole records that simulates by inversion.
pub(crate) struct Source {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) likelihood: Arc<dyn Likelihood>,
    /// Uniforms that a record takes.
    pub(crate) uniforms: usize,
    /// n.
    pub(crate) records: f64,
}

impl Source {
    pub(super) fn dimension(&self) -> usize {
        self.likelihood.dimension()
    }

    /// Made-up records at θ, column by column.
    fn made_up(&self, theta: &[f64], count: usize) -> Vec<f64> {
        let sobol = Sobol::new(self.uniforms);
        let columns = self.likelihood.columns();
        let (mut uniforms, mut row) = (vec![0.5; self.uniforms], vec![0.0; columns]);
        let mut values = vec![0.0; columns * count];
        for i in 0..count {
            sobol.point(i, &mut uniforms);
            let mut next = uniforms.iter().copied();
            self.model.simulate(theta, &mut || next.next().unwrap_or(0.5), &mut row);
            row.iter().enumerate().for_each(|(j, x)| values[j * count + i] = *x);
        }
        values
    }

    /// u of each record, one entry after the other.
    fn whitened(&self, theta: &[f64], whitening: &[f64], values: &[f64], count: usize) -> Vec<f64> {
        let d = self.dimension();
        let (mut gradients, mut out) = (vec![0.0; d * count], vec![0.0; d * count]);
        self.likelihood.gradient(
            Block::over(values, count, count),
            theta,
            &mut gradients,
            &mut Scratch::default(),
        );
        for (row, out) in whitening.chunks_exact(d).zip(out.chunks_exact_mut(count)) {
            for (weight, lane) in row.iter().zip(gradients.chunks_exact(count)) {
                out.iter_mut().zip(lane).for_each(|(sum, x)| *sum += weight * x);
            }
        }
        out
    }

    /// W at θ: the root of the inverse information of a record and of the prior's share.
    fn whitening(&self, theta: &[f64]) -> Option<Vec<f64>> {
        let d = self.dimension();
        let (mut matrix, mut prior) = (vec![0.0; d * d], vec![0.0; d * d]);
        if !self.model.fisher(theta, &mut matrix) {
            return None;
        }
        self.model.prior_precision(theta, &mut prior);
        matrix.iter_mut().zip(&prior).for_each(|(entry, prior)| *entry += prior / self.records);
        let units: Vec<f64> = (0..d).map(|j| 1.0 / matrix[j * d + j].max(1e-300).sqrt()).collect();
        let scaled: Vec<f64> = (0..d * d).map(|k| matrix[k] * units[k / d] * units[k % d]).collect();
        let spectrum = Spectrum::new(&scaled, d)?;
        let least = 1e-4 * spectrum.range().1;
        let whitening = product(&spectrum.map(|value| 1.0 / value.max(least).sqrt()), &diagonal(&units), d);
        whitening.iter().all(|entry| entry.is_finite()).then_some(whitening)
    }

    /// A round at θ whose clip suits the noise of all rounds together, and the variance it leaves in units of the posterior's
    /// without privacy, as a geometric mean over directions.
    pub(super) fn round(&self, theta: &[f64], noise: Noise) -> Option<(Round, f64)> {
        let d = self.dimension();
        let whitening = self.whitening(theta)?;
        let values = self.made_up(theta, MANY);
        let scores = self.whitened(theta, &whitening, &values, MANY);
        let centred = |narrow: f64| {
            let mut terms = scores.clone();
            clip_each(&mut terms, MANY, narrow * (d as f64).sqrt());
            let centre: Vec<f64> =
                terms.chunks_exact(MANY).map(|lane| lane.iter().sum::<f64>() / MANY as f64).collect();
            shift(&mut terms, MANY, &centre, narrow * (d as f64).sqrt());
            (terms, centre)
        };
        let mut prior = vec![0.0; d * d];
        self.model.prior_precision(theta, &mut prior);
        prior.iter_mut().for_each(|entry| *entry /= self.records);
        let prior = product(&product(&whitening, &prior, d), &transpose(&whitening, d), d);
        let costs = GRID.iter().filter_map(|narrow| {
            let (terms, _) = centred(*narrow);
            let lane = |lanes: &[f64], j: usize| lanes[j * MANY..(j + 1) * MANY].to_vec();
            let of = |a: &[f64], b: &[f64]| -> Vec<f64> {
                (0..d * d).map(|k| dot(&lane(a, k / d), &lane(b, k % d)) / MANY as f64).collect()
            };
            let (slope, mut spread) = (of(&terms, &scores), of(&terms, &terms));
            let added = (noise.per_clip * narrow).powi(2) * d as f64 / noise.records;
            spread.iter_mut().step_by(d + 1).for_each(|entry| *entry += added);
            let inverse = Cholesky::new(&spread, d)?.inverse();
            let mut precision = product(&product(&transpose(&slope, d), &inverse, d), &slope, d);
            precision.iter_mut().zip(&prior).for_each(|(entry, prior)| *entry += prior);
            let even: Vec<f64> =
                (0..d * d).map(|k| 0.5 * (precision[k] + precision[(k % d) * d + k / d])).collect();
            let factor = Cholesky::new(&even, d)?;
            // A direction that nothing informs about weighs on all clips alike.
            let root: f64 = (0..d).map(|j| libm::log(factor.lower()[j * (d + 1)])).sum();
            Some((libm::exp(-2.0 * root / d as f64), *narrow)).filter(|(cost, _)| cost.is_finite())
        });
        let (cost, narrow) = costs.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let (_, centre) = centred(narrow);
        let round = Round {
            theta: theta.to_vec(),
            whitening,
            stretch: 0.0,
            narrowness: (narrow, 1.0),
            answer: vec![0.0; d],
            noise: vec![0.0; d],
            gains: None,
            centre,
        };
        Some((round, cost))
    }

    /// The posterior given answers, from a start: its fit, and what is expected near it.
    pub(super) fn fit(&self, answered: &[Answered], start: &[f64]) -> Option<(Fit, Whole<'_>)> {
        let mut theta = start.to_vec();
        let mut found = None;
        for _ in 0..RENEWALS {
            let whole = Whole::new(self, answered, &theta);
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

/// Shortens each record's vector to a norm of at most `clip`; one that is not finite becomes 0.
fn clip_each(terms: &mut [f64], count: usize, clip: f64) {
    for i in 0..count {
        let length = terms.iter().skip(i).step_by(count).map(|x| x * x).sum::<f64>().sqrt();
        let factor = if length > clip { clip / length } else { 1.0 };
        let finite = length.is_finite();
        for x in terms.iter_mut().skip(i).step_by(count) {
            *x = if finite { *x * factor } else { 0.0 };
        }
    }
}

/// Takes a centre off clipped vectors and clips again, as the gate does.
fn shift(terms: &mut [f64], count: usize, centre: &[f64], clip: f64) {
    for (lane, centre) in terms.chunks_exact_mut(count).zip(centre) {
        lane.iter_mut().for_each(|x| *x -= centre);
    }
    clip_each(terms, count, clip);
}

/// Made-up records at a reference, and every round's terms of them.
pub(super) struct Whole<'a> {
    source: &'a Source,
    reference: Vec<f64>,
    /// Of [`MANY`] records.
    values: Vec<f64>,
    /// Of the first [`FEW`] records, one entry of a round after the other.
    terms: Vec<f64>,
    /// What their mean lacks of the mean over all.
    lacks: Vec<f64>,
}

impl<'a> Whole<'a> {
    pub(super) fn new(source: &'a Source, answered: &[Answered], reference: &[f64]) -> Self {
        let values = source.made_up(reference, MANY);
        let (mut terms, mut lacks) = (Vec::new(), Vec::new());
        for Answered { round, .. } in answered {
            let clip = round.clips().0;
            let mut all = source.whitened(&round.theta, &round.whitening, &values, MANY);
            clip_each(&mut all, MANY, clip);
            shift(&mut all, MANY, &round.centre, clip);
            for lane in all.chunks_exact(MANY) {
                let mean = |lane: &[f64]| lane.iter().sum::<f64>() / lane.len() as f64;
                lacks.push(mean(lane) - mean(&lane[..FEW]));
                terms.extend_from_slice(&lane[..FEW]);
            }
        }
        Self { source, reference: reference.to_vec(), values, terms, lacks }
    }

    /// Weights of the few records at θ, which add up to 1; `None` where hardly one counts.
    fn weights(&self, theta: &[f64], scratch: &mut Scratch) -> Option<Vec<f64>> {
        let mut weights = vec![0.0; FEW];
        let block = Block::over(&self.values, MANY, FEW);
        self.source.likelihood.log_ratio(block, &self.reference, theta, &mut weights, scratch);
        let largest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().for_each(|weight| *weight = libm::exp(*weight - largest));
        let (total, squares) = (weights.iter().sum::<f64>(), dot(&weights, &weights));
        let counting = total * total / squares;
        if counting.is_nan() || counting < LEAST * FEW as f64 {
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
        FEW
    }

    fn expected(&self, _: &[Answered], theta: &[f64], _: usize, wanted: Wanted) -> Option<Expected> {
        let (d, size) = (self.source.dimension(), self.lacks.len());
        let mut scratch = Scratch::default();
        let weights = self.weights(theta, &mut scratch)?;
        let lanes: Vec<&[f64]> = self.terms.chunks_exact(FEW).collect();
        let own: Vec<f64> = lanes.iter().map(|lane| dot(lane, &weights)).collect();
        let mean = own.iter().zip(&self.lacks).map(|(own, lacks)| own + lacks).collect();
        let (mut slopes, mut covariance) = (Vec::new(), Vec::new());
        if wanted != Wanted::Mean {
            let mut scores = vec![0.0; d * FEW];
            let block = Block::over(&self.values, MANY, FEW);
            self.source.likelihood.gradient(block, theta, &mut scores, &mut scratch);
            for score in scores.chunks_exact_mut(FEW) {
                let centre = dot(score, &weights);
                score
                    .iter_mut()
                    .zip(&weights)
                    .for_each(|(score, weight)| *score = weight * (*score - centre));
            }
            slopes = lanes
                .iter()
                .flat_map(|lane| scores.chunks_exact(FEW).map(|score| dot(lane, score)))
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

    fn moved(&self, _: &[Answered], _: &[f64]) -> Option<Vec<Vec<f64>>> {
        Some(Vec::new())
    }

    /// Records are taken to follow the model, which is all there is.
    fn discrepancy(&self) -> f64 {
        0.0
    }
}

#[cfg(test)]
mod tests;
