//! Yes or no: y is 1 with probability p(η), else 0.

use barkeep_machine::{Binary, Source, Unary, Writer};
use barkeep_num::vector::scalar::{short_sigmoid, sigmoid};
use barkeep_num::{erfcx, normal_cdf};

use crate::Error;
use crate::family::{Family, FamilyEntry, Law, Link, Predicted, Response, Seen, flip, map};

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "bernoulli",
    links: &[Link::Logit, Link::Probit],
    response: Response::Binary,
    nuisance: None,
    constants: &[],
    build: |choice| match choice.link {
        Link::Logit => Ok(Box::new(Logit)),
        Link::Probit => Ok(Box::new(Probit)),
        Link::Identity | Link::Log => {
            Err(Error::Key { key: "link", requirement: "must be \"logit\" or \"probit\"" })
        }
    },
};

/// p = 1/(1 + e^(−η)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Logit;

impl Family for Logit {
    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, _log_nuisance: f64) -> Source {
        let linear = w.mul(seen.response, line);
        let minus = w.minus(line);
        let log_share = w.unary(Unary::LogSigmoid, minus);
        w.add(linear, log_share)
    }

    fn write_ratio(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        shift: Source,
        _log_nuisances: (f64, f64),
    ) -> Source {
        let linear = w.mul(seen.response, shift);
        let before = w.minus(line);
        let after = w.sub(before, shift);
        let moved = w.binary(Binary::LogSigmoidDifference, after, before);
        w.add(linear, moved)
    }

    /// To 2.3·10⁻¹⁰ of its size: see [`short_sigmoid`].
    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        _log_nuisance: f64,
    ) -> (Source, Option<Source>) {
        let share = w.unary(Unary::ShortSigmoid, line);
        (w.sub(seen.response, share), None)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], _others: &mut [f64]) {
        map(
            responses,
            slopes,
            #[inline(always)]
            |y| y - short_sigmoid(at.predictor),
        );
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Logit)
    }

    fn information(&self, _predictor: f64, _nuisance: f64, _trials: f64) -> f64 {
        0.25
    }

    fn slope(&self, (low, high): (f64, f64), _trials: f64) -> Option<f64> {
        Some(high.max(1.0 - low))
    }

    fn simulate(
        &self,
        predictor: f64,
        _nuisance: f64,
        _trials: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        flip(sigmoid(predictor), uniform)
    }
}

/// p = Φ(η).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probit;

/// 2y − 1, the sign of a predictor that makes the response likely.
fn towards(w: &mut Writer, seen: Seen) -> Source {
    let double = w.mul(2.0, seen.response);
    w.sub(double, 1.0)
}

/// d ln Φ(t)/dt = φ(t)/Φ(t), about −t far below.
fn hazard(t: f64) -> f64 {
    /// √(2/π).
    const SCALE: f64 = 0.797_884_560_802_865_4;
    if t < 0.0 {
        SCALE / erfcx(-t * std::f64::consts::FRAC_1_SQRT_2)
    } else {
        0.5 * SCALE * libm::exp(-0.5 * t * t) / normal_cdf(t)
    }
}

impl Family for Probit {
    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, _log_nuisance: f64) -> Source {
        let towards = towards(w, seen);
        let t = w.mul(towards, line);
        w.unary(Unary::LnNormalCdf, t)
    }

    fn write_ratio(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        shift: Source,
        _log_nuisances: (f64, f64),
    ) -> Source {
        let towards = towards(w, seen);
        let moved = w.add(line, shift);
        let (before, after) = (w.mul(towards, line), w.mul(towards, moved));
        let (before, after) = (w.unary(Unary::LnNormalCdf, before), w.unary(Unary::LnNormalCdf, after));
        w.sub(after, before)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        _log_nuisance: f64,
    ) -> (Source, Option<Source>) {
        let towards = towards(w, seen);
        let t = w.mul(towards, line);
        let hazard = w.unary(Unary::Mills, t);
        (w.mul(towards, hazard), None)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], _others: &mut [f64]) {
        for (slope, y) in slopes.iter_mut().zip(responses) {
            let sign = 2.0 * y - 1.0;
            *slope = sign * hazard(sign * at.predictor);
        }
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Probit)
    }

    fn information(&self, _predictor: f64, _nuisance: f64, _trials: f64) -> f64 {
        std::f64::consts::FRAC_2_PI
    }

    /// −∂²ℓ/∂η² tends to 1 where the response is improbable; the information is at most 2/π.
    fn curvature(&self) -> f64 {
        std::f64::consts::FRAC_PI_2
    }

    fn simulate(
        &self,
        predictor: f64,
        _nuisance: f64,
        _trials: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        flip(normal_cdf(predictor), uniform)
    }
}
