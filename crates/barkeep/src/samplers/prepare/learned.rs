//! Prepares samplers that first pay to learn about the columns: their whitening and their start follow from answers.

use crate::Error;
use crate::facts::{Fact, Facts};
use crate::keys::Section;
use crate::public_rng::PublicRng;
use crate::samplers::Kernel;
use crate::samplers::entry::{Expected, Forecast, MakeForecast, Prepared, Price, Setting};
use crate::samplers::noise_aware::{Branch, Dynamics, ENOUGH, OwnClip, Rule, Setup, WORTH, Weighing};
use crate::samplers::prepare::diffusion::CLIP_MARGIN;
use crate::samplers::prepare::judged::{needs_budget, uses_records};
use crate::samplers::prepare::outlook::Outlook;
use crate::spec::Privacy;
use barkeep_accounting::{Epsilon, Ratio, Sampling, Steps, calibration};
use barkeep_curator::Temper;
use barkeep_data::Unit;
use std::sync::Arc;

/// Draws when the spec does not say: of scores, and of dynamics, where each is a step.
const DRAWS: (u64, u64) = (2000, 4000);
/// The share of μ² that columns take where dynamics are expected: more records tell more for less.
const LITTLE: f64 = 0.05;

/// Why noise-aware questions cannot be asked under a setting, if so.
pub(crate) fn refusal(setting: &Setting<'_>) -> Option<&'static str> {
    if setting.unit == (Unit::Person { most_rows: None }) {
        return Some("needs data.most_rows: how many rows persons have is part of its model");
    }
    (setting.temper != Temper::NONE).then_some(
        "needs temper = 1: noisy scores have a likelihood of their own, and no power of it is meant",
    )
}

/// The questions of a setting, each with its price.
///
/// # Errors
/// The reason why they cannot be asked.
pub(crate) fn setup(section: &Section<'_>, setting: &Setting<'_>) -> Result<Setup, Error> {
    let whole = whole(section, setting)?;
    Ok(Setup::new(setting, whole).map_err(|reason| section.error("name", reason))?)
}

/// Noise over sensitivity of an answer that takes the whole budget.
///
/// # Errors
/// The reason why noise-aware questions cannot be asked.
pub(crate) fn whole(section: &Section<'_>, setting: &Setting<'_>) -> Result<Ratio, Error> {
    let neighbours = needs_budget(section, setting)?;
    uses_records(section, setting, "divides by the number of records")?;
    let Privacy::Budget { epsilon, delta, .. } = setting.privacy else {
        return Err(section.error("name", "needs a budget").into());
    };
    if let Some(reason) = refusal(setting) {
        return Err(section.error("name", reason).into());
    }
    // Slightly less, so that the bill still fits when its parts are composed again.
    let budget = Epsilon::new(epsilon.get() * (1.0 - 1e-9))?;
    Ok(calibration::smallest_ratio(Sampling::Full, neighbours, Steps(1), budget, delta)?)
}

/// Prepares to learn about the columns and to go on with a branch, or with the one that the answers favour.
///
/// # Errors
/// As [`setup`].
pub(crate) fn prepare(
    section: &Section<'_>,
    setting: &Setting<'_>,
    forced: Option<Branch>,
) -> Result<Prepared, Error> {
    let asked = setup(section, setting)?;
    let view = Some(asked.view().clone());
    let cap = section.count("steps")?;
    let rule = |setup: Setup, steps: u64, forced: Option<Branch>| Rule {
        own: own_clip(setting, &setup),
        setup: Arc::new(setup),
        schema: setting.schema.clone(),
        steps,
        forced,
        started: section.value("start").is_some(),
    };
    // What is expected decides how much is spent on the columns and how many steps there are: both are fixed beforehand.
    let scores = asked.expected();
    let (branch, dynamics) = rule(asked, cap.unwrap_or(DRAWS.1), forced).expected();
    let gain = scores.zip(dynamics.as_ref()).map_or(0.0, |(scores, it)| scores.error - it.expected_error());
    let (branch, settled) = match (forced, branch) {
        (None, Branch::Dynamics) if setting.is_streamed => (Branch::Scores, Some(Settled::Streamed)),
        (None, Branch::Dynamics) if gain < WORTH => (Branch::Scores, Some(Settled::Gain(gain))),
        (Some(_), branch) => (branch, Some(Settled::Named)),
        (None, branch) => (branch, None),
    };
    let (asked, draws) = match branch {
        Branch::Scores => (setup(section, setting)?, DRAWS.0),
        Branch::Dynamics => (setup(section, setting)?.learning(LITTLE)?, DRAWS.1),
    };
    // Scores that the plan expects are not given up for what answers say: the plan states what a run takes.
    let certain = (forced.is_some() || branch == Branch::Scores).then_some(branch);
    let rule = Arc::new(rule(asked, cap.unwrap_or(draws), certain));
    let (_, dynamics) = rule.expected();
    let facts: Facts = vec![branch_fact(branch, dynamics.as_ref(), settled)];
    let burn_in = match (branch, &dynamics) {
        (Branch::Dynamics, Some(dynamics)) => dynamics.burn_in(),
        (Branch::Scores | Branch::Dynamics, _) => 0,
    };
    let forecast = match (branch, dynamics) {
        (Branch::Dynamics, Some(dynamics)) => Some(forecast(&dynamics)),
        (Branch::Scores | Branch::Dynamics, _) => rule.setup.forecast(),
    };
    let kernel =
        Box::new(move |_: &mut PublicRng| Box::new(Weighing::new(Arc::clone(&rule))) as Box<dyn Kernel>);
    let price = Price::Gaussian { draws };
    Ok(Prepared { kernel, price, alternative: None, facts, burn_in: Some(burn_in), forecast, view })
}

/// Langevin's clip where gradients have no bound, for the budget that is left.
fn own_clip(setting: &Setting<'_>, setup: &Setup) -> OwnClip {
    let outlook = Outlook::new(setting, 2.0, true, setting.model.has_long_gradients());
    let usual = (setting.model.dimension() as f64).sqrt() + CLIP_MARGIN;
    let width = outlook.best_width(usual, setup.time_at_unit_width());
    OwnClip { width, tail: outlook.bias(1.0) }
}

/// Why a branch is taken although the time that dynamics would have says otherwise.
#[derive(Clone, Copy)]
enum Settled {
    /// The spec names it.
    Named,
    /// Every pass would read the file anew.
    Streamed,
    /// Dynamics would gain too little.
    Gain(f64),
}

/// The branch that is expected, in words.
fn branch_fact(branch: Branch, dynamics: Option<&Dynamics>, settled: Option<Settled>) -> Fact {
    let (time, name) = (dynamics.map_or(0.0, |dynamics| dynamics.time), branch.name());
    let words = match (settled, branch) {
        (Some(Settled::Named), _) => {
            format!("{name}, whitened and started by what columns are learned to be")
        }
        (Some(Settled::Streamed), _) => {
            format!("{name}: dynamics would read the file thousands of times")
        }
        (Some(Settled::Gain(gain)), _) => format!(
            "{name}: dynamics would take thousands of passes over the records and bring a mean {:.2} posterior standard deviations \
             nearer; {WORTH} is worth it",
            gain.max(0.0)
        ),
        (None, Branch::Scores) if dynamics.is_some_and(|dynamics| !dynamics.is_whitened) => {
            format!("{name}: dynamics would not tell columns apart that say nearly the same")
        }
        (None, Branch::Scores) => {
            format!("{name}: dynamics would have time {time:.0}, and {ENOUGH} is enough")
        }
        (None, Branch::Dynamics) => {
            format!("{name}: there is time {time:.0}, and {ENOUGH} is enough; the columns' answers decide")
        }
    };
    Fact::word("expected_branch", "sampler expected to run", name, words)
}

/// What dynamics in learned coordinates can be expected to achieve.
fn forecast(dynamics: &Dynamics) -> MakeForecast {
    let (error, burn_in, time) = (dynamics.expected_error(), dynamics.burn_in(), dynamics.time);
    Box::new(move |_| Forecast {
        facts: vec![Fact::number("diffusion_time", "diffusion time", time, format!("{time:.1}"))],
        warnings: Vec::new(),
        // The columns may spread more or less than they are believed to before the first answer.
        expected: Some(Expected { error, range: (0.6 * error, 1.8 * error), width: 1.0 }),
        burn_in: Some(burn_in),
    })
}
