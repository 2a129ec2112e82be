//! Makes curves that only tests ask for: dots from both sides, any mechanism on a batch, one direction alone.

use std::sync::Arc;

use super::super::dominating_pair::{DominatingPair, bad_dots};
use super::super::knots::{dominated, dominating};
use super::super::tabulated::{Function, Sampled, Tabulated};
use crate::{Error, Rate};

impl DominatingPair {
    /// As [`DominatingPair::from_dots`], with dots (ε, lower δ, upper δ) between which the curve passes.
    ///
    /// # Errors
    /// As there, and if a lower δ is above the upper.
    pub(super) fn from_dots_between(dots: &[(f64, f64, f64)]) -> Result<Self, Error> {
        let above: Vec<(f64, f64)> = dots.iter().map(|(epsilon, _, upper)| (*epsilon, *upper)).collect();
        let upper = dominating(&above).filter(|_| !dots.is_empty()).ok_or_else(|| bad_dots(dots.len()))?;
        let lower = Some(dominated(dots).ok_or_else(|| bad_dots(dots.len()))?);
        Ok(Self::symmetric(Tabulated::new(upper, lower)))
    }

    /// Any mechanism on a Poisson batch, given the curve δ(ε) that bounds both of its directions under add/remove.
    ///
    /// Remove: q·δ at b = (a−1+q)/q, a = e^ε. Add: (1−a(1−q))·δ at b = aq/(1−a(1−q)).
    /// (Zhu, Dong, Wang 2022, Theorem 11; Li, Qardaji, Su 2012.)
    pub(super) fn poisson(delta: impl Fn(f64) -> (f64, f64) + Send + Sync + 'static, rate: Rate) -> Self {
        let base: Function = Arc::new(delta);
        let (forward, backward) = (removed(&base, rate.get()), added(&base, rate.get()));
        Self::directed(Sampled { function: forward }, Sampled { function: backward }, true)
    }

    /// Any mechanism on a batch drawn without replacement, given the curve δ(ε) that bounds both of its directions under substitution.
    ///
    /// Two branches: q·δ at b = (a−1+q)/q for a = e^ε ≥ 1, (1−a(1−q))·δ at b = aq/(1−a(1−q)) for a < 1
    /// (Zhu, Dong, Wang 2022, Proposition 30).
    pub(super) fn without_replacement(
        delta: impl Fn(f64) -> (f64, f64) + Send + Sync + 'static,
        rate: Rate,
    ) -> Self {
        let base: Function = Arc::new(delta);
        Self::symmetric(Sampled { function: without_replacement(&base, rate.get()) })
    }

    /// P against Q alone, for those who know that only this direction can occur: one record is removed, never added.
    pub(super) fn forward(&self) -> Self {
        Self { backward: None, aligned: false, ..self.clone() }
    }

    /// Q against P alone.
    pub(super) fn backward(&self) -> Self {
        let forward = self.backward.as_ref().unwrap_or(&self.forward);
        Self { forward: Arc::clone(forward), backward: None, aligned: false, gaussian: self.gaussian }
    }
}

/// Poisson sampling at rate q of a pair (P, Q) for one record more against one less.
///
/// Remove: H_a((1−q)Q+qP ‖ Q) = q·H_b(P ‖ Q), b = (a−1+q)/q, and 1 − a for a ≤ 1 − q.
fn removed(base: &Function, rate: f64) -> Function {
    let base = Arc::clone(base);
    Arc::new(move |epsilon| {
        let excess = libm::expm1(epsilon) / rate;
        if excess <= -1.0 {
            let certain = -libm::expm1(epsilon);
            return (certain * (1.0 - 1e-15), certain * (1.0 + 1e-15));
        }
        let inner = libm::log1p(excess);
        widened(rate, inner, &base)
    })
}

/// Add: H_a(P ‖ (1−q)P+qQ) = (1−a(1−q))·H_b(P ‖ Q), b = aq/(1−a(1−q)), and 0 for a ≥ 1/(1−q).
fn added(base: &Function, rate: f64) -> Function {
    let base = Arc::clone(base);
    Arc::new(move |epsilon| {
        let rest = rate * libm::exp(epsilon) - libm::expm1(epsilon);
        if rest <= 1e-300 {
            return (0.0, 1e-300);
        }
        let inner = epsilon + libm::log(rate) - libm::log(rest);
        widened(rest, inner, &base)
    })
}

/// `factor` times the base at an inner ε that is known to a few units in the last place only.
fn widened(factor: f64, inner: f64, base: &Function) -> (f64, f64) {
    let slack = 16.0 * f64::EPSILON * (1.0 + inner.abs());
    let (lower, upper) = (base(inner + slack).0, base(inner - slack).1);
    (factor * lower * (1.0 - 1e-14), factor * upper * (1.0 + 1e-14))
}

/// Batches without replacement under substitution: [`removed`] for ε ≥ 0, [`added`] for ε < 0.
fn without_replacement(base: &Function, rate: f64) -> Function {
    let (above, below) = (removed(base, rate), added(base, rate));
    Arc::new(move |epsilon| if epsilon >= 0.0 { above(epsilon) } else { below(epsilon) })
}
