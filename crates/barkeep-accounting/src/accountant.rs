//! Chooses the tightest accountant that is valid for every part of a composition, and adds what rounded coins cost.
//!
//! * all Gaussian on full batches: the closed form, exact;
//! * anything with the minibatch Barker test, which has only a Rényi curve: Rényi divergences of all parts.

use barkeep_num::{down_by, try_largest_integer};

use crate::coins::Coins;
use crate::rdp::{
    Bernoulli, Composition, Curve, Laplace, Linear, PoissonGaussian, WithoutReplacementGaussian,
};
use crate::theorems::{barker, thesis};
use crate::{
    BarkerBound, Bracket, Cost, Delta, Epsilon, Error, Gaussian, Mechanism, Neighbours, Ratio, Sampling,
    Steps,
};

/// What one round of steps costs, ready to be asked about any number of rounds.
pub(crate) struct Accountant {
    engine: Engine,
    /// Of one round.
    coins: Coins,
}

enum Engine {
    Gaussian(Gaussian),
    Renyi { composition: Composition, classical: bool },
}

impl Accountant {
    pub(crate) fn new(round: &[(Cost, Steps)]) -> Result<Self, Error> {
        let parts: Vec<&(Cost, Steps)> = round.iter().filter(|(_, steps)| steps.0 > 0).collect();
        let coins =
            parts.iter().fold(Coins::NONE, |sum, (cost, steps)| sum.and(Coins::of(cost).times(*steps)));
        let engine = if let Some(gaussian) = all_gaussian(&parts)? {
            Engine::Gaussian(gaussian)
        } else if parts.iter().any(|(cost, _)| matches!(cost.mechanism(), Mechanism::BarkerMinibatch { .. }))
        {
            renyi(&parts)?
        } else {
            return Err(Error::Unresolved {
                what: "the composition",
                reason: "no accountant covers all its parts",
            });
        };
        Ok(Self { engine, coins })
    }

    /// The accountant's name, for people.
    pub(crate) fn method(&self) -> &'static str {
        match &self.engine {
            Engine::Gaussian(_) => "closed form of the Gaussian mechanism",
            Engine::Renyi { classical: true, .. } => "Rényi divergence, converted as published",
            Engine::Renyi { classical: false, .. } => "Rényi divergence",
        }
    }

    /// ε of `rounds` rounds, coins included.
    pub(crate) fn epsilon(&mut self, rounds: Steps, delta: Delta) -> Result<Bracket, Error> {
        let Self { engine, coins } = self;
        coins.times(rounds).epsilon(delta, |delta| engine.epsilon(rounds, delta))
    }

    /// δ at ε of `rounds` rounds, coins included.
    pub(crate) fn delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Result<Bracket, Error> {
        let Self { engine, coins } = self;
        coins.times(rounds).delta(epsilon, |epsilon| engine.delta(rounds, epsilon))
    }

    /// The most rounds whose certain δ at ε stays within δ.
    pub(crate) fn largest(&mut self, epsilon: Epsilon, delta: Delta) -> Result<Steps, Error> {
        let fits = |rounds: u64| Ok(self.delta(Steps(rounds), epsilon)?.upper <= delta.get());
        Ok(Steps(try_largest_integer(0, u64::MAX, fits)?.unwrap_or(0)))
    }
}

impl Engine {
    fn epsilon(&mut self, rounds: Steps, delta: Delta) -> Result<Bracket, Error> {
        match self {
            Self::Gaussian(round) => Ok(round.repeated(rounds)?.epsilon(delta)),
            Self::Renyi { composition, classical: true } => composition.epsilon_classical(rounds, delta),
            Self::Renyi { composition, classical: false } => composition.epsilon(rounds, delta),
        }
    }

    fn delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Result<Bracket, Error> {
        match self {
            Self::Gaussian(round) => Ok(round.repeated(rounds)?.delta(epsilon)),
            Self::Renyi { composition, classical: true } => Ok(composition.delta_classical(rounds, epsilon)),
            Self::Renyi { composition, classical: false } => Ok(composition.delta(rounds, epsilon)),
        }
    }
}

/// All parts as one Gaussian mechanism, if they are.
fn all_gaussian(parts: &[&(Cost, Steps)]) -> Result<Option<Gaussian>, Error> {
    let mut sum = Gaussian::nothing();
    for (cost, steps) in parts {
        match cost.mechanism() {
            Mechanism::Gaussian { ratio } | Mechanism::NoisyDecision { ratio } if is_full(cost) => {
                sum = sum.and(Gaussian::new(*ratio, *steps)?)?;
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(sum))
}

/// Whether every record is drawn, whatever the scheme is called.
fn is_full(cost: &Cost) -> bool {
    cost.sampling().rate() == 1.0
}

fn renyi(parts: &[&(Cost, Steps)]) -> Result<Engine, Error> {
    let curves: Result<Vec<_>, Error> =
        parts.iter().map(|(cost, steps)| Ok((curve(cost)?, *steps))).collect();
    let published = |cost: &Cost| {
        matches!(cost.mechanism(), Mechanism::BarkerMinibatch { bound: BarkerBound::Paper, .. })
    };
    let classical = parts.iter().all(|(cost, _)| published(cost));
    Ok(Engine::Renyi { composition: Composition::new(curves?), classical })
}

/// The Rényi curve of one step.
fn curve(cost: &Cost) -> Result<Box<dyn Curve>, Error> {
    Ok(match cost.mechanism() {
        Mechanism::Gaussian { ratio } | Mechanism::NoisyDecision { ratio } => sampled(cost, *ratio)?,
        Mechanism::DiscreteGaussian { variance, sensitivity } => {
            let ratio = Ratio::new(down_by(variance.get().sqrt() / *sensitivity as f64, 2))?;
            Box::new(Linear::gaussian(ratio))
        }
        Mechanism::Laplace { ratio } => Box::new(Laplace(*ratio)),
        Mechanism::Bernoulli { p, q } => Box::new(Bernoulli { p: *p, q: *q }),
        Mechanism::BarkerMinibatch { batch, records, bound } => {
            Box::new(barker::corollary_2(*batch, *records, *bound)?)
        }
        Mechanism::Decision { .. } => {
            return Err(Error::Unresolved {
                what: "the decision",
                reason: "its Rényi curve is not composed yet",
            });
        }
    })
}

fn sampled(cost: &Cost, ratio: Ratio) -> Result<Box<dyn Curve>, Error> {
    Ok(match (cost.sampling(), cost.neighbours()) {
        _ if is_full(cost) => Box::new(Linear::gaussian(ratio)),
        (Sampling::Poisson { rate }, Neighbours::AddRemove) => Box::new(PoissonGaussian { rate, ratio }),
        (Sampling::WithoutReplacement { batch, records }, _) => {
            Box::new(WithoutReplacementGaussian { rate: thesis::batch_rate(batch, records)?, ratio })
        }
        _ => {
            return Err(Error::Unresolved {
                what: "the Rényi divergence",
                reason: "no bound is known for Poisson batches under substitution",
            });
        }
    })
}
