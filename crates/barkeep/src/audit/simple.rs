//! Lists the curator's mechanisms one by one, each with the two records it tells apart best.

use super::evidence::{Claim, Effort};
use super::game::{Each, Game, World};
use super::pair::Pair;
use super::probe::Aim;
use super::samplers::priced_as_released;
use super::staged::Staged;
use crate::Error;
use crate::public_rng::PublicRng;
use barkeep_accounting::vcor::Fit;
use barkeep_accounting::{
    Contract, Cost, Delta, Mechanism, Neighbours, Rate, Rule, Sampling, Steps, Variance,
};
use barkeep_curator::{
    Ask, Budget, Clip, Decide, LatticeSigma, Level, Precondition, Premises, Refused, Sum, Temper, Term,
    barker_minibatch_clip, decide_cost, discrete_gaussian, sum_cost, sum_sensitivity,
};
use barkeep_data::{Column, Schema};
use barkeep_model::{GaussianMean, Model};
use std::sync::Arc;

/// A mechanism ready to be attacked.
pub(super) struct Case {
    pub(super) name: String,
    /// What is certified of it, from which ε follows.
    pub(super) contract: Contract,
    pub(super) claim: Claim,
    /// Whether what is priced is what leaves; else the price includes a number that stays inside.
    pub(super) priced_as_released: bool,
    pub(super) game: Box<dyn Game>,
}

/// So far from zero that every term is clipped.
const FAR: f64 = 1000.0;
const FULL: Sampling = Sampling::Full;
const SUBSTITUTE: Neighbours = Neighbours::Substitute;

/// A list entry before its mechanism is built.
type Entry = fn(Effort) -> Result<Case, Error>;

/// Every mechanism. Records in a batch are 4 of 20, drawn at rate 1/5.
pub(super) const SIMPLE: &[Entry] = &[
    |effort| Decisions::new("barker decision", Rule::Barker, 0.5).case(effort),
    |effort| Decisions::new("barker decision, 50 of them", Rule::Barker, 0.05).times(50, 1e-3).case(effort),
    |effort| Decisions::new("lazy barker decision", lazy(), 0.5).case(effort),
    |effort| {
        Decisions::new("penalty decision", Rule::Penalty { sigma: 1.0 }, 0.25).times(1, 1e-3).case(effort)
    },
    |effort| {
        Decisions::new("penalty decision, 20 of them", Rule::Penalty { sigma: 2.0 }, 0.25)
            .times(20, 1e-3)
            .case(effort)
    },
    |effort| {
        Decisions::new("barker decision, add or remove", Rule::Barker, 1.0)
            .neighbours(Neighbours::AddRemove)
            .case(effort)
    },
    |effort| Decisions::new("corrected barker decision", corrected()?, 0.5).times(1, 1e-3).case(effort),
    |effort| Sums::new("gaussian sum", 1, 1.0).case(effort),
    |effort| Sums::new("gaussian sum, 10 of 5 coordinates", 5, 4.0).times(10, 1e-6).case(effort),
    |effort| Sums::new("gaussian sum, add or remove", 1, 1.0).neighbours(Neighbours::AddRemove).case(effort),
    |effort| {
        Sums::new("poisson batch sum, add or remove", 1, 0.5)
            .neighbours(Neighbours::AddRemove)
            .batch(Sampling::Poisson { rate: Rate::new(0.2)? })
            .case(effort)
    },
    |effort| {
        Sums::new("poisson batch sum, substitute", 1, 0.5)
            .batch(Sampling::Poisson { rate: Rate::new(0.2)? })
            .case(effort)
    },
    |effort| Sums::new("fixed batch sum", 1, 0.5).batch(FIXED).case(effort),
    |effort| Sums::new("fixed batch sum, 10 of them", 1, 2.0).batch(FIXED).times(10, 1e-3).case(effort),
    |_| lattice_noise("discrete gaussian", 16.0, 4),
    |effort| {
        Decisions::new("penalty decision, release price", Rule::Penalty { sigma: 1.0 }, 0.25)
            .times(1, 1e-3)
            .level(Level::Release)
            .case(effort)
    },
    |effort| {
        Decisions::new("fixed batch penalty decision", Rule::Penalty { sigma: 1.0 }, 0.05)
            .times(1, 1e-3)
            .level(Level::Release)
            .batch(FIXED)
            .case(effort)
    },
    |effort| {
        let (batch, records) = (40, 100);
        let clip = barker_minibatch_clip(Temper::NONE, batch, records)?;
        Decisions::new("minibatch barker decision, 5 of them", corrected()?, clip.get())
            .times(5, 1e-3)
            .level(Level::Release)
            .batch(Sampling::WithoutReplacement { batch, records })
            .case(effort)
    },
];

/// A fifth of twenty records.
const FIXED: Sampling = Sampling::WithoutReplacement { batch: 4, records: 20 };

fn lazy() -> Rule {
    Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Barker) }
}

fn corrected() -> Result<Rule, Error> {
    let correction = Fit::Mixture.correction(Variance::new(2.0)?)?.correction;
    Ok(Rule::Corrected { variance: 2.0, correction })
}

/// What decisions and sums have in common.
struct Setting {
    name: &'static str,
    steps: u64,
    delta: f64,
    batch: Sampling,
    premises: Premises,
}

impl Setting {
    fn pair(&self, record: Vec<f64>, silent: Vec<f64>) -> Result<Pair, Error> {
        let columns = (0..record.len()).map(|j| Column::real(format!("x{j}"), -FAR, FAR, 0.0));
        let schema = Schema::new(columns.collect::<Result<_, _>>()?)?;
        let opposite: Vec<f64> = record.iter().map(|value| -value).collect();
        let (second, other, others) = match (self.premises.neighbours, self.batch) {
            (Neighbours::AddRemove, _) => (None, silent, 1),
            // The others equal the second's record, so that its world looks the same whoever is drawn.
            (_, Sampling::WithoutReplacement { records, .. }) => {
                (Some(opposite.clone()), opposite, records - 1)
            }
            _ => (Some(opposite.clone()), opposite, 0),
        };
        Ok(Pair { first: record, second, other, others, schema })
    }

    fn case(
        self,
        cost: Cost,
        pair: Pair,
        claim: Claim,
        effort: Effort,
        ask: impl Fn(&mut dyn Ask) -> Result<(), Refused> + Sync + 'static,
    ) -> Result<Case, Error> {
        let contract = Contract::new(vec![(cost, Steps(self.steps))])?;
        let dimension = pair.first.len();
        let model: Arc<dyn Model> = Arc::new(
            GaussianMean::independent(&vec![1.0; dimension], 1.0)
                .map_err(|error| Error::Budget(error.to_string()))?,
        );
        let aim = if self.steps == 1 {
            Aim::Once { delta: self.delta, trials: effort.trials as f64, alpha: effort.alpha }
        } else {
            Aim::Many
        };
        let bought = contract.clone();
        let steps = self.steps;
        let buy = Box::new(move || Ok(vec![Budget::permits(&bought)]));
        let perform = Box::new(move |_: usize, tab: &mut dyn Ask, _: &mut PublicRng| {
            (0..steps).try_for_each(|_| ask(tab)).map_err(Error::from)
        });
        let game = Staged::new(pair, model, self.premises, aim, (buy, perform))?;
        Ok(Case {
            name: self.name.to_owned(),
            claim,
            priced_as_released: priced_as_released(contract.parts()),
            contract,
            game: Box::new(game),
        })
    }
}

/// Decisions on a log-ratio that the one record moves from one end of the clip to the other.
struct Decisions {
    setting: Setting,
    rule: Rule,
    clip: f64,
}

impl Decisions {
    fn new(name: &'static str, rule: Rule, clip: f64) -> Self {
        let premises = Premises { neighbours: SUBSTITUTE, level: Level::Decision };
        Self { setting: Setting { name, steps: 1, delta: 1e-5, batch: FULL, premises }, rule, clip }
    }

    fn times(mut self, steps: u64, delta: f64) -> Self {
        (self.setting.steps, self.setting.delta) = (steps, delta);
        self
    }

    fn batch(mut self, batch: Sampling) -> Self {
        self.setting.batch = batch;
        self
    }

    fn level(mut self, level: Level) -> Self {
        self.setting.premises.level = level;
        self
    }

    fn neighbours(mut self, neighbours: Neighbours) -> Self {
        self.setting.premises.neighbours = neighbours;
        self
    }

    fn case(self, effort: Effort) -> Result<Case, Error> {
        let Self { setting, rule, clip } = self;
        let (clip, batch) = (Clip::new(clip)?, setting.batch);
        let cost = decide_cost(Temper::NONE, clip, batch, &rule, setting.premises)?;
        let claim = Claim { delta: Delta::new(setting.delta)?, gaussian: false };
        // From 0 to 1 a record x has log-ratio x − ½.
        let pair = setting.pair(vec![FAR], vec![0.5])?;
        setting.case(cost, pair, claim, effort, move |tab| {
            let (from, to, temper) = (&[0.0], &[1.0], Temper::NONE);
            tab.decide(&Decide { from, to, offset: 0.0, temper, clip, batch, rule: &rule }).map(drop)
        })
    }
}

/// Noisy sums of gradients that the one record moves from one end of the clip to the other.
struct Sums {
    setting: Setting,
    dimension: usize,
    ratio: f64,
}

impl Sums {
    fn new(name: &'static str, dimension: usize, ratio: f64) -> Self {
        let premises = Premises { neighbours: SUBSTITUTE, level: Level::Decision };
        let setting = Setting { name, steps: 1, delta: 1e-3, batch: FULL, premises };
        Self { setting, dimension, ratio }
    }

    fn times(mut self, steps: u64, delta: f64) -> Self {
        (self.setting.steps, self.setting.delta) = (steps, delta);
        self
    }

    fn batch(mut self, batch: Sampling) -> Self {
        self.setting.batch = batch;
        self
    }

    fn neighbours(mut self, neighbours: Neighbours) -> Self {
        self.setting.premises.neighbours = neighbours;
        self
    }

    fn case(self, effort: Effort) -> Result<Case, Error> {
        let Self { setting, dimension, ratio } = self;
        let (clip, batch) = (Clip::new(1.0)?, setting.batch);
        let sigma = ratio * sum_sensitivity(Temper::NONE, clip, setting.premises.neighbours)?.get();
        let cost = sum_cost(Temper::NONE, clip, batch, sigma, setting.premises)?;
        let claim = Claim { delta: Delta::new(setting.delta)?, gaussian: batch == FULL };
        let pair = setting.pair(vec![FAR; dimension], vec![0.0; dimension])?;
        setting.case(cost, pair, claim, effort, move |tab| {
            let (at, mut out) = (vec![0.0; dimension], vec![0.0; dimension]);
            let term = Term::Gradient { at: &at, precondition: Precondition::Identity };
            tab.sum(&Sum { term, temper: Temper::NONE, clip, batch, sigma }, &mut out)
        })
    }
}

/// The discrete Gaussian on integers, which no question of a tab uses yet.
fn lattice_noise(name: &'static str, variance: f64, sensitivity: u64) -> Result<Case, Error> {
    let mechanism = Mechanism::DiscreteGaussian { variance: Variance::new(variance)?, sensitivity };
    let cost = Cost::new(mechanism, FULL, SUBSTITUTE)?;
    let sigma = LatticeSigma::new(variance.sqrt())?;
    let game = Each(move |world: World, rng: &mut barkeep_curator::NoiseRng| {
        let secret = if world == World::First { i128::from(sensitivity) } else { 0 };
        (secret + discrete_gaussian(rng, sigma)) as f64
    });
    Ok(Case {
        name: name.to_owned(),
        contract: Contract::new(vec![(cost, Steps(1))])?,
        claim: Claim { delta: Delta::new(1e-3)?, gaussian: false },
        priced_as_released: true,
        game: Box::new(game),
    })
}
