//! Buys a run: from the price of its steps and a budget to the number of steps and the bill.

use super::Bill;
use super::bill::PricedBill;
use crate::Error;
use crate::samplers::entry::{Price, Questions};
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::mechanisms::Gaussian;
use barkeep_accounting::{
    Bought, CoinError, Contract, Cost, Delta, Epsilon, Mechanism, Neighbours, Query, Sampling, Steps,
    ZcdpFilter, calibration,
};
use barkeep_curator::PrivacyModel;

/// Most steps of a chain whose steps differ in price, when the spec does not say; the budget usually ends it before.
const DEFAULT_VARYING_STEPS: u64 = 100_000;
/// Steps of a baseline when the spec does not say.
const DEFAULT_BASELINE_STEPS: u64 = 10_000;

/// How the number of steps is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// To the last one, or nearly so of very many, with the bill that shows it.
    Certified,
    /// About, and unpaid: a forecast of a run that is not planned.
    Rough,
}

/// Fewer steps than these are counted, not estimated.
const FEW: u64 = 8;

/// What is to be bought.
pub(super) struct Order {
    /// Chains, which share the budget equally.
    pub(super) chains: u64,
    /// Most steps of a chain, if the spec says.
    pub(super) cap: Option<u64>,
    /// What the start asks before any chain's first step.
    pub(super) start: Questions,
    /// How the steps are counted.
    pub(super) count: Count,
}

/// What was bought.
pub(super) struct Purchase {
    /// What every question is accounted under.
    pub(super) privacy_model: PrivacyModel,
    /// The bill; absent for a baseline and for a rough count.
    pub(super) paid: Option<PricedBill>,
    /// Steps of each chain.
    pub(super) steps: u64,
    /// What is asked before the first step, by all chains together.
    pub(super) first: Questions,
    /// Steps of all chains together that the budget would buy, where it is the budget that limits them.
    pub(super) affordable: Option<Steps>,
}

/// An (ε, δ) budget and its neighbours.
#[derive(Clone, Copy)]
struct Funds {
    epsilon: Epsilon,
    delta: Delta,
    neighbours: Neighbours,
}

impl Order {
    /// Buys at a price. A sampler or a spec without privacy pays nothing.
    ///
    /// # Errors
    /// [`Error::Budget`] if the budget does not buy one step per chain.
    pub(super) fn buy(self, price: Price, privacy: Privacy) -> Result<Purchase, Error> {
        let Privacy::Budget { epsilon, delta, neighbours } = privacy else { return Ok(self.baseline()) };
        let funds = Funds { epsilon, delta, neighbours };
        match price {
            Price::PerStep(_, step) | Price::PerDraw(step) => self.steps(Vec::new(), &step, funds),
            Price::PerStepAfter { first, step, .. } => self.steps(first, &step, funds),
            Price::Planned(schedule) => self.schedule(schedule, funds),
            Price::Once { questions, draws } => self.once(questions, draws, funds),
            Price::Gaussian { draws } => self.gaussian(draws, funds),
            Price::Varying(_, decision) => self.filter(decision, funds),
            Price::NotPrivate => Ok(self.baseline()),
        }
    }

    /// As many equal steps as the budget allows, shared equally, up to the cap for each chain. Each chain asks `own` before
    /// its first step.
    fn steps(self, own: Questions, step: &Questions, funds: Funds) -> Result<Purchase, Error> {
        let Funds { epsilon, delta, neighbours } = funds;
        let chains = self.chains;
        let first: Questions = self.start.into_iter().chain(each_chain(own, chains)).collect();
        let query = Query::new(step.clone())?;
        if self.count == Count::Rough
            && let Some(about) = query.roughly_after(&first, epsilon, delta)?.filter(|about| about.0 >= FEW)
        {
            let each = about.0 / chains;
            let steps = self.cap.map_or(each, |cap| cap.min(each));
            let privacy_model = PrivacyModel { neighbours };
            return Ok(Purchase { privacy_model, paid: None, steps, first, affordable: None });
        }
        let Some(Bought { steps: affordable, epsilon: composed, risk }) =
            query.most_after(&first, epsilon, delta)?
        else {
            return Err(Error::Budget(format!(
                "what is asked before the first step costs more than the budget (epsilon {}, delta {:e})",
                epsilon.get(),
                delta.get(),
            )));
        };
        let each = affordable.0 / chains;
        let nothing = || {
            Error::Budget(format!(
                "the budget (epsilon {}, delta {:e}) does not buy one step{}",
                epsilon.get(),
                delta.get(),
                if chains == 1 { String::new() } else { format!(" for each of {chains} chains") },
            ))
        };
        if each == 0 {
            return Err(nothing());
        }
        let mut steps = self.cap.map_or(each, |cap| cap.min(each));
        let paid = loop {
            let bought = Steps(steps.saturating_mul(chains));
            let contract = query.after(&first, bought)?;
            let paid = match composed.filter(|_| bought == affordable) {
                Some(composed) => PricedBill::composed(contract, delta, Epsilon::new(composed)?, risk),
                None => PricedBill::new(Bill::Contract(contract), epsilon, delta)?,
            };
            // A search and a bill may stand on different lattices. What the bill cannot show to fit is not bought.
            if paid.epsilon() <= epsilon || steps == 0 {
                break paid;
            }
            steps -= 1 + steps / 4096;
        };
        if steps == 0 {
            return Err(nothing());
        }
        Ok(Purchase {
            privacy_model: PrivacyModel { neighbours },
            paid: Some(paid),
            steps,
            first,
            affordable: Some(affordable),
        })
    }

    /// A schedule that each chain follows to its end, and that must fit the budget.
    fn schedule(self, schedule: Questions, funds: Funds) -> Result<Purchase, Error> {
        let steps = schedule.iter().map(|(_, times)| times.0).sum();
        let all = self.start.iter().cloned().chain(each_chain(schedule, self.chains)).collect();
        let paid = PricedBill::new(Bill::Contract(Contract::new(all)?), funds.epsilon, funds.delta)?;
        let cost = paid.epsilon();
        if cost > funds.epsilon {
            return Err(Error::Budget(format!(
                "the schedule costs epsilon {:.6}, more than the budget of {}; ask for fewer steps or smaller ones",
                cost.get(),
                funds.epsilon.get()
            )));
        }
        Ok(Purchase {
            privacy_model: PrivacyModel { neighbours: funds.neighbours },
            paid: Some(paid),
            steps,
            first: self.start,
            affordable: None,
        })
    }

    /// One answer, from which any number of draws follows.
    fn once(self, questions: Questions, draws: u64, funds: Funds) -> Result<Purchase, Error> {
        if self.chains != 1 {
            let reason = "must be 1: one answer is asked for, and any number of draws follows from it";
            return Err(SpecError::new("sampler.chains", reason).into());
        }
        let questions = self.start.into_iter().chain(questions).collect();
        let paid = PricedBill::new(Bill::Once(Contract::new(questions)?), funds.epsilon, funds.delta)?;
        if paid.epsilon() > funds.epsilon {
            return Err(Error::Budget(format!(
                "the answer costs epsilon {}, more than the budget of {}",
                paid.epsilon().get(),
                funds.epsilon.get()
            )));
        }
        Ok(Purchase {
            privacy_model: PrivacyModel { neighbours: funds.neighbours },
            paid: Some(paid),
            steps: self.cap.unwrap_or(draws),
            first: Vec::new(),
            affordable: None,
        })
    }

    /// Gaussian answers chosen as the run goes: all that the budget allows, as if it were one answer.
    fn gaussian(self, draws: u64, funds: Funds) -> Result<Purchase, Error> {
        if self.chains != 1 {
            let reason = "must be 1: what is asked about the columns would be asked by each of them";
            return Err(SpecError::new("sampler.chains", reason).into());
        }
        let Funds { epsilon, delta, neighbours } = funds;
        let ratio = calibration::smallest_ratio(Sampling::Full, neighbours, Steps(1), epsilon, delta)?;
        let whole = Cost::new(Mechanism::Gaussian(Gaussian { ratio }), Sampling::Full, neighbours)?;
        Ok(Purchase {
            privacy_model: PrivacyModel { neighbours },
            paid: Some(PricedBill::new(Bill::Gaussian { whole }, epsilon, delta)?),
            steps: self.cap.unwrap_or(draws),
            first: Vec::new(),
            affordable: None,
        })
    }

    /// Steps whose price varies, charged to a filter as the run goes.
    fn filter(self, decision: Cost, funds: Funds) -> Result<Purchase, Error> {
        let Funds { epsilon, delta, neighbours } = funds;
        let steps = self.cap.unwrap_or(DEFAULT_VARYING_STEPS);
        let coins = Steps(steps.saturating_mul(self.chains));
        let filter = ZcdpFilter::within_with_coins(epsilon, delta, &CoinError::of(&decision).times(coins))?;
        let bill = Bill::Filter { rho: filter.budget(), coins, decision };
        Ok(Purchase {
            privacy_model: PrivacyModel { neighbours },
            paid: Some(PricedBill::new(bill, epsilon, delta)?),
            steps,
            first: Vec::new(),
            affordable: None,
        })
    }

    /// A baseline, which pays nothing.
    fn baseline(self) -> Purchase {
        Purchase {
            privacy_model: PrivacyModel { neighbours: Neighbours::Substitute },
            paid: None,
            steps: self.cap.unwrap_or(DEFAULT_BASELINE_STEPS),
            first: Vec::new(),
            affordable: None,
        }
    }
}

/// Questions that each chain asks, for all chains together.
fn each_chain(questions: Questions, chains: u64) -> impl Iterator<Item = (Cost, Steps)> {
    questions.into_iter().map(move |(cost, times)| (cost, Steps(times.0 * chains)))
}
