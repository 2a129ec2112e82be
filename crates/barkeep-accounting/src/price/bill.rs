//! States what a run pays, fixed before its first answer, and computes ε from it.

use serde::{Deserialize, Serialize};

use crate::{
    CoinError, Contract, Cost, Delta, Epsilon, Error, Mechanism, Neighbours, PrivacyCurve, Rho, Risk, Steps,
    ZcdpFilter,
};

/// What a run pays, fixed before the first answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bill {
    /// A number of steps at each cost, composed exactly.
    Contract(Contract),
    /// Questions asked once, from whose answers every draw follows for free.
    Once(Contract),
    /// Gaussian answers chosen in view of earlier ones, charged as the run goes while their μ² add up to no more than that of
    /// one answer at this cost. The whole is μ-GDP (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023).
    Gaussian {
        /// All of it as one answer.
        whole: Cost,
    },
    /// Steps whose price varies, charged as the run goes while their ρ add up to no more than this.
    Filter {
        /// ρ of all chains together; each gets an equal share.
        rho: Rho,
        /// Decisions of all chains together, at most.
        coins: Steps,
        /// What a step of length 1 costs. Others cost in proportion to their length; the rounding of their coin is this one's at most.
        decision: Cost,
    },
}

impl Bill {
    /// ε at δ, however far the run goes: an upper bound.
    ///
    /// # Errors
    /// As [`Contract::epsilon`] and [`ZcdpFilter::epsilon`].
    pub fn epsilon(&self, delta: Delta) -> Result<Epsilon, Error> {
        Epsilon::new(match self {
            Self::Contract(contract) | Self::Once(contract) => contract.epsilon_above(delta)?,
            Self::Gaussian { whole } => one_answer(whole)?.epsilon_above(delta)?,
            Self::Filter { rho, coins, decision } => {
                ZcdpFilter::new(*rho).epsilon(delta, &CoinError::of(decision).times(*coins))?.upper
            }
        })
    }

    /// ε at δ, and no more than the budget wherever the bill is shown to fit it.
    ///
    /// The search for ε ends a rounding above the least one that holds. Where that is above the budget, δ at the budget's ε is
    /// asked: if it fits, so does the bill.
    ///
    /// # Errors
    /// As [`Bill::epsilon`].
    pub fn epsilon_within(&self, budget: Epsilon, delta: Delta) -> Result<Epsilon, Error> {
        let epsilon = self.epsilon(delta)?;
        let fits = epsilon > budget
            && match self {
                Self::Contract(contract) | Self::Once(contract) => contract.is_within(budget, delta)?,
                Self::Gaussian { whole } => one_answer(whole)?.is_within(budget, delta)?,
                Self::Filter { rho, coins, decision } => {
                    let coins = CoinError::of(decision).times(*coins);
                    coins.delta(budget, |epsilon| Ok(rho.delta(epsilon)))?.upper <= delta.get()
                }
            };
        Ok(if fits { budget } else { epsilon })
    }

    /// δ at every ε, from above: what the bill means for one person.
    ///
    /// # Errors
    /// As [`Bill::epsilon`].
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        match self {
            Self::Contract(contract) | Self::Once(contract) => contract.curve(),
            Self::Gaussian { whole } => one_answer(whole)?.curve(),
            Self::Filter { rho, coins, decision } => {
                PrivacyCurve::of_filter(*rho, &CoinError::of(decision).times(*coins))
            }
        }
    }

    /// What the bill means for one person, whatever is stated of it elsewhere, composed as for its ε at this δ.
    ///
    /// # Errors
    /// As [`Bill::epsilon`].
    pub fn meaning(&self, delta: Delta) -> Result<Risk, Error> {
        match self {
            Self::Contract(contract) | Self::Once(contract) => contract.risk(delta),
            Self::Gaussian { whole } => one_answer(whole)?.risk(delta),
            Self::Filter { .. } => Ok(self.curve()?.risk()),
        }
    }

    /// The neighbours it speaks of.
    #[must_use]
    pub fn neighbours(&self) -> Option<Neighbours> {
        match self {
            Self::Contract(contract) | Self::Once(contract) => {
                contract.parts().first().map(|(cost, _)| cost.neighbours())
            }
            Self::Gaussian { whole } => Some(whole.neighbours()),
            Self::Filter { decision, .. } => Some(decision.neighbours()),
        }
    }

    /// What it pays for.
    #[must_use]
    pub fn mechanisms(&self) -> Vec<&Mechanism> {
        match self {
            Self::Contract(contract) | Self::Once(contract) => {
                contract.parts().iter().map(|(cost, _)| cost.mechanism()).collect()
            }
            Self::Gaussian { whole } => vec![whole.mechanism()],
            Self::Filter { decision, .. } => vec![decision.mechanism()],
        }
    }
}

/// A cost paid once.
fn one_answer(cost: &Cost) -> Result<Contract, Error> {
    Contract::new(vec![(cost.clone(), Steps(1))])
}
