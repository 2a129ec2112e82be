//! Turns a spec into a plan: how many steps the budget buys, and the bill that is certified before the run.
//!
//! Planning never opens the records: everything in a plan is public.

mod accuracy;
mod bill;
mod default_sampler;
mod expected;
mod outlook;
mod price;
pub(crate) mod report;
mod request;
pub(crate) mod start;

mod words;

pub use accuracy::Alternative;
pub use barkeep_accounting::Bill;
pub use report::{ColumnFaults, FaultCounts};
pub use words::PriorRow;

use self::bill::PricedBill;
use self::default_sampler::Choice;
pub(crate) use self::default_sampler::DEFAULT_SAMPLER;
use self::outlook::Outlook;
use self::price::{Count, Order, Purchase};
use self::report::FaultReport;
use self::request::{Extent, Request};
use self::start::PlannedStart;
use crate::Error;
use crate::check::Check;
use crate::facts::Fact;
use crate::samplers::SamplerEntry;
use crate::samplers::entry::{Expected, MakeKernel, Questions, Setting};
use crate::samplers::foreseen::Foreseen;
use crate::spec::{Privacy, Spec, SpecError};
use barkeep_accounting::{Contract, Delta, Epsilon, Query, Risk, Steps};
use barkeep_curator::{Level, PrivacyModel, Table};
use barkeep_data::{Frame, Records, Unit, View};
use std::path::Path;
use std::sync::Arc;

/// Steps the budget would buy at one level of accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Affordable {
    /// The level.
    pub level: Level,
    /// All chains together.
    pub steps: Steps,
    /// Whether that is an estimate, for comparison only.
    pub estimated: bool,
}

/// A run, ready to start. It cannot be edited: what is certified is what runs.
#[derive(Clone)]
pub struct Plan {
    spec: Spec,
    sampler: &'static SamplerEntry,
    privacy_model: PrivacyModel,
    level: Option<Level>,
    paid: Option<PricedBill>,
    steps: u64,
    burn_in: u64,
    chains: u64,
    start: PlannedStart,
    seed: Option<u64>,
    affordable: Vec<Affordable>,
    facts: Vec<Fact>,
    warnings: Vec<String>,
    expected: Option<Expected>,
    /// What forecasts under other budgets need not find out again.
    foreseen: Arc<Foreseen>,
    /// What is asked before the first step, by all chains together.
    first: Questions,
    /// What a step asks at the level that is not paid for.
    alternative: Option<(Level, Questions)>,
    /// Counts of bad cells, if they are asked for.
    report: Option<FaultReport>,
    kernel: Arc<MakeKernel>,
    /// What is read of the records.
    view: View,
}

impl Spec {
    /// Plans the run. The records are not opened for it.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn plan(self) -> Result<Plan, Error> {
        Plan::new(self)
    }
}

impl Plan {
    /// Plans a run.
    ///
    /// # Errors
    /// [`Error::Spec`] at the first faulty key, [`Error::Budget`] if the budget does not buy one step per chain.
    pub fn new(spec: Spec) -> Result<Self, Error> {
        let foreseen = Arc::new(Foreseen::default());
        // Only a search for what would do goes further than a single attempt.
        Self::attempt(spec.clone(), Count::Certified, &foreseen).map_err(|error| match error {
            Error::Budget(reason) => Error::Budget(reason + &accuracy::what_would_do(&spec, &foreseen)),
            other => other,
        })
    }

    /// Plans a run, and says no more than that where the budget buys nothing.
    fn attempt(spec: Spec, count: Count, foreseen: &Arc<Foreseen>) -> Result<Self, Error> {
        spec.check()?;
        let request = Request::read(&spec)?;
        let (report, privacy) = match FaultReport::plan(&spec)? {
            Some((report, rest)) => (Some(report), rest),
            None => (None, spec.privacy()),
        };
        let setting = setting(&spec, privacy, &request.reference, foreseen);
        let Extent { cap, seed } = request.extent(&spec)?;
        let prepared = (request.sampler.prepare)(&request.section, &setting)?;
        let mut facts = prepared.facts;
        facts.extend(request.choice.as_ref().and_then(Choice::fact));
        let price = prepared.price;
        let start =
            PlannedStart::parse(&request.section, &setting, request.chains, &price, request.sampler.start)?;
        facts.extend(start.facts());
        let mut first = start.questions();
        if let Some(report) = &report {
            report.check(&price)?;
            facts.push(report.fact());
            first.extend(report.questions());
        }
        let level = price.level().filter(|_| spec.privacy() != Privacy::NotPrivate);
        let order = Order { chains: request.chains, cap, start: first, count };
        let bought = order.buy(price, spec.privacy())?;
        let outlook = Outlook::new(&spec, &bought, cap, prepared.forecast);
        facts.extend(outlook.facts);
        Ok(Self {
            sampler: request.sampler,
            chains: request.chains,
            level,
            burn_in: request.burn_in(bought.steps, outlook.burn_in.or(prepared.burn_in))?,
            start,
            seed,
            alternative: prepared.alternative.filter(|_| bought.affordable.is_some()),
            affordable: affordable(&bought, level),
            facts,
            warnings: outlook.warnings,
            expected: outlook.expected,
            foreseen: Arc::clone(foreseen),
            report,
            kernel: Arc::new(prepared.kernel),
            view: prepared.view.unwrap_or_else(|| spec.data().view().clone()),
            privacy_model: bought.privacy_model,
            paid: bought.paid,
            steps: bought.steps,
            first: bought.first,
            spec,
        })
    }

    /// The spec it came from.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The sampler.
    #[must_use]
    pub fn sampler(&self) -> &'static SamplerEntry {
        self.sampler
    }

    /// What every question is accounted under.
    #[must_use]
    pub fn privacy_model(&self) -> PrivacyModel {
        self.privacy_model
    }

    /// The bill; absent for a baseline.
    #[must_use]
    pub fn bill(&self) -> Option<&Bill> {
        self.paid.as_ref().map(PricedBill::bill)
    }

    /// ε of the bill at the spec's δ, an upper bound; absent for a baseline.
    #[must_use]
    pub fn epsilon(&self) -> Option<Epsilon> {
        self.paid.as_ref().map(PricedBill::epsilon)
    }

    /// Whether ε was found by the search for steps, and not computed from the bill.
    pub(crate) fn is_searched(&self) -> bool {
        self.paid.as_ref().is_some_and(PricedBill::is_searched)
    }

    /// What the checker, which shares no code with the accountant, finds; absent for a baseline, and where it takes longer than some 50 ms.
    #[must_use]
    pub fn checked(&self) -> Option<Check> {
        self.paid.as_ref().and_then(PricedBill::checked)
    }

    /// What the bill means for one person; absent without a guarantee, or where no accountant follows its curve.
    #[must_use]
    pub fn meaning(&self) -> Option<Risk> {
        self.paid.as_ref().and_then(PricedBill::meaning)
    }

    /// δ at which ε holds; absent for a baseline.
    #[must_use]
    pub fn delta(&self) -> Option<Delta> {
        self.paid.as_ref().map(PricedBill::delta)
    }

    /// What the price of a decision covers; absent where nothing is decided, and for a baseline.
    #[must_use]
    pub fn level(&self) -> Option<Level> {
        self.level
    }

    /// The fact of a key, if the plan has it.
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.key == key)
    }

    /// Whether anything is protected.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.paid.is_some()
    }

    /// Steps of each chain.
    #[must_use]
    pub fn steps(&self) -> Steps {
        Steps(self.steps)
    }

    /// Steps of each chain whose draws the summary leaves out.
    #[must_use]
    pub fn burn_in(&self) -> Steps {
        Steps(self.burn_in)
    }

    /// The number of chains.
    #[must_use]
    pub fn chains(&self) -> u64 {
        self.chains
    }

    /// Where the chains start.
    #[must_use]
    pub fn start(&self) -> &PlannedStart {
        &self.start
    }

    /// Seed of the proposals, if the spec gives one.
    #[must_use]
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// What the budget buys: at the level that is paid for, and after [`Plan::compare_levels`] at the other.
    #[must_use]
    pub fn affordable(&self) -> &[Affordable] {
        &self.affordable
    }

    /// Public constants of a step and what a chain can be expected to achieve.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// What is read of the records: what the model sees, and after it raw columns where the sampler asks about them. A table
    /// made in memory needs the columns of its [schema](View::schema).
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// What a user should know before spending anything.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How near the run is expected to come to the posterior without privacy; absent where that cannot be said.
    #[must_use]
    pub fn expected(&self) -> Option<Expected> {
        self.expected
    }

    /// What is asked about bad cells, if anything.
    pub(crate) fn report(&self) -> Option<&FaultReport> {
        self.report.as_ref()
    }

    pub(crate) fn kernel(&self) -> &MakeKernel {
        &self.kernel
    }

    /// The same plan with all chains at another public start and with another seed of the proposals: for experiments that
    /// repeat a run. The price does not depend on either; what a fit would have cost stays on the bill.
    ///
    /// # Errors
    /// [`Error::Spec`] if the start is not a point of the model with a positive prior density.
    pub fn replicate(&self, start: &[f64], seed: u64) -> Result<Self, Error> {
        let start = PlannedStart::at(&**self.spec.model(), start.to_vec(), self.chains)
            .map_err(|reason| SpecError::new("sampler.start", reason))?;
        Ok(Self { start, seed: Some(seed), ..self.clone() })
    }

    /// The same plan, stopping each chain after at most `steps`. The bill stays: an upper bound on fewer steps too.
    #[must_use]
    pub fn stopping_after(&self, steps: Steps) -> Self {
        Self { steps: self.steps.min(steps.0), ..self.clone() }
    }

    /// Adds to [`Plan::affordable`] what the budget would buy at the level that is not paid for, where there is one.
    ///
    /// Apart from the planning itself, since a run has no use for it. Millions of decisions take the accountant seconds:
    /// they are estimated.
    ///
    /// # Errors
    /// As [`barkeep_accounting::Query::largest_steps`].
    pub fn compare_levels(mut self) -> Result<Self, Error> {
        let (Some((level, step)), Privacy::Budget { epsilon, delta, .. }) =
            (self.alternative.take(), self.spec.privacy())
        else {
            return Ok(self);
        };
        let paid = self.affordable.first().map_or(0, |paid| paid.steps.0);
        if level == Level::Decision && paid > MOST_COMPARED {
            let rough = Query::new(step)?.roughly_after(&self.first, epsilon, delta)?;
            self.affordable.extend(rough.map(|steps| Affordable { level, steps, estimated: true }));
            return Ok(self);
        }
        let most = Query::new(step)?.most_after(&self.first, epsilon, delta)?;
        let steps = most.map_or(Steps(0), |most| most.steps);
        self.affordable.push(Affordable { level, steps, estimated: false });
        Ok(self)
    }

    /// Reads the records the spec describes; the first time a file of records is opened. `progress` is called now and
    /// then with the number read so far, where that is public.
    ///
    /// Where they would take more memory than [`Data::memory_limit`](crate::Data::memory_limit) they stay in the file, which every
    /// question reads anew. Which it is follows from the declared number of records, or of persons and their rows, never from the file.
    ///
    /// # Errors
    /// [`Error::Data`] if the file is missing, malformed, or not what the spec declares.
    pub fn read_records(&self, progress: &mut dyn FnMut(Records)) -> Result<Table, Error> {
        self.read_files(self.spec.data().paths(), progress)
    }

    /// Reads the records from several files of the same columns, one after the other, as [`Plan::read_records`] reads the one that
    /// the spec names.
    ///
    /// # Errors
    /// As [`Plan::read_records`].
    pub fn read_files(
        &self,
        paths: &[impl AsRef<Path>],
        progress: &mut dyn FnMut(Records),
    ) -> Result<Table, Error> {
        let (data, count) = (self.spec.data(), self.spec.count());
        let options = data.csv_options();
        let (view, limit) = (&self.view, self.streams_in());
        if let (Some(person), Unit::Person { most_rows }) = (data.person(), data.unit()) {
            return Ok(match limit {
                Some(memory) => {
                    Table::stream_files_persons(paths, view, person, count, most_rows, options, memory)?
                }
                None => Table::read_files_persons(paths, view, person, count, most_rows, options)?,
            });
        }
        let progress = &mut |read| progress(Records(read as u64));
        match limit {
            Some(memory) => Ok(Table::stream_files(paths, view, count, options, memory, progress)?),
            None => Ok(Table::read_files(paths, view, count, options, progress)?),
        }
    }

    /// The bytes of memory in which a file of records is read anew at every pass; none where the records fit into memory.
    fn streams_in(&self) -> Option<u64> {
        streams_in(&self.spec, &self.view, self.spec.data().memory_limit())
    }

    /// Reads the records from a frame in memory, as [`Plan::read_records`] reads a file.
    ///
    /// # Errors
    /// [`Error::Data`] if the frame is not what the spec declares.
    pub fn read_frame(
        &self,
        frame: &mut dyn Frame,
        progress: &mut dyn FnMut(Records),
    ) -> Result<Table, Error> {
        let (data, count) = (self.spec.data(), self.spec.count());
        if let (Some(person), Unit::Person { most_rows }) = (data.person(), data.unit()) {
            return Ok(Table::read_frame_persons(frame, &self.view, person, count, most_rows)?);
        }
        Ok(Table::read_frame(frame, &self.view, count, &mut |read| progress(Records(read as u64)))?)
    }

    /// ε after a tenth, two tenths, … of the steps of all chains, computed as it is asked for: what a progress bar may show.
    ///
    /// Empty for a baseline and where nothing is spent step by step; ends early where the accountant finds no answer.
    pub fn spending(&self) -> impl Iterator<Item = (Steps, Epsilon)> + Send + use<> {
        let stepwise = self.paid.as_ref().and_then(|paid| match paid.bill() {
            Bill::Contract(contract) => Some((contract.clone(), paid.delta())),
            Bill::Once(_) | Bill::Gaussian { .. } | Bill::Filter { .. } => None,
        });
        let (total, first) = (self.steps * self.chains, self.first.len());
        stepwise.into_iter().flat_map(|bill| (1..=10).map(move |tenth| (bill.clone(), tenth))).map_while(
            move |((contract, delta), tenth)| {
                let share = contract.parts().iter().enumerate().map(|(line, (cost, asked))| {
                    // The first lines were spent before the first step.
                    let share = u128::from(asked.0) * if line < first { 10 } else { tenth };
                    (cost.clone(), Steps(u64::try_from(share.div_ceil(10)).unwrap_or(asked.0)))
                });
                let until = u64::try_from((u128::from(total) * tenth).div_ceil(10)).unwrap_or(total);
                let spent = Bill::Contract(Contract::new(share.collect()).ok()?).epsilon(delta).ok()?;
                Some((Steps(until), spent))
            },
        )
    }

    /// The plan as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let affordable: serde_json::Map<_, _> = self
            .affordable
            .iter()
            .map(|affordable| (affordable.level.name().to_owned(), affordable.steps.0.into()))
            .collect();
        serde_json::json!({
            "model": self.spec.model_name(),
            "sampler": self.sampler.name,
            "private": self.is_private(),
            "records": self.spec.data().records(),
            "unit": self.spec.data().unit(),
            "epsilon": self.epsilon().map(|upper| serde_json::json!({ "upper": upper })),
            "level": self.level().map(Level::name),
            "chains": self.chains,
            "steps_per_chain": self.steps,
            "burn_in": self.burn_in,
            "affordable_steps": affordable,
            "expected_error": self.expected.map(|expected| expected.error),
            "expected_error_range": self.expected.map(|expected| [expected.range.0, expected.range.1]),
            "expected_width": self.expected.map(|expected| expected.width),
            "facts": crate::facts::to_json(&self.facts),
            "warnings": self.warnings,
        })
    }
}

/// What a sampler may know of a spec.
fn setting<'a>(
    spec: &'a Spec,
    privacy: Privacy,
    reference: &'a [f64],
    foreseen: &'a Foreseen,
) -> Setting<'a> {
    let data = spec.data();
    Setting {
        model: spec.model(),
        likelihood: spec.likelihood(),
        temper: spec.tempering(),
        privacy,
        records: data.records().as_f64(),
        unit: data.unit(),
        schema: data.schema(),
        view: data.view(),
        reference,
        spread_declared: data.spread_declared(),
        // What this machine has must not decide: another one verifies the plan.
        is_streamed: streams_in(spec, data.view(), data.declared_memory()).is_some(),
        proposal: spec.own_proposal(),
        foreseen,
    }
}

/// What the budget buys at the level that is paid for. Sums and choices are published as they are priced.
fn affordable(bought: &Purchase, level: Option<Level>) -> Vec<Affordable> {
    let level = level.unwrap_or(Level::Release);
    bought.affordable.map(|steps| Affordable { level, steps, estimated: false }).into_iter().collect()
}

/// Above this many steps the other level is estimated, not computed.
const MOST_COMPARED: u64 = 20_000;
/// The memory limit in bytes, where a view of the file does not fit and every pass reads the file again.
fn streams_in(spec: &Spec, view: &View, memory: Option<u64>) -> Option<u64> {
    let rows = match spec.data().unit() {
        Unit::Person { most_rows: Some(most) } => u128::from(most),
        Unit::Person { most_rows: None } | Unit::Record => 1,
    };
    let bytes = Table::bytes(view, spec.count()).saturating_mul(rows);
    memory.filter(|limit| bytes > u128::from(*limit))
}
