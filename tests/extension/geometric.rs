//! Waits: y failures before the first success, of mean e^η. A toy that shows what adding a family takes.

use crate::family::{Family, FamilyEntry, Link, Observed, Response};

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
    fn log_density(&self, observed: Observed<'_>, _log_nuisance: f64, out: &mut [f64]) {
        for (out, y) in out.iter_mut().zip(observed.response) {
            *out = y * *out - (y + 1.0) * soft(*out);
        }
    }

    fn log_ratio(&self, observed: Observed<'_>, shift: &[f64], _log_nuisances: (f64, f64), out: &mut [f64]) {
        for ((out, shift), y) in out.iter_mut().zip(shift).zip(observed.response) {
            *out = y * shift - (y + 1.0) * (soft(*out + shift) - soft(*out));
        }
    }

    fn score(
        &self,
        observed: Observed<'_>,
        _log_nuisance: f64,
        score: &mut [f64],
        _nuisance_score: &mut [f64],
    ) {
        for (score, y) in score.iter_mut().zip(observed.response) {
            *score = y - (y + 1.0) * failure(*score);
        }
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
