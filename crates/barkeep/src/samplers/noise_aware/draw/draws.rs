//! Draws from the posterior given the answers about a regression.

use crate::public_rng::PublicRng;
use crate::samplers::asker::Asker;
use crate::samplers::noise_aware::draw::free::{Chains, Target, around, density_around};
use crate::samplers::noise_aware::fit::posterior::{Fit, Scene};
use crate::samplers::noise_aware::questions::ask::{Found, Learned, Setup};
use crate::samplers::{Kernel, Report, State};
use crate::step::Outcome;
use barkeep_curator::Refused;
use std::sync::Arc;

/// Asks at its first step, and draws from then on.
pub(crate) struct NoiseAware {
    setup: Arc<Setup>,
    /// What was learned of the columns already.
    learned: Option<Learned>,
    found: Option<Found>,
    chains: Option<Chains>,
}

/// The posterior given the answers.
struct Given<'a> {
    scene: Scene<'a>,
    found: &'a Found,
}

impl Target for Given<'_> {
    fn height(&self, theta: &[f64]) -> f64 {
        self.scene.posterior().log_posterior(&self.found.answered, &self.found.fit, theta)
    }

    fn sloped(&self, theta: &[f64]) -> Option<(f64, Vec<f64>)> {
        self.scene.posterior().sloped(&self.found.answered, &self.found.fit, theta)
    }

    fn propose(&self, rng: &mut PublicRng) -> Vec<f64> {
        around(&self.found.fit, rng)
    }

    fn proposed(&self, theta: &[f64]) -> f64 {
        density_around(&self.found.fit, theta)
    }

    fn fit(&self) -> &Fit {
        &self.found.fit
    }
}

impl NoiseAware {
    /// A kernel that has not asked yet.
    pub(crate) fn new(setup: Arc<Setup>) -> Self {
        Self { setup, learned: None, found: None, chains: None }
    }

    /// A kernel that has asked about the columns.
    pub(crate) fn after(setup: Arc<Setup>, learned: Learned) -> Self {
        Self { learned: Some(learned), ..Self::new(setup) }
    }

    /// The next draw.
    fn advance(&mut self, rng: &mut PublicRng) -> Result<Option<(Vec<f64>, Outcome)>, Refused> {
        let Some(found) = &self.found else { return Ok(None) };
        let target = Given { scene: self.setup.scene_of(self.setup.regression()?, found), found };
        let chains = self.chains.get_or_insert_with(|| Chains::new(&target, rng));
        if chains.is_empty() {
            chains.refill(&target, rng);
        }
        Ok(chains.next())
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
        }
        let Some((theta, outcome)) = self.advance(rng)? else { return Ok(Outcome::Rejected) };
        state.theta = theta;
        state.log_prior = self.setup.model.log_prior(&state.theta);
        Ok(outcome)
    }

    fn report(&self) -> Report {
        let mut checks = self.found.as_ref().map(|found| found.checks(&self.setup)).unwrap_or_default();
        checks.extend(self.chains.iter().flat_map(Chains::checks));
        let path = self.found.as_ref().map(|found| found.path.clone()).unwrap_or_default();
        Report { checks, independent: true, warmup: Some(0), branch: None, path }
    }
}

#[cfg(test)]
mod tests;
