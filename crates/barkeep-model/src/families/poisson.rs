//! Counts: y ~ Poisson(e^η).

use barkeep_machine::{Source, Unary, Writer};
use barkeep_num::vector::scalar::exp;

use crate::family::{Family, FamilyEntry, Law, Link, Predicted, Response, Seen, map};
use crate::variates::poisson;

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "poisson",
    links: &[Link::Log],
    response: Response::Count,
    nuisance: None,
    constants: &[],
    build: |_| Ok(Box::new(Poisson)),
};

/// y ~ Poisson(e^η).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poisson;

impl Family for Poisson {
    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, _log_nuisance: f64) -> Source {
        let (linear, mean) = (w.mul(seen.response, line), w.unary(Unary::Exp, line));
        let kernel = w.sub(linear, mean);
        let orders = w.add(seen.response, 1.0);
        let orders = w.unary(Unary::LnGamma, orders);
        w.sub(kernel, orders)
    }

    fn write_ratio(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        shift: Source,
        _log_nuisances: (f64, f64),
    ) -> Source {
        let (linear, moved) = (w.mul(seen.response, shift), w.add(line, shift));
        let (before, after) = (w.unary(Unary::Exp, line), w.unary(Unary::Exp, moved));
        let grown = w.sub(after, before);
        w.sub(linear, grown)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        _log_nuisance: f64,
    ) -> (Source, Option<Source>) {
        let mean = w.unary(Unary::Exp, line);
        (w.sub(seen.response, mean), None)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], _others: &mut [f64]) {
        map(
            responses,
            slopes,
            #[inline(always)]
            |y| y - exp(at.predictor),
        );
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Poisson)
    }

    fn information(&self, predictor: f64, _nuisance: f64, _trials: f64) -> f64 {
        libm::exp(predictor)
    }

    fn simulate(
        &self,
        predictor: f64,
        _nuisance: f64,
        _trials: f64,
        uniform: &mut dyn FnMut() -> f64,
    ) -> f64 {
        poisson(libm::exp(predictor), uniform)
    }
}
