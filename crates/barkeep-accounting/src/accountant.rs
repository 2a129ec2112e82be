//! Chooses the tightest accountant that is valid for every part of a composition, and adds what rounded coins cost.
//!
//! * all Gaussian on full batches: the closed form, exact;
//! * anything with the minibatch Barker test, which has only a Rényi curve: Rényi divergences of all parts.
//!
//! # Coins
//! Decisions are flipped with probabilities that were computed, not the ideal ones. If in every step both outcomes are
//! within a factor e^(±ρ) and an absolute β of the ideal, k steps turn (ε, δ) into
//!
//! > (ε + 2kρ, e^(kρ)·(δ + kβ(1 + e^(ε+2kρ)))):
//!
//! the probability of any event moves by at most e^(kρ) and kβe^(kρ) on each of the two data sets.

use barkeep_num::{down, down_by, try_largest_integer, up, up_by};

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
        let coins = self.coins.times(rounds);
        if coins == Coins::NONE {
            return self.ideal_epsilon(rounds, delta);
        }
        // Most of δ for the ideal run, the rest for what coins add; half of it if that is not enough.
        for share in [1.0 / 1_048_576.0, 0.5] {
            let Ok(left) = Delta::new(down_by(delta.get() * (1.0 - share) * libm::exp(-coins.relative), 4))
            else {
                continue;
            };
            let ideal = self.ideal_epsilon(rounds, left)?;
            let upper = up(ideal.upper + up(2.0 * coins.relative));
            if coins.extra_delta(upper) <= delta.get() * share {
                let raised =
                    Delta::new(up_by(delta.get() * libm::exp(coins.relative), 4) + coins.extra_delta(upper));
                let lower = match raised {
                    Ok(raised) => self.ideal_epsilon(rounds, raised)?.lower,
                    Err(_) => Some(0.0),
                };
                let lower = lower.map(|lower| down(lower - up(2.0 * coins.relative)).max(0.0));
                return Ok(Bracket { lower, upper });
            }
        }
        Err(Error::Unbounded("delta is below what the rounding of the coins alone costs"))
    }

    /// δ at ε of `rounds` rounds, coins included.
    pub(crate) fn delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Result<Bracket, Error> {
        let coins = self.coins.times(rounds);
        if coins == Coins::NONE {
            return self.ideal_delta(rounds, epsilon);
        }
        let shift = up(2.0 * coins.relative);
        let extra = coins.extra_delta(epsilon.get());
        let upper = match Epsilon::new(down(epsilon.get() - shift)) {
            Ok(left) => {
                let ideal = self.ideal_delta(rounds, left)?.upper;
                up(up_by(ideal * libm::exp(coins.relative), 4) + extra).min(1.0)
            }
            // ε does not even cover the coins.
            Err(_) => 1.0,
        };
        let lower = match Epsilon::new(up(epsilon.get() + shift)) {
            Ok(raised) => self.ideal_delta(rounds, raised)?.lower.map(|lower| {
                let extra = coins.extra_delta(raised.get());
                down(down_by(lower * libm::exp(-coins.relative), 4) - extra).max(0.0)
            }),
            Err(_) => Some(0.0),
        };
        Ok(Bracket { lower, upper })
    }

    /// The most rounds whose certain δ at ε stays within δ.
    pub(crate) fn largest(&mut self, epsilon: Epsilon, delta: Delta) -> Result<Steps, Error> {
        let fits = |rounds: u64| Ok(self.delta(Steps(rounds), epsilon)?.upper <= delta.get());
        Ok(Steps(try_largest_integer(0, u64::MAX, fits)?.unwrap_or(0)))
    }

    fn ideal_epsilon(&mut self, rounds: Steps, delta: Delta) -> Result<Bracket, Error> {
        match &mut self.engine {
            Engine::Gaussian(round) => Ok(round.repeated(rounds)?.epsilon(delta)),
            Engine::Renyi { composition, classical: true } => composition.epsilon_classical(rounds, delta),
            Engine::Renyi { composition, classical: false } => composition.epsilon(rounds, delta),
        }
    }

    fn ideal_delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Result<Bracket, Error> {
        match &mut self.engine {
            Engine::Gaussian(round) => Ok(round.repeated(rounds)?.delta(epsilon)),
            Engine::Renyi { composition, classical: true } => {
                Ok(composition.delta_classical(rounds, epsilon))
            }
            Engine::Renyi { composition, classical: false } => Ok(composition.delta(rounds, epsilon)),
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

/// How far the flipped coins of a run may be from the ideal ones.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Coins {
    /// kρ.
    relative: f64,
    /// kβ.
    absolute: f64,
}

impl Coins {
    const NONE: Self = Self { relative: 0.0, absolute: 0.0 };

    /// The coin of one step at this cost.
    fn of(cost: &Cost) -> Self {
        match cost.mechanism().coin_error() {
            Some((relative, absolute)) => Self { relative, absolute },
            None => Self::NONE,
        }
    }

    fn times(self, steps: Steps) -> Self {
        let product = |value: f64| if value == 0.0 { 0.0 } else { up_by(value * steps.0 as f64, 2) };
        if steps.0 == 0 {
            return Self::NONE;
        }
        Self { relative: product(self.relative), absolute: product(self.absolute) }
    }

    fn and(self, other: Self) -> Self {
        let sum = |a: f64, b: f64| if b == 0.0 { a } else { up(a + b) };
        Self { relative: sum(self.relative, other.relative), absolute: sum(self.absolute, other.absolute) }
    }

    /// kβ·e^(kρ)·(1 + e^ε), ε that of the flipped coins.
    fn extra_delta(&self, epsilon: f64) -> f64 {
        if self.absolute == 0.0 {
            return 0.0;
        }
        up_by(self.absolute * libm::exp(self.relative) * (1.0 + libm::exp(epsilon)), 8)
    }
}
