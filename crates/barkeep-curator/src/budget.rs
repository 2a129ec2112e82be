//! Keeps the privacy budget: every question is paid for before it is answered, and never more than was bought.

use crate::Refused;
use barkeep_accounting::{Contract, Cost, Steps};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A privacy budget, shared by all its clones and by every chain that charges it.
///
/// **Privacy.** Two ways to buy:
///
/// * *Permits*: a [`Contract`] composed before the run. Each question consumes one permit of a line that
///   [covers](Cost::covers) it. Whatever the order in which lines are used, and however it depends on earlier
///   answers, the run costs at most what the contract says: a covered mechanism is a post-processing of the
///   covering line's dominating pair, so an adversary who is handed one draw of every permit's pair at the start
///   can simulate the run, in any order.
/// * *Filter*: questions chosen as the run goes, each charged at its own cost while the running sum stays
///   within the budget.
///
/// A charge is one critical section: concurrent ones happen in some order, and none sees a permit another took.
/// A refused charge changes nothing. A budget can only shrink; nothing puts a permit back.
#[derive(Clone)]
pub struct Budget(Arc<Mutex<Account>>);

/// What is left.
enum Account {
    /// The lines of a contract, with the permits left on each.
    Permits(Vec<Line>),
    /// Nothing is charged and nothing is private.
    NotPrivate { asked: u64 },
}

/// One line of a contract.
struct Line {
    cost: Cost,
    bought: u64,
    left: u64,
}

impl Budget {
    /// Buys what the contract lists.
    #[must_use]
    pub fn permits(contract: &Contract) -> Self {
        let lines = contract.parts().iter();
        let lines = lines.map(|(cost, steps)| Line { cost: cost.clone(), bought: steps.0, left: steps.0 });
        Self::of(Account::Permits(lines.collect()))
    }

    /// Buys nothing and answers everything, for baselines.
    ///
    /// **Privacy.** None. Whatever is answered under this budget must be marked NOT PRIVATE.
    #[must_use]
    pub fn not_private() -> Self {
        Self::of(Account::NotPrivate { asked: 0 })
    }

    fn of(account: Account) -> Self {
        Self(Arc::new(Mutex::new(account)))
    }

    /// Whether answers are paid for at all.
    #[must_use]
    pub fn is_private(&self) -> bool {
        !matches!(*self.account(), Account::NotPrivate { .. })
    }

    /// Pays for one question, before it is answered.
    ///
    /// A permit bought for exactly this cost is taken before one that merely covers it.
    ///
    /// **Errors** [`Refused::Exhausted`] if nothing left covers it; nothing has changed then.
    pub fn charge(&self, cost: &Cost) -> Result<(), Refused> {
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
            Account::NotPrivate { asked } => {
                *asked += 1;
                Ok(())
            }
        }
    }

    /// How often each line of the contract was charged so far; public, like every charge.
    ///
    /// Information for a progress bar, not a smaller ε: whoever stops a run has seen it.
    #[must_use]
    pub fn spent(&self) -> Vec<(Cost, Steps)> {
        match &*self.account() {
            Account::Permits(lines) => {
                lines.iter().map(|line| (line.cost.clone(), Steps(line.bought - line.left))).collect()
            }
            Account::NotPrivate { .. } => Vec::new(),
        }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        // A panic elsewhere cannot have left a charge half done: each is a single subtraction.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
