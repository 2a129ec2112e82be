//! Draws from the posterior given the answers: independence Metropolis with heavy-tailed proposals around the fit.

use super::ask::{Found, Learned, Setup};
use crate::public_rng::PublicRng;
use crate::samplers::asker::Asker;
use crate::samplers::{Kernel, Report, State};
use crate::step::Outcome;
use barkeep_curator::Refused;
use rayon::prelude::*;
use std::sync::Arc;

/// Degrees of freedom of the proposals.
const DEGREES: f64 = 8.0;
/// How much wider than the fit they are.
const STRETCH: f64 = 1.05;
/// Proposals that are judged at once, in parallel.
const BATCH: usize = 64;
/// Draws that are thrown away, to forget the mode.
const FORGOTTEN: usize = 100;

/// A point, ln of the posterior there, and ln of the proposals' density.
#[derive(Debug, Clone)]
struct Point {
    theta: Vec<f64>,
    height: f64,
    proposed: f64,
}

/// Asks at its first step, and draws from then on.
pub(crate) struct NoiseAware {
    setup: Arc<Setup>,
    /// What was learned of the columns already.
    learned: Option<Learned>,
    found: Option<Found>,
    now: Option<Point>,
    waiting: Vec<Point>,
    /// Proposals judged and taken.
    judged: (u64, u64),
}

impl NoiseAware {
    /// A kernel that has not asked yet.
    pub(crate) fn new(setup: Arc<Setup>) -> Self {
        Self { setup, learned: None, found: None, now: None, waiting: Vec::new(), judged: (0, 0) }
    }

    /// A kernel that has asked about the columns.
    pub(super) fn after(setup: Arc<Setup>, learned: Learned) -> Self {
        Self { learned: Some(learned), ..Self::new(setup) }
    }

    /// Judges a batch of proposals.
    fn propose(&self, found: &Found, rng: &mut PublicRng) -> Result<Vec<Point>, Refused> {
        let regression = self.setup.regression()?;
        let scene = self.setup.scene_of(regression, found);
        let d = found.fit.mode.len();
        let mut points: Vec<Point> = (0..BATCH)
            .map(|_| {
                // A normal over the root of a mean of squares.
                let squares: f64 = (0..DEGREES as usize).map(|_| rng.normal().powi(2)).sum();
                let scale = STRETCH / (squares / DEGREES).sqrt();
                let standard: Vec<f64> = (0..d).map(|_| rng.normal() * scale).collect();
                let square: f64 = standard.iter().map(|z| z * z).sum::<f64>() / (STRETCH * STRETCH);
                let mut theta = vec![0.0; d];
                found.fit.factor.correlate(&standard, &mut theta);
                theta.iter_mut().zip(&found.fit.mode).for_each(|(x, mode)| *x += mode);
                Point {
                    theta,
                    height: 0.0,
                    proposed: -0.5 * (DEGREES + d as f64) * libm::log1p(square / DEGREES),
                }
            })
            .collect();
        points.par_iter_mut().for_each(|point| {
            point.height = scene.posterior().log_posterior(&found.answered, &found.fit, &point.theta);
        });
        points.reverse();
        Ok(points)
    }

    /// One step of the chain of draws.
    fn advance(&mut self, rng: &mut PublicRng) -> Result<Outcome, Refused> {
        let Some(found) = self.found.take() else { return Ok(Outcome::Rejected) };
        if self.now.is_none() {
            let regression = self.setup.regression()?;
            let scene = self.setup.scene_of(regression, &found);
            let height = scene.posterior().log_posterior(&found.answered, &found.fit, &found.fit.mode);
            self.now = Some(Point { theta: found.fit.mode.clone(), height, proposed: 0.0 });
        }
        if self.waiting.is_empty() {
            self.waiting = self.propose(&found, rng)?;
        }
        self.found = Some(found);
        let (Some(now), Some(next)) = (&mut self.now, self.waiting.pop()) else {
            return Ok(Outcome::Rejected);
        };
        self.judged.0 += 1;
        let gain = (next.height - now.height) - (next.proposed - now.proposed);
        if libm::log(rng.open_uniform()) < gain {
            *now = next;
            self.judged.1 += 1;
            Ok(Outcome::Accepted)
        } else {
            Ok(Outcome::Rejected)
        }
    }
}

impl Kernel for NoiseAware {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        if self.found.is_none() {
            let learned = match self.learned.take() {
                Some(learned) => learned,
                None => self.setup.learn(ask, rng)?,
            };
            self.found = Some(self.setup.score(ask, learned)?);
            for _ in 0..FORGOTTEN {
                self.advance(rng)?;
            }
        }
        let outcome = self.advance(rng)?;
        if let Some(now) = &self.now {
            state.theta.clone_from(&now.theta);
            state.log_prior = self.setup.model.log_prior(&state.theta);
        }
        Ok(outcome)
    }

    fn report(&self) -> Report {
        let checks =
            self.found.as_ref().map(|found| found.checks(&self.setup, self.judged)).unwrap_or_default();
        let path = self.found.as_ref().map(|found| found.path.clone()).unwrap_or_default();
        Report { checks, independent: true, warmup: Some(0), branch: None, path }
    }
}

#[cfg(test)]
mod tests;
