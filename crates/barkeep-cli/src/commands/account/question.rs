//! The mechanisms `barkeep account` knows, and what one step of each costs.

use barkeep::accounting::mechanisms::{
    Approximate, CategoricalResponse, Concentrated, DiscreteLaplace, Exponential, Laplace, NoisyMax,
    TruncatedGaussian,
};
use barkeep::accounting::theorems::thesis::Hmc;
use barkeep::accounting::{
    BarkerBound, Cost, Delta, Epsilon, Error, Mechanism, Neighbours, Probability, Query, Rate, Rho, Rule,
    Sampling, Sensitivity, Steps, Variance,
};
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// The mechanisms. Ratios are noise standard deviation over sensitivity, under the stated neighbouring relation.
#[derive(Clone, Subcommand)]
pub(super) enum Question {
    /// A value plus normal noise.
    Gaussian {
        /// Noise standard deviation over sensitivity.
        #[arg(long, allow_hyphen_values = true)]
        ratio: Option<f64>,
    },
    /// A sum over a random batch plus normal noise.
    SubsampledGaussian {
        /// Noise standard deviation over sensitivity. Poisson with substitution: over the whole substitution
        /// sensitivity, for records of norm at most half of it.
        #[arg(long, allow_hyphen_values = true)]
        ratio: Option<f64>,
        /// Probability that a record is in the batch.
        #[arg(long, allow_hyphen_values = true)]
        rate: Option<f64>,
        /// How batches are drawn.
        #[arg(long)]
        sampling: BatchSampling,
        /// What counts as one record's change.
        #[arg(long)]
        neighbours: Relation,
    },
    /// A sum over a Poisson batch plus normal noise, the batch cut down at random to a largest size.
    TruncatedGaussian {
        /// Noise standard deviation over the sensitivity of a batch that is not cut.
        #[arg(long, allow_hyphen_values = true)]
        ratio: Option<f64>,
        /// Probability that a record is drawn.
        #[arg(long, allow_hyphen_values = true)]
        rate: Option<f64>,
        /// The most records in a batch.
        #[arg(long)]
        most: u64,
        /// Records in all; with add-remove, at most this many.
        #[arg(long)]
        records: u64,
        /// What counts as one record's change.
        #[arg(long)]
        neighbours: Relation,
    },
    /// An integer plus discrete Gaussian noise.
    DiscreteGaussian {
        /// The parameter sigma squared of the noise.
        #[arg(long, allow_hyphen_values = true)]
        variance: Option<f64>,
        /// The most a neighbouring change moves the integer.
        #[arg(long)]
        sensitivity: u64,
    },
    /// A value plus Laplace noise.
    Laplace {
        /// Noise scale over sensitivity.
        #[arg(long, allow_hyphen_values = true)]
        ratio: Option<f64>,
    },
    /// A sum over a random batch plus Laplace noise.
    SubsampledLaplace {
        /// Noise scale over sensitivity.
        #[arg(long, allow_hyphen_values = true)]
        ratio: Option<f64>,
        /// Probability that a record is in the batch.
        #[arg(long, allow_hyphen_values = true)]
        rate: Option<f64>,
        /// How batches are drawn: Poisson needs add-remove, without replacement needs substitute.
        #[arg(long)]
        sampling: BatchSampling,
    },
    /// An integer plus discrete Laplace noise.
    DiscreteLaplace {
        /// The scale of the noise.
        #[arg(long, allow_hyphen_values = true)]
        scale: Option<f64>,
        /// The most a neighbouring change moves the integer.
        #[arg(long)]
        sensitivity: u64,
    },
    /// Randomised response: the true one of several answers, e^truth times as likely as each other.
    CategoricalResponse {
        /// Possible answers.
        #[arg(long)]
        options: u64,
        /// The epsilon of one answer.
        #[arg(long, allow_hyphen_values = true)]
        truth: f64,
    },
    /// A choice from a public list with probability proportional to e^score; also the largest score with Gumbel noise.
    Exponential {
        /// Twice the sensitivity of a score; once, where a change moves all scores the same way.
        #[arg(long, allow_hyphen_values = true)]
        range: f64,
    },
    /// The place of the largest of several scores with Laplace or exponential noise of scale 1.
    NoisyMax {
        /// Twice the sensitivity of a score; once, where a change moves all scores the same way.
        #[arg(long, allow_hyphen_values = true)]
        range: f64,
    },
    /// Anything (epsilon, delta)-private of which nothing else is known.
    BlackBox {
        /// Its epsilon.
        #[arg(long, allow_hyphen_values = true)]
        box_epsilon: f64,
        /// Its delta, if it is above 0.
        #[arg(long, allow_hyphen_values = true)]
        box_delta: Option<f64>,
    },
    /// Anything rho-zero-concentrated of which nothing else is known.
    Concentrated {
        /// Its rho.
        #[arg(long, allow_hyphen_values = true)]
        rho: f64,
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
        #[arg(long, default_value = "pld")]
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
        clip: Option<f64>,
        /// Diffusion time of a step; with one step, of the whole run.
        #[arg(long, allow_hyphen_values = true)]
        time: f64,
        /// Power of the likelihood.
        #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
        temper: f64,
    },
    /// Several bills or certificates of one data set together.
    Compose {
        /// JSON files: contracts, bills or certificates, as `docs/contract.schema.json` describes them.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// They were chosen in view of each other's answers: composed by a filter, not exactly.
        #[arg(long)]
        adaptive: bool,
    },
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum BatchSampling {
    Poisson,
    WithoutReplacement,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Relation {
    AddRemove,
    Substitute,
}

impl From<Relation> for Neighbours {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddRemove,
            Relation::Substitute => Self::Substitute,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum RuleName {
    Barker,
    Penalty,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Bound {
    Paper,
    Fixed,
    Tight,
    Pld,
}

impl Question {
    /// What one step costs.
    pub(super) fn query(&self) -> Result<Query, Error> {
        match *self {
            Self::Gaussian { ratio } => {
                Query::gaussian(given(ratio, RATIO)?, Sampling::Full, Neighbours::Substitute)
            }
            Self::SubsampledGaussian { ratio, rate, sampling, neighbours } => {
                let sampling = batches(sampling, given(rate, RATE)?);
                Query::gaussian(given(ratio, RATIO)?, sampling, neighbours.into())
            }
            Self::TruncatedGaussian { ratio, rate, most, records, neighbours } => {
                let (ratio, rate) = (given(ratio, RATIO)?, given(rate, RATE)?);
                let mechanism = TruncatedGaussian { ratio, rate, most, records };
                let cost = Cost::new(mechanism, Sampling::Poisson { rate }, neighbours.into())?;
                Query::new(vec![(cost, Steps(1))])
            }
            Self::DiscreteGaussian { variance, sensitivity } => Query::discrete_gaussian(
                given::<Variance>(variance, "this mechanism needs --variance")?,
                sensitivity,
            ),
            Self::Laplace { ratio } => Query::laplace(given(ratio, RATIO)?),
            Self::SubsampledLaplace { ratio, rate, sampling } => {
                let neighbours = match sampling {
                    BatchSampling::Poisson => Neighbours::AddRemove,
                    BatchSampling::WithoutReplacement => Neighbours::Substitute,
                };
                let mechanism = Laplace { ratio: given(ratio, RATIO)? };
                let cost = Cost::new(mechanism, batches(sampling, given(rate, RATE)?), neighbours)?;
                Query::new(vec![(cost, Steps(1))])
            }
            Self::DiscreteLaplace { scale, sensitivity } => {
                full(DiscreteLaplace { scale: given(scale, "this mechanism needs --scale")?, sensitivity })
            }
            Self::CategoricalResponse { options, truth } => {
                full(CategoricalResponse { options, epsilon: Epsilon::new(truth)? })
            }
            Self::Exponential { range } => full(Exponential { range: Sensitivity::new(range)? }),
            Self::NoisyMax { range } => full(NoisyMax { range: Sensitivity::new(range)? }),
            Self::BlackBox { box_epsilon, box_delta } => full(Approximate {
                epsilon: Epsilon::new(box_epsilon)?,
                delta: box_delta.map(Delta::new).transpose()?,
            }),
            Self::Concentrated { rho } => full(Concentrated { rho: Rho::new(rho)? }),
            Self::Bernoulli { p, q } => Query::bernoulli(Probability::new(p)?, Probability::new(q)?),
            Self::Decision { rule, sigma, lazy, sensitivity } => {
                Query::decision(acceptance(rule, sigma, lazy)?, Sensitivity::new(sensitivity)?)
            }
            Self::BarkerMinibatch { batch, records, bound } => {
                let bound = match bound {
                    Bound::Paper => BarkerBound::Paper,
                    Bound::Fixed => BarkerBound::Fixed,
                    Bound::Tight => BarkerBound::Tight,
                    Bound::Pld => BarkerBound::Pld,
                };
                Query::barker_minibatch(batch, records, bound)
            }
            Self::PenaltyMinibatch { tau, batch, records } => Query::penalty_minibatch(tau, batch, records),
            Self::Penalty { tau, records } => Query::penalty(tau, records),
            Self::Hmc { tau, tau_gradient, leapfrog, records } => {
                Query::hmc(Hmc { tau, tau_gradient, leapfrog, records })
            }
            Self::Langevin { clip, time, temper } => {
                let clip = clip.ok_or(Error::Mismatch("this mechanism needs --clip, or --solve clip"))?;
                Query::langevin(clip, time, temper)
            }
            Self::Compose { .. } => Err(Error::Mismatch("several bills are not one step")),
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

const RATIO: &str = "this mechanism needs --ratio, or --solve noise";
const RATE: &str = "this mechanism needs --rate, or --solve rate";

/// A number that was given, or why it is needed.
fn given<Unit: TryFrom<f64, Error = Error>>(
    value: Option<f64>,
    missing: &'static str,
) -> Result<Unit, Error> {
    Unit::try_from(value.ok_or(Error::Mismatch(missing))?)
}

/// One step on all records.
fn full(mechanism: impl Into<Mechanism>) -> Result<Query, Error> {
    Query::new(vec![(Cost::new(mechanism, Sampling::Full, Neighbours::Substitute)?, Steps(1))])
}

/// What may be solved for besides epsilon, delta and steps.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Unknown {
    /// The least noise: ratio, variance or scale.
    Noise,
    /// The largest bound on a record's gradient.
    Clip,
    /// The largest sampling rate.
    Rate,
    /// The most steps.
    Steps,
}

impl Question {
    /// The same question with another value of the unknown; None if it has no such thing.
    pub(super) fn with(&self, unknown: Unknown, value: f64) -> Option<Self> {
        let mut other = self.clone();
        *other.place(unknown)? = Some(value);
        Some(other)
    }

    /// Where the unknown stands.
    fn place(&mut self, unknown: Unknown) -> Option<&mut Option<f64>> {
        let (noise, clip, rate) = match self {
            Self::Gaussian { ratio }
            | Self::Laplace { ratio }
            | Self::DiscreteGaussian { variance: ratio, .. }
            | Self::DiscreteLaplace { scale: ratio, .. } => (Some(ratio), None, None),
            Self::SubsampledGaussian { ratio, rate, .. }
            | Self::TruncatedGaussian { ratio, rate, .. }
            | Self::SubsampledLaplace { ratio, rate, .. } => (Some(ratio), None, Some(rate)),
            Self::Langevin { clip, .. } => (None, Some(clip), None),
            Self::CategoricalResponse { .. }
            | Self::Exponential { .. }
            | Self::NoisyMax { .. }
            | Self::BlackBox { .. }
            | Self::Concentrated { .. }
            | Self::Bernoulli { .. }
            | Self::Decision { .. }
            | Self::BarkerMinibatch { .. }
            | Self::PenaltyMinibatch { .. }
            | Self::Penalty { .. }
            | Self::Hmc { .. }
            | Self::Compose { .. } => (None, None, None),
        };
        match unknown {
            Unknown::Noise => noise,
            Unknown::Clip => clip,
            Unknown::Rate => rate,
            // Steps are no part of a mechanism.
            Unknown::Steps => None,
        }
    }
}
