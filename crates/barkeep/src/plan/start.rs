//! Chooses where chains start: from public numbers, or from answers that are paid for.

use crate::Error;
use crate::facts::Facts;
use crate::keys::{Key, Section, key};
use crate::public_rng::PublicRng;
use crate::samplers::State;
use crate::samplers::entry::{Price, Questions, Setting, StartRule};
use crate::samplers::kernels::variational::{Approximation, Fit};
use crate::samplers::prepare::fit::{FIT_KEYS, START_KEYS};
use crate::spec::{Privacy, SpecError};
use crate::start::prior_mode;
use barkeep_accounting::Epsilon;
use barkeep_curator::{Ask, Refused};
use barkeep_model::Model;
use std::sync::Arc;

/// Where the chains of a plan will start.
///
/// **Privacy.** Points and priors are chosen without the records. A fit asks its questions before the first step of any
/// chain, on the same budget.
#[derive(Debug, Clone, PartialEq)]
pub enum PlannedStart {
    /// At these states, one for each chain.
    Given(Vec<State>),
    /// At draws from the prior, one for each chain, made with its proposals' randomness.
    Prior,
    /// At draws from a normal that is to be fitted.
    Fit(Box<Fit>),
}

/// Where one chain starts, every question about it answered.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    /// At this state.
    At(State),
    /// At a draw from the prior, made with the chain's own randomness.
    Prior,
    /// At a draw from this normal, made with the chain's own randomness.
    Near(Arc<Approximation>),
}

impl PlannedStart {
    /// Reads `start`: one point for all chains, one for each, `"prior"`, or a fit to pay for. Where it is absent the
    /// sampler's `rule` decides.
    ///
    /// # Errors
    /// A point that is not of the model's dimension or outside the prior's support, another number of points than
    /// chains, a prior that cannot be drawn from, or a fit that cannot be had.
    pub(crate) fn parse(
        section: &Section<'_>,
        setting: &Setting<'_>,
        chains: u64,
        price: &Price,
        rule: StartRule,
    ) -> Result<Self, Error> {
        let model = &**setting.model;
        let proper = || from_prior(model, &mut PublicRng::new(0, 0)).is_some();
        let stands_in = match rule {
            StartRule::Required => false,
            StartRule::PriorMode => proper(),
            StartRule::Independent => true,
        };
        if stands_in && !section.has("start") {
            let theta = prior_mode(model);
            let log_prior = model.log_prior(&theta);
            return Ok(Self::Given((0..chains).map(|_| State { theta: theta.clone(), log_prior }).collect()));
        }
        match section.require("start", section.value("start"))? {
            toml::Value::String(word) if word == "prior" => {
                let why = || section.error("start", "needs a point: the model's prior has no draws");
                if proper() { Ok(Self::Prior) } else { Err(why().into()) }
            }
            toml::Value::Array(rows) if rows.iter().any(toml::Value::is_array) => {
                if rows.len() as u64 != chains {
                    let reason = format!("must hold one list for each of the {chains} chains");
                    return Err(section.error("start", reason).into());
                }
                let row = |row: &toml::Value| {
                    let one = toml::Table::from_iter([("start".to_owned(), row.clone())]);
                    let theta = Section::open("sampler", &one).numbers("start")?;
                    state(model, section.require("start", theta)?)
                        .map_err(|reason| section.error("start", reason))
                };
                Ok(Self::Given(rows.iter().map(row).collect::<Result<_, SpecError>>()?))
            }
            toml::Value::Array(_) => {
                let theta = section.require("start", section.numbers("start")?)?;
                Ok(Self::at(model, theta, chains).map_err(|reason| section.error("start", reason))?)
            }
            toml::Value::Table(table) => {
                let known = [key("dpvi", "", "a fit by the sampler dpvi")];
                let start = Section::new(&section.name("start"), table, known.iter())?;
                let table = start.require("dpvi", start.table("dpvi")?)?;
                if !setting.likelihood.has_gradient() {
                    let reason = "follows gradients, which the model does not have; give a point";
                    return Err(start.error("dpvi", reason).into());
                }
                fit(&Section::new(&start.name("dpvi"), table, fit_keys())?, setting, price)
            }
            _ => {
                let reason = "must be a list of numbers, a list of such lists, \"prior\", or { dpvi = { epsilon = … } }";
                Err(section.error("start", reason).into())
            }
        }
    }

    /// All chains at one point, or why it is no start.
    pub(crate) fn at(model: &dyn Model, theta: Vec<f64>, chains: u64) -> Result<Self, String> {
        let state = state(model, theta)?;
        Ok(Self::Given((0..chains).map(|_| state.clone()).collect()))
    }

    /// What is asked before any chain starts.
    pub(crate) fn questions(&self) -> Questions {
        match self {
            Self::Fit(fit) => fit.questions(),
            Self::Given(_) | Self::Prior => Vec::new(),
        }
    }

    /// What a plan shows of it.
    pub(crate) fn facts(&self) -> Facts {
        match self {
            Self::Fit(fit) => fit.facts(),
            Self::Given(_) | Self::Prior => Facts::new(),
        }
    }

    /// The start of every chain, after what it takes was asked.
    ///
    /// # Errors
    /// The curator's refusal.
    pub(crate) fn resolve(
        &self,
        model: &dyn Model,
        chains: u64,
        ask: &mut dyn Ask,
        rng: &mut PublicRng,
    ) -> Result<Vec<Start>, Refused> {
        Ok(match self {
            Self::Given(states) => states.iter().cloned().map(Start::At).collect(),
            Self::Prior => (0..chains).map(|_| Start::Prior).collect(),
            Self::Fit(fit) => {
                let found = Arc::new(fit.run(model, ask, rng)?);
                (0..chains).map(|_| Start::Near(Arc::clone(&found))).collect()
            }
        })
    }
}

impl Start {
    /// The state the chain starts at.
    pub(crate) fn state(&self, model: &dyn Model, rng: &mut PublicRng) -> State {
        let at = |theta: Vec<f64>| State { log_prior: model.log_prior(&theta), theta };
        match self {
            Self::At(state) => state.clone(),
            // A draw outside the support is a defect of the model's; its mode is a start all the same.
            Self::Prior => from_prior(model, rng).unwrap_or_else(|| at(prior_mode(model))),
            Self::Near(found) => {
                let draw = found.draw(rng);
                let outside = !model.log_prior(&draw).is_finite();
                at(if outside { found.mean.clone() } else { draw })
            }
        }
    }
}

/// The keys of a fit that chains start from.
fn fit_keys() -> impl Iterator<Item = &'static Key> + Clone {
    START_KEYS.iter().chain(&FIT_KEYS)
}

/// A fit that is paid for from the run's budget.
fn fit(section: &Section<'_>, setting: &Setting<'_>, price: &Price) -> Result<PlannedStart, Error> {
    let refuse = |reason: &str| Err(SpecError::new(section.path(), reason).into());
    let Privacy::Budget { epsilon: whole, delta, .. } = setting.privacy else {
        return refuse("is paid for from a budget; a baseline has none, so give it a point");
    };
    match price {
        Price::PerStep(..) | Price::PerStepAfter { .. } | Price::Planned(..) => {}
        Price::Varying(..) => {
            return refuse(
                "cannot be composed with steps whose price varies; use a capped proposal, a constant clip or the \
                 level at which steps cost the same",
            );
        }
        Price::Gaussian { .. } => {
            return refuse(
                "has no meaning where the columns are asked about first: the start follows from them",
            );
        }
        Price::Once { .. } | Price::PerDraw(..) | Price::NotPrivate => {
            return refuse("has no meaning for draws that do not depend on a start");
        }
    }
    let epsilon = section.require("epsilon", section.positive("epsilon")?)?;
    if epsilon >= whole.get() {
        return Err(section.error("epsilon", "must be below privacy.epsilon, of which it is a part").into());
    }
    let from = match section.numbers("from")? {
        None => prior_mode(&**setting.model),
        Some(from) if from.len() == setting.model.dimension() => from,
        Some(_) => {
            let reason = format!("must hold {} numbers, one per parameter", setting.model.dimension());
            return Err(section.error("from", reason).into());
        }
    };
    Ok(PlannedStart::Fit(Box::new(Fit::parse(section, setting, from, Epsilon::new(epsilon)?, delta)?)))
}

/// A state of the model's dimension with a positive prior density, or why it is none.
fn state(model: &dyn Model, theta: Vec<f64>) -> Result<State, String> {
    let dimension = model.dimension();
    if theta.len() != dimension {
        return Err(format!("must hold {dimension} numbers, one per parameter"));
    }
    let log_prior = model.log_prior(&theta);
    if log_prior.is_finite() {
        Ok(State { theta, log_prior })
    } else {
        Err("must have a positive prior density".to_owned())
    }
}

/// A draw from the prior, if it is proper.
fn from_prior(model: &dyn Model, rng: &mut PublicRng) -> Option<State> {
    let mut theta = vec![0.0; model.dimension()];
    let drawn = model.sample_prior(&mut || rng.open_uniform(), &mut theta);
    let log_prior = model.log_prior(&theta);
    (drawn && log_prior.is_finite()).then_some(State { theta, log_prior })
}
