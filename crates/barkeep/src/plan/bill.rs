//! Keeps a bill together with the ε that was computed from it.

use crate::check::{self, Check};
use barkeep_accounting::{Bill, Contract, Delta, Epsilon, Risk};
use std::sync::OnceLock;

/// A bill with the ε that follows from it.
///
/// Nobody can set that ε: it is computed here from the bill, or comes from the search that composed the same contract.
/// A run compares the search's word with the bill before a certificate is written.
/// Composing decisions takes seconds, and plan, certificate and progress all ask for it.
#[derive(Debug, Clone)]
pub(crate) struct PricedBill {
    bill: Bill,
    delta: Delta,
    epsilon: Epsilon,
    /// Whether ε comes from the search, and was not computed from the bill.
    searched: bool,
    /// Computed when somebody asks.
    meaning: OnceLock<Option<Risk>>,
    /// The checker's word, where it takes no time.
    checked: OnceLock<Option<Check>>,
}

impl PricedBill {
    /// Computes ε of a bill, which is not above the budget if the bill fits.
    ///
    /// # Errors
    /// As [`Bill::epsilon`].
    pub(super) fn new(bill: Bill, budget: Epsilon, delta: Delta) -> Result<Self, barkeep_accounting::Error> {
        let epsilon = bill.epsilon_within(budget, delta)?;
        let (meaning, checked) = (OnceLock::new(), OnceLock::new());
        Ok(Self { bill, delta, epsilon, searched: false, meaning, checked })
    }

    /// Takes the ε of a contract, and what it means where that is known, from the search that has just composed it.
    pub(super) fn composed(contract: Contract, delta: Delta, epsilon: Epsilon, risk: Option<Risk>) -> Self {
        let meaning = risk.map_or_else(OnceLock::new, |risk| OnceLock::from(Some(risk)));
        let bill = Bill::Contract(contract);
        Self { bill, delta, epsilon, searched: true, meaning, checked: OnceLock::new() }
    }

    /// The bill.
    pub(crate) fn bill(&self) -> &Bill {
        &self.bill
    }

    /// δ.
    pub(crate) fn delta(&self) -> Delta {
        self.delta
    }

    /// ε of the bill at δ.
    pub(crate) fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// Whether ε is the search's word. A run computes it from the bill before it certifies it.
    pub(crate) fn is_searched(&self) -> bool {
        self.searched
    }

    /// ε by the checker, where that takes no time.
    pub(crate) fn checked(&self) -> Option<Check> {
        *self.checked.get_or_init(|| check::quick(&self.bill, self.epsilon, self.delta))
    }

    /// What the bill means for one person, by the checker's curve or else the accountant's; None where neither follows it.
    pub(crate) fn meaning(&self) -> Option<Risk> {
        let accounted = || *self.meaning.get_or_init(|| self.bill.meaning(self.delta).ok());
        self.checked().map(|check| check.meaning).or_else(accounted)
    }
}

#[cfg(test)]
mod tests;
