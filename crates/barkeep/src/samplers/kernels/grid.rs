//! Draws from the posterior on a public grid, anew at every step.

use crate::public_rng::PublicRng;
use crate::samplers::asker::Asker;
use crate::samplers::{Kernel, Report, State};
use crate::step::Outcome;
use barkeep_curator::{Choose, Refused};
use barkeep_machine::Program;
use barkeep_model::Model;
use std::sync::Arc;

/// A public grid, its prior and its middle.
pub(crate) struct Grid {
    /// The points, one after the other.
    pub(crate) points: Vec<f64>,
    /// ln p(θ) of each.
    pub(crate) offsets: Vec<f64>,
    /// What each is compared with.
    pub(crate) middle: Vec<f64>,
}

/// Draws anew at every step.
pub(crate) struct Draw {
    /// The model.
    pub(crate) model: Arc<dyn Model>,
    /// Where draws come from.
    pub(crate) grid: Arc<Grid>,
    /// The range of a record's log-ratio.
    pub(crate) range: (f64, f64),
    /// The power of the likelihood.
    pub(crate) power: f64,
}

impl Kernel for Draw {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
        _rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        let Grid { points, offsets, middle } = &*self.grid;
        let candidates = points.chunks_exact(self.model.dimension().max(1));
        let ratios: Result<Vec<Program>, Refused> =
            candidates.map(|candidate| ask.log_ratio(middle, candidate)).collect();
        let chosen =
            ask.choose(&Choose { ratios: &ratios?, offsets, range: self.range, power: self.power })?;
        if let Some(point) = points.chunks_exact(self.model.dimension()).nth(chosen) {
            state.theta.copy_from_slice(point);
            state.log_prior = self.model.log_prior(point);
        }
        Ok(Outcome::Moved)
    }

    fn report(&self) -> Report {
        Report { independent: true, ..Report::default() }
    }
}
