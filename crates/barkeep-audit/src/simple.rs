//! Lists the curator's mechanisms one by one, each with the two records it distinguishes best.

use crate::evidence::{Claim, Effort};
use crate::game::{Each, Game, World};
use crate::pair::{Company, Pair, Rows};
use crate::probe::Aim;
use crate::samplers::priced_as_released;
use crate::staged::Staged;
use barkeep::Error;
use barkeep::PublicRng;
use barkeep_accounting::mechanisms::DiscreteGaussian;
use barkeep_accounting::vcor::Fit;
use barkeep_accounting::{
    Contract, Cost, Delta, Mechanism, Neighbours, Rate, Rule, Sampling, Steps, Variance,
};
use barkeep_curator::{
    Ask, Asked, Budget, Clip, Decide, LatticeSigma, Level, PrivacyModel, Refused, Shape, Sum, Temper, Term,
    barker_minibatch_clip, decide_cost, discrete_gaussian, faults_clip, sum_cost, sum_sensitivity,
};
use barkeep_data::{Column, Count, Schema, Unit};
use barkeep_model::terms::{self as model_terms, Precondition};
use barkeep_model::{GaussianMean, Likelihood};
use std::sync::Arc;

/// A mechanism ready to be attacked.
pub(crate) struct Case {
    pub(crate) name: String,
    /// What is certified of it, from which ε follows.
    pub(crate) contract: Contract,
    pub(crate) claim: Claim,
    /// Whether what is priced is what leaves; else the price includes a number that stays inside.
    pub(crate) priced_as_released: bool,
    /// How hard it is attacked.
    pub(crate) effort: Effort,
    pub(crate) game: Box<dyn Game>,
}

/// So far from zero that every term is clipped.
const FAR: f64 = 1000.0;
const FULL: Sampling = Sampling::Full;
const SUBSTITUTE: Neighbours = Neighbours::Substitute;

/// A list entry before its mechanism is built.
pub(crate) type Entry = fn(Effort) -> Result<Case, Error>;

/// Every mechanism. Records in a batch are 4 of 20, drawn at rate 1/5.
pub(crate) const SIMPLE: &[Entry] = &[
    |effort| Attack::decisions("barker decision", Rule::Barker, 0.5).case(effort),
    |effort| {
        Attack::decisions("barker decision, 50 of them", Rule::Barker, 0.05).times(50, 1e-3).case(effort)
    },
    |effort| Attack::decisions("lazy barker decision", lazy(), 0.5).case(effort),
    |effort| {
        Attack::decisions("penalty decision", Rule::Penalty { sigma: 1.0 }, 0.25).times(1, 1e-3).case(effort)
    },
    |effort| {
        Attack::decisions("penalty decision, 20 of them", Rule::Penalty { sigma: 2.0 }, 0.25)
            .times(20, 1e-3)
            .case(effort)
    },
    |effort| {
        Attack::decisions("barker decision, add or remove", Rule::Barker, 1.0)
            .neighbours(Neighbours::AddRemove)
            .case(effort)
    },
    |effort| Attack::decisions("corrected barker decision", corrected()?, 0.5).times(1, 1e-3).case(effort),
    |effort| Attack::sums("gaussian sum", 1, 1.0).case(effort),
    |effort| Attack::sums("gaussian sum, 10 of 5 coordinates", 5, 4.0).times(10, 1e-6).case(effort),
    |effort| {
        Attack::sums("gaussian sum, add or remove", 1, 1.0).neighbours(Neighbours::AddRemove).case(effort)
    },
    |effort| {
        Attack::sums("poisson batch sum, add or remove", 1, 0.5)
            .neighbours(Neighbours::AddRemove)
            .batch(Sampling::Poisson { rate: Rate::new(0.2)? })
            .case(effort)
    },
    |effort| {
        Attack::sums("poisson batch sum, substitute", 1, 0.5)
            .batch(Sampling::Poisson { rate: Rate::new(0.2)? })
            .case(effort)
    },
    |effort| Attack::sums("fixed batch sum", 1, 0.5).batch(FIXED).case(effort),
    |effort| Attack::sums("fixed batch sum, 10 of them", 1, 2.0).batch(FIXED).times(10, 1e-3).case(effort),
    |effort| {
        Attack::decisions("barker decision among 3000 others", Rule::Barker, 0.5).among(CROWD).case(effort)
    },
    |effort| {
        Attack::decisions("penalty decision among 3000 others", Rule::Penalty { sigma: 1.0 }, 0.25)
            .times(1, 1e-3)
            .among(CROWD)
            .case(effort)
    },
    |effort| Attack::sums("gaussian sum among 3000 others", 1, 1.0).among(CROWD).case(effort),
    |effort| Attack::sums("gaussian sum among 3000, 5 coordinates", 5, 1.0).among(CROWD).case(effort),
    |effort| {
        Attack::sums("gaussian sum among 3000, add or remove", 1, 1.0)
            .neighbours(Neighbours::AddRemove)
            .among(CROWD)
            .case(effort)
    },
    |effort| {
        Attack::decisions("barker decision, persons of 7 rows", Rule::Barker, 0.5).persons(7).case(effort)
    },
    |effort| Attack::sums("gaussian sum, persons of 5 rows", 2, 1.0).persons(5).case(effort),
    |effort| Attack::sums("gaussian sum, persons among 3000", 2, 1.0).persons(3).among(CROWD).case(effort),
    |effort| Attack::sums("fixed batch sum, persons of 5 rows", 1, 0.5).batch(FIXED).persons(5).case(effort),
    |effort| Attack::faults("counts of bad cells, 3 columns", 3, 1.0).case(effort),
    |effort| Attack::faults("counts of bad cells, persons of 4 rows", 2, 1.0).persons(4).case(effort),
    |effort| lattice_noise("discrete gaussian", 16.0, 4, effort),
    |effort| {
        Attack::decisions("penalty decision, release price", Rule::Penalty { sigma: 1.0 }, 0.25)
            .times(1, 1e-3)
            .level(Level::Release)
            .case(effort)
    },
    |effort| {
        Attack::decisions("fixed batch penalty decision", Rule::Penalty { sigma: 1.0 }, 0.05)
            .times(1, 1e-3)
            .level(Level::Release)
            .batch(FIXED)
            .case(effort)
    },
    |effort| {
        let (batch, records) = (40, 100);
        let clip = barker_minibatch_clip(Temper::NONE, batch, records)?;
        Attack::decisions("minibatch barker decision, 5 of them", corrected()?, clip.get())
            .times(5, 1e-3)
            .level(Level::Release)
            .batch(Sampling::WithoutReplacement { batch, records })
            .case(effort)
    },
];

/// Others of varied content around an attacked record: three blocks, the last of them not full.
const CROWD: usize = 3000;

/// Records, or persons, of varied content: near zero, within the clip, beyond it, at the bounds; of several sizes of rows.
fn crowd(count: usize, dimension: usize, rows: usize) -> Vec<Rows> {
    let mut rng = PublicRng::new(20, 26);
    let mut value = |kind: usize| match kind % 5 {
        0 => rng.normal(),
        1 => 1e-6 * rng.normal(),
        2 => 30.0 * rng.normal(),
        3 => FAR,
        _ => -FAR,
    };
    let mut row = |member: usize| (0..dimension).map(|j| value(member + j)).collect::<Vec<f64>>();
    (0..count).map(|member| (0..=member % rows).map(|_| row(member)).collect()).collect()
}

/// A fifth of twenty records.
const FIXED: Sampling = Sampling::WithoutReplacement { batch: 4, records: 20 };

fn lazy() -> Rule {
    Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Barker) }
}

fn corrected() -> Result<Rule, Error> {
    let correction = Fit::Mixture.correction(Variance::new(2.0)?)?.correction;
    Ok(Rule::Corrected { variance: 2.0, correction })
}

/// What is asked again and again of a record that goes from one end of the clip to the other.
enum Question {
    /// Decisions on its log-ratio.
    Decision { rule: Rule, clip: f64 },
    /// Noisy sums of its gradient, with noise of `ratio` sensitivities.
    Sum { dimension: usize, ratio: f64 },
    /// Noisy counts of its bad cells: all invalid in one world, all outside the bounds in the other.
    Faults { columns: usize, ratio: f64 },
}

/// What an attack says of any question.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    name: &'static str,
    steps: u64,
    delta: f64,
    batch: Sampling,
    premises: PrivacyModel,
    level: Level,
    /// Others of varied content.
    company: usize,
    /// Rows of each person; 1 for records.
    rows: usize,
}

/// A mechanism and the terms it is asked under.
struct Attack {
    question: Question,
    terms: Terms,
}

impl Attack {
    fn decisions(name: &'static str, rule: Rule, clip: f64) -> Self {
        Self::new(name, Question::Decision { rule, clip }, 1e-5)
    }

    fn sums(name: &'static str, dimension: usize, ratio: f64) -> Self {
        Self::new(name, Question::Sum { dimension, ratio }, 1e-3)
    }

    fn faults(name: &'static str, columns: usize, ratio: f64) -> Self {
        Self::new(name, Question::Faults { columns, ratio }, 1e-3)
    }

    fn new(name: &'static str, question: Question, delta: f64) -> Self {
        Self { question, terms: Terms::once(name, delta) }
    }

    fn times(mut self, steps: u64, delta: f64) -> Self {
        (self.terms.steps, self.terms.delta) = (steps, delta);
        self
    }

    fn batch(mut self, batch: Sampling) -> Self {
        self.terms.batch = batch;
        self
    }

    fn level(mut self, level: Level) -> Self {
        self.terms.level = level;
        self
    }

    /// Among this number of others of varied content.
    fn among(mut self, company: usize) -> Self {
        self.terms.company = company;
        self
    }

    /// Of whole persons with this number of rows.
    fn persons(mut self, rows: usize) -> Self {
        self.terms.rows = rows;
        self
    }

    fn neighbours(mut self, neighbours: Neighbours) -> Self {
        self.terms.premises.neighbours = neighbours;
        self
    }

    fn case(self, effort: Effort) -> Result<Case, Error> {
        let Self { question, terms } = self;
        // A trial among thousands takes as long as thousands of trials alone.
        let effort = match terms.company {
            0 => effort,
            _ => Effort { trials: (effort.trials / 2).max(10), ..effort },
        };
        let (batch, premises, level, temper) = (terms.batch, terms.premises, terms.level, Temper::NONE);
        let delta = Delta::new(terms.delta)?;
        match question {
            Question::Decision { rule, clip } => {
                let clip = Clip::new(clip)?;
                let cost = decide_cost(temper, clip, batch, &rule, level, premises)?;
                // From 0 to 1 a record x has log-ratio x − ½.
                let pair = terms.pair(vec![FAR], vec![0.5])?;
                let ratio = means(1)?
                    .ratio_program(&[0.0], &[1.0])
                    .map_err(|error| Error::Budget(error.to_string()))?;
                terms.staged(cost, pair, Claim { delta, gaussian: false }, effort, move |gate| {
                    let rule = &rule;
                    gate.decide(&Decide { ratio: &ratio, offset: 0.0, temper, clip, batch, rule, level })
                        .map(drop)
                })
            }
            Question::Faults { columns, ratio } => {
                let clip = faults_clip(columns, Count::Exactly(1))?;
                let sigma = ratio * sum_sensitivity(temper, clip, premises.neighbours)?.get();
                let cost = sum_cost(temper, clip, batch, sigma, premises)?;
                let mut pair = terms.pair(vec![f64::NAN; columns], vec![0.0; columns])?;
                pair.second = Some(vec![vec![2.0 * FAR; columns]; terms.rows]);
                terms.staged(cost, pair, Claim { delta, gaussian: true }, effort, move |gate| {
                    let mut out = vec![0.0; 2 * columns];
                    gate.sum(&Sum { term: Term::Faults, temper, clip, batch, sigma }, &mut out)
                })
            }
            Question::Sum { dimension, ratio } => {
                let clip = Clip::new(1.0)?;
                let sigma = ratio * sum_sensitivity(temper, clip, premises.neighbours)?.get();
                let cost = sum_cost(temper, clip, batch, sigma, premises)?;
                let pair = terms.pair(vec![FAR; dimension], vec![0.0; dimension])?;
                let (likelihood, theta) = (means(dimension)?, vec![0.0; dimension]);
                let gradient = model_terms::gradient(&*likelihood, &theta, Precondition::Identity, &[])
                    .map_err(|error| Error::Budget(error.to_string()))?;
                terms.staged(cost, pair, Claim { delta, gaussian: batch == FULL }, effort, move |gate| {
                    let mut out = vec![0.0; dimension];
                    let term = Term::Program(Asked { term: &gradient, shape: Shape::Ball });
                    gate.sum(&Sum { term, temper, clip, batch, sigma }, &mut out)
                })
            }
        }
    }
}

impl Terms {
    /// One question of all records under substitution.
    pub(crate) fn once(name: &'static str, delta: f64) -> Self {
        let premises = PrivacyModel { neighbours: SUBSTITUTE };
        let (batch, level) = (FULL, Level::Decision);
        Self { name, steps: 1, delta, batch, premises, level, company: 0, rows: 1 }
    }

    /// What the question is accounted under.
    pub(crate) fn premises(&self) -> PrivacyModel {
        self.premises
    }

    fn pair(&self, record: Vec<f64>, silent: Vec<f64>) -> Result<Pair, Error> {
        let columns = (0..record.len()).map(|j| Column::real(format!("x{j}"), -FAR, FAR, 0.0));
        let schema = Schema::new(columns.collect::<Result<_, _>>()?)?;
        let opposite: Vec<f64> = record.iter().map(|value| -value).collect();
        let (second, other, others) = match (self.premises.neighbours, self.batch) {
            (Neighbours::AddRemove, _) => (None, silent, 1),
            // The others equal the second's record, so that its world looks the same whoever is drawn.
            (Neighbours::Substitute, Sampling::WithoutReplacement { records, .. }) => {
                (Some(opposite.clone()), opposite, records - 1)
            }
            (Neighbours::Substitute, Sampling::Full | Sampling::Poisson { .. }) => {
                (Some(opposite.clone()), opposite, 0)
            }
        };
        let many = |record: Vec<f64>| vec![record; self.rows];
        let company = Company::of(crowd(self.company, record.len(), self.rows));
        let unit = if self.rows == 1 { Unit::Record } else { Unit::Person { most_rows: None } };
        let (first, second, other) = (many(record), second.map(many), many(other));
        Ok(Pair { first, second, other, others, company, unit, schema })
    }

    /// The game of a question.
    pub(crate) fn staged(
        self,
        cost: Cost,
        pair: Pair,
        claim: Claim,
        effort: Effort,
        ask: impl Fn(&mut dyn Ask) -> Result<(), Refused> + Sync + 'static,
    ) -> Result<Case, Error> {
        let contract = Contract::new(vec![(cost, Steps(self.steps))])?;
        let aim = if self.steps == 1 {
            Aim::Once { delta: self.delta, trials: effort.trials as f64, alpha: effort.alpha }
        } else {
            Aim::Many
        };
        let bought = contract.clone();
        let steps = self.steps;
        let buy = Box::new(move || Ok((Budget::permits(&bought), 1)));
        let perform = Box::new(move |_: usize, gate: &mut dyn Ask, _: &mut PublicRng| {
            (0..steps).try_for_each(|_| ask(gate)).map_err(Error::from)
        });
        let game = Staged::new(pair, self.premises, aim, (buy, perform))?;
        Ok(Case {
            name: self.name.to_owned(),
            claim,
            priced_as_released: priced_as_released(contract.parts()),
            effort,
            contract,
            game: Box::new(game),
        })
    }
}

/// Means of this many columns.
pub(crate) fn means(dimension: usize) -> Result<Arc<dyn Likelihood>, Error> {
    let model = GaussianMean::independent(&vec![1.0; dimension], 1.0);
    Ok(Arc::new(model.map_err(|error| Error::Budget(error.to_string()))?))
}

/// The discrete Gaussian on integers, which no question to a gate uses yet.
fn lattice_noise(name: &'static str, variance: f64, sensitivity: u64, effort: Effort) -> Result<Case, Error> {
    let mechanism =
        Mechanism::DiscreteGaussian(DiscreteGaussian { variance: Variance::new(variance)?, sensitivity });
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
        effort,
        game: Box::new(game),
    })
}
