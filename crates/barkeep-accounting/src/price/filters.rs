//! Lets a run choose its steps as it goes and still stop in time: filters that refuse, odometers that tell.
//!
//! A **filter** holds a budget fixed beforehand. Every step is charged before records are touched, at a cost that may depend on
//! all earlier answers, and is refused once the sum would exceed the budget. Then the whole run satisfies the budget, for
//! zero-concentrated privacy by Feldman and Zrnic 2021 (a Rényi filter at every order at once), for Gaussian privacy by
//! Smith and Thakurta 2022 and Koskela, Tobaben, Honkela 2023.
//!
//! An **odometer** holds no budget and can be read at any time.
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

/// Tells at any time what adaptively chosen steps have revealed so far, true at all times at once.
///
/// **Guarantee.** With probability at least 1−δ under either of two neighbours, the privacy loss never exceeds the ε read at the
/// same time. A run may stop on any reading, without a budget named in advance.
///
/// **Proof.** Let rung j allow ρⱼ = ρ₀·2ʲ with probability δⱼ = δ·6/(π²(j+1)²), which sum to δ. While Σρᵢ ≤ ρⱼ,
/// exp((α−1)·loss − (α−1)α·Σρᵢ) is a supermartingale, so by Ville's inequality the loss stays below
/// ρⱼα + ln(1/δⱼ)/(α−1) throughout, except with probability δⱼ; the best α gives ρⱼ + 2√(ρⱼ ln(1/δⱼ)). The reading is
/// that of the first rung not yet passed. Lécuyer 2021 builds odometers from filters in this way.
///
/// Gaussian steps enter as ρ = μ²/2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Odometer {
    /// ρ₀, the finest reading.
    finest: f64,
    delta: Delta,
    spent: f64,
}

/// Rungs of the ladder: the last allows 2²⁰⁰·ρ₀.
const RUNGS: i32 = 200;

impl Odometer {
    /// An odometer whose lowest rung is `finest`, at probability `delta` in all. Zero is taken as 2⁻⁶⁰.
    #[must_use]
    pub fn new(finest: Rho, delta: Delta) -> Self {
        Self { finest: finest.get().clamp(2_f64.powi(-60), 2_f64.powi(60)), delta, spent: 0.0 }
    }

    /// Records a zero-concentrated step, before or after it is taken.
    pub fn add(&mut self, cost: Rho) {
        if cost.get() > 0.0 {
            self.spent = up(self.spent + cost.get());
        }
    }

    /// Records a step that is μ-GDP.
    pub fn add_mu(&mut self, cost: Mu) {
        self.add(Rho::trusted(up_by(0.5 * cost.get() * cost.get(), 1).min(f64::MAX)));
    }

    /// The ε that has not been exceeded; infinite beyond the last rung.
    #[must_use]
    pub fn epsilon(&self) -> Bracket {
        if self.spent == 0.0 {
            return Bracket::exact(0.0);
        }
        let rung = (0..RUNGS).find(|rung| self.spent <= self.finest * 2_f64.powi(*rung));
        let Some(rung) = rung else { return Bracket::at_most(f64::INFINITY) };
        let weight = 6.0 / (std::f64::consts::PI * f64::from(rung + 1)).powi(2);
        // Rounded down: a smaller δ gives a larger ε.
        let delta = Delta::new(self.delta.get() * weight * (1.0 - 1e-12));
        let rho = Rho::trusted(self.finest * 2_f64.powi(rung));
        delta.map_or(Bracket::at_most(f64::INFINITY), |delta| rho.epsilon_classical(delta))
    }
}

#[cfg(test)]
mod tests;
