//! `statistics`: one noisy sum of clipped sufficient statistics, then any number of draws from the posterior given it.

use crate::Error;
use crate::plan::facts::{Fact, Facts};
use crate::public_rng::PublicRng;
use crate::run::draws::Outcome;
use crate::samplers::entry::{Prepared, Price, SamplerEntry, Setting, StartRule};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::prepare::judged::{needs_budget, uses_records};
use crate::samplers::{Kernel, State};
use crate::spec::Privacy;
use crate::spec::section::{Key, Section, key};
use barkeep_accounting::{Epsilon, Sampling, Steps, calibration};
use barkeep_curator::{
    Ask, Clip, PrivacyModel, Refused, Sum, Temper, Term, sigma_for, sum_cost, sum_sensitivity,
};
use barkeep_data::Schema;
use barkeep_model::Model;
use barkeep_num::linear::Cholesky;
use std::sync::Arc;

const KEYS: [Key; 1] = [key(
    "clip",
    "what the columns' bounds allow, so that nothing is clipped",
    "bound on one record's statistics, in Euclidean norm; a smaller one lowers the noise and may bias",
)];

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "statistics",
    summary: "noisy sufficient statistics, asked for once; draws from the posterior given them are free",
    keys: &[&KEYS],
    start: StartRule::Independent,
    private: true,
    examples: &[Example::small(20, "steps = 1"), Example::large(GAUSSIAN, "")],
    prepare,
};

fn prepare(section: &Section<'_>, setting: &Setting<'_>) -> Result<Prepared, Error> {
    let neighbours = needs_budget(section, setting)?;
    uses_records(section, setting, "divides by the number of records")?;
    let Privacy::Budget { epsilon, delta, .. } = setting.privacy else {
        return Err(section.error("name", "needs a budget").into());
    };
    if setting.temper != Temper::NONE {
        let reason =
            "needs temper = 1: noisy statistics have a likelihood of their own, and no power of it is meant";
        return Err(section.error("name", reason).into());
    }
    let statistics =
        setting.model.statistics(setting.schema).map_err(|reason| section.error("name", reason))?;
    let bound = section.positive("clip")?.unwrap_or(statistics.bound());
    let clip = Clip::new(bound).map_err(|error| section.error("clip", error.to_string()))?;
    let premises = PrivacyModel { neighbours };
    // A hair less, so that the bill, inverted for ε instead of δ, still fits.
    let budget = Epsilon::new(epsilon.get() * (1.0 - 1e-9))?;
    let ratio = calibration::smallest_ratio(Sampling::Full, neighbours, Steps(1), budget, delta)?;
    let sigma = sigma_for(ratio, sum_sensitivity(Temper::NONE, clip, neighbours)?);
    let cost = sum_cost(Temper::NONE, clip, Sampling::Full, sigma, premises)?;

    let (kind, words) = match (statistics.neglects(), bound < statistics.bound()) {
        (_, true) => ("approximate", "approximate: records beyond the clip are shortened".to_owned()),
        (Some(neglected), false) => ("approximate", format!("approximate: {neglected}")),
        (None, false) => ("exact", "exact given the noisy statistics".to_owned()),
    };
    let spread = sigma / setting.records.sqrt();
    let facts: Facts = vec![
        Fact::count("statistics", "statistics of a record", statistics.width() as u64),
        Fact::decimal("clip_bound", "clip bound of a record's statistics", bound),
        Fact::decimal("noise_sd", "noise sd of a statistic", sigma),
        Fact::decimal("noise_over_spread", "noise over the spread of the records", spread),
        Fact::word("posterior", "posterior", kind, words),
    ];
    let question = Question { clip, sigma, records: setting.records, width: statistics.width() };
    let (model, schema) = (Arc::clone(setting.model), Arc::new(setting.schema.clone()));
    let kernel = Box::new(move |_: &mut PublicRng| {
        let (model, schema) = (Arc::clone(&model), Arc::clone(&schema));
        Box::new(Given { model, schema, question, found: None }) as Box<dyn Kernel>
    });
    let price = Price::Once(None, vec![(cost, Steps(1))]);
    Ok(Prepared { kernel, price, alternative: None, facts, burn_in: Some(0), forecast: None })
}

/// What is asked for, once.
#[derive(Debug, Clone, Copy)]
struct Question {
    clip: Clip,
    sigma: f64,
    records: f64,
    width: usize,
}

/// Asks at its first step, and draws from then on.
struct Given {
    model: Arc<dyn Model>,
    schema: Arc<Schema>,
    question: Question,
    found: Option<(Vec<f64>, Cholesky)>,
}

impl Given {
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
}
