//! Draws from the posterior given the answers with four chains: independence Metropolis where the fit is good, Hamiltonian
//! Monte Carlo where it is not.
//!
//! Answers are paid for and draws are free, so a poor fit is no reason to fail. Proposals come from Student's t around the fit
//! ([`Target::propose`]). Where fewer than [`LEAST_TAKEN`] of them are taken, or chains are held up in tails that proposals hardly reach,
//! chains that start apart follow the posterior's gradient in the fit's metric, which their own draws renew during warm-up. A gradient that is only nearly right costs
//! acceptance and nothing else: leapfrog steps are reversible for any force that depends on the position alone.

use crate::diagnostics::convergence::{ess_bulk, r_hat};
use crate::diagnostics::{Check, Grade};
use crate::public_rng::PublicRng;
use crate::samplers::noise_aware::fit::posterior::Fit;
use crate::step::Outcome;
use barkeep_num::linear::{Cholesky, dot};
use rayon::prelude::*;
use std::collections::VecDeque;

/// Chains that draw side by side; their draws are published in turn.
const CHAINS: usize = 4;
/// Proposals of each chain that are judged at once, in parallel with the others.
const BATCH: usize = 64;
/// Draws of each chain that are thrown away, to forget where it started.
const FORGOTTEN: usize = 25;
/// Below this share of proposals taken the fit does not serve as a proposal.
const LEAST_TAKEN: f64 = 0.2;
/// Draws are thinned, at most by the second number, until one is worth this share of an independent one. Where that is not enough, tails
/// that are heavier than the proposals' hold chains up although proposals are taken.
const LEAST_WORTH: f64 = 0.25;
const SPARSEST: f64 = 4.0;
/// Degrees of freedom of the proposals, and how much wider than the fit they are.
const DEGREES: usize = 8;
const STRETCH: f64 = 1.05;
/// Leapfrog steps of a trajectory.
const LEAPS: usize = 5;
/// The share of trajectories to be accepted, and the first step length in the metric's units.
const ACCEPTED: f64 = 0.8;
const FIRST_STEP: f64 = 0.4;
/// Trajectories between two choices of the step, and such stretches of warm-up; the metric is renewed after these.
const STRETCHED: usize = 10;
const WARMUP: usize = 12;
const RENEWED: [usize; 2] = [4, 8];
/// Draws of each chain, independent and Hamiltonian ones, that are looked at before the first is published; chains further apart than
/// this do not serve.
const LOOKED_AT: (usize, usize) = (128, 64);
const FAR_APART: f64 = 1.2;
/// Chains meet where R-hat is below this and all draws are worth at least as many independent ones, which leaves a mean a Monte Carlo
/// error of a tenth of its standard deviation; fewer draws of a chain than these are not judged.
const APART: f64 = 1.05;
const EFFECTIVE: f64 = 100.0;
const JUDGED: usize = 250;
/// Draws of a chain that are kept to judge how chains met; of more, every second is dropped, which can only lower their worth.
const REMEMBERED: usize = 2000;

/// A density that is free to evaluate.
pub(crate) trait Target: Sync {
    /// Its logarithm up to a constant; −∞ where it cannot be computed.
    fn height(&self, theta: &[f64]) -> f64;

    /// The same with its gradient; `None` where either cannot be computed.
    fn sloped(&self, theta: &[f64]) -> Option<(f64, Vec<f64>)>;

    /// A proposal that depends on no other.
    fn propose(&self, rng: &mut PublicRng) -> Vec<f64>;

    /// ln of the proposals' density, up to a constant.
    fn proposed(&self, theta: &[f64]) -> f64;

    /// The best fit.
    fn fit(&self) -> &Fit;
}

/// A draw of Student's t around a fit.
pub(crate) fn around(fit: &Fit, rng: &mut PublicRng) -> Vec<f64> {
    // A normal over the root of a mean of squares.
    let squares: f64 = (0..DEGREES).map(|_| rng.normal().powi(2)).sum();
    scattered(fit, STRETCH / (squares / DEGREES as f64).sqrt(), rng)
}

/// Its log density, up to a constant that depends on the dimension alone.
pub(crate) fn density_around(fit: &Fit, theta: &[f64]) -> f64 {
    let square = fit.distance(theta) / (STRETCH * STRETCH * DEGREES as f64);
    -0.5 * (DEGREES + theta.len()) as f64 * libm::log1p(square)
}

/// A normal draw around a fit, its standard deviations stretched.
fn scattered(fit: &Fit, scale: f64, rng: &mut PublicRng) -> Vec<f64> {
    let standard: Vec<f64> = fit.mode.iter().map(|_| rng.normal() * scale).collect();
    let mut theta = vec![0.0; standard.len()];
    fit.factor.correlate(&standard, &mut theta);
    theta.iter_mut().zip(&fit.mode).for_each(|(x, mode)| *x += mode);
    theta
}

/// Where a chain is.
struct Point {
    theta: Vec<f64>,
    height: f64,
    /// ln of the proposals' density there.
    proposed: f64,
}

/// How chains move.
enum Moves {
    /// By proposals that depend on nothing; one state of every so many is published.
    Independent { every: usize },
    /// Along trajectories in this metric; the same.
    Hamiltonian { metric: Cholesky, step: f64, every: usize },
    /// Not at all: draws are the fit's own normal ones.
    Stuck,
}

/// Four chains of one posterior.
pub(crate) struct Chains {
    moves: Moves,
    now: Vec<Point>,
    waiting: VecDeque<(Vec<f64>, Outcome)>,
    /// Independent proposals judged and taken.
    judged: (u64, u64),
    /// Published draws, chain by chain, one of so many.
    remembered: Vec<Vec<Vec<f64>>>,
    every: usize,
    published: usize,
}

impl Chains {
    /// Chains that have forgotten where they started.
    pub(crate) fn new(target: &dyn Target, rng: &mut PublicRng) -> Self {
        let thetas = (0..CHAINS).map(|_| target.propose(rng)).collect::<Vec<_>>();
        let mut chains = Self {
            moves: Moves::Independent { every: 1 },
            now: thetas.into_iter().map(|theta| Point::new(target, theta)).collect(),
            waiting: VecDeque::new(),
            judged: (0, 0),
            remembered: vec![Vec::new(); CHAINS],
            every: 1,
            published: 0,
        };
        chains.refill(target, rng);
        chains.waiting.drain(..FORGOTTEN * CHAINS);
        while chains.taken() >= LEAST_TAKEN && chains.waiting.len() < CHAINS * LOOKED_AT.0 {
            chains.refill(target, rng);
        }
        let look =
            |k| chains.waiting.iter().skip(k).step_by(CHAINS).map(|(theta, _)| theta.clone()).collect();
        let every = sparse(&(0..CHAINS).map(look).collect::<Vec<Vec<_>>>());
        match every {
            Some(every) if chains.taken() >= LEAST_TAKEN => {
                chains.moves = Moves::Independent { every };
                let mut place = 0;
                chains.waiting.retain(|_| {
                    place += 1;
                    ((place - 1) / CHAINS).is_multiple_of(every)
                });
            }
            Some(_) | None => chains.follow_gradients(target, rng),
        }
        chains
    }

    /// The share of independent proposals that was taken.
    fn taken(&self) -> f64 {
        self.judged.1 as f64 / self.judged.0.max(1) as f64
    }

    /// Whether no draw is waiting.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next draw.
    pub(crate) fn next(&mut self) -> Option<(Vec<f64>, Outcome)> {
        let draw = self.waiting.pop_front()?;
        let (chain, place) = (self.published % CHAINS, self.published / CHAINS);
        self.published += 1;
        if place.is_multiple_of(self.every) {
            self.remembered[chain].push(draw.0.clone());
            if self.remembered[CHAINS - 1].len() >= REMEMBERED {
                self.remembered.iter_mut().for_each(|chain| {
                    let kept = std::mem::take(chain).into_iter().step_by(2);
                    chain.extend(kept);
                });
                self.every *= 2;
            }
        }
        Some(draw)
    }

    /// Makes more draws.
    pub(crate) fn refill(&mut self, target: &dyn Target, rng: &mut PublicRng) {
        match &self.moves {
            Moves::Independent { every } => {
                let every = *every;
                let thetas: Vec<Vec<f64>> =
                    (0..CHAINS * BATCH * every).map(|_| target.propose(rng)).collect();
                let points: Vec<Point> =
                    thetas.into_par_iter().map(|theta| Point::new(target, theta)).collect();
                for (k, next) in points.into_iter().enumerate() {
                    let now = &mut self.now[k % CHAINS];
                    let gain = (next.height - now.height) - (next.proposed - now.proposed);
                    let is_taken = libm::log(rng.open_uniform()) < gain;
                    if is_taken {
                        *now = next;
                    }
                    self.judged = (self.judged.0 + 1, self.judged.1 + u64::from(is_taken));
                    if (k / CHAINS).is_multiple_of(every) {
                        self.waiting.push_back((now.theta.clone(), outcome(is_taken)));
                    }
                }
            }
            Moves::Hamiltonian { metric, step, every } => {
                let mut walkers = walkers(target, self.now.iter().map(|point| point.theta.clone()), rng);
                let series = travel(target, metric, *step, (BATCH, *every), &mut walkers);
                self.settle(target, walkers, &series);
            }
            Moves::Stuck => {
                let draws = (0..BATCH).map(|_| (scattered(target.fit(), 1.0, rng), Outcome::Accepted));
                self.waiting.extend(draws);
            }
        }
    }

    /// Takes over where walkers are, and what they drew.
    fn settle(&mut self, target: &dyn Target, walkers: Vec<Walker>, series: &[Vec<(Vec<f64>, Outcome)>]) {
        self.now = walkers.into_iter().map(|walker| Point::new(target, walker.theta)).collect();
        let longest = series.iter().map(Vec::len).max().unwrap_or(0);
        self.waiting.extend((0..longest).flat_map(|k| series.iter().map(move |chain| chain[k].clone())));
    }

    /// Lets chains that start apart follow gradients until they meet.
    fn follow_gradients(&mut self, target: &dyn Target, rng: &mut PublicRng) {
        self.waiting.clear();
        let fit = target.fit();
        let starts: Vec<Vec<f64>> = (0..CHAINS).map(|_| begin(target, rng)).collect();
        let mut walkers = walkers(target, starts.into_iter(), rng);
        let (mut metric, mut step) = (fit.factor.clone(), FIRST_STEP);
        let mut seen: Vec<Vec<f64>> = Vec::new();
        for stretch in 0..WARMUP {
            let before: f64 = walkers.iter().map(|walker| walker.accepted).sum();
            let series = travel(target, &metric, step, (STRETCHED, 1), &mut walkers);
            let accepted: f64 = walkers.iter().map(|walker| walker.accepted).sum::<f64>() - before;
            let share = accepted / (CHAINS * STRETCHED) as f64;
            step *= libm::exp(1.5 * (share - ACCEPTED) / (1.0 + stretch as f64 / 4.0).sqrt());
            // What lies before half of a window still comes from the start.
            let window = RENEWED.iter().copied().find(|end| stretch < *end);
            if window.is_some_and(|end| stretch + 3 >= end) {
                seen.extend(series.into_iter().flatten().map(|(theta, _)| theta));
            }
            if RENEWED.contains(&(stretch + 1)) {
                metric = renewed(&metric, &std::mem::take(&mut seen)).unwrap_or(metric);
                step = step.max(FIRST_STEP);
            }
        }
        let look = travel(target, &metric, step, (LOOKED_AT.1, 1), &mut walkers);
        let thetas: Vec<Vec<Vec<f64>>> =
            look.iter().map(|chain| chain.iter().map(|(theta, _)| theta.clone()).collect()).collect();
        // Chains that are still apart go on: what they draw is judged when all is drawn.
        self.moves = match met(&thetas) {
            Some((apart, _)) if apart.is_finite() => {
                let every = sparse(&thetas).unwrap_or(SPARSEST as usize);
                Moves::Hamiltonian { metric, step, every }
            }
            Some(_) | None => Moves::Stuck,
        };
        self.now = walkers.into_iter().map(|walker| Point::new(target, walker.theta)).collect();
    }

    /// How draws came about, and whether chains met.
    pub(crate) fn checks(&self) -> Vec<Check> {
        let taken = self.taken();
        let percent = 100.0 * taken;
        let how = match &self.moves {
            Moves::Independent { .. } => {
                Check::passed("draws_taken", taken, format!("{percent:.0} % of proposed draws were taken"))
            }
            Moves::Hamiltonian { .. } => {
                let words = format!(
                    "{percent:.0} % of the fit's proposals were taken, so that the draws are those of four Hamiltonian chains"
                );
                Check::passed("draws_taken", taken, words)
            }
            Moves::Stuck => {
                let words = "the posterior given the answers cannot be drawn from: the intervals are those of the fit's normal \
                             approximation";
                let remedy = "give narrower priors, or check the family and the bounds";
                Check::found("draws_taken", Grade::NotToBeTrusted, taken, words, remedy)
            }
        };
        let mut checks = vec![how];
        let length = self.remembered.iter().map(Vec::len).min().unwrap_or(0);
        if length < JUDGED || matches!(self.moves, Moves::Stuck) {
            return checks;
        }
        if let Some((apart, effective)) = met(&self.remembered) {
            let words = format!("the four chains have R-hat {apart:.2} and {effective:.0} effective draws");
            let is_met = apart < APART && effective > EFFECTIVE;
            let remedy = "draw longer from the same answers, which costs no privacy: `barkeep redraw`";
            checks.push(if is_met {
                Check::passed("chains_meet", apart, words)
            } else {
                let grade = if apart < FAR_APART { Grade::Wide } else { Grade::NotToBeTrusted };
                Check::found("chains_meet", grade, apart, words, remedy)
            });
        }
        checks
    }
}

impl Point {
    fn new(target: &dyn Target, theta: Vec<f64>) -> Self {
        Self { height: target.height(&theta), proposed: target.proposed(&theta), theta }
    }
}

fn outcome(is_taken: bool) -> Outcome {
    if is_taken { Outcome::Accepted } else { Outcome::Rejected }
}

/// The largest R-hat and the smallest effective size over parameters; `None` where a parameter never moved.
fn met(chains: &[Vec<Vec<f64>>]) -> Option<(f64, f64)> {
    let d = chains.first()?.first()?.len();
    let mut worst = (0.0_f64, f64::INFINITY);
    for j in 0..d {
        let series: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|theta| theta[j]).collect()).collect();
        worst = (worst.0.max(r_hat(&series)?), worst.1.min(ess_bulk(&series)?));
    }
    Some(worst)
}

/// How far chains are to be thinned; `None` where they are far apart, or so much would not do.
fn sparse(chains: &[Vec<Vec<f64>>]) -> Option<usize> {
    let (apart, effective) = met(chains)?;
    let worth = effective / chains.iter().map(Vec::len).sum::<usize>() as f64;
    let every = (LEAST_WORTH / worth).ceil().max(1.0);
    (apart < FAR_APART && every <= SPARSEST).then_some(every as usize)
}

/// A start twice as far out as the fit says, or as near as the density can be computed.
fn begin(target: &dyn Target, rng: &mut PublicRng) -> Vec<f64> {
    let mode = &target.fit().mode;
    let mut theta = target.propose(rng);
    theta.iter_mut().zip(mode).for_each(|(x, mode)| *x += *x - mode);
    for _ in 0..8 {
        if target.sloped(&theta).is_some() {
            break;
        }
        theta.iter_mut().zip(mode).for_each(|(x, mode)| *x = 0.5 * (*x + mode));
    }
    theta
}

/// A chain on its way.
struct Walker {
    theta: Vec<f64>,
    /// Height and gradient here.
    here: Option<(f64, Vec<f64>)>,
    rng: PublicRng,
    /// Probabilities of acceptance, added up.
    accepted: f64,
}

fn walkers(target: &dyn Target, thetas: impl Iterator<Item = Vec<f64>>, rng: &mut PublicRng) -> Vec<Walker> {
    let walker = |theta: Vec<f64>| Walker {
        here: target.sloped(&theta),
        theta,
        rng: PublicRng::new((rng.uniform() * 9e15) as u64, 0),
        accepted: 0.0,
    };
    thetas.map(walker).collect()
}

/// Draws of each walker: so many, one in every so many trajectories.
fn travel(
    target: &dyn Target,
    metric: &Cholesky,
    step: f64,
    (count, every): (usize, usize),
    walkers: &mut [Walker],
) -> Vec<Vec<(Vec<f64>, Outcome)>> {
    walkers
        .par_iter_mut()
        .map(|walker| {
            let draw = |_| {
                let mut moved = false;
                for _ in 0..every {
                    moved |= walker.trajectory(target, metric, step);
                }
                (walker.theta.clone(), outcome(moved))
            };
            (0..count).map(draw).collect()
        })
        .collect()
}

impl Walker {
    /// One trajectory in coordinates z with θ = Lz, LLᵀ the metric, and unit masses. Returns whether it was accepted.
    fn trajectory(&mut self, target: &dyn Target, metric: &Cholesky, step: f64) -> bool {
        let d = self.theta.len();
        let mut momentum: Vec<f64> = (0..d).map(|_| self.rng.normal()).collect();
        // A step that varies keeps trajectories from returning to where they began.
        let step = step * (0.7 + 0.6 * self.rng.uniform());
        let chance = self.rng.open_uniform();
        let Some((height, slope)) = self.here.clone() else {
            self.here = target.sloped(&self.theta);
            return false;
        };
        let energy = |momentum: &[f64]| 0.5 * dot(momentum, momentum);
        let before = height - energy(&momentum);
        let (mut theta, mut there, mut away) = (self.theta.clone(), (height, slope), vec![0.0; d]);
        for _ in 0..LEAPS {
            kick(&mut momentum, metric, &there.1, 0.5 * step);
            metric.correlate(&momentum, &mut away);
            theta.iter_mut().zip(&away).for_each(|(x, away)| *x += step * away);
            let Some(next) = target.sloped(&theta) else { return false };
            there = next;
            kick(&mut momentum, metric, &there.1, 0.5 * step);
        }
        let gain = there.0 - energy(&momentum) - before;
        if gain.is_nan() {
            return false;
        }
        self.accepted += libm::exp(gain.min(0.0));
        let is_taken = libm::log(chance) < gain;
        if is_taken {
            (self.theta, self.here) = (theta, Some(there));
        }
        is_taken
    }
}

/// Adds the force Lᵀ∇ for a time.
fn kick(momentum: &mut [f64], metric: &Cholesky, slope: &[f64], time: f64) {
    let (d, lower) = (slope.len(), metric.lower());
    for (j, momentum) in momentum.iter_mut().enumerate() {
        *momentum += time * (j..d).map(|i| lower[i * d + j] * slope[i]).sum::<f64>();
    }
}

/// The covariance of some draws, leaning on the old metric where they are few.
fn renewed(metric: &Cholesky, draws: &[Vec<f64>]) -> Option<Cholesky> {
    let (d, count) = (metric.dimension(), draws.len() as f64);
    let weight = count / (count + 5.0 * d as f64);
    let mean: Vec<f64> = (0..d).map(|j| draws.iter().map(|draw| draw[j]).sum::<f64>() / count).collect();
    let lower = metric.lower();
    let mut covariance = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let own: f64 = draws.iter().map(|draw| (draw[i] - mean[i]) * (draw[j] - mean[j])).sum();
            let old = dot(&lower[i * d..(i + 1) * d], &lower[j * d..(j + 1) * d]);
            covariance[i * d + j] = weight * own / count + (1.0 - weight) * old;
            covariance[j * d + i] = covariance[i * d + j];
        }
    }
    Cholesky::new(&covariance, d)
}

#[cfg(test)]
mod tests;
