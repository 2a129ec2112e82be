//! Answers ε for δ and δ for ε from the two bounds on the composition of decisions.

use super::upper::INFLATION;
use crate::pld::DominatingPair;
use crate::{Bracket, Delta, Epsilon, Error};

/// Dots on each side of ε = 0 for a composition, at most.
const MOST_DOTS: usize = 4000;

/// δ as a function of ε for a fixed number of decisions, between two proved bounds.
///
/// From above, piecewise linear in x = e^ε through nodes at ε = 0, h, 2h, …, and flat beyond the last; from below, the
/// best of a family of attacks.
///
/// **Privacy.** The upper bound holds for every adversary who chooses each step's log-ratio by the bits before it. It is the
/// curve of a dominating pair that is symmetric under exchange of the data sets, δ(−ε) = 1 − e^−ε + e^−ε·δ(ε), so it
/// may be composed with other mechanisms.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub(super) step: f64,
    /// Upper bounds at the nodes; never empty.
    pub(super) upper: Vec<f64>,
    /// The upper bound at and beyond the first node not in `upper`.
    pub(super) flat: f64,
    /// α and x_i·β of an attack for each node; empty if no lower bound was asked for.
    pub(super) hits: Vec<f64>,
    pub(super) alarms: Vec<f64>,
}

/// The node at or left of ε, and the share of the next node in a chord at e^ε, rounded down.
pub(super) fn locate(epsilon: f64, step: f64) -> (usize, f64) {
    let place = (epsilon / step).floor();
    // Rounding may have carried the quotient over the next node.
    let place = if place * step > epsilon { place - 1.0 } else { place };
    let distance = (epsilon - place * step) * (1.0 - 1e-15) - epsilon * f64::EPSILON;
    let share = libm::expm1(distance.max(0.0)) / libm::expm1(step) * (1.0 - 1e-15);
    (place.max(0.0) as usize, share.clamp(0.0, 1.0))
}

/// The ε at which the chords through nodes 0, h, 2h, … and the flat end have come down to δ, rounded up; None if they never do.
pub(super) fn crossing(nodes: &[f64], flat: f64, step: f64, delta: f64) -> Option<f64> {
    let below = nodes.partition_point(|&value| value > delta);
    let right = nodes.get(below).copied().unwrap_or(flat);
    if right > delta {
        return None;
    }
    let Some(before) = below.checked_sub(1) else { return Some(0.0) };
    let left = nodes[before];
    let share = ((left - delta) / (left - right) * INFLATION).clamp(0.0, 1.0);
    Some((before as f64 * step + libm::log1p(share * libm::expm1(step))) * INFLATION)
}

impl Profile {
    /// The spacing of the nodes in ε.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.step
    }

    /// The ε from which on the upper bound is flat.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.upper.len() as f64 * self.step
    }

    /// Dots (ε, δ) above the curve on both sides of ε = 0, ascending.
    ///
    /// Connected linearly in e^ε, level after the last, they are a dominating pair's curve again.
    #[must_use]
    pub fn dots(&self) -> Vec<(f64, f64)> {
        self.dots_up_to(MOST_DOTS)
    }

    /// The same, so many on each side of ε = 0 at most.
    fn dots_up_to(&self, most: usize) -> Vec<(f64, f64)> {
        let stride = self.upper.len().div_ceil(most);
        let last = self.upper.len();
        let places = (0..last).step_by(stride).chain([last]);
        let right: Vec<(f64, f64)> =
            places.map(|place| (place as f64 * self.step, self.node(place))).collect();
        let mirrored = right.iter().rev().filter(|(epsilon, _)| *epsilon > 0.0).map(|(epsilon, delta)| {
            let decay = libm::exp(-epsilon);
            (-epsilon, ((-libm::expm1(-epsilon) + decay * delta) * INFLATION).min(1.0))
        });
        mirrored.chain(right.iter().copied()).collect()
    }

    /// The curve as a mechanism to be composed with others, from above.
    ///
    /// # Errors
    /// [`Error::Argument`] if the curve reaches beyond ε = 700.
    pub fn curve(&self) -> Result<DominatingPair, Error> {
        DominatingPair::from_dots(&self.dots())
    }

    /// The same as a block of many steps: what a chord adds to all of them together is little, so a quarter of the dots will do.
    pub(super) fn block(&self) -> Result<DominatingPair, Error> {
        DominatingPair::from_dots(&self.dots_up_to(MOST_DOTS / 4))
    }

    fn node(&self, place: usize) -> f64 {
        self.upper.get(place).copied().unwrap_or(self.flat)
    }

    /// δ at a given ε.
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> Bracket {
        let epsilon = epsilon.get();
        let (place, share) = locate(epsilon, self.step);
        let (left, right) = (self.node(place), self.node(place.saturating_add(1)));
        let upper = ((left * (1.0 - share) + right * share) * INFLATION).min(1.0);
        let attack = |place: usize| {
            let (hit, alarm) = (self.hits.get(place)?, self.alarms.get(place)?);
            let growth = libm::exp(epsilon - place as f64 * self.step) * (1.0 + 1e-15 * (4.0 + epsilon));
            Some(hit - alarm * growth * INFLATION - f64::EPSILON * hit)
        };
        let best = attack(place).into_iter().chain(attack(place.saturating_add(1))).fold(0.0, f64::max);
        Bracket { lower: (!self.hits.is_empty()).then_some(best.min(upper)), upper }
    }

    /// The smallest ε at a given δ.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if the curve was not computed far enough down for this δ.
    pub fn epsilon(&self, delta: Delta) -> Result<Bracket, Error> {
        let delta = delta.get();
        let upper = crossing(&self.upper, self.flat, self.step, delta).ok_or(Error::Unresolved {
            what: "epsilon of a decision",
            reason: "the curve ends above this delta",
        })?;
        Ok(Bracket { lower: self.epsilon_attacked(delta).map(|lower| lower.min(upper)), upper })
    }

    /// The largest ε at which one of the attacks still reaches δ.
    fn epsilon_attacked(&self, delta: f64) -> Option<f64> {
        if self.hits.is_empty() {
            return None;
        }
        let mut best: f64 = 0.0;
        for (place, (hit, alarm)) in self.hits.iter().zip(&self.alarms).enumerate() {
            let surplus = hit * (1.0 - f64::EPSILON) - delta;
            if surplus > *alarm * 1e-300 && surplus > 0.0 {
                // α − e^ε·β = δ; an attack without false alarms is bounded by the node it was made for.
                let distance = if *alarm > 0.0 { libm::log(surplus / alarm) } else { 0.0 };
                best = best.max((place as f64 * self.step + distance) * (1.0 - 4.0 * f64::EPSILON) - 1e-15);
            }
        }
        Some(best)
    }
}
