//! Counts more spread than Poisson's: of mean μ = e^η and variance μ + μ²/r.

use barkeep_machine::{Binary, Source, Unary, Writer, digamma, ln_gamma, softplus};
use barkeep_num::vector::scalar::{exp, ln, sigmoid};

use crate::Prior;
use crate::family::{
    Family, FamilyEntry, Law, Link, Nuisance, NuisanceEntry, Predicted, Response, Seen, map,
};
use crate::variates::{gamma, poisson};

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "negative_binomial",
    links: &[Link::Log],
    response: Response::Count,
    nuisance: Some(&SIZE),
    constants: &[],
    build: |choice| Ok(Box::new(NegativeBinomial { size: choice.nuisance })),
};

static SIZE: NuisanceEntry = NuisanceEntry {
    key: "size",
    parameter: "log_size",
    meaning: "the known size r; the variance is mean + mean²/r",
    prior: |_| Prior::Exponential { rate: 0.1 },
    prior_words: "exponential(0.1)",
};

/// A count of mean μ = e^η and variance μ + μ²/r.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NegativeBinomial {
    /// r.
    pub size: Nuisance,
}

/// ∂ℓ/∂ ln r, from t = η − ln r.
#[inline(always)]
fn size_score(t: f64, y: f64, size: f64, at_size: f64) -> f64 {
    (y + size) * sigmoid(t) - y - size * softplus(t) + size * (digamma(y + size) - at_size)
}

impl Family for NegativeBinomial {
    fn nuisance(&self) -> Option<(&'static NuisanceEntry, Nuisance)> {
        Some((&SIZE, self.size))
    }

    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, log_size: f64) -> Source {
        let (y, size) = (seen.response, libm::exp(log_size));
        let t = w.sub(line, log_size);
        let minus = w.minus(t);
        let log_share = w.unary(Unary::LogSigmoid, minus);
        let (linear, all) = (w.mul(y, t), w.add(y, size));
        let others = w.mul(all, log_share);
        let kernel = w.add(linear, others);
        let ways = w.unary(Unary::LnGamma, all);
        let ways = w.sub(ways, ln_gamma(size));
        let density = w.add(kernel, ways);
        let orders = w.add(y, 1.0);
        let orders = w.unary(Unary::LnGamma, orders);
        w.sub(density, orders)
    }

    fn write_ratio(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        shift: Source,
        (log_from, log_to): (f64, f64),
    ) -> Source {
        let (before, after) = (libm::exp(log_from), libm::exp(log_to));
        let y = seen.response;
        // −t before and after the move, t = η − ln r.
        let from = w.sub(log_from, line);
        let moved = w.add(line, shift);
        let to = w.sub(log_to, moved);
        let shift = w.sub(shift, log_to - log_from);
        let linear = w.mul(y, shift);
        let difference = w.binary(Binary::LogSigmoidDifference, to, from);
        let all = w.add(y, before);
        let others = w.mul(all, difference);
        let log_share = w.unary(Unary::LogSigmoid, to);
        let grown = w.mul(after - before, log_share);
        let ratio = w.add(linear, others);
        let ratio = w.add(ratio, grown);
        if !self.size.is_unknown() {
            return ratio;
        }
        let (later, earlier) = (w.add(y, after), w.add(y, before));
        let (later, earlier) = (w.unary(Unary::LnGamma, later), w.unary(Unary::LnGamma, earlier));
        let ways = w.sub(later, earlier);
        let ways = w.sub(ways, ln_gamma(after) - ln_gamma(before));
        w.add(ratio, ways)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        log_size: f64,
    ) -> (Source, Option<Source>) {
        let (y, size) = (seen.response, libm::exp(log_size));
        let t = w.sub(line, log_size);
        let (share, all) = (w.unary(Unary::Sigmoid, t), w.add(y, size));
        let expected = w.mul(all, share);
        let score = w.sub(y, expected);
        let nuisance = self.size.is_unknown().then(|| {
            let minus = w.minus(t);
            let log_share = w.unary(Unary::LogSigmoid, minus);
            let (excess, others) = (w.sub(expected, y), w.mul(size, log_share));
            let ways = w.unary(Unary::Digamma, all);
            let ways = w.sub(ways, digamma(size));
            let ways = w.mul(size, ways);
            let sum = w.add(excess, others);
            w.add(sum, ways)
        });
        (score, nuisance)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], others: &mut [f64]) {
        let (size, t) = (libm::exp(at.log_nuisance), at.predictor - at.log_nuisance);
        let at_size = digamma(size);
        map(
            responses,
            slopes,
            #[inline(always)]
            |y| y - (y + size) * sigmoid(t),
        );
        map(
            responses,
            others,
            #[inline(always)]
            |y| size_score(t, y, size, at_size),
        );
    }

    fn law(&self) -> Option<Law> {
        Some(Law::NegativeBinomial)
    }

    fn information(&self, predictor: f64, size: f64, _trials: f64) -> f64 {
        size * sigmoid(predictor - libm::log(size))
    }

    /// E[(∂ℓ/∂ ln r)²], summed over counts until what is left does not matter.
    fn nuisance_information(&self, predictor: f64, size: f64) -> f64 {
        let t = predictor - libm::log(size);
        let (mut log_share, at_size) = (-size * softplus(t), digamma(size));
        let log_success = t - softplus(t);
        let (mut sum, mut total, mut y) = (0.0, 0.0, 0.0);
        // A million terms are enough for means up to a hundred thousand; beyond, the information is nearly ½.
        while total < 1.0 - 1e-12 && y < 1e6 {
            let share = exp(log_share);
            sum += share * size_score(t, y, size, at_size).powi(2);
            total += share;
            log_share += log_success + ln((y + size) / (y + 1.0));
            y += 1.0;
        }
        if sum.is_finite() { sum } else { 0.0 }
    }

    /// y − (y + r)·p with p in (0, 1).
    fn slope(&self, (low, high): (f64, f64), _trials: f64) -> Option<f64> {
        match self.size {
            Nuisance::Known(size) => Some(high.max(size - low.min(0.0))),
            Nuisance::Unknown(_) => None,
        }
    }

    fn simulate(&self, predictor: f64, size: f64, _trials: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        let rate = gamma(size, uniform) / size;
        poisson(libm::exp(predictor) * rate, uniform)
    }
}
