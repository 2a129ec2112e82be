//! Keeps the privacy budget: every question is paid for before it is answered, and never more than was bought.

use crate::Refused;
use crate::gate::priced::{Priced, Question};
use barkeep_accounting::{CoinError, Contract, Cost, GdpFilter, Mu, Rho, Steps, ZcdpFilter};
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
#[derive(Clone)]
pub struct Budget(Arc<Mutex<Account>>);

/// What is left.
enum Account {
    Permits(Vec<Line>),
    Zcdp { filter: ZcdpFilter, flips: Flips },
    Gdp(GdpFilter),
    NotPrivate,
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
#[non_exhaustive]
pub enum Spent {
    /// How often each line of the contract was charged.
    Permits(Vec<(Cost, Steps)>),
    /// The sum of the questions' ρ.
    Zcdp(Rho),
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
        Self::of(Account::Zcdp { filter, flips: Flips { coin, left: flips.0 } })
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
        Self(Arc::new(Mutex::new(account)))
    }

    /// Whether answers are paid for at all.
    #[must_use]
    pub fn is_private(&self) -> bool {
        !matches!(*self.account(), Account::NotPrivate)
    }

    /// Pays for one question, and makes it answerable.
    ///
    /// # Errors
    /// As [`Budget::pay`], and the refusal a question without a known cost is priced at.
    pub(crate) fn charge<Q: Question>(&self, priced: Priced<Q>) -> Result<Charged<Q>, Refused> {
        let Priced { question, constants, cost } = priced;
        // One that is not private answers what has no known cost, too.
        if self.is_private() {
            self.pay(&cost?)?;
        }
        Ok(Charged { question, constants })
    }

    /// Pays a cost.
    ///
    /// A permit bought for exactly this cost is taken before one that merely covers it.
    ///
    /// # Errors
    /// [`Refused::Exhausted`] if what is left does not cover it, [`Refused::Accounting`] if it has no ρ or μ
    /// that a filter could charge. Nothing has changed then.
    fn pay(&self, cost: &Cost) -> Result<(), Refused> {
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
            Account::Zcdp { filter, flips } => {
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
            Account::Zcdp { filter, .. } => Spent::Zcdp(filter.spent()),
            Account::Gdp(filter) => Spent::Gdp(filter.spent()),
            Account::NotPrivate => Spent::NotPrivate,
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        // A panic elsewhere cannot have left a charge half done: each is a single subtraction.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
