//! Keeps the privacy budget: every question is paid for before it is answered, and never more than was bought.

use crate::Refused;
use crate::gate::priced::{Priced, Question};
use barkeep_accounting::{CoinError, Contract, Cost, GdpFilter, Mu, Rho, Steps, ZcdpFilter};
use barkeep_num::down;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A privacy budget, shared by all its clones and by every chain that charges it.
///
/// **Privacy.** Two ways to buy:
///
/// * *Permits*: a [`Contract`] composed before the run, whose price holds for its lines in any order, later ones
///   chosen in view of earlier answers. Each question consumes one permit of a line that [covers](Cost::covers) it,
///   and so reveals no more than that permit was sold for.
/// * *Filter*: questions chosen as the run goes, each charged at its own ρ or μ while the running sum stays within
///   the budget. Filters price ideal coins; what the rounding of a coin adds is bought apart, as a number of coins.
///
/// A charge is one critical section: concurrent ones happen in some order, and none sees a permit another took.
/// A refused charge changes nothing. A budget can only shrink; nothing puts a permit back.
///
/// A budget moves into a [`Curator`](crate::Curator) together with the table, and nothing gives either a second one.
#[derive(Clone)]
pub struct Budget {
    account: Arc<Mutex<Account>>,
    /// Whether the run it pays for is marked NOT PRIVATE.
    marked: bool,
}

/// What is left.
enum Account {
    Permits(Vec<Line>),
    /// One share for all chains, or one for each.
    Zcdp(Vec<Share>),
    Gdp(GdpFilter),
    NotPrivate,
}

/// What one chain, or all, may spend of a zCDP budget.
struct Share {
    filter: ZcdpFilter,
    flips: Flips,
}

/// The coins a filter's questions may still flip, and how far from ideal each of them may be.
#[derive(Clone, Copy)]
struct Flips {
    coin: CoinError,
    left: u64,
}

/// One line of a contract.
struct Line {
    cost: Cost,
    bought: u64,
    left: u64,
}

/// A question that was paid for, or whose budget is not private. Records are touched for nothing else.
pub(crate) struct Charged<Q: Question> {
    question: Q,
    constants: Q::Constants,
}

impl<Q: Question> Charged<Q> {
    /// The question.
    pub(crate) fn question(&self) -> &Q {
        &self.question
    }

    /// The constants it was priced by.
    pub(crate) fn constants(&self) -> &Q::Constants {
        &self.constants
    }
}

/// What was charged so far; public, like every charge.
///
/// Information for a progress bar, not a smaller ε: whoever stops a run has seen it.
#[derive(Debug, Clone, PartialEq)]
pub enum Spent {
    /// How often each line of the contract was charged.
    Permits(Vec<(Cost, Steps)>),
    /// The sum of the questions' ρ, share by share.
    Zcdp(Vec<Rho>),
    /// The root of the sum of the questions' μ².
    Gdp(Mu),
    /// Nothing is charged.
    NotPrivate,
}

impl Budget {
    /// Buys what the contract lists.
    #[must_use]
    pub fn permits(contract: &Contract) -> Self {
        let lines = contract.parts().iter();
        let lines = lines.map(|(cost, steps)| Line { cost: cost.clone(), bought: steps.0, left: steps.0 });
        Self::of(Account::Permits(lines.collect()))
    }

    /// Buys questions to be chosen as the run goes, while their ρ add up to the filter's, at most `flips` of them
    /// decisions, none with a coin further from the ideal one than `coin`.
    ///
    /// **Privacy.** What [`ZcdpFilter::epsilon`] says of the filter with `flips` such coins.
    #[must_use]
    pub fn zcdp(filter: ZcdpFilter, coin: CoinError, flips: Steps) -> Self {
        Self::of(Account::Zcdp(vec![Share { filter, flips: Flips { coin, left: flips.0 } }]))
    }

    /// As [`Budget::zcdp`], in equal shares, one for each chain: how far one gets does not depend on another's speed.
    ///
    /// **Privacy.** Shares are rounded down, so that together they spend no more than ρ and flip no more coins.
    ///
    /// # Errors
    /// [`Refused::Accounting`] if a share is no ρ.
    pub fn zcdp_in_shares(rho: Rho, coin: CoinError, flips: Steps, shares: u64) -> Result<Self, Refused> {
        let shares = shares.max(1);
        let rho = Rho::new(down(rho.get() / shares as f64).max(0.0))?;
        let share = |_| Share { filter: ZcdpFilter::new(rho), flips: Flips { coin, left: flips.0 / shares } };
        Ok(Self::of(Account::Zcdp((0..shares).map(share).collect())))
    }

    /// Buys questions to be chosen as the run goes, each with a [μ of its own](Cost::mu), while their μ² add up to the
    /// filter's.
    ///
    /// **Privacy.** What [`GdpFilter::epsilon`] says of the filter without coins: no decision with a coin of its own has
    /// a μ, and noisy ones are flipped after their noise was added.
    #[must_use]
    pub fn gdp(filter: GdpFilter) -> Self {
        Self::of(Account::Gdp(filter))
    }

    /// Nothing is bought: only [`insecure`](crate::insecure) calls this.
    pub(crate) fn unpaid() -> Self {
        Self::of(Account::NotPrivate)
    }

    fn of(account: Account) -> Self {
        Self { account: Arc::new(Mutex::new(account)), marked: false }
    }

    /// The same budget for a run that is marked: only [`insecure`](crate::insecure) calls this.
    pub(crate) fn marked(self) -> Self {
        Self { marked: true, ..self }
    }

    /// Whether answers are private: paid for, and not those of a run marked NOT PRIVATE.
    #[must_use]
    pub fn is_private(&self) -> bool {
        !self.marked && self.is_paid()
    }

    /// Whether answers are paid for at all.
    fn is_paid(&self) -> bool {
        !matches!(*self.account(), Account::NotPrivate)
    }

    /// Pays for one question of a chain, and makes it answerable.
    ///
    /// # Errors
    /// As [`Budget::pay`], and the refusal a question without a known cost is priced at.
    pub(crate) fn charge<Q: Question>(&self, chain: usize, priced: Priced<Q>) -> Result<Charged<Q>, Refused> {
        let Priced { question, constants, cost } = priced;
        // One that is not paid answers what has no known cost, too.
        if self.is_paid() {
            self.pay(chain, &cost?)?;
        }
        Ok(Charged { question, constants })
    }

    /// Pays a cost, from the chain's own share where there are shares.
    ///
    /// A permit bought for exactly this cost is taken before one that merely covers it.
    ///
    /// # Errors
    /// [`Refused::Exhausted`] if what is left does not cover it, [`Refused::Accounting`] if it has no ρ or μ
    /// that a filter could charge. Nothing has changed then.
    fn pay(&self, chain: usize, cost: &Cost) -> Result<(), Refused> {
        match &mut *self.account() {
            Account::Permits(lines) => {
                let free = |line: &Line| line.left > 0;
                let exact = lines.iter().position(|line| free(line) && line.cost == *cost);
                let covering = || lines.iter().position(|line| free(line) && line.cost.covers(cost));
                let index = exact.or_else(covering).ok_or(Refused::Exhausted)?;
                // Found with a permit left, under the same lock.
                lines[index].left -= 1;
                Ok(())
            }
            Account::Zcdp(shares) => {
                let own = chain % shares.len().max(1);
                let Share { filter, flips } = shares.get_mut(own).ok_or(Refused::Exhausted)?;
                let rho = cost.rho()?;
                flips.charge_with(cost, || filter.charge(rho).is_ok())
            }
            Account::Gdp(filter) => {
                let mu = cost.mu()?;
                // No coin was bought here.
                if CoinError::of(cost) != CoinError::NONE || filter.charge(mu).is_err() {
                    return Err(Refused::Exhausted);
                }
                Ok(())
            }
            Account::NotPrivate => Ok(()),
        }
    }

    /// What was charged so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        match &*self.account() {
            Account::Permits(lines) => Spent::Permits(
                lines.iter().map(|line| (line.cost.clone(), Steps(line.bought - line.left))).collect(),
            ),
            Account::Zcdp(shares) => Spent::Zcdp(shares.iter().map(|share| share.filter.spent()).collect()),
            Account::Gdp(filter) => Spent::Gdp(filter.spent()),
            Account::NotPrivate => Spent::NotPrivate,
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        // A panic elsewhere cannot have left a charge half done: each is a single subtraction.
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flips {
    /// Charges a filter, and a coin if the question flips one; neither if one of them refuses.
    fn charge_with(&mut self, cost: &Cost, charge: impl FnOnce() -> bool) -> Result<(), Refused> {
        let coin = CoinError::of(cost);
        let flips = u64::from(coin != CoinError::NONE);
        let left = self.left.checked_sub(flips).ok_or(Refused::Exhausted)?;
        if !self.coin.covers(&coin) || !charge() {
            return Err(Refused::Exhausted);
        }
        self.left = left;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
