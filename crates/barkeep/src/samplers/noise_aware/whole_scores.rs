//! Asks for scores of a model of whole records, and draws from the posterior given them, round each of its modes.

use super::checks::{WIDE, acceptance, agreement, conflict, covariance_at, drift};
use super::clip::Noise;
use super::expectation::Held;
use super::fit::{Answered, Fit, Posterior};
use super::shares::{priced, rounds_of};
use super::whole::{Source, Whole};
use crate::diagnostics::{Check, Grade};
use crate::public_rng::PublicRng;
use crate::run::draws::Outcome;
use crate::samplers::entry::{Expected, Forecast, MakeForecast, Questions, Setting};
use crate::samplers::{Kernel, Report, State};
use barkeep_accounting::{Neighbours, Ratio, Sampling};
use barkeep_curator::{Ask, Clip, Precondition, Refused, Sum, Temper, Term, sigma_for, sum_sensitivity};
use barkeep_data::Unit;
use barkeep_num::linear::dot;
use rayon::prelude::*;
use std::sync::Arc;

/// Points of the prior that a search starts from beside where it is, in the first rounds and the last.
const STARTS: usize = 7;
const SEARCHED: usize = 3;
/// Points of the prior that a forecast looks at.
const FORESEEN: usize = 5;
/// A mode lower than the highest by more than this has no share in the draws.
const DEPTH: f64 = 12.0;
/// Degrees of freedom of the proposals, and how much wider than the fit they are.
const DEGREES: f64 = 8.0;
const STRETCH: f64 = 1.05;
/// Proposals that are judged at once, in parallel.
const BATCH: usize = 64;
/// Draws that are thrown away, to forget the mode.
const FORGOTTEN: usize = 100;

/// A model and the price of every question.
pub(crate) struct WholeSetup {
    source: Source,
    rounds: Vec<Ratio>,
    whole: Ratio,
    start: Vec<f64>,
}

impl WholeSetup {
    /// Prepares the method for a budget that allows one answer at ratio `whole`.
    ///
    /// # Errors
    /// The reason why the model is not served.
    pub(crate) fn new(setting: &Setting<'_>, whole: Ratio) -> Result<Self, &'static str> {
        if !matches!(setting.unit, Unit::Record | Unit::Person { most_rows: Some(1) }) {
            return Err("needs a formula where persons may have several rows; use \"langevin\"");
        }
        let uniforms = setting
            .model
            .uniforms()
            .ok_or("needs a regression by formula, or a model that simulates its own records by inversion")?;
        let (model, likelihood) = (Arc::clone(setting.model), Arc::clone(setting.likelihood));
        let source = Source { model, likelihood, uniforms, records: setting.records };
        let rounds = rounds_of(whole).map_err(|_| "needs a larger budget")?;
        Ok(Self { source, rounds, whole, start: setting.reference.to_vec() })
    }

    /// What is asked, as it is paid for.
    ///
    /// # Errors
    /// As [`barkeep_accounting::Cost::new`].
    pub(crate) fn questions(&self) -> Result<Questions, barkeep_accounting::Error> {
        priced(&mut self.rounds.iter().collect::<Vec<_>>(), Neighbours::Substitute)
    }

    /// The noise of all rounds as if they were one answer.
    fn noise(&self) -> Noise {
        Noise { per_clip: 2.0 * self.whole.get(), records: self.source.records }
    }

    /// What a run can be expected to achieve: the median over points of the prior of what noise and clip cost there.
    ///
    /// The prior's own precision is left out, as if there were endless records. With it few records would look well served, since
    /// the prior then says all, and more records worse; without it the error falls with n and ε.
    pub(crate) fn forecast(&self) -> Option<MakeForecast> {
        let Source { model, likelihood, uniforms, .. } = &self.source;
        let (model, likelihood) = (Arc::clone(model), Arc::clone(likelihood));
        let endless = Source { model, likelihood, uniforms: *uniforms, records: f64::INFINITY };
        let points = self.starts(&self.start).into_iter().skip(1).take(FORESEEN);
        let mut costs: Vec<f64> =
            points.filter_map(|theta| endless.round(&theta, self.noise())).map(|(_, cost)| cost).collect();
        if costs.is_empty() {
            costs.push(self.source.round(&self.start, self.noise())?.1);
        }
        costs.sort_by(f64::total_cmp);
        let error = (costs[costs.len() / 2] - 1.0).max(1e-4).sqrt();
        let width = (1.0 + error * error).sqrt();
        let expected = Expected { error, range: (0.7 * error, 1.5 * error), width };
        Some(Box::new(move |_| Forecast { expected: Some(expected), ..Forecast::default() }))
    }

    /// Asks round by round, and fits.
    fn score(&self, ask: &mut dyn Ask) -> Result<Found, Refused> {
        let impossible = |requirement| Refused::Question { name: "model", requirement };
        let lost = || impossible("one whose posterior the answers determine; give proper priors");
        let (d, mut theta) = (self.source.dimension(), self.start.clone());
        let (mut answered, mut path): (Vec<Answered>, _) = (Vec::new(), vec![theta.clone()]);
        let mut modes = Vec::new();
        for (k, ratio) in self.rounds.iter().enumerate() {
            let (mut round, _) = self.source.round(&theta, self.noise()).ok_or_else(lost)?;
            let clip = Clip::new(round.clips().0)?;
            let sigma = sigma_for(*ratio, sum_sensitivity(Temper::NONE, clip, Neighbours::Substitute)?);
            let term = Term::Shifted {
                theta: &round.theta,
                precondition: Precondition::Dense(&round.whitening),
                clip: clip.get(),
                centre: &round.centre,
            };
            let mut answer = vec![0.0; d];
            ask.sum(&Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma }, &mut answer)?;
            (round.answer, round.noise) = (answer, vec![sigma; d]);
            answered.push(Answered { round, held: Held::default(), others: Vec::new() });
            let is_last = k + 1 == self.rounds.len();
            let starts = if k < SEARCHED || is_last { self.starts(&theta) } else { vec![theta.clone()] };
            let found = self.search(&answered, &starts);
            if let Some(best) = found.first() {
                theta.clone_from(&best.fit.mode);
                modes = found;
            }
            path.push(theta.clone());
        }
        if modes.is_empty() {
            return Err(lost());
        }
        Ok(Found { answered, modes, path })
    }

    /// Where searches start: here, and at points of the prior.
    fn starts(&self, here: &[f64]) -> Vec<Vec<f64>> {
        let mut rng = PublicRng::new(0, 2);
        let mut starts = vec![here.to_vec()];
        for _ in 0..STARTS {
            let mut point = here.to_vec();
            if self.source.model.sample_prior(&mut || rng.open_uniform(), &mut point) {
                starts.push(point);
            }
        }
        starts
    }

    /// The modes found from some starts, the one that agrees best with the answers first.
    ///
    /// Answers that disagree widen a fit. A fit far off, where all terms are clipped, is widened until it explains any answer, so
    /// heights of fits that were widened differently do not compare: modes are judged by their heights before that.
    fn search(&self, answered: &[Answered], starts: &[Vec<f64>]) -> Vec<Mode> {
        let all: Vec<Mode> = starts
            .par_iter()
            .filter_map(|start| {
                let (fit, whole) = self.source.fit(answered, start)?;
                let height = self.posterior(&whole).log_posterior(answered, &fit, &fit.mode);
                let d = fit.mode.len();
                let root = (0..d).map(|j| libm::log(fit.factor.lower()[j * d + j])).sum();
                let reference = fit.mode.clone();
                let prior = self.source.model.log_prior(&fit.mode);
                let honest = prior - fit.inflation * (prior - height);
                height.is_finite().then_some(Mode { fit, reference, height, honest, root })
            })
            .collect();
        let mut modes: Vec<Mode> = Vec::new();
        let mut all = all;
        all.sort_by(|a, b| b.honest.total_cmp(&a.honest));
        for mode in all {
            let lowest = modes
                .first()
                .map_or(f64::NEG_INFINITY, |first| first.honest - DEPTH * first.fit.inflation.max(1.0));
            let is_new = modes.iter().all(|known| known.distance(&mode.fit.mode) > 4.0);
            if is_new && mode.honest > lowest {
                modes.push(mode);
            }
        }
        modes
    }

    fn posterior<'a>(&'a self, whole: &'a Whole<'_>) -> Posterior<'a> {
        Posterior { model: &*self.source.model, records: self.source.records, expects: whole }
    }
}

/// One mode of the posterior.
struct Mode {
    fit: Fit,
    /// Where records are made up to judge draws near it.
    reference: Vec<f64>,
    height: f64,
    /// The height before answers that disagree widened the fit.
    honest: f64,
    /// ½ ln of the covariance's determinant.
    root: f64,
}

impl Mode {
    /// The squared distance of θ in this mode's standard deviations.
    fn distance(&self, theta: &[f64]) -> f64 {
        let d = theta.len();
        let lower = self.fit.factor.lower();
        let mut solved = vec![0.0; d];
        for i in 0..d {
            let known = dot(&lower[i * d..i * d + i], &solved[..i]);
            solved[i] = (theta[i] - self.fit.mode[i] - known) / lower[i * d + i];
        }
        dot(&solved, &solved)
    }
}

/// Answers and the modes they leave.
struct Found {
    answered: Vec<Answered>,
    modes: Vec<Mode>,
    path: Vec<Vec<f64>>,
}

impl Found {
    /// ln of the proposals' density, up to a constant: a mixture of Student's t round the modes, by their heights and widths.
    fn proposed(&self, theta: &[f64]) -> f64 {
        let half = 0.5 * (DEGREES + theta.len() as f64);
        let terms: Vec<f64> = self
            .modes
            .iter()
            .map(|mode| {
                let square = mode.distance(theta) / (STRETCH * STRETCH);
                mode.height - half * libm::log1p(square / DEGREES)
            })
            .collect();
        barkeep_num::log_sum_exp(&terms)
    }

    /// The mode that θ is nearest to.
    fn nearest(&self, theta: &[f64]) -> usize {
        let distances: Vec<f64> = self.modes.iter().map(|mode| mode.distance(theta)).collect();
        (0..distances.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b])).unwrap_or(0)
    }
}

/// A point, ln of the posterior there, and ln of the proposals' density.
#[derive(Debug, Clone)]
struct Point {
    theta: Vec<f64>,
    height: f64,
    proposed: f64,
}

/// Asks at its first step, and draws from then on.
pub(crate) struct WholeScores {
    setup: Arc<WholeSetup>,
    found: Option<Found>,
    now: Option<Point>,
    waiting: Vec<Point>,
    /// Proposals judged and taken.
    judged: (u64, u64),
}

impl WholeScores {
    /// A kernel that has not asked yet.
    pub(crate) fn new(setup: Arc<WholeSetup>) -> Self {
        Self { setup, found: None, now: None, waiting: Vec::new(), judged: (0, 0) }
    }

    /// Proposals round the modes, judged.
    fn propose(&self, found: &Found, rng: &mut PublicRng) -> Vec<Point> {
        let d = self.setup.source.dimension();
        let highest = found.modes.first().map_or(0.0, |mode| mode.height);
        let shares: Vec<f64> =
            found.modes.iter().map(|mode| libm::exp(mode.height - highest + mode.root)).collect();
        let total: f64 = shares.iter().sum();
        let mut thetas: Vec<Vec<f64>> = Vec::new();
        for _ in 0..BATCH {
            let mut left = rng.uniform() * total;
            let chosen = shares.iter().position(|share| {
                left -= share;
                left < 0.0
            });
            let fit = &found.modes[chosen.unwrap_or(0)].fit;
            let squares: f64 = (0..DEGREES as usize).map(|_| rng.normal().powi(2)).sum();
            let scale = STRETCH / (squares / DEGREES).sqrt();
            let standard: Vec<f64> = (0..d).map(|_| rng.normal() * scale).collect();
            let mut theta = vec![0.0; d];
            fit.factor.correlate(&standard, &mut theta);
            theta.iter_mut().zip(&fit.mode).for_each(|(x, mode)| *x += mode);
            thetas.push(theta);
        }
        let wholes: Vec<Whole<'_>> = found
            .modes
            .iter()
            .map(|mode| Whole::new(&self.setup.source, &found.answered, &mode.reference))
            .collect();
        thetas
            .into_par_iter()
            .map(|theta| {
                let nearest = found.nearest(&theta);
                let posterior = self.setup.posterior(&wholes[nearest]);
                let height = posterior.log_posterior(&found.answered, &found.modes[nearest].fit, &theta);
                Point { proposed: found.proposed(&theta), height, theta }
            })
            .collect()
    }

    /// One step of the chain of draws.
    fn advance(&mut self, rng: &mut PublicRng) -> Outcome {
        let Some(found) = self.found.take() else { return Outcome::Rejected };
        if self.now.is_none() {
            self.now = found.modes.first().map(|mode| {
                let (theta, height) = (mode.fit.mode.clone(), mode.height);
                Point { proposed: found.proposed(&theta), height, theta }
            });
        }
        if self.waiting.is_empty() {
            self.waiting = self.propose(&found, rng);
        }
        self.found = Some(found);
        let (Some(now), Some(next)) = (&mut self.now, self.waiting.pop()) else { return Outcome::Rejected };
        self.judged.0 += 1;
        let gain = (next.height - now.height) - (next.proposed - now.proposed);
        if libm::log(rng.open_uniform()) < gain {
            *now = next;
            self.judged.1 += 1;
            Outcome::Accepted
        } else {
            Outcome::Rejected
        }
    }

    /// What the fit says of itself.
    fn checks(&self, found: &Found) -> Vec<Check> {
        let Some(best) = found.modes.first() else { return Vec::new() };
        let fit = &best.fit;
        let mut checks = vec![agreement(fit), drift(fit, &found.path), acceptance(self.judged)];
        checks.extend(conflict(fit, &*self.setup.source.model));
        checks.extend(self.width(fit));
        let count = found.modes.len() as f64;
        checks.push(Check::passed("modes", count, format!("draws were taken round {count} modes")));
        checks
    }

    /// Reported widths over those without privacy, by the information at the mode.
    fn width(&self, fit: &Fit) -> Option<Check> {
        let (source, d) = (&self.setup.source, fit.mode.len());
        let (mut matrix, mut prior) = (vec![0.0; d * d], vec![0.0; d * d]);
        source.model.fisher(&fit.mode, &mut matrix).then_some(())?;
        source.model.prior_precision(&fit.mode, &mut prior);
        matrix.iter_mut().zip(&prior).for_each(|(entry, prior)| *entry = source.records * *entry + prior);
        let own = barkeep_num::linear::Cholesky::new(&matrix, d)?.inverse();
        let mut ratios: Vec<f64> =
            (0..d).map(|j| (covariance_at(fit.factor.lower(), d, j) / own[j * d + j]).sqrt()).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        let words = format!("intervals are about {ratio:.1} times as wide as without privacy");
        Some(if ratio > WIDE {
            Check::found("width", Grade::Wide, ratio, words, "raise epsilon or use more records")
        } else {
            Check::passed("width", ratio, words)
        })
    }
}

impl Kernel for WholeScores {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut dyn Ask,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        if self.found.is_none() {
            self.found = Some(self.setup.score(ask)?);
            for _ in 0..FORGOTTEN {
                self.advance(rng);
            }
        }
        let outcome = self.advance(rng);
        if let Some(now) = &self.now {
            state.theta.clone_from(&now.theta);
            state.log_prior = self.setup.source.model.log_prior(&state.theta);
        }
        Ok(outcome)
    }

    fn report(&self) -> Report {
        let checks = self.found.as_ref().map(|found| self.checks(found)).unwrap_or_default();
        let path = self.found.as_ref().map(|found| found.path.clone()).unwrap_or_default();
        Report { checks, independent: true, warmup: Some(0), branch: None, path }
    }
}
