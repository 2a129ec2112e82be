//! Describes a sampler a spec can name: its keys, its kernel and the price of its steps.

use crate::Error;
use crate::facts::Facts;
use crate::keys::{Key, Section, key};
use crate::public_rng::PublicRng;
use crate::samplers::Kernel;
use crate::samplers::example::{Example, ExampleSpec};
use crate::samplers::foreseen::Foreseen;
use crate::spec::Privacy;
use crate::step::Proposal;
use barkeep_accounting::{Cost, Steps};
use barkeep_curator::{Level, Temper};
use barkeep_data::{Schema, Unit, View};
use barkeep_model::{Likelihood, Model};
use barkeep_num::up;
use std::sync::Arc;

/// The keys every sampler takes.
pub const SAMPLER_KEYS: [Key; 6] = [
    key(
        "name",
        "\"auto\" where noise-aware questions can be asked, else \"langevin\"",
        "which sampler; `barkeep samplers` lists them",
    ),
    key(
        "start",
        "",
        "public starting point: a number per parameter, a list of such lists, one per chain, \"prior\" to draw one, or \
         { dpvi = { epsilon = 0.2 } } to pay for a fit and draw from it (also from, and dpvi's own keys)",
    ),
    key("chains", "1", "independent chains; they share the budget equally"),
    key("steps", "all the budget buys", "most steps of a chain; fewer steps cost less"),
    key(
        "burn_in",
        "half of the steps, or fewer where the sampler says",
        "draws the summary leaves out; all draws are written and paid for",
    ),
    key("seed", "from the operating system", "seeds proposals, which are public; the run stays private"),
];

/// Where chains start if the spec does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartRule {
    /// Nowhere: the spec must say.
    Required,
    /// At the prior's mode if the prior is proper, since the sampler forgets its start; otherwise the spec must say.
    PriorMode,
    /// At the prior's mode whatever the prior: draws do not depend on each other.
    Independent,
}

/// A sampler a spec can name: everything the catalogue, the planner, the audit and the tests know of it.
pub struct SamplerEntry {
    /// As written in `sampler.name`.
    pub name: &'static str,
    /// One line of meaning.
    pub summary: &'static str,
    /// The groups of keys it takes beside the common ones.
    pub keys: &'static [&'static [Key]],
    /// Where chains start if the spec does not say.
    pub start: StartRule,
    /// Whether it protects the records; a baseline does not, and says so.
    pub private: bool,
    /// Whether it follows gradients, which a model need not have.
    pub gradients: bool,
    /// The sampler at work, the simplest example first; [`SamplerEntry::examples`] writes them out.
    pub(crate) examples: &'static [Example],
    /// Reads the keys and prices a step.
    pub(crate) prepare: fn(&Section<'_>, &Setting<'_>) -> Result<Prepared, Error>,
}

impl SamplerEntry {
    /// Every key the sampler takes.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> + Clone {
        SAMPLER_KEYS.iter().chain(self.keys.iter().copied().flatten())
    }

    /// The sampler's examples as whole specs, the simplest first. Every one plans, and its draws are held to the bit; the
    /// audit attacks the small ones.
    pub fn examples(&self) -> impl Iterator<Item = ExampleSpec> {
        self.examples.iter().map(|example| example.write(self))
    }

    /// The `[sampler]` section of the simplest example.
    #[must_use]
    pub fn example_section(&self) -> String {
        self.examples.first().map(|example| example.section(self)).unwrap_or_default()
    }
}

/// The public facts a sampler plans with.
pub(crate) struct Setting<'a> {
    pub(crate) model: &'a Arc<dyn Model>,
    /// The model's terms of a record; samplers may evaluate them on made-up records.
    pub(crate) likelihood: &'a Arc<dyn Likelihood>,
    pub(crate) temper: Temper,
    pub(crate) privacy: Privacy,
    /// Records, or persons. Public under substitution; samplers that use it refuse other neighbours.
    pub(crate) records: f64,
    /// What a neighbouring data set differs in.
    pub(crate) unit: Unit,
    /// What is declared of the columns.
    pub(crate) schema: &'a Schema,
    /// The columns read and what the model sees of them.
    pub(crate) view: &'a View,
    /// A public point to plan with: the first start that is given, or else the prior's mode.
    pub(crate) reference: &'a [f64],
    /// Whether the spread of every column with bounds is declared.
    pub(crate) spread_declared: bool,
    /// Whether records are more than the memory may hold, so that every pass reads the file anew.
    pub(crate) is_streamed: bool,
    /// What proposes, if it is given in code.
    pub(crate) proposal: Option<&'a Arc<dyn Proposal>>,
    /// What forecasts found out under other budgets.
    pub(crate) foreseen: &'a Foreseen,
}

impl Setting<'_> {
    /// How many times the information of one row a record or person is taken to have: the most rows a person may have, where
    /// that is declared.
    pub(crate) fn rows(&self) -> Option<f64> {
        match self.unit {
            Unit::Record => Some(1.0),
            #[expect(clippy::cast_precision_loss, reason = "a scale")]
            Unit::Person { most_rows } => most_rows.map(|most| most as f64),
        }
    }

    /// [`Model::lipschitz`] of a record, or of a person's rows together; rounded up.
    pub(crate) fn lipschitz(&self) -> Option<f64> {
        let (bound, rows) = (self.model.lipschitz(self.schema)?, self.rows()?);
        Some(if rows == 1.0 { bound } else { up(bound * rows) })
    }

    /// [`Model::lipschitz_through`] of a record, or of a person's rows together.
    pub(crate) fn lipschitz_through(&self, matrix: &[f64]) -> Option<f64> {
        Some(self.model.lipschitz_through(self.schema, matrix)? * self.rows()?)
    }

    /// [`Model::log_ratio_range`] of a record, or of a person's rows together, from one row to the most there may be.
    pub(crate) fn log_ratio_range(&self, from: &[f64], to: &[f64]) -> Option<(f64, f64)> {
        let ((low, high), rows) = (self.model.log_ratio_range(self.schema, from, to)?, self.rows()?);
        Some((low.min(rows * low), high.max(rows * high)))
    }

    /// Why a person's rows have no bound, where a model has one for a row.
    pub(crate) fn no_bound(&self) -> Option<&'static str> {
        match self.unit {
            Unit::Person { most_rows: None } => {
                Some("; data.most_rows would make one of the model's bound for a row, if it has one")
            }
            Unit::Record | Unit::Person { .. } => None,
        }
    }
}

/// Makes one chain's kernel.
pub(crate) type MakeKernel = Box<dyn Fn(&mut PublicRng) -> Box<dyn Kernel> + Send + Sync>;

/// A sampler ready to be priced and run.
pub(crate) struct Prepared {
    /// Makes a chain's kernel.
    pub(crate) kernel: MakeKernel,
    /// What a step asks, and at which level that is accounted.
    pub(crate) price: Price,
    /// The price of a step at the other level, where there is one, for the plan to show.
    pub(crate) alternative: Option<(Level, Questions)>,
    /// Public constants worth showing.
    pub(crate) facts: Facts,
    /// Draws to leave out of the summary, if the sampler knows better than half of them; never more than half.
    pub(crate) burn_in: Option<u64>,
    /// What a chain of a given number of steps can be expected to achieve, from public facts alone.
    pub(crate) forecast: Option<MakeForecast>,
    /// What is read of the records, where that is more than the model's features; those come first.
    pub(crate) view: Option<View>,
}

/// Draws of a sampler whose draws are free and cheap, when the spec does not say.
pub(crate) const DEFAULT_FREE_DRAWS: u64 = 10_000;

/// Questions and how often each is asked.
pub(crate) type Questions = Vec<(Cost, Steps)>;

/// Looks ahead for a chain of a given number of steps.
pub(crate) type MakeForecast = Box<dyn Fn(u64) -> Forecast + Send + Sync>;

/// What a chain can be expected to achieve.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// Expectations worth showing.
    pub(crate) facts: Facts,
    /// What is likely to disappoint.
    pub(crate) warnings: Vec<String>,
    /// How near the posterior without privacy, where that can be said.
    pub(crate) expected: Option<Expected>,
    /// Draws to leave out of the summary of a chain of this many steps, where that depends on their number.
    pub(crate) burn_in: Option<u64>,
}

/// How near a run comes to the posterior without privacy. The plan shows it, compares budgets by it, and solves for ε with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Root mean square over parameters of the error of a posterior mean, in posterior standard deviations without privacy.
    pub error: f64,
    /// The error where columns spread little of their bounds and where they fill them; equal where it does not matter.
    pub range: (f64, f64),
    /// Width of a reported interval over that of the one without privacy.
    pub width: f64,
}

/// What steps cost, and what the price of a decision covers where there are decisions.
pub(crate) enum Price {
    /// The same questions at every step: composed exactly before the run.
    PerStep(Option<Level>, Questions),
    /// The same questions at every step, and others that each chain asks before its first.
    PerStepAfter {
        /// What the price of a decision covers.
        level: Level,
        /// Before the first step.
        first: Questions,
        /// At every step.
        step: Questions,
    },
    /// Independent draws, each paid for.
    PerDraw(Questions),
    /// Prices differ from step to step by a schedule made beforehand, and the number of steps is fixed: composed exactly
    /// before the run.
    Planned(Questions),
    /// Differs from step to step: charged to a filter as the run goes. The cost is one example.
    Varying(Level, Cost),
    /// Asked once, before the first draw; draws are free after that.
    Once {
        /// What is asked.
        questions: Questions,
        /// Draws when the spec does not say.
        draws: u64,
    },
    /// Gaussian answers chosen as the run goes, charged to a filter over the whole of μ²; the number of steps is fixed.
    Gaussian {
        /// Steps when the spec does not say.
        draws: u64,
    },
    /// Nothing is paid and nothing is private.
    NotPrivate,
}

impl Price {
    /// What the price of a decision covers; absent where nothing is decided.
    pub(crate) fn level(&self) -> Option<Level> {
        match self {
            Self::PerStep(level, _) => *level,
            Self::PerStepAfter { level, .. } | Self::Varying(level, _) => Some(*level),
            Self::PerDraw(_)
            | Self::Planned(_)
            | Self::Once { .. }
            | Self::Gaussian { .. }
            | Self::NotPrivate => None,
        }
    }
}
