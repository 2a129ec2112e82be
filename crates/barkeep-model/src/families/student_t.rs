//! Responses with heavy tails: (y − η)/s follows Student's t.

use barkeep_machine::{Source, Unary, Writer};

use crate::error::require_positive;
use crate::family::{
    Family, FamilyEntry, Law, Link, Nuisance, NuisanceEntry, Predicted, Response, Seen, map,
};
use crate::settings::key;
use crate::variates::student_t;
use crate::{Error, Prior};

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "student_t",
    links: &[Link::Identity],
    response: Response::Real,
    nuisance: Some(&SCALE),
    constants: &[key("degrees", "4", "degrees of freedom")],
    build: |choice| {
        let degrees = choice.settings.positive("degrees")?.unwrap_or(4.0);
        Ok(Box::new(StudentT { degrees, scale: choice.nuisance }))
    },
};

static SCALE: NuisanceEntry = NuisanceEntry {
    key: "scale",
    parameter: "log_scale",
    meaning: "the known scale, in the unit the response's column's scale gives it",
    prior: |unit| Prior::HalfNormal { scale: unit },
    prior_words: "half_normal(u)",
};

/// (y − η)/s ~ Student's t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StudentT {
    /// The degrees of freedom ν.
    pub degrees: f64,
    /// s.
    pub scale: Nuisance,
}

impl Family for StudentT {
    fn nuisance(&self) -> Option<(&'static NuisanceEntry, Nuisance)> {
        Some((&SCALE, self.scale))
    }

    fn check(&self) -> Result<(), Error> {
        require_positive("degrees", &[self.degrees])
    }

    fn works_on_residuals(&self) -> bool {
        true
    }

    fn write_density(&self, w: &mut Writer, _seen: Seen, residual: Source, log_scale: f64) -> Source {
        let (degrees, spread) = (self.degrees, libm::exp(log_scale));
        let start = barkeep_num::ln_gamma(0.5 * (degrees + 1.0))
            - barkeep_num::ln_gamma(0.5 * degrees)
            - 0.5 * libm::log(degrees * std::f64::consts::PI)
            - log_scale;
        let square = w.unary(Unary::Square, residual);
        let square = w.mul(square, 1.0 / (degrees * spread * spread));
        let grown = w.add(1.0, square);
        let log = w.unary(Unary::Ln, grown);
        let kernel = w.mul(-0.5 * (degrees + 1.0), log);
        w.add(kernel, start)
    }

    /// (1 + e'²/νs'²)/(1 + e²/νs²) to the power −½(ν+1), times s/s'.
    fn write_ratio(
        &self,
        w: &mut Writer,
        _seen: Seen,
        middle: Source,
        shift: Source,
        (log_from, log_to): (f64, f64),
    ) -> Source {
        let (before, after) = (libm::exp(log_from), libm::exp(log_to));
        let (then, now) = (self.degrees * before * before, self.degrees * after * after);
        let half = w.mul(0.5, shift);
        let (residual, moved) = (w.add(middle, half), w.sub(middle, half));
        let (residual, moved) = (w.unary(Unary::Square, residual), w.unary(Unary::Square, moved));
        let (below, above) = (w.add(then, residual), w.add(now, moved));
        let above = w.mul(then / now, above);
        let quotient = w.div(above, below);
        let log = w.unary(Unary::Ln, quotient);
        let ratio = w.mul(-0.5 * (self.degrees + 1.0), log);
        w.add(ratio, log_from - log_to)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        _seen: Seen,
        residual: Source,
        log_scale: f64,
    ) -> (Source, Option<Source>) {
        let scale = libm::exp(log_scale);
        let weight = self.degrees + 1.0;
        let square = w.unary(Unary::Square, residual);
        let below = w.add(self.degrees * scale * scale, square);
        let weighted = w.mul(weight, residual);
        let score = w.div(weighted, below);
        let nuisance = self.scale.is_unknown().then(|| {
            let share = w.div(square, below);
            let weighted = w.mul(weight, share);
            w.sub(weighted, 1.0)
        });
        (score, nuisance)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], others: &mut [f64]) {
        let (centre, scale) = (at.predictor, libm::exp(at.log_nuisance));
        let (weight, spread) = (self.degrees + 1.0, self.degrees * scale * scale);
        map(responses, slopes, |y| weight * (y - centre) / (spread + (y - centre) * (y - centre)));
        map(responses, others, |y| {
            let square = (y - centre) * (y - centre);
            weight * (square / (spread + square)) - 1.0
        });
    }

    fn law(&self) -> Option<Law> {
        Some(Law::StudentT { degrees: self.degrees })
    }

    fn information(&self, _predictor: f64, scale: f64, _trials: f64) -> f64 {
        (self.degrees + 1.0) / (self.degrees + 3.0) * scale.powi(-2)
    }

    fn nuisance_information(&self, _predictor: f64, _scale: f64) -> f64 {
        2.0 * self.degrees / (self.degrees + 3.0)
    }

    /// (ν+1)·|e|/(νs² + e²) is largest at |e| = √ν·s.
    fn slope(&self, _response: (f64, f64), _trials: f64) -> Option<f64> {
        match self.scale {
            Nuisance::Known(scale) => Some((self.degrees + 1.0) / (2.0 * self.degrees.sqrt() * scale)),
            Nuisance::Unknown(_) => None,
        }
    }

    /// −∂²ℓ/∂η² is (ν+1)/(νs²) at e = 0, where most records lie while the scale is too large; the information is
    /// (ν+1)/((ν+3)s²).
    fn curvature(&self) -> f64 {
        (self.degrees + 3.0) / self.degrees
    }

    fn simulate(&self, predictor: f64, scale: f64, _trials: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        predictor + scale * student_t(self.degrees, uniform)
    }
}
