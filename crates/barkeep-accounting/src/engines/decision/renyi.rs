//! Bounds the Rényi divergence of one decision: closed forms where they exist, a certified supremum over t everywhere.
//!
//! **The supremum.** e^{(α−1)D_α} = p^α q^{1−α} + (1−p)^α (1−q)^{1−α} is jointly convex in (p, q), so over everything the adversary
//! can reach it is at most its maximum over the corners of the [envelope](super::envelope), in both directions.
//!
//! **Unbounded ranges.** Beyond the last cell, let f = ln p(t) for the rare outcome, and let its variable have an independent
//! normal part of variance s². Then p is a positive mixture of normal densities of variance s², so f'' ≥ −1/s², and
//! u(t) = αf(t) − (α−1)f(t−Δ) has u' ≥ f'(t) − (α−1)Δ/s². Where f' ≥ (α−1)Δ/s² for all t ≤ T, the rare outcome's term e^u is
//! largest at T; the other term is at most 1. Where that cannot be shown, the Gaussian release behind the bit bounds it.
//!
//! **Bounded range** (Barker; also Dong, Durfee, Rogers 2020 and Cesar, Rogers 2021). If the loss L takes values in an interval of
//! length Δ, ψ(α) = ln E_Q e^{αL} has ψ(0) = ψ(1) = 0 and ψ'' ≤ Δ²/4, the variance of a variable in such an interval. Taylor at
//! 1: D_α = ψ(α)/(α−1) ≤ ψ'(1) + (α−1)Δ²/8, and ψ'(1) = ∫₀¹ sψ''(s)ds ≤ Δ²/8: **Δ²/8-zCDP**. More precisely ψ'(1) is the divergence of
//! order 1, for a pair of coins with ratios r and Δ−r at most Δ/(e^Δ−1) − 1 − ln(Δ/(e^Δ−1)) = Δ²/8 + ξ, the maximum over
//! r. And D_α ≤ sup L ≤ Δ. So D_α ≤ min{Δ, ξ + αΔ²/8}.

use super::acceptance::Acceptance;
use super::envelope::{Envelope, Fineness};
use super::pair::Pair;
use crate::renyi::{Curve, Orders};
use crate::{Error, Order, Rho, Rule, Sensitivity};
use barkeep_num::up_by;

/// Steps of the order in the search for a zCDP bound; the bound is loose by at most this factor.
const ORDER_STEP: f64 = 1.002;

/// The least ρ that is reported: smaller ones come from squares near the end of the range of f64.
const SMALLEST_RHO: f64 = 1e-290;

/// How closely the curve is enclosed for one divergence.
const EXCESS: f64 = 1e-5;

/// Largest ln p(right)/p(left) over a cell of the curve.
const DECAY: f64 = 0.03;

/// ξ = ln((e^Δ−1)/Δ) + Δ/(e^Δ−1) − 1 − Δ²/8, at most 0; taken as 0 below 10⁻², where it is −Δ⁴/576 and would cancel.
fn below_bounded_range(sensitivity: f64) -> f64 {
    if sensitivity < 1e-2 {
        return 0.0;
    }
    let ratio = sensitivity / libm::expm1(sensitivity);
    let rounding = 8.0 * f64::EPSILON * (1.0 + sensitivity * sensitivity);
    (ratio - 1.0 - libm::log(ratio) - 0.125 * sensitivity * sensitivity + rounding).min(0.0)
}

/// min{Δ, ξ + αΔ²/8}: the Rényi divergence of order α of one Barker decision, or of any mechanism of bounded range Δ.
#[must_use]
pub fn bounded_range(sensitivity: Sensitivity, order: Order) -> f64 {
    let (sensitivity, order) = (sensitivity.get(), order.get());
    let quadratic = below_bounded_range(sensitivity) + 0.125 * order * sensitivity * sensitivity;
    quadratic.min(sensitivity) * (1.0 + 4.0 * f64::EPSILON)
}

impl Pair {
    /// D_α of the pair, from above.
    fn divergence(self, order: f64) -> f64 {
        let Self { toward, away } = self;
        let (gain, (likely, rest)) = (order - 1.0, self.masses());
        if gain * toward >= 600.0 {
            // e^{(α−1)D} = e^{(α−1)·toward}·(p + (1−p)e^{−(α−1)(toward+away)}).
            let sum = likely + rest * libm::exp(-gain * (toward + away));
            return toward + libm::log(sum * (1.0 + 1e-13)) / gain;
        }
        let (gained, lost) = (likely * libm::expm1(gain * toward), rest * libm::expm1(-gain * away));
        let rounding = 16.0 * f64::EPSILON * (gained - lost) * (1.0 + gain * toward);
        libm::log1p((gained + lost + rounding).max(0.0)) / gain * (1.0 + 4.0 * f64::EPSILON)
    }
}

/// A bound on the Rényi divergence of order α between one decision's outcomes on neighbouring data sets.
///
/// **Privacy.** Any neighbours whose log-ratios differ by at most the sensitivity, in both directions, whatever the log-ratio;
/// divergences of adaptively chosen steps add.
///
/// # Errors
/// [`Error::Argument`] or [`Error::Mismatch`] for an invalid rule, [`Error::Unbounded`] if no finite bound is found.
///
/// ```
/// use barkeep_accounting::{Order, Rule, Sensitivity, decision};
/// let (rule, step) = (Rule::Penalty { sigma: 1.0 }, Sensitivity::new(0.05)?);
/// let divergence = decision::divergence(&rule, step, Order::new(8.0)?)?;
/// // The Gaussian release behind it: αΔ²/(2σ²).
/// assert!(divergence < 0.5 * 8.0 * 0.05 * 0.05 / 2.0 * 1.2);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
pub fn divergence(rule: &dyn Acceptance, sensitivity: Sensitivity, order: Order) -> Result<f64, Error> {
    rule.check()?;
    let known = closed_form(rule, sensitivity, order);
    let found = supremum(rule, sensitivity.get(), order.get()).unwrap_or(f64::INFINITY);
    let divergence = known.min(found);
    if divergence.is_finite() {
        Ok(divergence)
    } else {
        Err(Error::Unbounded(
            "this rule's Renyi divergence is unbounded: a step can be certain on one side only",
        ))
    }
}

/// The Rényi curve of one decision, for composition with others order by order.
#[derive(Debug, Clone, PartialEq)]
pub struct Divergences {
    rule: Rule,
    sensitivity: Sensitivity,
}

impl Divergences {
    /// Checks the rule.
    ///
    /// # Errors
    /// As [`divergence`].
    pub fn new(rule: Rule, sensitivity: Sensitivity) -> Result<Self, Error> {
        rule.check()?;
        Ok(Self { rule, sensitivity })
    }
}

impl Curve for Divergences {
    fn orders(&self) -> Orders {
        Orders::Real
    }

    fn at(&self, order: Order) -> f64 {
        divergence(&self.rule, self.sensitivity, order).unwrap_or(f64::INFINITY)
    }
}

/// What is known without a search.
fn closed_form(rule: &dyn Acceptance, sensitivity: Sensitivity, order: Order) -> f64 {
    let step = sensitivity.get();
    let range = rule.accept_range(step).max(rule.reject_range(step));
    let concentrated = rule.zcdp(step).map_or(f64::INFINITY, |rho| rho * order.get());
    let bounded = if rule.bounded_range() { bounded_range(sensitivity, order) } else { f64::INFINITY };
    range.min(concentrated * (1.0 + 4.0 * f64::EPSILON)).min(bounded)
}

/// The maximum over the envelope, with as much of each unbounded tail enclosed as the order demands.
fn supremum(rule: &dyn Acceptance, sensitivity: f64, order: f64) -> Option<f64> {
    for tail in [1e-12, 1e-25, 1e-60, 1e-150, 1e-280] {
        let envelope =
            Envelope::new(rule, sensitivity, Fineness { excess: EXCESS, decay: DECAY, tail }).ok()?;
        let steep_enough = match rule.smoothing() {
            Some(variance) => (order - 1.0) * sensitivity / variance * (1.0 + 1e-9),
            None => f64::INFINITY,
        };
        if envelope.ends.iter().any(|end| end.steepness < steep_enough) {
            continue;
        }
        let corners = envelope.outer.iter().filter(|pair| pair.toward.is_finite());
        let inside = corners.map(|pair| pair.divergence(order)).fold(0.0, f64::max);
        let beyond = envelope.ends.iter().map(|end| {
            let ln_term = libm::log(end.p) + (order - 1.0) * libm::log(end.p / end.q);
            let term = libm::exp(ln_term + 1e-12 * order);
            libm::log1p(term) / (order - 1.0)
        });
        return Some(beyond.fold(inside, f64::max) * (1.0 + 4.0 * f64::EPSILON));
    }
    None
}

/// ρ such that one decision is ρ-zCDP: its Rényi divergence of every order α is at most ρα.
///
/// Barker: Δ²/8. Penalty and corrected: Δ²/(2s²) of the Gaussian release behind them, which no smaller number can replace: deep
/// in the tail of rejections D_α/α tends to it as α grows. A lazy rule post-processes the bit of the rule inside and has its ρ.
///
/// A filter charges this once a step, so a closed form is used wherever there is one. For a lazy rule the supremum over t and α
/// is smaller, but takes tens of milliseconds; only a rule without a closed form (lazy Metropolis) pays for it.
///
/// # Errors
/// As [`divergence`].
pub fn zcdp(rule: &dyn Acceptance, sensitivity: Sensitivity) -> Result<Rho, Error> {
    rule.check()?;
    let rho = match rule.zcdp(sensitivity.get()) {
        // Three roundings; below the floor a square may have lost its relative precision.
        Some(known) => up_by(known, 4).max(SMALLEST_RHO),
        None => concentrated_supremum(rule, sensitivity.get()),
    };
    if rho.is_finite() {
        Rho::new(rho)
    } else {
        Err(Error::Unbounded("this rule is not concentrated: a step can be certain on one side only"))
    }
}

/// sup D_α/α over orders and corners. D_α grows with α, so on [α, 1.002α] the quotient is at most D_{1.002α}/α; from the order on at
/// which D_∞/α falls below the best, nothing more can come.
pub(super) fn concentrated_supremum(rule: &dyn Acceptance, sensitivity: f64) -> f64 {
    let Ok(envelope) = Envelope::new(rule, sensitivity, Fineness { excess: 1e-4, decay: 0.5, tail: 1e-30 })
    else {
        return f64::INFINITY;
    };
    let furthest = envelope.outer.iter().map(|pair| pair.toward).fold(0.0, f64::max);
    if !furthest.is_finite() {
        return f64::INFINITY;
    }
    let (mut order, mut best) = (1.0, 0.0_f64);
    while best == 0.0 || furthest > best * order {
        let next = order * ORDER_STEP;
        let largest = envelope.outer.iter().map(|pair| pair.divergence(next)).fold(0.0, f64::max);
        best = best.max(largest / order * (1.0 + 4.0 * f64::EPSILON));
        order = next;
        if order > 1e12 {
            return f64::INFINITY;
        }
    }
    best
}
