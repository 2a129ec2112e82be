//! Waits: y failures before the first success, of mean e^η. A toy that shows what adding a family takes.

use barkeep_machine::{Binary, Source, Unary, Writer};

use crate::family::{Family, FamilyEntry, Link, Response, Seen};

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "geometric",
    links: &[Link::Log],
    response: Response::Count,
    nuisance: None,
    constants: &[],
    build: |_| Ok(Box::new(Geometric)),
};

/// P(y) = q(1 − q)^y with 1 − q = 1/(1 + e^−η).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometric;

/// ln(1 + e^η).
fn soft(predictor: f64) -> f64 {
    predictor.max(0.0) + libm::log1p(libm::exp(-predictor.abs()))
}

/// 1/(1 + e^−η).
fn failure(predictor: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-predictor))
}

impl Family for Geometric {
    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, _log_nuisance: f64) -> Source {
        let minus = w.minus(line);
        let log_success = w.unary(Unary::LogSigmoid, minus);
        let (linear, tries) = (w.mul(seen.response, line), w.add(seen.response, 1.0));
        w.fused(tries, log_success, linear)
    }

    fn write_ratio(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        shift: Source,
        _log_nuisances: (f64, f64),
    ) -> Source {
        let before = w.minus(line);
        let after = w.sub(before, shift);
        let log_success = w.binary(Binary::LogSigmoidDifference, after, before);
        let (linear, tries) = (w.mul(seen.response, shift), w.add(seen.response, 1.0));
        w.fused(tries, log_success, linear)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        _log_nuisance: f64,
    ) -> (Source, Option<Source>) {
        let failure = w.unary(Unary::Sigmoid, line);
        let tries = w.add(seen.response, 1.0);
        let expected = w.mul(tries, failure);
        (w.sub(seen.response, expected), None)
    }

    fn information(&self, predictor: f64, _nuisance: f64, _trials: f64) -> f64 {
        failure(predictor)
    }

    fn slope(&self, (_, most): (f64, f64), _trials: f64) -> Option<f64> {
        Some(most.max(1.0))
    }

    fn simulate(
        &self,
        predictor: f64,
        _nuisance: f64,
        _trials: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        (libm::log(uniform()) / -soft(-predictor)).floor()
    }
}
