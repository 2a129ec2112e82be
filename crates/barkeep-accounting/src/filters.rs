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

use crate::{Bracket, CoinError, Delta, Epsilon, Error, Gaussian, Mu, Rho};

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
            let run = Gaussian::from_mu(Mu::trusted(mu));
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
    /// As [`GdpFilter::within_with_coins`] and [`Gaussian::from_mu`].
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
    /// As [`Gaussian::from_mu`].
    pub fn budget(&self) -> Result<Gaussian, Error> {
        Gaussian::from_mu(Mu::trusted(up_by(self.0.budget.sqrt(), 1)))
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
mod tests {
    use super::{GdpFilter, Odometer, ZcdpFilter};
    use crate::{
        CoinError, Cost, Delta, Epsilon, Mechanism, Mu, Neighbours, Rho, Rule, Sampling, Sensitivity, Steps,
    };
    use proptest::prelude::*;

    #[test]
    fn rounding_never_overspends() {
        // Ten tenths are one in arithmetic, and more than one in outward rounding.
        let mut filter = ZcdpFilter::new(Rho::new(1.0).unwrap());
        let tenth = Rho::new(0.1).unwrap();
        let taken = (0..100).take_while(|_| filter.charge(tenth).is_ok()).count();
        assert_eq!(taken, 9);
        // A cost far below the budget's last place is not lost: the sum moves by a whole unit.
        let mut filter = ZcdpFilter::new(Rho::new(1.0).unwrap());
        filter.charge(Rho::new(0.5).unwrap()).unwrap();
        let before = filter.spent();
        filter.charge(Rho::new(1e-300).unwrap()).unwrap();
        assert!(filter.spent() > before);
    }

    #[test]
    fn refusal_leaves_the_account_alone() {
        let mut filter = GdpFilter::within(Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let refused = filter.charge(Mu::new(10.0).unwrap()).unwrap_err();
        assert!(refused.cost >= 100.0 && filter.spent().get() == 0.0);
        filter.charge(Mu::new(0.1).unwrap()).unwrap();
    }

    #[test]
    fn coins_are_paid_from_the_same_budget() {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let sensitivity = Sensitivity::new(1.0).unwrap();
        let mechanism = Mechanism::Decision { rule: Rule::Penalty { sigma: 1.0 }, sensitivity };
        let flip = Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap();
        let coins = CoinError::of(&flip).times(Steps(100_000));
        let (zcdp, gdp) = (
            ZcdpFilter::within_with_coins(epsilon, delta, &coins).unwrap(),
            GdpFilter::within_with_coins(epsilon, delta, &coins).unwrap(),
        );
        assert!(zcdp.budget() < ZcdpFilter::within(epsilon, delta).budget());
        for spent in [zcdp.epsilon(delta, &coins).unwrap().upper, gdp.epsilon(delta, &coins).unwrap().upper] {
            assert!(spent <= 1.0 + 1e-14 && spent > 1.0 - 1e-6, "{spent}");
        }
        let too_many = CoinError::of(&flip).times(Steps(u64::MAX));
        assert!(ZcdpFilter::within_with_coins(epsilon, delta, &too_many).is_err());
    }

    #[test]
    fn odometer_reads_more_than_the_filter_that_knew_the_end() {
        let delta = Delta::new(1e-6).unwrap();
        let mut odometer = Odometer::new(Rho::new(1e-3).unwrap(), delta);
        assert_eq!(odometer.epsilon().upper, 0.0);
        let mut last = 0.0;
        for _ in 0..1000 {
            odometer.add(Rho::new(1e-4).unwrap());
            let reading = odometer.epsilon().upper;
            assert!(reading >= last);
            last = reading;
        }
        let known = Rho::new(0.1).unwrap().epsilon_classical(delta).upper;
        assert!(last >= known && last < 2.0 * known, "{last} {known}");
    }

    proptest! {
        #[test]
        fn accepted_charges_stay_within_the_budget(
            budget in 1e-6..10.0_f64,
            costs in proptest::collection::vec(0.0..1.0_f64, 1..200),
        ) {
            let mut zcdp = ZcdpFilter::new(Rho::new(budget).unwrap());
            let mut gdp = GdpFilter::new(Mu::new(budget).unwrap());
            // Whole multiples of 2⁻⁶⁰, rounded down: exact sums of them are at most the true sums.
            let exact = |x: f64| (x * 2_f64.powi(60)) as u128;
            let (mut rho, mut square) = (0_u128, 0_u128);
            for cost in costs {
                if zcdp.charge(Rho::new(cost).unwrap()).is_ok() {
                    rho += exact(cost);
                }
                if gdp.charge(Mu::new(cost).unwrap()).is_ok() {
                    square += exact(cost * cost);
                }
            }
            prop_assert!(rho <= exact(budget));
            prop_assert!(square <= exact(budget * budget));
        }
    }
}
