//! Lets a run choose its steps as it goes and still stop in time: filters that refuse.
//!
//! A **filter** holds a budget fixed beforehand. Every step is charged before records are touched, at a cost that may depend on
//! all earlier answers, and is refused once the sum would exceed the budget. Then the whole run satisfies the budget, for
//! zero-concentrated privacy by Feldman and Zrnic 2021 (a Rényi filter at every order at once), for Gaussian privacy by
//! Smith and Thakurta 2022 and Koskela, Tobaben, Honkela 2023.
//!
//! Sums are rounded up and budgets down, so rounding never overspends.

use barkeep_num::{down_by, largest_real, up, up_by};
use serde::Serialize;

use crate::{Bracket, CoinError, Delta, Epsilon, Error, GaussianRun, Mu, Rho};

/// The budget does not cover the step; nothing was charged.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the step costs {cost:e} {unit} and {left:e} is left")]
pub struct Exhausted {
    /// What the step would have cost.
    pub cost: f64,
    /// What was left.
    pub left: f64,
    /// The unit of both: "rho" or "squared mu".
    pub unit: &'static str,
}

const COINS_ALONE: Error = Error::Unbounded("the rounding of the coins alone costs more than the budget");

/// An account that only grows: the sum of charges, rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Account {
    budget: f64,
    spent: f64,
}

impl Account {
    fn new(budget: f64) -> Self {
        Self { budget, spent: 0.0 }
    }

    fn charge(&mut self, cost: f64, unit: &'static str) -> Result<(), Exhausted> {
        let spent = if cost == 0.0 { self.spent } else { up(self.spent + cost) };
        // Written so that a cost that is not a number is refused.
        if spent <= self.budget {
            self.spent = spent;
            Ok(())
        } else {
            Err(Exhausted { cost, left: (self.budget - self.spent).max(0.0), unit })
        }
    }
}

/// Adaptively chosen steps within a fixed ρ.
///
/// ```
/// use barkeep_accounting::{Delta, Epsilon, Rho, ZcdpFilter};
/// let mut filter = ZcdpFilter::within(Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let step = Rho::new(0.01)?;
/// let taken = (0..).take_while(|_| filter.charge(step).is_ok()).count();
/// assert_eq!(taken, 2);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ZcdpFilter(Account);

impl ZcdpFilter {
    /// A filter for this budget.
    #[must_use]
    pub fn new(budget: Rho) -> Self {
        Self(Account::new(budget.get()))
    }

    /// The largest budget that implies (ε, δ).
    #[must_use]
    pub fn within(epsilon: Epsilon, delta: Delta) -> Self {
        Self::new(Rho::largest_within(epsilon, delta))
    }

    /// The largest budget that implies (ε, δ) for a run that flips these coins besides; they must be counted apart.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if the rounding of the coins alone costs more than the budget.
    pub fn within_with_coins(epsilon: Epsilon, delta: Delta, coins: &CoinError) -> Result<Self, Error> {
        let fits = |rho: f64| {
            let spent = coins.epsilon(delta, |delta| Ok(Rho::trusted(rho).epsilon(delta)));
            spent.is_ok_and(|spent| spent.upper <= epsilon.get())
        };
        let ceiling = Rho::largest_within(epsilon, delta).get();
        let rho = largest_real(0.0, ceiling, 1e-13, fits);
        rho.map(|rho| Self::new(Rho::trusted(rho))).ok_or(COINS_ALONE)
    }

    /// ε of the whole run at δ, however far it goes, with these coins.
    ///
    /// # Errors
    /// As [`ZcdpFilter::within_with_coins`].
    pub fn epsilon(&self, delta: Delta, coins: &CoinError) -> Result<Bracket, Error> {
        coins.epsilon(delta, |delta| Ok(self.budget().epsilon(delta)))
    }

    /// Charges a step before it is taken.
    ///
    /// # Errors
    /// [`Exhausted`] if the budget does not cover it; the step must then not be taken.
    pub fn charge(&mut self, cost: Rho) -> Result<(), Exhausted> {
        self.0.charge(cost.get(), "rho")
    }

    /// What has been charged, rounded up.
    #[must_use]
    pub fn spent(&self) -> Rho {
        Rho::trusted(self.0.spent)
    }

    /// What the run satisfies, however far it goes.
    #[must_use]
    pub fn budget(&self) -> Rho {
        Rho::trusted(self.0.budget)
    }
}

/// Adaptively chosen steps, each μᵢ-GDP, within a fixed μ: Σμᵢ² ≤ μ².
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GdpFilter(Account);

impl GdpFilter {
    /// A filter for this budget. A μ whose square is not an f64 is taken as the largest that is.
    #[must_use]
    pub fn new(budget: Mu) -> Self {
        let square = budget.get() * budget.get();
        Self(Account::new(down_by(square, 1).clamp(0.0, f64::MAX)))
    }

    /// The largest budget that implies (ε, δ): exact, not through a bound.
    #[must_use]
    pub fn within(epsilon: Epsilon, delta: Delta) -> Self {
        Self::new(Mu::largest_within(epsilon, delta))
    }

    /// The largest budget that implies (ε, δ) for a run that flips these coins besides; they must be counted apart.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if the rounding of the coins alone costs more than the budget.
    pub fn within_with_coins(epsilon: Epsilon, delta: Delta, coins: &CoinError) -> Result<Self, Error> {
        let fits = |mu: f64| {
            let run = GaussianRun::from_mu(Mu::trusted(mu));
            let spent = run.and_then(|run| coins.epsilon(delta, |delta| Ok(run.epsilon(delta))));
            spent.is_ok_and(|spent| spent.upper <= epsilon.get())
        };
        let ceiling = Mu::largest_within(epsilon, delta).get();
        // Smaller ones are of no use, and out of the closed form's range.
        let mu = largest_real(1e-30, ceiling, 1e-13, fits);
        mu.map(|mu| Self::new(Mu::trusted(mu))).ok_or(COINS_ALONE)
    }

    /// ε of the whole run at δ, however far it goes, with these coins.
    ///
    /// # Errors
    /// As [`GdpFilter::within_with_coins`] and [`GaussianRun::from_mu`].
    pub fn epsilon(&self, delta: Delta, coins: &CoinError) -> Result<Bracket, Error> {
        let run = self.budget()?;
        coins.epsilon(delta, |delta| Ok(run.epsilon(delta)))
    }

    /// Charges a step before it is taken.
    ///
    /// # Errors
    /// [`Exhausted`] if the budget does not cover it; the step must then not be taken.
    pub fn charge(&mut self, cost: Mu) -> Result<(), Exhausted> {
        let square = cost.get() * cost.get();
        self.0.charge(if cost.get() == 0.0 { 0.0 } else { up_by(square, 1) }, "squared mu")
    }

    /// What has been charged, rounded up.
    #[must_use]
    pub fn spent(&self) -> Mu {
        Mu::trusted(if self.0.spent == 0.0 { 0.0 } else { up_by(self.0.spent.sqrt(), 1) })
    }

    /// What the run satisfies, however far it goes, as a curve: ask it for ε or δ.
    ///
    /// # Errors
    /// As [`GaussianRun::from_mu`].
    pub fn budget(&self) -> Result<GaussianRun, Error> {
        GaussianRun::from_mu(Mu::trusted(up_by(self.0.budget.sqrt(), 1)))
    }
}

#[cfg(test)]
mod tests;
