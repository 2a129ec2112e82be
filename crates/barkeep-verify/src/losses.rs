//! Composes privacy losses on a lattice by a double loop, from above.
//!
//! # What a lattice says
//! A pair of measures (P, Q) on outcomes has the curve H_x = Σ max(0, P − xQ), and δ = H at x = e^ε. Here every outcome has one of the losses
//! ln(P/Q) = h·k, or an infinite one, where Q = 0. An outcome of mass p and loss l adds p·max(0, 1 − x·e^(−l)).
//!
//! # Three lemmas carry everything
//! **Raise.** More mass at a loss, mass at one more loss, or mass moved to a larger loss does not lower H: each term is at least 0, and grows with
//! its mass and its loss.
//! **Split.** Replace an outcome of masses (p, q) by two that add up to (p, q): the old pair is a merge of the new one, and
//! max(0, a + b) ≤ max(0, a) + max(0, b).
//! **Dots.** A curve is convex and falls from H₀ = 1. A lattice whose curve is at least H at every point e^(hk) and at x = 0, and whose
//! infinite mass is at least H at the last point, is nowhere below H: its curve is the chord between those points, and a convex
//! function lies below its chords.
//!
//! A pair whose curve is at least another's at every x **dominates** it, and so do products of such pairs (Zhu, Dong, Wang 2022,
//! Theorem 10). All three lemmas make dominating pairs: they may be used before, between and after compositions.

use crate::curves::Curve;
use crate::interval::{Interval, at};
use crate::{Result, STOPPED};

/// Asked now and then with the share of the work that is done and the multiplications, about, since it was last asked; work ends when it says no.
pub(crate) type Keep<'a> = dyn FnMut(f64, f64) -> bool + 'a;

/// How close an answer shall be. Soundness does not depend on it.
#[derive(Clone, Copy)]
pub(crate) struct Fineness {
    /// What splits may add to the mean of the total loss.
    pub(crate) spread: f64,
    /// What may be cut off in all.
    pub(crate) cut: f64,
}

/// Masses under P of the losses h·k, k from `first`, and of an infinite one. h is a power of two: h·k is exact.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Losses {
    pub(crate) step: f64,
    first: i64,
    mass: Vec<f64>,
    pub(crate) infinite: f64,
}

/// Adds non-negative numbers, rounded up.
fn plus(a: f64, b: f64) -> f64 {
    if b == 0.0 { a } else { (a + b).next_up() }
}

impl Losses {
    /// A lattice that dominates every pair whose curve is at most `above[i]` at e^(h(first + i)).
    ///
    /// Let V₀ ≥ V₁ ≥ … be convex in x with V ≥ `above`, found from the right: V_{i−1} is the larger of `above` and the prolonged chord
    /// V_i + e^(−h)(V_i − V_{i+1}). The piecewise linear curve through (0, max(1, …)) and all V, level after the last, has at x_i the mass
    /// P_i = [e^h(V_{i−1} − V_i) − (V_i − V_{i+1})]/(e^h − 1) ≥ 0, at the first point what is left of P, and the last V at infinity. By *dots*
    /// it dominates, by *raise* every rounding upwards does.
    pub(crate) fn below(step: f64, first: i64, mut above: Vec<f64>) -> Self {
        let (grow, shrink, width) = (at(step).exp(), at(-step).exp(), at(step).exp_m1());
        let infinite = above.last().copied().unwrap_or(1.0);
        // Level after the last point.
        above.push(infinite);
        for i in (1..above.len() - 1).rev() {
            let fall = (at(above[i]) - above[i + 1]).hi.max(0.0);
            let prolonged = plus(above[i], (shrink.hi * fall).next_up());
            above[i - 1] = above[i - 1].max(prolonged);
        }
        let fall = |i: usize| at(above[i]) - above[i + 1];
        let start = (at(1.0) - above[0] - fall(0) / width).hi;
        let after = (1..above.len() - 1).map(|i| ((grow * fall(i - 1) - fall(i)) / width).hi);
        let mass = std::iter::once(start).chain(after).map(|mass| mass.max(0.0)).collect();
        Self { step, first, mass, infinite }
    }

    /// The same at twice the step. An odd point's mass p is split to its neighbours so that Σp and Σp·e^(−l) are kept: v = p/(1 + e^(−h)) to the
    /// right and p − v to the left. More than v to the right is *raise*.
    fn coarser(&self) -> Self {
        let first = self.first.div_euclid(2);
        let mut mass = vec![0.0; self.mass.len() / 2 + 2];
        let right = (at(1.0) / (at(-self.step).exp() + 1.0)).hi;
        for (k, p) in (self.first..).zip(&self.mass) {
            let to = (k.div_euclid(2) - first) as usize;
            let v = if k.rem_euclid(2) == 0 { 0.0 } else { (p * right).next_up().min(*p) };
            mass[to] = plus(mass[to], if v > 0.0 { (p - v).next_up() } else { *p });
            mass[to + 1] = plus(mass[to + 1], v);
        }
        Self { step: 2.0 * self.step, first, mass, infinite: self.infinite }
    }

    /// Both, one after the other, on the coarser of their lattices: losses add, masses multiply.
    ///
    /// A sum of n products of non-negative f64s is off by at most a factor 1 + (n+1)u, u = 2⁻⁵³, and by n·2⁻¹⁰⁷⁴ for products below the normal range;
    /// (n+4)·2⁻⁵² and n·2⁻¹⁰²² are more. An infinite loss in either is one of the whole.
    pub(crate) fn and(&self, other: &Self, cut: f64, keep: &mut dyn FnMut(f64) -> bool) -> Result<Self> {
        let step = self.step.max(other.step);
        let (one, two) = (self.on(step), other.on(step));
        let (long, short) = if one.mass.len() >= two.mass.len() { (&one, &two) } else { (&two, &one) };
        let mut mass = vec![0.0; long.mass.len() + short.mass.len() - 1];
        for (i, p) in short.mass.iter().enumerate() {
            if i % 256 == 0 && !keep(256.0 * long.mass.len() as f64) {
                return Err(STOPPED);
            }
            for (sum, q) in mass[i..].iter_mut().zip(&long.mass) {
                *sum += p * q;
            }
        }
        let terms = short.mass.len() as f64;
        for sum in &mut mass {
            *sum = ((at(*sum) * (1.0 + (terms + 4.0) * f64::EPSILON)) + terms * f64::MIN_POSITIVE).hi;
        }
        let total = |losses: &Self| losses.mass.iter().fold(losses.infinite, |sum, p| plus(sum, *p));
        let infinite = (at(one.infinite) * total(&two) + at(two.infinite) * total(&one)).hi;
        Ok(Self { step, first: one.first + two.first, mass, infinite }.trimmed(cut))
    }

    /// Without ends of little mass: the upper one becomes infinite, the lower one moves up to the first point that is kept. Both are *raise*.
    pub(crate) fn trimmed(mut self, cut: f64) -> Self {
        let mut high = 0.0;
        while self.mass.len() > 1 && high + self.mass[self.mass.len() - 1] < cut {
            high = plus(high, self.mass.pop().unwrap_or(0.0));
        }
        self.infinite = plus(self.infinite, high);
        let (mut low, mut drop) = (0.0, 0);
        while drop + 1 < self.mass.len() && low + self.mass[drop] < cut {
            low = plus(low, self.mass[drop]);
            drop += 1;
        }
        self.mass.drain(..drop);
        self.first += drop as i64;
        self.mass[0] = plus(self.mass[0], low);
        self
    }

    /// `times` of them, at least one, of `whole` in all: by squaring, coarser as the total spreads, as far as the fineness allows.
    pub(crate) fn times(&self, times: u64, whole: f64, fine: Fineness, keep: &mut Keep<'_>) -> Result<Self> {
        if times <= 1 {
            return Ok(self.clone());
        }
        let half = self.times(times / 2, whole, fine, keep)?;
        // What is cut or split here is cut or split as often as there are steps like this one.
        let like = (whole / times as f64).max(1.0);
        let mut again = |work: f64| keep(times as f64 / whole, work);
        let mut all = half.and(&half, fine.cut / like, &mut again)?;
        if times % 2 == 1 {
            all = all.and(self, fine.cut / like, &mut again)?;
        }
        // A split of width 2h adds (2h)²/8 at most to the mean, to half of the mass.
        let allowed = 4.0 * fine.spread / (like * whole.log2().max(1.0));
        while all.step * all.step <= allowed && all.mass.len() > 64 {
            all = all.coarser();
        }
        Ok(all)
    }

    /// The same on a lattice of this step.
    fn on(&self, step: f64) -> Self {
        let mut losses = self.clone();
        while losses.step < step {
            losses = losses.coarser();
        }
        losses
    }

    /// δ at ε, rounded up: Σ p·(1 − e^(ε−l)) over losses above ε, and the infinite ones.
    pub(crate) fn delta(&self, epsilon: f64) -> f64 {
        let above = (self.first..).zip(&self.mass).map(|(k, p)| (self.step * k as f64, p));
        above.filter(|(l, _)| *l > epsilon).fold(self.infinite, |sum, (l, p)| {
            let share: Interval = -(at(epsilon) - l).exp_m1();
            plus(sum, (at(*p) * share.hi.clamp(0.0, 1.0)).hi)
        })
    }
}

/// Multiplications of one value of a curve, about.
const OF_A_CURVE: f64 = 5e3;

/// Points of a first lattice, about, at most.
const MOST_POINTS: f64 = 100_000.0;

/// k steps with the first curve, on a lattice fine enough for them and as far as it matters; the second curve, of the pair exchanged, says how far to the left.
pub(crate) fn lattice(curves: [&Curve; 2], k: u64, fine: Fineness, keep: &mut Keep<'_>) -> Result<Losses> {
    let (steps, least) = (k as f64, 0.1 * fine.cut / k as f64);
    let [right, left] = curves.map(|curve| {
        let mut end = 1e-6;
        while end < 800.0 && curve(end) > least {
            end *= 1.1;
        }
        end
    });
    // A split of width h adds h²/8 at most to the mean.
    let finest = (4.0 * fine.spread / steps).sqrt().log2().floor().exp2();
    let step = finest.max(((left + right) / MOST_POINTS).log2().ceil().exp2());
    let [first, last] = [-left, right].map(|end| (end / step).floor() as i64);
    let mut above = Vec::new();
    for i in first..=last + 1 {
        if i % 256 == 0 && !keep(0.0, 256.0 * OF_A_CURVE) {
            return Err(STOPPED);
        }
        above.push(curves[0](step * i as f64).min(1.0));
    }
    Losses::below(step, first, above).trimmed(least).times(k, steps, fine, keep)
}

#[cfg(test)]
mod tests;
