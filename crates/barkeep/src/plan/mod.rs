//! Turns a spec into a plan: how many steps the budget buys, and the bill that is certified before the run.
//!
//! Planning never opens the records: everything in a plan is public.

pub(crate) mod affordable;
pub mod certificate;
pub mod facts;
pub mod start;

use self::facts::Fact;
use self::start::Start;
use crate::Error;
use crate::plan::certificate::level_name;
use crate::samplers::entry::{Forecast, MakeKernel, Prepared, Price, Questions, Setting};
use crate::samplers::{SAMPLERS, SamplerEntry};
use crate::spec::section::{self, Section};
use crate::spec::{Privacy, Spec, SpecError};
use barkeep_accounting::{
    CoinError, Contract, Cost, Delta, Epsilon, Neighbours, Query, Rho, Steps, ZcdpFilter,
};
use barkeep_curator::{Level, PrivacyModel, Temper};
use barkeep_data::{CsvOptions, Table, read};
use serde::{Deserialize, Serialize};

/// What a run pays, fixed before the first answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bill {
    /// So many steps at each cost, composed exactly.
    Contract(Contract),
    /// Questions asked once, from whose answers every draw follows for free.
    Once(Contract),
    /// Steps whose price varies, charged as the run goes while their ρ add up to no more than this.
    Filter {
        /// ρ of all chains together; each gets an equal share.
        rho: Rho,
        /// Decisions of all chains together, at most.
        coins: Steps,
        /// A decision as it will be asked: its coin's rounding is that of every other.
        decision: Cost,
    },
}

impl Bill {
    /// ε at δ, however far the run goes.
    ///
    /// # Errors
    /// As [`Contract::epsilon`] and [`ZcdpFilter::epsilon`].
    pub fn epsilon(&self, delta: Delta) -> Result<f64, barkeep_accounting::Error> {
        match self {
            Self::Contract(contract) | Self::Once(contract) => contract.epsilon_above(delta),
            Self::Filter { rho, coins, decision } => {
                Ok(ZcdpFilter::new(*rho).epsilon(delta, &CoinError::of(decision).times(*coins))?.upper)
            }
        }
    }

    /// The neighbours it speaks of.
    #[must_use]
    pub fn neighbours(&self) -> Option<Neighbours> {
        match self {
            Self::Contract(contract) | Self::Once(contract) => {
                contract.parts().first().map(|(cost, _)| cost.neighbours())
            }
            Self::Filter { decision, .. } => Some(decision.neighbours()),
        }
    }
}

/// Steps the budget would buy at one level of accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Affordable {
    /// The level.
    pub level: Level,
    /// All chains together.
    pub steps: Steps,
    /// Whether that is an estimate, for comparison only.
    pub estimated: bool,
}

/// A run, ready to start.
pub struct Plan {
    /// The spec it came from.
    pub spec: Spec,
    /// The sampler.
    pub preset: &'static SamplerEntry,
    /// What every question is accounted under.
    pub premises: PrivacyModel,
    /// At which level decisions are accounted for; absent where the bill holds no decision.
    pub level: Option<Level>,
    /// The bill; absent for a baseline.
    pub bill: Option<Bill>,
    /// ε of the bill at the spec's δ; absent for a baseline.
    pub epsilon: Option<f64>,
    /// Steps of each chain.
    pub steps: u64,
    /// Draws the summary leaves out.
    pub burn_in: u64,
    /// How many chains.
    pub chains: u64,
    /// Where they start.
    pub start: Start,
    /// Seed of the proposals, if the spec gives one.
    pub seed: Option<u64>,
    /// What the budget buys: at the level that is paid for, and after [`Plan::compare_levels`] at the other.
    pub affordable: Vec<Affordable>,
    /// Public constants of a step and what a chain can be expected to achieve.
    pub facts: Vec<Fact>,
    /// What a user should know before spending anything.
    pub warnings: Vec<String>,
    /// What is asked before the first step, by all chains together.
    pub(crate) first: Questions,
    /// What a step asks at the level that is not paid for.
    alternative: Option<(Level, Questions)>,
    pub(crate) kernel: MakeKernel,
}

impl Plan {
    /// Plans a run.
    ///
    /// # Errors
    /// [`Error::Spec`] at the first faulty key, [`Error::Budget`] if the budget does not buy one step per chain.
    pub fn new(mut spec: Spec) -> Result<Self, Error> {
        if spec.privacy != Privacy::NotPrivate && !spec.sampler.contains_key("name") {
            spec.sampler.insert("name".to_owned(), DEFAULT_SAMPLER.into());
        }
        let preset = section::named("sampler", &spec.sampler, SAMPLERS, |preset| preset.name)?;
        let section = Section::new("sampler", &spec.sampler, preset.all_keys())?;
        let temper =
            Temper::new(spec.temper).map_err(|error| SpecError::new("model.temper", error.to_string()))?;
        let chains = section.count("chains")?.unwrap_or(1);
        if chains > MOST_CHAINS {
            return Err(section.error("chains", format!("must be at most {MOST_CHAINS}")).into());
        }
        let reference = start::reference(&section, &*spec.model);
        #[expect(clippy::cast_precision_loss, reason = "records is at most 2^32")]
        let setting = Setting {
            model: &spec.model,
            temper,
            privacy: spec.privacy,
            records: spec.data.records as f64,
            schema: spec.data.schema(),
            reference: &reference,
        };
        let cap = section.count("steps")?;
        let seed = seed(&section)?;
        let Prepared { kernel, price, alternative, facts, burn_in: usual, forecast } =
            (preset.prepare)(&section, &setting)?;
        let start = Start::parse(&section, &setting, chains, &price, preset.start)?;

        let mut plan = Self {
            preset,
            premises: PrivacyModel { neighbours: Neighbours::Substitute },
            level: None,
            bill: None,
            epsilon: None,
            steps: 0,
            burn_in: 0,
            chains,
            start,
            seed,
            affordable: Vec::new(),
            facts,
            warnings: Vec::new(),
            first: Vec::new(),
            alternative: None,
            kernel,
            spec,
        };
        if let Start::Fit(fit) = &plan.start {
            plan.facts.extend(fit.facts());
        }
        match (price, plan.spec.privacy) {
            (
                price @ (Price::PerStep(..) | Price::PerStepAfter { .. } | Price::PerDraw(..)),
                Privacy::Budget { epsilon, delta, neighbours },
            ) => {
                let (level, first, step) = price.parts();
                let each = first.into_iter().map(|(cost, times)| (cost, Steps(times.0 * chains)));
                plan.first = plan.start.questions().into_iter().chain(each).collect();
                plan.premises = PrivacyModel { neighbours };
                plan.level = level;
                plan.buy(&step, (epsilon, delta), cap)?;
                plan.alternative = alternative;
            }
            (Price::Planned(level, questions), Privacy::Budget { epsilon, delta, neighbours }) => {
                plan.premises = PrivacyModel { neighbours };
                plan.level = level;
                plan.first = plan.start.questions();
                plan.steps = questions.iter().map(|(_, times)| times.0).sum();
                let each = questions.into_iter().map(|(cost, times)| (cost, Steps(times.0 * chains)));
                let contract = Contract::new(plan.first.iter().cloned().chain(each).collect())?;
                let cost = contract.epsilon_above(delta)?;
                if cost > epsilon.get() {
                    return Err(Error::Budget(format!(
                        "the schedule costs epsilon {cost:.6}, more than the budget of {}; ask for fewer steps or smaller ones",
                        epsilon.get()
                    )));
                }
                plan.epsilon = Some(cost);
                plan.bill = Some(Bill::Contract(contract));
            }
            (Price::Once(level, questions), Privacy::Budget { epsilon, delta, neighbours }) => {
                if chains != 1 {
                    let reason =
                        "must be 1: one answer is asked for, and any number of draws follows from it";
                    return Err(SpecError::new("sampler.chains", reason).into());
                }
                plan.premises = PrivacyModel { neighbours };
                plan.level = level;
                plan.steps = cap.unwrap_or(DEFAULT_FREE_DRAWS);
                let contract = Contract::new(questions)?;
                let cost = contract.epsilon_above(delta)?;
                if cost > epsilon.get() {
                    return Err(Error::Budget(format!(
                        "the answer costs epsilon {cost}, more than the budget of {}",
                        epsilon.get()
                    )));
                }
                plan.epsilon = Some(cost);
                plan.bill = Some(Bill::Once(contract));
            }
            (Price::Varying(level, decision), Privacy::Budget { epsilon, delta, neighbours }) => {
                plan.premises = PrivacyModel { neighbours };
                plan.level = level;
                plan.steps = cap.unwrap_or(DEFAULT_VARYING_STEPS);
                let coins = Steps(plan.steps.saturating_mul(chains));
                let filter =
                    ZcdpFilter::within_with_coins(epsilon, delta, &CoinError::of(&decision).times(coins))?;
                let bill = Bill::Filter { rho: filter.budget(), coins, decision };
                plan.epsilon = Some(bill.epsilon(delta)?);
                plan.bill = Some(bill);
            }
            (Price::NotPrivate, _) | (_, Privacy::NotPrivate) => {
                plan.steps = cap.unwrap_or(DEFAULT_BASELINE_STEPS);
            }
        }
        let half = plan.steps / 2;
        let usual = usual.map_or(half, |usual| usual.min(half));
        plan.burn_in = burn_in(&Section::open("sampler", &plan.spec.sampler), plan.steps)?.unwrap_or(usual);
        plan.warn();
        if let Some(forecast) = forecast {
            let Forecast { facts, warnings } = forecast(plan.steps);
            plan.facts.extend(facts);
            plan.warnings.extend(warnings);
        }
        Ok(plan)
    }

    /// Adds to [`Plan::affordable`] what the budget would buy at the level that is not paid for, where there is one.
    ///
    /// Apart from the planning itself, since a run has no use for it. Millions of decisions take the accountant seconds: they are
    /// estimated.
    ///
    /// # Errors
    /// As [`barkeep_accounting::Query::largest_steps`].
    pub fn compare_levels(&mut self) -> Result<(), Error> {
        let (Some((level, step)), Privacy::Budget { epsilon, delta, .. }) =
            (self.alternative.take(), self.spec.privacy)
        else {
            return Ok(());
        };
        let paid = self.affordable.first().map_or(0, |paid| paid.steps.0);
        if level == Level::Decision && paid > MOST_COMPARED {
            let rough = Query::new(step)?.roughly_largest_steps(epsilon, delta);
            self.affordable.extend(rough.map(|steps| Affordable { level, steps, estimated: true }));
            return Ok(());
        }
        let most = affordable::most_steps(&self.first, &step, epsilon, delta)?;
        let steps = most.map_or(Steps(0), |(steps, _)| steps);
        self.affordable.push(Affordable { level, steps, estimated: false });
        Ok(())
    }

    /// The fact of a key, if the plan has it.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.key == key)
    }

    /// Whether anything is protected.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.bill.is_some()
    }

    /// Reads the records the spec describes; the first time a file of records is opened. `progress` is told now and
    /// then how many were read.
    ///
    /// # Errors
    /// [`Error::Data`] if the file is missing, malformed, or not what the spec declares.
    pub fn read_records(&self, progress: &mut dyn FnMut(u64)) -> Result<Table, Error> {
        let data = &self.spec.data;
        let options = CsvOptions { delimiter: data.delimiter, ..CsvOptions::default() };
        let records = usize::try_from(data.records).unwrap_or(usize::MAX);
        Ok(read(&data.path, &data.view, records, options, &mut |read| progress(read as u64))?)
    }

    /// Buys as many steps as the budget allows, shared equally, up to `cap` for each chain.
    fn buy(
        &mut self,
        step: &Questions,
        (epsilon, delta): (Epsilon, Delta),
        cap: Option<u64>,
    ) -> Result<(), Error> {
        let chains = self.chains;
        let Some((affordable, spent)) = affordable::most_steps(&self.first, step, epsilon, delta)? else {
            return Err(Error::Budget(format!(
                "what is asked before the first step costs more than the budget (epsilon {}, delta {:e})",
                epsilon.get(),
                delta.get(),
            )));
        };
        // Sums and choices are published as they are priced.
        let level = self.level.unwrap_or(Level::Release);
        self.affordable.push(Affordable { level, steps: affordable, estimated: false });
        let each = affordable.0 / chains;
        if each == 0 {
            return Err(Error::Budget(format!(
                "the budget (epsilon {}, delta {:e}) buys {} steps, which is not one for each of {chains} chains; \
                 lower clip or the length of a step, raise the noise or the budget, or use fewer chains",
                epsilon.get(),
                delta.get(),
                affordable.0,
            )));
        }
        self.steps = cap.map_or(each, |cap| cap.min(each));
        let bought = Steps(self.steps.saturating_mul(chains));
        let contract = affordable::contract(&self.first, step, bought.0)?;
        self.epsilon = Some(match spent.filter(|_| bought == affordable) {
            Some(spent) => spent,
            None => contract.epsilon_above(delta)?,
        });
        self.bill = Some(Bill::Contract(contract));
        Ok(())
    }

    /// ε after a tenth, two tenths, … of the steps, computed as it is asked for: what a progress bar may show while the run goes on.
    ///
    /// Empty for a baseline; ends early where the accountant finds no answer.
    pub fn spending(&self) -> impl Iterator<Item = (u64, f64)> + Send + use<> {
        let bill = match (&self.bill, self.spec.privacy) {
            (Some(Bill::Contract(contract)), Privacy::Budget { delta, .. }) => {
                Some((contract.clone(), delta))
            }
            _ => None,
        };
        let (total, first) = (self.steps * self.chains, self.first.len());
        bill.into_iter().flat_map(|bill| (1..=10).map(move |tenth| (bill.clone(), tenth))).map_while(
            move |((contract, delta), tenth)| {
                let share = contract.parts().iter().enumerate().map(|(line, (cost, asked))| {
                    // The first lines were spent before the first step.
                    let share = u128::from(asked.0) * if line < first { 10 } else { tenth };
                    (cost.clone(), Steps(u64::try_from(share.div_ceil(10)).unwrap_or(asked.0)))
                });
                let until = u64::try_from((u128::from(total) * tenth).div_ceil(10)).unwrap_or(total);
                let spent =
                    Contract::new(share.collect()).and_then(|share| share.epsilon_above(delta)).ok()?;
                Some((until, spent))
            },
        )
    }

    /// The plan as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let affordable: serde_json::Map<_, _> = self
            .affordable
            .iter()
            .map(|affordable| (level_name(affordable.level).to_owned(), affordable.steps.0.into()))
            .collect();
        serde_json::json!({
            "model": self.spec.model_entry.name,
            "sampler": self.preset.name,
            "private": self.is_private(),
            "records": self.spec.data.records,
            "epsilon": self.epsilon.map(|upper| serde_json::json!({ "upper": upper })),
            "level": self.level.map(level_name),
            "chains": self.chains,
            "steps_per_chain": self.steps,
            "burn_in": self.burn_in,
            "affordable_steps": affordable,
            "expected_error": self.fact("expected_error").and_then(Fact::as_number),
            "facts": facts::to_json(&self.facts),
            "warnings": self.warnings,
        })
    }

    /// Says what is likely to disappoint, from public facts alone.
    fn warn(&mut self) {
        if self.is_private() && self.steps < FEW_STEPS {
            self.warnings.push(format!(
                "only {} steps for each chain: the draws will hardly forget where they started",
                self.steps
            ));
        }
        if let Privacy::Budget { delta, .. } = self.spec.privacy {
            #[expect(clippy::cast_precision_loss, reason = "records is at most 2^32")]
            let records = self.spec.data.records as f64;
            if delta.get() * records > 1.0 {
                self.warnings.push(
                    "delta is above 1/records: publishing one record at random would satisfy it".to_owned(),
                );
            }
        }
    }
}

/// The sampler of a private spec that names none: it has no constant that must be chosen.
const DEFAULT_SAMPLER: &str = "langevin";
/// More steps than this are not compared with the other level's but by an estimate.
const MOST_COMPARED: u64 = 20_000;
/// Chains beyond this are a mistake in the spec.
const MOST_CHAINS: u64 = 1000;
/// Most steps of a chain whose steps differ in price, when the spec does not say; the budget usually ends it before.
const DEFAULT_VARYING_STEPS: u64 = 100_000;
/// Steps of a baseline when the spec does not say.
const DEFAULT_BASELINE_STEPS: u64 = 10_000;
/// Draws of a sampler whose draws are free, when the spec does not say.
const DEFAULT_FREE_DRAWS: u64 = 10_000;
/// Fewer steps than this seldom reach the posterior.
const FEW_STEPS: u64 = 100;

fn seed(section: &Section<'_>) -> Result<Option<u64>, SpecError> {
    match section.value("seed") {
        None => Ok(None),
        Some(toml::Value::Integer(seed)) if *seed >= 0 => Ok(Some(seed.unsigned_abs())),
        Some(_) => Err(section.error("seed", "must be a whole number of at least 0")),
    }
}

fn burn_in(section: &Section<'_>, steps: u64) -> Result<Option<u64>, SpecError> {
    match section.value("burn_in") {
        None => Ok(None),
        Some(toml::Value::Integer(n)) if *n >= 0 && n.unsigned_abs() < steps => Ok(Some(n.unsigned_abs())),
        Some(_) => Err(section.error("burn_in", format!("must be a whole number from 0 to {}", steps - 1))),
    }
}
