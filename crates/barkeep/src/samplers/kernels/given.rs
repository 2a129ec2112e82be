//! Draws from the posterior given one noisy sum of sufficient statistics.

use crate::public_rng::PublicRng;
use crate::run::draws::Outcome;
use crate::samplers::{Kernel, Report, State};
use barkeep_accounting::Sampling;
use barkeep_curator::{Ask, Clip, Refused, Sum, Temper, Term};
use barkeep_data::Schema;
use barkeep_model::Model;
use barkeep_num::linear::Cholesky;
use std::sync::Arc;

/// What is asked for, once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    /// Bound on one record's statistics.
    pub(crate) clip: Clip,
    /// Noise of the sum.
    pub(crate) sigma: f64,
    /// The number of records, public here.
    pub(crate) records: f64,
    /// Statistics of a record.
    pub(crate) width: usize,
}

/// Asks at its first step, and draws from then on.
pub(crate) struct Given {
    model: Arc<dyn Model>,
    schema: Arc<Schema>,
    question: Question,
    found: Option<(Vec<f64>, Cholesky)>,
}

impl Given {
    /// A kernel that has not asked yet.
    pub(crate) fn new(model: Arc<dyn Model>, schema: Arc<Schema>, question: Question) -> Self {
        Self { model, schema, question, found: None }
    }

    /// Mean and factor of the covariance of the posterior.
    fn ask(&self, ask: &mut dyn Ask) -> Result<(Vec<f64>, Cholesky), Refused> {
        let Question { clip, sigma, records, width } = self.question;
        let mut noisy = vec![0.0; width];
        let sum = Sum { term: Term::Statistics, temper: Temper::NONE, clip, batch: Sampling::Full, sigma };
        ask.sum(&sum, &mut noisy)?;
        let wrong = |requirement| Refused::Question { name: "model", requirement };
        let statistics = self.model.statistics(&self.schema).map_err(wrong)?;
        statistics
            .posterior(records, &noisy, sigma * sigma)
            .and_then(|(mean, covariance)| Some((mean, Cholesky::new(&covariance, self.model.dimension())?)))
            .ok_or(wrong("one whose posterior the noisy statistics determine; give proper priors"))
    }
}

impl Kernel for Given {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut dyn Ask,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        if self.found.is_none() {
            self.found = Some(self.ask(ask)?);
        }
        if let Some((mean, factor)) = &self.found {
            let standard: Vec<f64> = mean.iter().map(|_| rng.normal()).collect();
            factor.correlate(&standard, &mut state.theta);
            state.theta.iter_mut().zip(mean).for_each(|(x, mean)| *x += mean);
            state.log_prior = self.model.log_prior(&state.theta);
        }
        Ok(Outcome::Moved)
    }

    fn report(&self) -> Report {
        Report { independent: true, ..Report::default() }
    }
}
