//! Holds what a run costs at every ε at once, and says what that means for one person.
//!
//! # The curve
//! A table of points (ε, δ), each of which the run satisfies. In x = e^ε the least δ is convex, so chords between points lie above
//! it: everything computed here from the table is an upper bound on what an attack can do.
//!
//! # What it means
//! An attack says "in" or "out" of a record. Let α be its chance of saying "in" where the record is out. Where the record is in,
//! its chance of saying so is at most T(α) = min over ε of δ(ε) + e^ε·α and 1 − e^(−ε)·(1 − δ(ε) − α): the trade-off curve
//! (Wasserman and Zhou 2010; Dong, Roth, Su 2022). The first form is (ε, δ) for ε ≥ 0, the second its mirror for −ε.
//! T(α) − α is largest where the slope of T is 1: the advantage is δ(0), and nothing is guessed but what δ(0) allows
//! (Kulynych et al. 2024 compute the same from privacy-loss distributions).
//!
//! # Groups
//! For a chain of m neighbours, H_{e^(a+b)}(P₀‖P_m) ≤ H_{e^a}(P₀‖P₁) + e^a·H_{e^b}(P₁‖P_m), since max(0, u + v) ≤ max(0, u) +
//! max(0, v). So δ_m(ε) ≤ min over a of δ(a) + e^a·δ_{m−1}(ε − a). That is the composition of trade-off curves, which nothing
//! improves upon when only the curve is known; splitting ε evenly gives the rule δ·(1 + e^(ε/m) + … + e^((m−1)ε/m)).

use barkeep_num::{smallest_real, up_by};
use serde::{Deserialize, Serialize};

use crate::{CoinError, Delta, Epsilon, Error, Rho};

/// Points of the first table, and the δ down to which it goes: for a figure or a group, and where only the risk is asked for.
const WHOLE: (u32, f64) = (96, 1e-10);
const RISK: (u32, f64) = (16, 1e-6);

/// Points added around the best one for each false-positive rate.
const REFINED: u32 = 10;

/// How far above the chance of an infinite loss a curve is followed, relative.
const LEAST_ABOVE: f64 = 1.001;

/// Beyond this ε the powers of e leave the range of f64, and nothing is promised anyway.
const LARGEST: f64 = 700.0;

/// Room for rounding in sums of a few positive terms.
const ULPS: u32 = 16;

/// Cells into which the range of ε is divided for a group.
const CELLS: usize = 200;

/// The largest group.
const LARGEST_GROUP: u64 = 64;

/// The least δ known at each ε: upper bounds at some points, chords between them.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyCurve {
    /// ε ascending from 0, and δ.
    points: Vec<(f64, f64)>,
}

/// What a curve is made for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Detail {
    /// Anything: points all along it.
    Whole,
    /// The risk for one person, which rests on few points, of what is composed for this δ.
    Risk(Delta),
}

/// What a run means for one person whose record is in it or not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Risk {
    /// The most by which an attack's true-positive rate exceeds its false-positive rate.
    pub advantage: f64,
    /// The largest true-positive rate of an attack with 1 % false positives.
    pub true_positives_at_1_percent: f64,
    /// The largest true-positive rate of an attack with 0.1 % false positives.
    pub true_positives_at_0_1_percent: f64,
    /// The most by which an alarm of an attack with 0.1 % false positives multiplies the odds that the record is in.
    pub odds_factor: f64,
}

impl Detail {
    fn table(self) -> (u32, f64) {
        match self {
            Self::Whole => WHOLE,
            Self::Risk(_) => RISK,
        }
    }

    /// The δ down to which a curve goes.
    pub(crate) fn least(self) -> Delta {
        Delta::trusted(self.table().1)
    }
}

impl PrivacyCurve {
    /// The curve of what satisfies (ε, δ(ε)) for every ε, given that function, and ε at a δ for its range.
    ///
    /// # Errors
    /// Those of the two.
    pub fn new(
        epsilon: impl FnMut(Delta) -> Result<f64, Error>,
        delta: impl FnMut(Epsilon) -> Result<f64, Error>,
    ) -> Result<Self, Error> {
        Self::with(Detail::Whole, epsilon, delta)
    }

    /// The same, for a purpose.
    pub(crate) fn with(
        detail: Detail,
        mut epsilon: impl FnMut(Delta) -> Result<f64, Error>,
        mut delta: impl FnMut(Epsilon) -> Result<f64, Error>,
    ) -> Result<Self, Error> {
        let (points, floor) = detail.table();
        // Down to the smallest δ of interest, or to the chance of an infinite loss, below which nothing lies.
        let least = (LEAST_ABOVE * delta(Epsilon::trusted(LARGEST))?).clamp(floor, 0.5);
        let end = epsilon(Delta::trusted(least))?.clamp(1e-300, LARGEST);
        let mut curve = Self { points: Vec::new() };
        for step in 0..=points {
            curve.add(end * (f64::from(step) / f64::from(points)), &mut delta)?;
        }
        for rate in [0.01, 0.001] {
            curve.refine(rate, &mut delta)?;
        }
        Ok(curve)
    }

    /// The curve of a run that stays within ρ however it chooses its steps, and flips these coins.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if the rounding of the coins alone costs more than any δ.
    pub fn of_filter(rho: Rho, coins: &CoinError) -> Result<Self, Error> {
        Self::new(
            |delta| Ok(coins.epsilon(delta, |delta| Ok(rho.epsilon(delta)))?.upper),
            |epsilon| Ok(coins.delta(epsilon, |epsilon| Ok(rho.delta(epsilon)))?.upper),
        )
    }

    fn add(
        &mut self,
        epsilon: f64,
        delta: &mut impl FnMut(Epsilon) -> Result<f64, Error>,
    ) -> Result<(), Error> {
        let place = self.points.partition_point(|(known, _)| *known < epsilon);
        if self.points.get(place).is_none_or(|(known, _)| *known != epsilon) {
            self.points.insert(place, (epsilon, delta(Epsilon::new(epsilon)?)?.clamp(0.0, 1.0)));
        }
        Ok(())
    }

    /// Adds points around the one that bounds the true-positive rate best.
    fn refine(
        &mut self,
        rate: f64,
        delta: &mut impl FnMut(Epsilon) -> Result<f64, Error>,
    ) -> Result<(), Error> {
        for _ in 0..REFINED / 2 {
            let bound = |point: &(f64, f64)| hits(*point, rate);
            let best = (0..self.points.len())
                .min_by(|&a, &b| bound(&self.points[a]).total_cmp(&bound(&self.points[b])))
                .unwrap_or(0);
            let here = self.points[best].0;
            let around = [best.checked_sub(1), Some(best + 1)].into_iter().flatten();
            let middles: Vec<f64> = around
                .filter_map(|next| self.points.get(next))
                .map(|(next, _)| 0.5 * (here + next))
                .collect();
            for middle in middles {
                self.add(middle, delta)?;
            }
        }
        Ok(())
    }

    /// ε and δ at the points of the table, by ascending ε.
    #[must_use]
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// An upper bound of the least δ at ε: the chord in e^ε, or the last point's δ beyond it.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> f64 {
        let epsilon = epsilon.get();
        let after = self.points.partition_point(|(known, _)| *known <= epsilon);
        match (after.checked_sub(1).map(|before| self.points[before]), self.points.get(after)) {
            (Some((low, high_delta)), Some((high, low_delta))) => {
                let share = libm::expm1(epsilon - low) / libm::expm1(high - low);
                let share = (share * (1.0 - 1e-12)).clamp(0.0, 1.0);
                up_by(high_delta + (low_delta - high_delta) * share, ULPS).min(1.0)
            }
            (Some((_, delta)), None) => delta,
            (None, _) => 1.0,
        }
    }

    /// The largest true-positive rate of an attack with this false-positive rate.
    #[must_use]
    pub fn true_positives(&self, false_positives: f64) -> f64 {
        let rate = false_positives.clamp(0.0, 1.0);
        self.points.iter().map(|point| hits(*point, rate)).fold(1.0, f64::min)
    }

    /// What it means for one person.
    #[must_use]
    pub fn risk(&self) -> Risk {
        let at = |rate: f64| self.true_positives(rate);
        Risk {
            advantage: self.points.iter().map(|point| gap(*point)).fold(1.0, f64::min),
            true_positives_at_1_percent: at(0.01),
            true_positives_at_0_1_percent: at(0.001),
            odds_factor: up_by(at(0.001) / 0.001, ULPS),
        }
    }

    /// The least δ known at ε where m records change together.
    ///
    /// # Errors
    /// [`Error::Argument`] for a group of none or of more than 64.
    pub fn group_delta(&self, size: u64, epsilon: Epsilon) -> Result<f64, Error> {
        if size == 0 || size > LARGEST_GROUP {
            let requirement = "from 1 to 64";
            return Err(Error::Argument { name: "group", requirement, value: size as f64 });
        }
        let (asked, end) = (epsilon.get(), self.points.last().map_or(0.0, |(end, _)| *end));
        // ε is a whole number of cells, or 0 where it is less than one: δ there is no less. Splits reach as far as the table does, to both sides.
        let reach = asked.max(end).max(1e-300);
        let whole = (asked / reach * CELLS as f64).floor();
        let step = if whole > 0.0 { asked / whole } else { reach / CELLS as f64 };
        let (cells, place) = ((reach / step).ceil() as usize, whole as usize);
        // From −cells to cells, the middle at `cells`. H_x(P‖Q) = 1 − x + x·H_{1/x}(Q‖P) left of 0.
        let offset = |index: usize| (index as f64 - cells as f64) * step;
        let single: Vec<f64> = (0..=2 * cells)
            .map(|index| {
                let distance = offset(index).abs();
                let delta = self.delta(Epsilon::trusted(distance));
                if index >= cells {
                    delta
                } else {
                    let factor = libm::exp(-distance);
                    up_by(-libm::expm1(-distance) + factor * delta, ULPS).min(1.0)
                }
            })
            .collect();
        let factors: Vec<f64> = (0..=2 * cells).map(|index| up_by(libm::exp(offset(index)), 4)).collect();
        let mut group = single.clone();
        for _ in 1..size {
            group = (0..=2 * cells)
                .map(|sum| {
                    // Splits into first and rest with first + rest = sum, both in the table.
                    let firsts = sum.saturating_sub(cells)..=(sum + cells).min(2 * cells);
                    let splits =
                        firsts.map(|first| single[first] + factors[first] * group[sum + cells - first]);
                    up_by(splits.fold(1.0, f64::min), ULPS).min(1.0)
                })
                .collect();
        }
        Ok(group[cells + place])
    }

    /// ε at δ where m records change together.
    ///
    /// # Errors
    /// As [`PrivacyCurve::group_delta`]; [`Error::Unbounded`] if the table does not reach far enough down.
    pub fn group_epsilon(&self, size: u64, delta: Delta) -> Result<Epsilon, Error> {
        self.group_delta(size, Epsilon::trusted(0.0))?;
        let fits = |epsilon: f64| {
            self.group_delta(size, Epsilon::trusted(epsilon)).is_ok_and(|spent| spent <= delta.get())
        };
        let found = smallest_real(0.0, 700.0, 1e-6, fits);
        found
            .map(Epsilon::trusted)
            .ok_or(Error::Unbounded("the curve is not known far enough down for this group and delta"))
    }
}

/// The most true positives one (ε, δ) allows at a false-positive rate.
fn hits((epsilon, delta): (f64, f64), rate: f64) -> f64 {
    let steep = delta + libm::exp(epsilon) * rate;
    let flat = 1.0 - libm::exp(-epsilon) * (1.0 - delta - rate) * (1.0 - 1e-15);
    up_by(steep.min(flat), ULPS).clamp(0.0, 1.0)
}

/// The most by which true positives exceed false ones under one (ε, δ): (e^ε − 1 + 2δ)/(e^ε + 1), where the two forms of T meet.
fn gap((epsilon, delta): (f64, f64)) -> f64 {
    up_by((libm::expm1(epsilon) + 2.0 * delta) / (libm::exp(epsilon) + 1.0), ULPS).min(1.0)
}

impl Risk {
    /// All of them, in the order of their declaration.
    #[must_use]
    pub fn numbers(&self) -> [f64; 4] {
        let Self { advantage, true_positives_at_1_percent, true_positives_at_0_1_percent, odds_factor } =
            *self;
        [advantage, true_positives_at_1_percent, true_positives_at_0_1_percent, odds_factor]
    }

    /// What the numbers mean, a sentence for each.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.3} %", 100.0 * share);
        vec![
            format!(
                "No attack tells whether a record is in the data with true positives more than {} above its false positives.",
                percent(self.advantage)
            ),
            format!(
                "An attack with 1 % false positives finds at most {} of the records that are in.",
                percent(self.true_positives_at_1_percent)
            ),
            format!(
                "An attack with 0.1 % false positives finds at most {}; its alarm multiplies the odds that a record is in by at most {:.2}.",
                percent(self.true_positives_at_0_1_percent),
                self.odds_factor
            ),
        ]
    }
}

#[cfg(test)]
mod tests;
