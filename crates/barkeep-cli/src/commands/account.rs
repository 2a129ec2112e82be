//! `barkeep account`: the accountant as a calculator, for people without code.

use crate::exit::{Exit, print};
use barkeep::accounting::theorems::thesis::Hmc;
use barkeep::accounting::{
    BarkerBound, Bracket, Delta, Epsilon, Error, Most, Neighbours, Probability, Query, Rate, Ratio, Rule,
    Sampling, Sensitivity, Steps, Variance,
};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::json;

/// Give any two of --steps, --epsilon and --delta; the third is computed, with its bracket.
#[derive(Args)]
pub(crate) struct Account {
    #[command(subcommand)]
    mechanism: Question,
    /// How often the mechanism is used.
    #[arg(long, global = true)]
    steps: Option<u64>,
    /// The bound on the privacy loss.
    #[arg(long, global = true, allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// The probability with which epsilon may be exceeded.
    #[arg(long, global = true, allow_hyphen_values = true)]
    delta: Option<f64>,
    /// Prints one JSON object.
    #[arg(long, global = true)]
    json: bool,
}

/// The mechanisms. Ratios are noise standard deviation over sensitivity, under the stated neighbouring relation.
#[derive(Subcommand)]
enum Question {
    /// A value plus normal noise.
    Gaussian {
        /// Noise standard deviation over sensitivity.
        #[arg(long, allow_hyphen_values = true)]
        ratio: f64,
    },
    /// A sum over a random batch plus normal noise.
    SubsampledGaussian {
        /// Noise standard deviation over sensitivity. Poisson with substitution: over the whole substitution
        /// sensitivity, for records of norm at most half of it.
        #[arg(long, allow_hyphen_values = true)]
        ratio: f64,
        /// Probability that a record is in the batch.
        #[arg(long, allow_hyphen_values = true)]
        rate: f64,
        /// How batches are drawn.
        #[arg(long)]
        sampling: BatchSampling,
        /// What counts as one record's change.
        #[arg(long)]
        neighbours: Relation,
    },
    /// An integer plus discrete Gaussian noise.
    DiscreteGaussian {
        /// The parameter sigma squared of the noise.
        #[arg(long, allow_hyphen_values = true)]
        variance: f64,
        /// The most a neighbouring change moves the integer.
        #[arg(long)]
        sensitivity: u64,
    },
    /// A value plus Laplace noise.
    Laplace {
        /// Noise scale over sensitivity.
        #[arg(long, allow_hyphen_values = true)]
        ratio: f64,
    },
    /// One bit, 1 with probability p or q; the worse direction is reported.
    Bernoulli {
        /// On one data set.
        #[arg(long, allow_hyphen_values = true)]
        p: f64,
        /// On its neighbour.
        #[arg(long, allow_hyphen_values = true)]
        q: f64,
    },
    /// One accept/reject bit of a Metropolis test; nothing else leaves.
    Decision {
        /// The acceptance rule.
        #[arg(long)]
        rule: RuleName,
        /// Noise standard deviation of the penalty rule.
        #[arg(long, allow_hyphen_values = true)]
        sigma: Option<f64>,
        /// Multiplies the acceptance probability by this number.
        #[arg(long, allow_hyphen_values = true)]
        lazy: Option<f64>,
        /// The most a neighbouring change moves the log-ratio.
        #[arg(long, allow_hyphen_values = true)]
        sensitivity: f64,
    },
    /// The minibatch Barker test of Heikkilä et al. 2019, Theorem 2.
    BarkerMinibatch {
        /// Records in a batch.
        #[arg(long)]
        batch: u64,
        /// Records in all.
        #[arg(long)]
        records: u64,
        /// Which proved bound to use.
        #[arg(long, default_value = "tight")]
        bound: Bound,
    },
    /// The minibatch penalty test of the thesis, section 3.4.
    PenaltyMinibatch {
        /// Noise variance over squared sensitivity.
        #[arg(long, allow_hyphen_values = true)]
        tau: f64,
        /// Records in a batch.
        #[arg(long)]
        batch: u64,
        /// Records in all.
        #[arg(long)]
        records: u64,
    },
    /// The penalty test of the thesis, Theorem 3.2.
    Penalty {
        /// Noise over sensitivity, divided by the square root of records.
        #[arg(long, allow_hyphen_values = true)]
        tau: f64,
        /// Records in all.
        #[arg(long)]
        records: u64,
    },
    /// The HMC of the thesis, Theorem 4.3.
    Hmc {
        /// Noise of the test over its sensitivity, divided by the square root of records.
        #[arg(long, allow_hyphen_values = true)]
        tau: f64,
        /// Noise of a gradient over its sensitivity, divided by the square root of records.
        #[arg(long, allow_hyphen_values = true)]
        tau_gradient: f64,
        /// Leapfrog steps of a proposal; each proposal asks for one gradient more.
        #[arg(long)]
        leapfrog: u64,
        /// Records in all.
        #[arg(long)]
        records: u64,
    },
    /// Langevin dynamics under substitution: privacy depends on clip, tempering and diffusion time only.
    Langevin {
        /// Bound on the norm of one record's gradient.
        #[arg(long, allow_hyphen_values = true)]
        clip: f64,
        /// Diffusion time of a step; with one step, of the whole run.
        #[arg(long, allow_hyphen_values = true)]
        time: f64,
        /// Power of the likelihood.
        #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
        temper: f64,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum BatchSampling {
    Poisson,
    WithoutReplacement,
}

#[derive(Clone, Copy, ValueEnum)]
enum Relation {
    AddRemove,
    Substitute,
}

#[derive(Clone, Copy, ValueEnum)]
enum RuleName {
    Barker,
    Penalty,
}

#[derive(Clone, Copy, ValueEnum)]
enum Bound {
    Paper,
    Fixed,
    Tight,
}

impl Account {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let query = self.mechanism.query().map_err(refused)?;
        let epsilon = self.epsilon.map(Epsilon::new).transpose().map_err(refused)?;
        let delta = self.delta.map(Delta::new).transpose().map_err(refused)?;
        // A diffusion time is a whole run unless steps say otherwise.
        let whole =
            matches!(self.mechanism, Question::Langevin { .. }) && (epsilon.is_none() || delta.is_none());
        let steps = self.steps.or(whole.then_some(1)).map(Steps);
        let answer = match (steps, epsilon, delta) {
            (Some(steps), None, Some(delta)) => {
                let answer = query.epsilon(steps, delta).map_err(refused)?;
                Shown { steps, epsilon: answer.bracket, delta: given(delta.get()), method: answer.method }
            }
            (Some(steps), Some(epsilon), None) => {
                let answer = query.delta(steps, epsilon).map_err(refused)?;
                Shown { steps, epsilon: given(epsilon.get()), delta: answer.bracket, method: answer.method }
            }
            (None, Some(epsilon), Some(delta)) => {
                let Most { steps, method, .. } = query.most(epsilon, delta).map_err(refused)?;
                Shown { steps, epsilon: given(epsilon.get()), delta: given(delta.get()), method }
            }
            (Some(_), Some(_), Some(_)) => {
                return Err(Exit::Input(
                    "--steps, --epsilon and --delta are all given; leave one out to be computed".to_owned(),
                ));
            }
            _ => return Err(Exit::Input("give two of --steps, --epsilon and --delta".to_owned())),
        };
        if self.json {
            return print(&json!(answer).to_string());
        }
        print(&format!("{:<8} {}", "steps", answer.steps.0))?;
        print(&format!("{:<8} {}", "epsilon", shown(answer.epsilon)))?;
        print(&format!("{:<8} {}", "delta", shown(answer.delta)))?;
        print(&format!("{:<8} {}", "method", answer.method))?;
        print(&match steps {
            None => format!(
                "The budget pays for {} steps. The next step would exceed the budget.",
                answer.steps.0
            ),
            Some(_) => {
                "After these steps, changing one record changes the probability of any outcome by at most a \
                        factor e^epsilon, up to delta."
                    .to_owned()
            }
        })
    }
}

/// All three numbers, given or found.
#[derive(Serialize)]
struct Shown {
    steps: Steps,
    epsilon: Bracket,
    delta: Bracket,
    method: &'static str,
}

fn given(value: f64) -> Bracket {
    Bracket { lower: Some(value), upper: value }
}

impl Question {
    /// What one step costs.
    fn query(&self) -> Result<Query, Error> {
        match *self {
            Self::Gaussian { ratio } => {
                Query::gaussian(Ratio::new(ratio)?, Sampling::Full, Neighbours::Substitute)
            }
            Self::SubsampledGaussian { ratio, rate, sampling, neighbours } => {
                let neighbours = match neighbours {
                    Relation::AddRemove => Neighbours::AddRemove,
                    Relation::Substitute => Neighbours::Substitute,
                };
                Query::gaussian(Ratio::new(ratio)?, batches(sampling, Rate::new(rate)?), neighbours)
            }
            Self::DiscreteGaussian { variance, sensitivity } => {
                Query::discrete_gaussian(Variance::new(variance)?, sensitivity)
            }
            Self::Laplace { ratio } => Query::laplace(Ratio::new(ratio)?),
            Self::Bernoulli { p, q } => Query::bernoulli(Probability::new(p)?, Probability::new(q)?),
            Self::Decision { rule, sigma, lazy, sensitivity } => {
                Query::decision(acceptance(rule, sigma, lazy)?, Sensitivity::new(sensitivity)?)
            }
            Self::BarkerMinibatch { batch, records, bound } => {
                let bound = match bound {
                    Bound::Paper => BarkerBound::Paper,
                    Bound::Fixed => BarkerBound::Fixed,
                    Bound::Tight => BarkerBound::Tight,
                };
                Query::barker_minibatch(batch, records, bound)
            }
            Self::PenaltyMinibatch { tau, batch, records } => Query::penalty_minibatch(tau, batch, records),
            Self::Penalty { tau, records } => Query::penalty(tau, records),
            Self::Hmc { tau, tau_gradient, leapfrog, records } => {
                Query::hmc(Hmc { tau, tau_gradient, leapfrog, records })
            }
            Self::Langevin { clip, time, temper } => Query::langevin(clip, time, temper),
        }
    }
}

/// Batches at a rate. Fixed-size ones are described by two integers; out of 2^60, the rate is met to the last bit.
fn batches(sampling: BatchSampling, rate: Rate) -> Sampling {
    match sampling {
        BatchSampling::Poisson => Sampling::Poisson { rate },
        BatchSampling::WithoutReplacement => {
            let records = 1_u64 << 60;
            Sampling::WithoutReplacement { batch: (rate.get() * records as f64).ceil() as u64, records }
        }
    }
}

fn acceptance(rule: RuleName, sigma: Option<f64>, lazy: Option<f64>) -> Result<Rule, Error> {
    let rule = match (rule, sigma) {
        (RuleName::Barker, None) => Rule::Barker,
        (RuleName::Barker, Some(_)) => {
            return Err(Error::Mismatch("the Barker rule has no noise; leave --sigma out"));
        }
        (RuleName::Penalty, Some(sigma)) => Rule::Penalty { sigma },
        (RuleName::Penalty, None) => return Err(Error::Mismatch("the penalty rule needs --sigma")),
    };
    Ok(match lazy {
        Some(keep) => Rule::Lazy { keep, rule: Box::new(rule) },
        None => rule,
    })
}

fn shown(bracket: Bracket) -> String {
    match bracket.lower {
        Some(lower) if lower == bracket.upper => number(lower),
        Some(lower) => format!("{} (at least {})", number(bracket.upper), number(lower)),
        None => format!("{} (an upper bound)", number(bracket.upper)),
    }
}

fn number(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        format!("{value:.9e}")
    } else {
        format!("{value:.10}")
    }
}

fn refused(error: Error) -> Exit {
    Exit::Input(error.to_string())
}
