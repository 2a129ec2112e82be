//! `statistics`: one noisy sum of clipped sufficient statistics, then any number of draws from the posterior given it.

use crate::Error;
use crate::facts::{Fact, Facts};
use crate::keys::{Key, Section, key};
use crate::public_rng::PublicRng;
use crate::samplers::Kernel;
use crate::samplers::entry::{
    DEFAULT_FREE_DRAWS, Expected, Forecast, MakeForecast, Prepared, Price, SamplerEntry, Setting, StartRule,
};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::kernels::given::{Given, Question, RowsQuestion};
use crate::samplers::prepare::judged::{needs_budget, uses_records};
use crate::spec::Privacy;
use barkeep_accounting::{Epsilon, Ratio, Sampling, Steps, calibration};
use barkeep_curator::{Clip, PrivacyModel, Temper, sigma_for, sum_cost, sum_sensitivity};
use barkeep_data::Unit;
use barkeep_model::Statistics;
use barkeep_model::terms::powers_bound;
use barkeep_num::up;
use std::sync::Arc;

const KEYS: [Key; 1] = [key(
    "clip",
    "what the columns' bounds allow, so that nothing is clipped",
    "bound on the statistics of one record, or of one person's rows together, in Euclidean norm; a smaller one lowers the noise and may bias",
)];

/// The share of μ² that the number of rows takes, where persons have several.
const ROWS: f64 = 0.1;

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "statistics",
    summary: "noisy sufficient statistics, asked for once; draws from the posterior given them are free",
    keys: &[&KEYS],
    start: StartRule::Independent,
    private: true,
    gradients: false,
    examples: &[Example::small(20, "steps = 1"), Example::large(GAUSSIAN, "")],
    prepare,
};

fn prepare(section: &Section<'_>, setting: &Setting<'_>) -> Result<Prepared, Error> {
    let neighbours = needs_budget(section, setting)?;
    uses_records(section, setting, "divides by the number of records")?;
    let most_rows = match setting.unit {
        Unit::Record => 1,
        Unit::Person { most_rows: Some(most) } => most,
        Unit::Person { most_rows: None } => {
            let reason = "needs data.most_rows: a person's statistics are as long as the rows are many";
            return Err(section.error("name", reason).into());
        }
    };
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
    #[expect(clippy::cast_precision_loss, reason = "a scale")]
    let most = most_rows as f64;
    let largest = if most_rows == 1 { statistics.bound() } else { up(statistics.bound() * most) };
    let bound = section.positive("clip")?.unwrap_or(largest);
    let clip = Clip::new(bound).map_err(|error| section.error("clip", error.to_string()))?;
    let privacy_model = PrivacyModel { neighbours };
    // Slightly less, so that the bill still fits when it is inverted for ε instead of δ.
    let budget = Epsilon::new(epsilon.get() * (1.0 - 1e-9))?;
    let whole = calibration::smallest_ratio(Sampling::Full, neighbours, Steps(1), budget, delta)?;
    // Where persons have several rows, a share of μ² buys their number.
    let part = |share: f64| Ratio::new(whole.get() / share.sqrt());
    let (ratio, rows) = match most_rows {
        1 => (whole, None),
        most => {
            let unit = Clip::new(powers_bound(&[], Some(most)))?;
            let sigma = sigma_for(part(ROWS)?, sum_sensitivity(Temper::NONE, unit, neighbours)?);
            (part(1.0 - ROWS)?, Some(RowsQuestion { most, clip: unit, sigma }))
        }
    };
    let sigma = sigma_for(ratio, sum_sensitivity(Temper::NONE, clip, neighbours)?);
    let cost = |clip, sigma| sum_cost(Temper::NONE, clip, Sampling::Full, sigma, privacy_model);
    let mut questions = vec![(cost(clip, sigma)?, Steps(1))];
    if let Some(RowsQuestion { clip, sigma, .. }) = rows {
        // The cheapest first: a question takes the first permit that covers it.
        questions.insert(0, (cost(clip, sigma)?, Steps(1)));
    }

    let (kind, words) = match (statistics.neglects(), bound < largest) {
        (_, true) => ("approximate", "approximate: records beyond the clip are shortened".to_owned()),
        (Some(neglected), false) => ("approximate", format!("approximate: {neglected}")),
        (None, false) if rows.is_some() => {
            ("approximate", "approximate: the number of rows is noisy, and counted to first order".to_owned())
        }
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
    let forecast = if rows.is_some() { None } else { forecast(&*statistics, bound, sigma, setting.records) };
    let question = Question { clip, sigma, records: setting.records, width: statistics.width(), rows };
    let (model, schema) = (Arc::clone(setting.model), Arc::new(setting.schema.clone()));
    let kernel = Box::new(move |_: &mut PublicRng| {
        let (model, schema) = (Arc::clone(&model), Arc::clone(&schema));
        Box::new(Given::new(model, schema, question)) as Box<dyn Kernel>
    });
    let price = Price::Once { questions, draws: DEFAULT_FREE_DRAWS };
    Ok(Prepared { kernel, price, alternative: None, facts, burn_in: Some(0), forecast, view: None })
}

/// What the noise costs, where the posterior is exact and as wide whatever the statistics are.
///
/// Let Σ be its covariance given noisy statistics and Σ₀ without noise. The mean without noise varies by Σ − Σ₀ around the mean
/// given the noisy ones, by the law of total variance.
fn forecast(statistics: &dyn Statistics, bound: f64, sigma: f64, records: f64) -> Option<MakeForecast> {
    if statistics.neglects().is_some() || bound < statistics.bound() {
        return None;
    }
    let any = vec![0.0; statistics.width()];
    let (mean, noisy) = statistics.posterior(records, &any, sigma * sigma)?;
    let (_, exact) = statistics.posterior(records, &any, sigma * sigma * 1e-12)?;
    let d = mean.len();
    let ratios =
        noisy.iter().step_by(d + 1).zip(exact.iter().step_by(d + 1)).map(|(noisy, exact)| noisy / exact);
    let square = ratios.sum::<f64>() / d as f64;
    let error = (square - 1.0).max(0.0).sqrt();
    Some(Box::new(move |_| Forecast {
        expected: Some(Expected { error, range: (error, error), width: square.sqrt() }),
        ..Forecast::default()
    }))
}
