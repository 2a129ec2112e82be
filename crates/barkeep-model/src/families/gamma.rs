//! Positive numbers: y follows a gamma law of mean μ = e^η and variance μ²/α.

use barkeep_machine::{Source, Unary, Writer, digamma, trigamma};
use barkeep_num::vector::scalar::{exp, ln};

use crate::Prior;
use crate::family::{
    Family, FamilyEntry, Law, Link, Nuisance, NuisanceEntry, Predicted, Response, Seen, map,
};
use crate::variates::gamma;

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "gamma",
    links: &[Link::Log],
    response: Response::Positive,
    nuisance: Some(&SHAPE),
    constants: &[],
    build: |choice| Ok(Box::new(Gamma { shape: choice.nuisance })),
};

static SHAPE: NuisanceEntry = NuisanceEntry {
    key: "shape",
    parameter: "log_shape",
    meaning: "the known shape; the variance is mean²/shape",
    prior: |_| Prior::Exponential { rate: 0.1 },
    prior_words: "exponential(0.1)",
};

/// A positive number of mean μ = e^η and variance μ²/α; α = 1 is the exponential law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    /// α.
    pub shape: Nuisance,
}

impl Family for Gamma {
    fn nuisance(&self) -> Option<(&'static NuisanceEntry, Nuisance)> {
        Some((&SHAPE, self.shape))
    }

    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, log_shape: f64) -> Source {
        let shape = libm::exp(log_shape);
        let log_y = w.unary(Unary::Ln, seen.response);
        let excess = w.sub(log_y, line);
        let share = w.unary(Unary::Exp, excess);
        let apart = w.sub(excess, share);
        let kernel = w.mul(shape, apart);
        let kernel = w.sub(kernel, log_y);
        w.add(kernel, shape * log_shape - barkeep_num::ln_gamma(shape))
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
        let start = (after * log_to - before * log_from)
            - (barkeep_num::ln_gamma(after) - barkeep_num::ln_gamma(before));
        // ln y − η, whose exponential is y/μ.
        let log_y = w.unary(Unary::Ln, seen.response);
        let excess = w.sub(log_y, line);
        let moved = w.sub(excess, shift);
        let (then, now) = (w.unary(Unary::Exp, excess), w.unary(Unary::Exp, moved));
        let (then, now) = (w.mul(before, then), w.mul(after, now));
        let (grown, shifted) = (w.mul(after - before, excess), w.mul(after, shift));
        let (linear, shares) = (w.sub(grown, shifted), w.sub(now, then));
        let ratio = w.sub(linear, shares);
        w.add(ratio, start)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        log_shape: f64,
    ) -> (Source, Option<Source>) {
        let shape = libm::exp(log_shape);
        let minus = w.minus(line);
        let rate = w.unary(Unary::Exp, minus);
        let share = w.mul(seen.response, rate);
        let excess = w.sub(share, 1.0);
        let score = w.mul(shape, excess);
        let nuisance = self.shape.is_unknown().then(|| {
            let log_y = w.unary(Unary::Ln, seen.response);
            let excess = w.sub(log_y, line);
            let share = w.unary(Unary::Exp, excess);
            let linear = w.add(log_shape + 1.0 - digamma(shape), excess);
            let apart = w.sub(linear, share);
            w.mul(shape, apart)
        });
        (score, nuisance)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], others: &mut [f64]) {
        let Predicted { predictor, log_nuisance, .. } = at;
        let shape = libm::exp(log_nuisance);
        let start = log_nuisance + 1.0 - digamma(shape);
        map(
            responses,
            slopes,
            #[inline(always)]
            |y| shape * (y * exp(-predictor) - 1.0),
        );
        map(
            responses,
            others,
            #[inline(always)]
            |y| {
                let excess = ln(y) - predictor;
                shape * (start + excess - exp(excess))
            },
        );
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Gamma)
    }

    fn information(&self, _predictor: f64, shape: f64, _trials: f64) -> f64 {
        shape
    }

    fn nuisance_information(&self, _predictor: f64, shape: f64) -> f64 {
        shape * (shape * trigamma(shape) - 1.0)
    }

    fn simulate(&self, predictor: f64, shape: f64, _trials: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        libm::exp(predictor) * gamma(shape, uniform) / shape
    }
}
