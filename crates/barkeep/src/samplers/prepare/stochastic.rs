//! Prepares a stochastic-gradient sampler from its spec keys: batches without replacement, drift and noise at temperature 1,
//! the papers' calibration and the tight one, steps that shrink by stages.
//!
//! A step draws b of n records without replacement, clips their gradients at L, and scales the sum by n/b. The noise on
//! that sum is the dynamics' own, N(0, v) with v = 2η for the drift η, or larger where the budget wants more; then
//! draws are hotter than the posterior, and the plan says so. What a step costs is its ratio √v/(2TLη·n/b), amplified
//! by the sampling, composed by the accountant.
//!
//! *Tight* calibration: with `steps` the smallest noise that many steps need, never below the dynamics' own; without, as
//! many steps as the budget buys at temperature 1. *Paper* calibration: the published noise for the passes over the
//! data that `steps` make (Wang, Fienberg, Smola 2015, Algorithm 2); refused where its premise fails, and where the
//! accountant finds that it costs more than it promises.

use crate::Error;
use crate::facts::{Fact, Facts};
use crate::keys::{Key, Section, key};
use crate::samplers::entry::{MakeKernel, Prepared, Price, Setting};
use crate::samplers::kernels::flow::{Asking, Flow, Integrator, Stage};
use crate::samplers::prepare::diffusion::whitening;
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::theorems::gradients::Passes;
use barkeep_accounting::{Cost, Delta, Epsilon, Neighbours, Ratio, Sampling, Steps, calibration};
use barkeep_curator::{Clip, PrivacyModel, Temper, sum_cost, sum_sensitivity};
use std::sync::Arc;

/// The keys of a stochastic-gradient sampler.
pub(crate) const STOCHASTIC_KEYS: [Key; 8] = [
    key("batch", "", "records of a batch, drawn without replacement"),
    key("step_size", "", "η: drift η times the gradient of the log-posterior, noise of variance 2η"),
    key("clip", "the model's own bound", "bound on the norm of a record's (preconditioned) gradient"),
    key(
        "calibration",
        "\"tight\"",
        "\"tight\": the least noise the accountant allows; \"paper\": as published, refused where that does not hold",
    ),
    key("decay", "0", "step sizes shrink like t^-decay, in stages; needs steps"),
    key("stages", "8", "how many stages a decay has"),
    key(
        "precondition",
        "\"none\"",
        "as for langevin: \"fisher\", standard deviations, or a covariance as rows",
    ),
    key("fisher_scale", "1", "multiplies the information"),
];

/// The key of samplers that may publish midpoints.
pub(crate) const PUBLISH_KEY: [Key; 1] =
    [key("publish", "\"midpoint\"", "\"midpoint\" of each step, or the \"state\" after it")];

/// The ratio a published calibration has for a run within (ε, δ).
pub(crate) type Promise = fn(&Passes, Epsilon, Delta) -> Result<Ratio, barkeep_accounting::Error>;

/// What sets a sampler apart, beside its integrator.
pub(crate) struct Scheme {
    /// The bound on what a record adds to an answer, over the bound on its gradient.
    pub(crate) share: f64,
    /// The paper's calibration.
    pub(crate) published: Promise,
    /// Whether midpoints are published, if the spec has no say in it.
    pub(crate) midpoints: Option<bool>,
}

impl Scheme {
    /// Gradients alone, calibrated as Algorithm 2 of the paper.
    pub(crate) const GRADIENTS: Self =
        Self { share: 1.0, published: Passes::published_ratio, midpoints: None };
}

/// Reads the keys, prices the steps and makes the kernel; `integrator` makes one of a given step size and bound on gradients.
pub(crate) fn prepare(
    section: &Section<'_>,
    setting: &Setting<'_>,
    scheme: Scheme,
    integrator: impl Fn(f64, f64) -> Integrator + Send + Sync + 'static,
) -> Result<Prepared, Error> {
    let Privacy::Budget { epsilon, delta, neighbours } = setting.privacy else {
        return Err(section
            .error(
                "name",
                "is a private sampler; give [privacy] epsilon and delta, or use rwmh as a baseline",
            )
            .into());
    };
    if neighbours == Neighbours::AddRemove {
        let reason = "draws batches of fixed size, which would reveal the number of records under add-remove";
        return Err(section.error("name", reason).into());
    }
    let records = setting.records as u64;
    let batch = section.require("batch", section.count("batch")?)?;
    if batch > records {
        let reason = format!("must be at most the number of {}", setting.unit.plural());
        return Err(section.error("batch", reason).into());
    }
    let sampling = Sampling::WithoutReplacement { batch, records };
    let step = section.require("step_size", section.positive("step_size")?)?;
    let whitening = match section.has("precondition") {
        true => whitening(section, setting)?,
        false => {
            let none = toml::Table::from_iter([("precondition".to_owned(), "none".into())]);
            whitening(&Section::open("sampler", &none), setting)?
        }
    };
    let bound = match section.positive("clip")? {
        Some(bound) => bound,
        None if section.has("precondition") => return Err(section.error("clip", "is required").into()),
        None => setting.lipschitz().ok_or_else(|| {
            let why = setting.no_bound().unwrap_or(": the model has no bound of its own");
            section.error("clip", format!("is required{why}"))
        })?,
    };
    let clip = Clip::new(scheme.share * bound).map_err(|error| section.error("clip", error.to_string()))?;
    let integrator = move |step: f64| integrator(step, bound);
    let chains = section.count("chains")?.unwrap_or(1);
    let plan = Calibration {
        steps: section.count("steps")?,
        chains,
        budget: (epsilon, delta),
        sampling,
        neighbours,
        published: section
            .choice("calibration", &[("tight", None), ("paper", Some(scheme.published))])?
            .flatten(),
    };
    let ratio = plan.ratio(section)?;
    let asking =
        Asking { temper: setting.temper, clip, records: setting.records, batch: sampling, inflation: 1.0 };
    let stages = stages(section, step)?
        .into_iter()
        .map(|(steps, step)| {
            let integrator = integrator(step);
            let needed = asking.sigma(integrator.noise());
            let inflation = inflation(needed, ratio, setting.temper, clip, neighbours)?;
            Ok(Stage { steps, step: integrator.step(), inflation })
        })
        .collect::<Result<Vec<Stage>, Error>>()?;
    let privacy_model = PrivacyModel { neighbours };
    let noise = |stage: &Stage| {
        let mut integrator = integrator(step);
        integrator.set_step(stage.step);
        Asking { inflation: stage.inflation, ..asking }.sigma(integrator.noise())
    };
    let cost = |stage: &Stage| -> Result<Cost, Error> {
        Ok(sum_cost(setting.temper, clip, sampling, noise(stage), privacy_model)?)
    };
    let price = match &stages[..] {
        [only] => Price::PerStep(None, vec![(cost(only)?, Steps(1))]),
        many => Price::Planned(
            many.iter().map(|stage| Ok((cost(stage)?, Steps(stage.steps)))).collect::<Result<_, Error>>()?,
        ),
    };
    let facts = facts(&stages, step, bound, batch);
    let midpoints = match scheme.midpoints {
        Some(midpoints) => midpoints,
        None => section.choice("publish", &[("midpoint", true), ("state", false)])?.unwrap_or(true),
    };
    let model = Arc::clone(setting.model);
    let kernel: MakeKernel = Box::new(move |_| {
        let (model, whitening) = (Arc::clone(&model), whitening.clone());
        let mut integrator = integrator(step);
        integrator.expect(stages.first().map_or(1.0, |stage| stage.inflation));
        Box::new(Flow::new(model, whitening, integrator, asking, midpoints).with_stages(&stages))
    });
    Ok(Prepared { kernel, price, alternative: None, facts, burn_in: None, forecast: None, view: None })
}

/// What decides how much noise the budget wants.
struct Calibration {
    steps: Option<u64>,
    chains: u64,
    budget: (Epsilon, Delta),
    sampling: Sampling,
    neighbours: Neighbours,
    published: Option<Promise>,
}

impl Calibration {
    /// The ratio of noise to sensitivity the budget wants; `None` where steps are bought at the dynamics' own noise.
    fn ratio(&self, section: &Section<'_>) -> Result<Option<Ratio>, Error> {
        let (epsilon, delta) = self.budget;
        let total = |steps: u64| steps.saturating_mul(self.chains);
        match (self.published, self.steps) {
            (None, None) => Ok(None),
            (None, Some(steps)) => {
                let steps = Steps(total(steps));
                let least =
                    calibration::smallest_ratio(self.sampling, self.neighbours, steps, epsilon, delta)?;
                // Slightly more, so that the ε of the certificate, which is rounded up, stays within the budget.
                Ok(Some(Ratio::new(least.get() * (1.0 + 1e-5))?))
            }
            (Some(_), None) => Err(section.error("steps", "is required for the paper's calibration").into()),
            (Some(published), Some(steps)) => {
                let Sampling::WithoutReplacement { batch, records } = self.sampling else {
                    return Err(section.error("batch", "is required").into());
                };
                let passes = total(steps) as f64 * batch as f64 / records as f64;
                let paper = Passes::new(records, batch, passes)?;
                let ratio = published(&paper, epsilon, delta)
                    .map_err(|error| section.error("calibration", error.to_string()))?;
                let tight = calibration::smallest_ratio(
                    self.sampling,
                    self.neighbours,
                    Steps(total(steps)),
                    epsilon,
                    delta,
                )?;
                if ratio < tight {
                    let reason = format!(
                        "the published noise, {:.4} times the sensitivity, does not keep its promise here: {:.4} is needed; \
                         use \"tight\"",
                        ratio.get(),
                        tight.get()
                    );
                    return Err(section.error("calibration", reason).into());
                }
                Ok(Some(ratio))
            }
        }
    }
}

/// How much larger than `needed` the noise must be for a ratio; at least 1.
fn inflation(
    needed: f64,
    ratio: Option<Ratio>,
    temper: Temper,
    clip: Clip,
    neighbours: Neighbours,
) -> Result<f64, Error> {
    let Some(ratio) = ratio else { return Ok(1.0) };
    let wanted = ratio.get() * sum_sensitivity(temper, clip, neighbours)?.get();
    // Slightly more, so that rounding cannot make the noise too small.
    Ok((wanted / needed * (1.0 + 1e-12)).max(1.0))
}

/// Steps and step size of each stage: stage k = 1, 2, … is an equal share of the run, with steps of size η·k^−decay.
fn stages(section: &Section<'_>, step: f64) -> Result<Vec<(u64, f64)>, SpecError> {
    let decay = match section.number("decay")? {
        Some(decay) if !(0.0..=1.0).contains(&decay) => {
            return Err(section.error("decay", "must be from 0 to 1: faster decays never arrive"));
        }
        decay => decay.unwrap_or(0.0),
    };
    if decay == 0.0 {
        return Ok(vec![(u64::MAX, step)]);
    }
    let steps = section.require("steps", section.count("steps")?)?;
    let count = section.count("stages")?.unwrap_or(8).min(steps).min(1000);
    Ok((0..count)
        .map(|k| {
            let share = steps * (k + 1) / count - steps * k / count;
            (share, step * ((k + 1) as f64).powf(-decay))
        })
        .collect())
}

/// The constants of a run, as the plan shows them.
fn facts(stages: &[Stage], step: f64, bound: f64, batch: u64) -> Facts {
    let hottest = stages.iter().map(|stage| stage.inflation * stage.inflation).fold(1.0, f64::max);
    let shrunk = match stages {
        [first, .., last] => last.step / first.step,
        _ => 1.0,
    };
    let sizes =
        if shrunk == 1.0 { format!("{step:e}") } else { format!("{step:e} down to {:e}", step * shrunk) };
    vec![
        Fact::count("batch", "batch", batch).unit("records"),
        Fact::number("step_size", "step size", step, sizes),
        Fact::decimal("clip", "clip of a gradient", bound),
        Fact::number(
            "noise_over_temperature_1",
            "noise over temperature 1",
            hottest,
            format!("{hottest:.4} times the variance"),
        ),
    ]
}
