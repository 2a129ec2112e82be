//! Draws from the posterior given one noisy sum of sufficient statistics.

use crate::public_rng::PublicRng;
use crate::samplers::asker::{Asker, too_large};
use crate::samplers::{Kernel, Report, State};
use crate::step::Outcome;
use barkeep_accounting::Sampling;
use barkeep_curator::{Asked, Clip, Refused, Shape, Sum, Temper, Term};
use barkeep_data::Schema;
use barkeep_model::Model;
use barkeep_model::terms;
use barkeep_num::linear::Cholesky;
use std::sync::Arc;

/// What is asked for, once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    /// Bound on one record's statistics.
    pub(crate) clip: Clip,
    /// Noise of the sum.
    pub(crate) sigma: f64,
    /// The number of records, or of persons; public here.
    pub(crate) records: f64,
    /// Statistics of a record.
    pub(crate) width: usize,
    /// Where persons have several rows, what is asked about their number.
    pub(crate) rows: Option<RowsQuestion>,
}

/// How many rows persons have is asked first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsQuestion {
    /// The most rows of a person.
    pub(crate) most: u64,
    /// Bound on a person's answer.
    pub(crate) clip: Clip,
    /// Noise of the sum.
    pub(crate) sigma: f64,
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

    /// The number of rows as it is answered, and its standard deviation: n(1 + (most − 1)(z̄ + 1)/2).
    fn ask_rows(&self, ask: &mut Asker<'_>) -> Result<(f64, f64), Refused> {
        let Question { records, rows: Some(RowsQuestion { most, clip, sigma }), .. } = self.question else {
            return Ok((self.question.records, 0.0));
        };
        let mut sums = [0.0; 2];
        let term = terms::columns(&[], Some(most)).map_err(too_large)?;
        let term = Term::Program(Asked { term: &term, shape: Shape::Ball });
        ask.sum(&Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma }, &mut sums)?;
        #[expect(clippy::cast_precision_loss, reason = "a scale")]
        let half = 0.5 * (most - 1) as f64;
        // There is at least a row of each, and at most `most` rows.
        let rows = (records + half * (sums[0] + records)).clamp(records, records * (1.0 + 2.0 * half));
        Ok((rows, half * sigma))
    }

    /// Mean and factor of the covariance of the posterior.
    ///
    /// Of the rows of persons only a noisy number is known: let m(N) be the posterior's mean given N rows. To first order
    /// the noise on N adds its variance times (dm/dN)(dm/dN)ᵀ to the covariance.
    fn ask(&self, ask: &mut Asker<'_>) -> Result<(Vec<f64>, Cholesky), Refused> {
        let (records, doubt) = self.ask_rows(ask)?;
        let Question { clip, sigma, width, .. } = self.question;
        let mut noisy = vec![0.0; width];
        let wrong = |requirement| Refused::Question { name: "model", requirement };
        let term = terms::statistics(ask.likelihood(), &self.schema).map_err(wrong)?;
        let term = Term::Program(Asked { term: &term, shape: Shape::Ball });
        let sum = Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma };
        ask.sum(&sum, &mut noisy)?;
        let statistics = self.model.statistics(&self.schema).map_err(wrong)?;
        let given = |records: f64| statistics.posterior(records, &noisy, sigma * sigma);
        let found = || {
            let (mean, mut covariance) = given(records)?;
            let d = mean.len();
            if doubt > 0.0 {
                let step = 1e-3 * records;
                let ((more, _), (fewer, _)) = (given(records + step)?, given(records - step)?);
                let slope: Vec<f64> =
                    more.iter().zip(&fewer).map(|(a, b)| (a - b) * doubt / (2.0 * step)).collect();
                (0..d * d).for_each(|k| covariance[k] += slope[k / d] * slope[k % d]);
            }
            Some((mean, Cholesky::new(&covariance, d)?))
        };
        found().ok_or(wrong("one whose posterior the noisy statistics determine; give proper priors"))
    }
}

impl Kernel for Given {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
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
