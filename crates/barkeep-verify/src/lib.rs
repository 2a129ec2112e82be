//! Recomputes the ε of a bill by plain, slow code that shares nothing with the accountant that found it.
//!
//! The accountant (`barkeep-accounting`) searches, transforms and caches: 11 000 lines. This crate only answers "is ε of this bill at most about that?", in
//! under a thousand lines that one person can read in a day. It has no Fourier transform, no search for speed, and depends on no other crate of the
//! workspace. A certificate is refused where the two disagree by more than 5 %.
//!
//! # The nouns
//! A [`Bill`] is what a certificate says its run pays, read from the certificate's own text. [`Bill::check`] returns [`Checked`]: an upper bound on ε, and with it δ at
//! every ε and what that means for one person. Or [`Unchecked`]: why there is no answer.
//!
//! # What is proved where
//! | file | claim |
//! | --- | --- |
//! | `interval.rs` | every rounding goes outwards; exp, ln and the normal tail are enclosed |
//! | `losses.rs` | discretisation, coarsening, truncation and composition only raise δ |
//! | `curves.rs` | the privacy curve of one Gaussian step, on all records or a batch; of a zCDP filter |
//! | `rule.rs`, `decisions.rs` | any number of acceptance bits, steered by an adversary, alone or between other releases |
//! | `minibatch.rs` | Barker's test on a batch |
//! | this file | the rounding of coins, and the risk for one person |
//!
//! # What is believed
//! That the bill is what the gate charges, that the cited theorems hold (Zhu, Dong, Wang 2022; Balle, Barthe, Gaboardi 2018; Canonne, Kamath, Steinke 2020; Smith and
//! Thakurta 2022; Prékopa 1973), that the processor follows IEEE 754, and the stated bounds on the error of a computed coin.

mod bill;
mod curves;
mod decisions;
mod interval;
mod losses;
mod minibatch;
mod rule;

pub use bill::Bill;

use curves::{gaussian, mirrored, zcdp};
use interval::at;
use losses::Losses;

/// A finished check may be this much above the claim it checks; above that, one of the two is wrong.
pub const TOLERANCE: f64 = 0.05;

/// Why a bill was not checked. It says nothing about the bill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unchecked(&'static str);

/// The caller ended the check.
pub const STOPPED: Unchecked = Unchecked("the check did not finish in time");

/// An answer, or why there is none.
pub type Result<T> = std::result::Result<T, Unchecked>;

/// A bill's ε, computed again, and δ at every other ε.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checked {
    /// μ of all Gaussian answers on all records; part of `directions` where those are not empty.
    mu: f64,
    /// ρ of a filter.
    rho: f64,
    /// Composed losses for each order of two neighbours.
    directions: Vec<Losses>,
    /// By how much the rounding of coins may raise ε, and half of it ln δ.
    coins: f64,
    /// By how much it may raise δ.
    coins_delta: f64,
    epsilon: f64,
}

/// What a bill means for one person whose record is in the data or not: upper bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Risk {
    /// The most by which an attack's true-positive rate exceeds its false-positive rate.
    pub advantage: f64,
    /// The largest true-positive rate of an attack with 1 % false positives.
    pub true_positives_at_1_percent: f64,
    /// The largest true-positive rate of an attack with 0.1 % false positives.
    pub true_positives_at_0_1_percent: f64,
}

impl Checked {
    /// An upper bound on ε at the δ of the check.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Whether the check contradicts a claimed ε: it is more than [`TOLERANCE`] above it.
    #[must_use]
    pub fn contradicts(&self, claim: f64) -> bool {
        // A claim of nearly nothing is compared with what lattices resolve.
        self.epsilon > claim * (1.0 + TOLERANCE) + 1e-6
    }

    /// Coins flipped with computed probabilities p' instead of p, with p ≤ e^ρ·p' and p' ≤ e^ρ·p + β, k of them: (ε, δ) becomes (ε + 2kρ, e^(kρ)(δ + kβ)).
    ///
    /// Replace the ideal coins one at a time. An event of probability p becomes one of at most e^ρ·p + β: given the past let it have probability x after one outcome and y ≤ x
    /// after the other; then p'x + (1−p')y = y + p'(x − y) ≤ e^ρ(px + (1−p)y) + β. So P' ≤ e^(kρ)(P + kβ), and Q ≤ e^(kρ)Q' for the probability of every path. Put
    /// P ≤ e^ε·Q + δ between them.
    fn add_coins(&mut self, (relative, absolute): (f64, f64), steps: u64) {
        let steps = at((steps as f64).next_up());
        if relative > 0.0 {
            self.coins = (steps * (2.0 * relative) + self.coins).hi;
            self.coins_delta = (steps * absolute + self.coins_delta).hi;
        }
    }

    /// δ at ε, an upper bound.
    #[must_use]
    pub fn delta(&self, epsilon: f64) -> f64 {
        if self.coins == 0.0 {
            return self.ideal(epsilon);
        }
        let ideal = self.ideal((epsilon - self.coins).next_down());
        ((at(ideal) + self.coins_delta) * at(0.5 * self.coins).exp()).hi.min(1.0)
    }

    /// The same with ideal coins, also at an ε below 0.
    fn ideal(&self, epsilon: f64) -> f64 {
        if self.rho > 0.0 {
            let delta = zcdp(self.rho, epsilon.abs());
            // ρ bounds both orders of two neighbours, so the mirror image of its curve serves below 0.
            return if epsilon < 0.0 { mirrored(epsilon, delta) } else { delta };
        }
        if !self.directions.is_empty() {
            return self.directions.iter().map(|losses| losses.delta(epsilon)).fold(0.0, f64::max).min(1.0);
        }
        if self.mu > 0.0 { gaussian(self.mu, epsilon).hi } else { (-at(epsilon).exp_m1()).hi.max(0.0) }
    }

    /// The least ε that bisection finds with δ(ε) ≤ δ; infinite where there is none up to 2000.
    fn least_epsilon(&self, delta: f64) -> f64 {
        let (mut low, mut high) = (0.0, 2000.0);
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            if self.delta(middle) <= delta { high = middle } else { low = middle }
        }
        if self.delta(high) <= delta { high } else { f64::INFINITY }
    }

    /// What the bill means for one person.
    ///
    /// An attack that says "in" with probability α where the record is out says so where it is in with probability at most δ(ε) + e^ε·α, for every ε ≥ 0, and at most
    /// 1 − e^(−ε)(1 − δ(ε) − α): (ε, δ) for the two orders of the neighbours. The advantage is δ(0).
    #[must_use]
    pub fn risk(&self) -> Risk {
        let place = |k: u32| 1.2 * self.epsilon.max(1e-3) * f64::from(k) / f64::from(RISK_POINTS);
        let points: Vec<(f64, f64)> = (0..=RISK_POINTS).map(place).map(|e| (e, self.delta(e))).collect();
        let hits = |rate: f64| {
            points.iter().fold(1.0_f64, |least, (epsilon, delta)| {
                let steep = at(*epsilon).exp() * rate + *delta;
                let flat = at(1.0) - at(-epsilon).exp() * (at(1.0) - *delta - rate);
                least.min(steep.hi).min(flat.hi)
            })
        };
        Risk {
            advantage: self.delta(0.0),
            true_positives_at_1_percent: hits(0.01),
            true_positives_at_0_1_percent: hits(0.001),
        }
    }
}

/// Values of ε among which the best is chosen for each rate.
const RISK_POINTS: u32 = 200;
