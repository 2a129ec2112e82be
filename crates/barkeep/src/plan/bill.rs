//! Keeps a bill together with the ε that was computed from it.

use barkeep_accounting::{Bill, Contract, Delta, Epsilon};

/// A bill with the ε that follows from it.
///
/// Nobody can set that ε: it is computed here from the bill, or comes from the search that composed the same contract.
/// Composing decisions takes seconds, and plan, certificate and progress all ask for it.
#[derive(Debug, Clone)]
pub(crate) struct PricedBill {
    bill: Bill,
    delta: Delta,
    epsilon: Epsilon,
}

impl PricedBill {
    /// Computes ε of a bill, which is not above the budget if the bill fits.
    ///
    /// # Errors
    /// As [`Bill::epsilon`].
    pub(super) fn new(bill: Bill, budget: Epsilon, delta: Delta) -> Result<Self, barkeep_accounting::Error> {
        let epsilon = bill.epsilon_within(budget, delta)?;
        Ok(Self { bill, delta, epsilon })
    }

    /// Takes the ε of a contract from the search that has just composed it.
    pub(super) fn composed(contract: Contract, delta: Delta, epsilon: Epsilon) -> Self {
        Self { bill: Bill::Contract(contract), delta, epsilon }
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
}
