//! Adds up runs of which each may be chosen in view of all earlier answers, and refuses the one that would exceed a total.
//!
//! Within a run the bill is fixed in advance and composes exactly. Across runs the next bill depends on the last answers, and only
//! filters that hold under full adaptivity may be used (Feldman and Zrnic 2021). A [`RunFilter`] has several of them, its **arms**,
//! fixed when the total (ε, δ) is named: one adds squared μ, the others add Rényi divergences, each at one order. A run is accepted
//! while at least one arm has room for it.
//!
//! **Guarantee.** All accepted runs together are (ε, δ)-private.
//!
//! **Proof.** Let arm j have the share wⱼ of δ, Σwⱼ = 1, and a budget that implies (ε, wⱼδ). Let M be all that is released, and Mⱼ
//! what is released if nothing is asked any more once arm j would exceed its budget. Mⱼ is (ε, wⱼδ)-private: for squared μ by
//! Smith and Thakurta 2022 and Koskela, Tobaben, Honkela 2023; for one Rényi order by Feldman and Zrnic 2021, Theorem 3.1. Sums only grow,
//! and the last accepted run left some arm within its budget, so that arm was within it throughout. Split any event S by the
//! first such arm into S₁, S₂, …: which it is can be read off what was released. On Sⱼ M and Mⱼ agree. Hence
//! P(M∈S) = ΣP(Mⱼ∈Sⱼ) ≤ Σ(e^ε·Q(Mⱼ∈Sⱼ) + wⱼδ) = e^ε·Q(M∈S) + δ. ∎
//!
//! **Coins.** The sums are those of ideal coins. For the flipped ones a fixed part of ε and of δ is set aside beforehand, and runs
//! are refused whose coins would exceed it. The proof in `coin_error.rs` then applies with the parts set aside in place of kρ + kr and
//! kb: it replaces one coin at a time, and bounds their sums along every path of answers.

use std::cell::RefCell;
use std::collections::BTreeMap;

use barkeep_num::{down_by, largest_real, smallest_real, up, up_by};
use serde::{Deserialize, Serialize};

use crate::renyi::{Curve, Linear, Orders};
use crate::{Bill, CoinError, Cost, Delta, Epsilon, Error, Mu, Order, Renyi, Rho, Steps};

/// The part of ε that is set aside for the rounding of coins: enough for 10¹¹ of them at ε = 1.
const COINS_OF_EPSILON: f64 = 1.0 / 4096.0;
/// No more than this is set aside, however large ε is: e to this power comes off δ.
const MOST_ASIDE: f64 = 1.0 / 64.0;
/// The part of δ that is set aside for the rounding of coins.
const COINS_OF_DELTA: f64 = 1.0 / 256.0;
/// The part of δ of the arm of squared μ; the orders share the rest.
const GAUSSIAN_SHARE: f64 = 0.5;
/// Orders beside the best one for zero-concentrated runs, in steps of √2: sampled batches are cheaper at lower ones.
const AROUND: [i32; 5] = [-6, -4, -2, 0, 2];
/// The least and the largest order, as powers of √2.
const ENDS: (i32, i32) = (2, 22);
/// Relative precision of a search for ε or δ.
const PRECISION: f64 = 1e-12;

/// What runs cost at every arm of a filter, rounded up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunCharge {
    /// Sum of squared μ; absent where a part is not Gaussian-private.
    squared_mu: Option<f64>,
    /// Sum of Rényi divergences at each of the filter's orders; absent where there is no bound.
    divergences: Vec<Option<f64>>,
    /// By how much the rounding of coins may raise ε.
    coins: f64,
    /// By how much it may raise δ.
    coins_delta: f64,
}

impl RunCharge {
    /// No run at all, for a filter with this number of orders.
    fn none(orders: usize) -> Self {
        Self { squared_mu: Some(0.0), divergences: vec![Some(0.0); orders], coins: 0.0, coins_delta: 0.0 }
    }

    /// Both.
    fn and(&self, other: &Self) -> Self {
        let sum = |a: f64, b: f64| if b == 0.0 { a } else { up(a + b) };
        let both = |a: &Option<f64>, b: &Option<f64>| a.zip(*b).map(|(a, b)| sum(a, b));
        Self {
            squared_mu: both(&self.squared_mu, &other.squared_mu),
            divergences: self.divergences.iter().zip(&other.divergences).map(|(a, b)| both(a, b)).collect(),
            coins: sum(self.coins, other.coins),
            coins_delta: sum(self.coins_delta, other.coins_delta),
        }
    }

    /// The sums in the order of a filter's arms.
    fn arms(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        std::iter::once(self.squared_mu).chain(self.divergences.iter().copied())
    }

    /// Whether the numbers are at least 0, as a charge's are; one read from a file may hold others.
    fn is_sound(&self, orders: usize) -> bool {
        let whole = |value: f64| value >= 0.0 && value.is_finite();
        self.divergences.len() == orders
            && self.arms().flatten().all(whole)
            && whole(self.coins)
            && whole(self.coins_delta)
    }

    /// Whether every number is that of `other` but for the last digits, which another machine may round differently.
    #[must_use]
    pub fn is_close_to(&self, other: &Self) -> bool {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
        let same = |(a, b): (Option<f64>, Option<f64>)| match (a, b) {
            (Some(a), Some(b)) => close(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        self.divergences.len() == other.divergences.len()
            && self.arms().zip(other.arms()).all(same)
            && close(self.coins, other.coins)
            && close(self.coins_delta, other.coins_delta)
    }
}

/// No arm of a filter has room for the run; nothing was charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpentOut {
    /// The privacy losses do not fit.
    #[error("the run does not fit into what is left of the total")]
    Losses,
    /// The rounding of decisions' coins does not fit into the part of the total that is set aside for it.
    #[error("the rounding of the run's coins does not fit into what is set aside for it")]
    Coins,
    /// The charge is none that this filter's arms made.
    #[error("the charge was made for another filter")]
    Foreign,
}

/// Runs chosen adaptively, within a fixed (ε, δ).
///
/// ```
/// use barkeep_accounting::mechanisms::Gaussian;
/// use barkeep_accounting::{Bill, Contract, Cost, Delta, Epsilon, Neighbours, Ratio, RunFilter, Sampling, Steps};
/// let gaussian = Cost::new(Gaussian { ratio: Ratio::new(42.3)? }, Sampling::Full, Neighbours::Substitute)?;
/// // (1, 1e-6) each: ten of them fit into a total of 3.7, not of 10.
/// let bill = Bill::Contract(Contract::new(vec![(gaussian, Steps(100))])?);
/// let mut filter = RunFilter::new(Epsilon::new(3.7)?, Delta::new(1e-6)?);
/// let charge = filter.price(&bill)?;
/// assert_eq!((0..).take_while(|_| filter.charge(&charge).is_ok()).count(), 10);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RunFilter {
    epsilon: Epsilon,
    delta: Delta,
    orders: Vec<u32>,
    /// Of squared μ, then of each order; absent where an arm implies no (ε, wⱼδ) at all.
    budgets: Vec<Option<f64>>,
    spent: RunCharge,
}

impl RunFilter {
    /// A filter for this total. Its orders lie around the one that is best for zero-concentrated runs that spend it.
    #[must_use]
    pub fn new(epsilon: Epsilon, delta: Delta) -> Self {
        let rho = Rho::largest_within_classical(epsilon, delta).get();
        let best = 1.0 + (-libm::log(delta.get()) / rho.max(1e-12)).sqrt();
        #[expect(clippy::cast_possible_truncation, reason = "clamped to a few dozen")]
        let middle = (2.0 * libm::log2(best)).round().clamp(0.0, 100.0) as i32;
        let mut orders: Vec<u32> =
            AROUND.map(|step| order_of((middle + step).clamp(ENDS.0, ENDS.1))).to_vec();
        orders.dedup();
        Self::at(epsilon, delta, orders)
    }

    /// The filter of an account that was opened with these orders.
    ///
    /// # Errors
    /// [`Error::Argument`] unless they are whole numbers from 2 to 2048 that increase.
    pub fn with_orders(epsilon: Epsilon, delta: Delta, orders: &[u32]) -> Result<Self, Error> {
        let known = |order: &u32| (order_of(ENDS.0)..=order_of(ENDS.1)).contains(order);
        if orders.is_empty() || !orders.iter().all(known) || !orders.is_sorted_by(|a, b| a < b) {
            let value = orders.first().map_or(0.0, |order| f64::from(*order));
            let requirement = "whole numbers from 2 to 2048 that increase";
            return Err(Error::Argument { name: "orders", requirement, value });
        }
        Ok(Self::at(epsilon, delta, orders.to_vec()))
    }

    fn at(epsilon: Epsilon, delta: Delta, orders: Vec<u32>) -> Self {
        // ε and δ with what is set aside for coins taken off.
        let aside = aside(epsilon);
        let left = Epsilon::trusted(down_by(epsilon.get() - aside, 1).max(0.0));
        let kept = down_by(libm::exp(-aside) - COINS_OF_DELTA, 8);
        let share = |weight: f64| Delta::new(down_by(delta.get() * kept * weight, 8)).ok();
        let gaussian = share(GAUSSIAN_SHARE).map(|delta| {
            let mu = Mu::largest_within(left, delta).get();
            down_by(mu * mu, 1).max(0.0)
        });
        let weight = (1.0 - GAUSSIAN_SHARE) / orders.len() as f64;
        let budget = |order: &u32| {
            let (order, delta) = (Order::new(f64::from(*order)).ok()?, share(weight)?);
            let implied = |divergence: f64| {
                Renyi::new(order, divergence).is_ok_and(|bound| bound.epsilon(delta).upper <= left.get())
            };
            largest_real(0.0, left.get() + 2.0, 1e-14, implied)
        };
        let budgets = std::iter::once(gaussian).chain(orders.iter().map(budget)).collect();
        let spent = RunCharge::none(orders.len());
        Self { epsilon, delta, orders, budgets, spent }
    }

    /// ε of the total.
    #[must_use]
    pub fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// δ of the total.
    #[must_use]
    pub fn delta(&self) -> Delta {
        self.delta
    }

    /// The orders of its Rényi arms.
    #[must_use]
    pub fn orders(&self) -> &[u32] {
        &self.orders
    }

    /// What a run with this bill is charged at every arm.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if it has neither μ nor a Rényi divergence: no filter can add it up.
    pub fn price(&self, bill: &Bill) -> Result<RunCharge, Error> {
        let charge = Runs::of([bill])?.charge(&self.orders);
        if charge.arms().all(|arm| arm.is_none()) {
            return Err(Error::Mismatch(
                "the run has neither a bound in Gaussian privacy nor a Rényi divergence: what is chosen in view of \
                 earlier answers cannot be added to it",
            ));
        }
        Ok(charge)
    }

    /// Whether a run would be accepted.
    ///
    /// # Errors
    /// [`SpentOut`] if not.
    pub fn fits(&self, charge: &RunCharge) -> Result<(), SpentOut> {
        if charge.is_sound(self.orders.len()) {
            self.holds(&self.spent.and(charge))
        } else {
            Err(SpentOut::Foreign)
        }
    }

    /// Charges a run before it starts.
    ///
    /// # Errors
    /// [`SpentOut`] if no arm has room; the run must then not start.
    pub fn charge(&mut self, charge: &RunCharge) -> Result<(), SpentOut> {
        self.fits(charge)?;
        self.spent = self.spent.and(charge);
        Ok(())
    }

    fn holds(&self, sums: &RunCharge) -> Result<(), SpentOut> {
        if sums.coins > aside(self.epsilon) || sums.coins_delta > self.delta.get() * COINS_OF_DELTA {
            return Err(SpentOut::Coins);
        }
        let room = |(sum, budget): (Option<f64>, &Option<f64>)| match (sum, budget) {
            // Where nothing was spent nothing was released.
            (Some(0.0), _) => true,
            (Some(sum), Some(budget)) => sum <= *budget,
            (Some(_) | None, _) => false,
        };
        let any = sums.arms().zip(&self.budgets).any(room);
        if any { Ok(()) } else { Err(SpentOut::Losses) }
    }

    /// The part of the total that is spent, from 0 to 1: that of the arm with the most room. A run adds its own part of that arm.
    #[must_use]
    pub fn share_spent(&self) -> f64 {
        let share = |(sum, budget): (Option<f64>, &Option<f64>)| match (sum, budget) {
            (Some(0.0), _) => 0.0,
            (Some(sum), Some(budget)) => sum / budget,
            (Some(_) | None, _) => f64::INFINITY,
        };
        let losses = self.spent.arms().zip(&self.budgets).map(share).fold(f64::INFINITY, f64::min);
        let coins = self.spent.coins / aside(self.epsilon).max(f64::MIN_POSITIVE);
        losses.max(coins).min(1.0)
    }
}

/// What is set aside of ε for the rounding of coins.
fn aside(epsilon: Epsilon) -> f64 {
    (epsilon.get() * COINS_OF_EPSILON).min(MOST_ASIDE)
}

/// A power of √2 as a whole order.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 2 and 2048")]
fn order_of(power: i32) -> u32 {
    (0.5 * f64::from(power)).exp2().round() as u32
}

/// Runs that were made, whatever total they were made under: asks which total would have paid for them.
pub struct Runs {
    parts: Vec<(Part, Steps)>,
    coins: CoinError,
    /// Sums of divergences by order: some take milliseconds.
    known: RefCell<BTreeMap<u32, Option<f64>>>,
}

/// What a run asks.
#[derive(PartialEq)]
enum Part {
    /// A step of a contract.
    Cost(Cost),
    /// All steps of a run that were charged to a filter.
    Filter(Rho),
}

impl Runs {
    /// What these bills ask.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if they speak of different neighbours.
    pub fn of<'a>(bills: impl IntoIterator<Item = &'a Bill>) -> Result<Self, Error> {
        let mut runs = Self { parts: Vec::new(), coins: CoinError::NONE, known: RefCell::default() };
        let mut neighbours = None;
        for bill in bills {
            if let Some(of) = bill.neighbours()
                && *neighbours.get_or_insert(of) != of
            {
                return Err(Error::Mismatch("costs for different neighbouring relations cannot be composed"));
            }
            match bill {
                Bill::Contract(contract) | Bill::Once(contract) => {
                    for (cost, steps) in contract.parts() {
                        runs.coins = runs.coins.and(CoinError::of(cost).times(*steps));
                        runs.add(Part::Cost(cost.clone()), *steps);
                    }
                }
                // Answers within one filter add their μ², and their Rényi divergences, as one answer of the whole would.
                Bill::Gaussian { whole } => runs.add(Part::Cost(whole.clone()), Steps(1)),
                Bill::Filter { rho, coins, decision } => {
                    runs.coins = runs.coins.and(CoinError::of(decision).times(*coins));
                    runs.add(Part::Filter(*rho), Steps(1));
                }
            }
        }
        Ok(runs)
    }

    fn add(&mut self, part: Part, steps: Steps) {
        let same = self
            .parts
            .iter_mut()
            .find(|(known, more)| *known == part && more.0.checked_add(steps.0).is_some());
        match same {
            Some((_, known)) => known.0 += steps.0,
            None if steps.0 > 0 => self.parts.push((part, steps)),
            None => {}
        }
    }

    /// What they are charged at these orders.
    fn charge(&self, orders: &[u32]) -> RunCharge {
        let (coins, coins_delta) = self.coins.far();
        RunCharge {
            squared_mu: self.squared_mu(),
            divergences: orders.iter().map(|order| self.divergence(*order)).collect(),
            coins,
            coins_delta,
        }
    }

    fn squared_mu(&self) -> Option<f64> {
        let square = |(part, steps): &(Part, Steps)| match part {
            Part::Cost(cost) => {
                let mu = cost.mu().ok()?.get();
                finite(if mu == 0.0 { 0.0 } else { up_by(mu * mu * steps.0 as f64, 3) })
            }
            Part::Filter(rho) => (rho.get() == 0.0).then_some(0.0),
        };
        summed(self.parts.iter().map(square))
    }

    fn divergence(&self, order: u32) -> Option<f64> {
        if let Some(known) = self.known.borrow().get(&order) {
            return *known;
        }
        let at = |(part, steps): &(Part, Steps)| {
            let curve: Box<dyn Curve> = match part {
                Part::Cost(cost) => cost.divergences().ok()?,
                Part::Filter(rho) => Box::new(Linear::new(*rho)),
            };
            let bounded = match curve.orders() {
                Orders::Real => true,
                Orders::Whole { largest } => order <= largest,
            };
            let once = curve.at(Order::new(f64::from(order)).ok()?);
            finite(if once == 0.0 { 0.0 } else { up_by(once * steps.0 as f64, 2) }).filter(|_| bounded)
        };
        let sum = summed(self.parts.iter().map(at));
        self.known.borrow_mut().insert(order, sum);
        sum
    }

    /// Whether a filter with this total would have accepted them all.
    fn fit(&self, epsilon: Epsilon, delta: Delta) -> bool {
        let filter = RunFilter::new(epsilon, delta);
        filter.holds(&self.charge(&filter.orders)).is_ok()
    }

    /// The least ε at δ of a filter that would have accepted them all.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if there is none.
    pub fn epsilon(&self, delta: Delta) -> Result<f64, Error> {
        let fits = |epsilon: f64| Epsilon::new(epsilon).is_ok_and(|epsilon| self.fit(epsilon, delta));
        if fits(0.0) {
            return Ok(0.0);
        }
        smallest_real(1e-9, 1e6, PRECISION, fits).ok_or(NO_TOTAL)
    }

    /// The least δ at ε of a filter that would have accepted them all; 1 if there is none.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> f64 {
        let fits = |delta: f64| Delta::new(delta).is_ok_and(|delta| self.fit(epsilon, delta));
        smallest_real(1e-300, 0.999_999, PRECISION, fits).unwrap_or(1.0)
    }
}

const NO_TOTAL: Error = Error::Unbounded(
    "no total pays for these runs: one of them has neither a bound in Gaussian privacy nor a Rényi divergence",
);

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The sum, rounded up; absent where a term is.
fn summed(mut terms: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    terms.try_fold(0.0, |sum, term| {
        let term = term?;
        finite(if term == 0.0 { sum } else { up(sum + term) })
    })
}

#[cfg(test)]
mod tests;
