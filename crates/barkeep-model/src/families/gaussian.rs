//! Normal responses: y ~ N(η, σ²).

use crate::Prior;
use crate::family::{
    Family, FamilyEntry, Law, Link, Nuisance, NuisanceEntry, Predicted, Response, Seen, map,
};
use crate::variates::normal;
use barkeep_machine::{Source, Writer};

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "gaussian",
    links: &[Link::Identity],
    response: Response::Real,
    nuisance: Some(&SD),
    constants: &[],
    build: |choice| Ok(Box::new(Gaussian { sd: choice.nuisance })),
};

static SD: NuisanceEntry = NuisanceEntry {
    key: "sd",
    parameter: "log_sd",
    meaning: "the known standard deviation of the response around its mean, in the unit its column's scale gives it",
    prior: |unit| Prior::HalfNormal { scale: unit },
    prior_words: "half_normal(u)",
};

/// y ~ N(η, σ²).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    /// σ.
    pub sd: Nuisance,
}

impl Family for Gaussian {
    fn nuisance(&self) -> Option<(&'static NuisanceEntry, Nuisance)> {
        Some((&SD, self.sd))
    }

    fn works_on_residuals(&self) -> bool {
        true
    }

    fn write_density(&self, w: &mut Writer, _seen: Seen, residual: Source, log_sd: f64) -> Source {
        let weighted = w.mul(-0.5 * libm::exp(-2.0 * log_sd), residual);
        let square = w.mul(weighted, residual);
        w.add(square, -log_sd - 0.5 * libm::log(std::f64::consts::TAU))
    }

    /// With D = η'−η, m = y − ½(η+η') and e = y − η = m + ½D: D·m/σ'² + ½(1/σ² − 1/σ'²)e² + ln σ/σ'.
    fn write_ratio(
        &self,
        w: &mut Writer,
        _seen: Seen,
        middle: Source,
        shift: Source,
        (log_from, log_to): (f64, f64),
    ) -> Source {
        let precision = libm::exp(-2.0 * log_to);
        let excess = 0.5 * precision * libm::expm1(2.0 * (log_to - log_from));
        let half = w.mul(0.5, shift);
        let residual = w.add(middle, half);
        let linear = w.mul(precision, shift);
        let linear = w.mul(linear, middle);
        let square = w.mul(excess, residual);
        let square = w.mul(square, residual);
        let square = w.add(square, log_from - log_to);
        w.add(linear, square)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        _seen: Seen,
        residual: Source,
        log_sd: f64,
    ) -> (Source, Option<Source>) {
        let score = w.mul(libm::exp(-2.0 * log_sd), residual);
        let nuisance = self.sd.is_unknown().then(|| {
            let square = w.mul(score, residual);
            w.sub(square, 1.0)
        });
        (score, nuisance)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], others: &mut [f64]) {
        let (mean, precision) = (at.predictor, libm::exp(-2.0 * at.log_nuisance));
        map(responses, slopes, |y| precision * (y - mean));
        map(responses, others, |y| precision * (y - mean) * (y - mean) - 1.0);
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Normal)
    }

    fn information(&self, _predictor: f64, sd: f64, _trials: f64) -> f64 {
        sd.powi(-2)
    }

    fn nuisance_information(&self, _predictor: f64, _sd: f64) -> f64 {
        2.0
    }

    fn known_sd(&self) -> Result<f64, &'static str> {
        match self.sd {
            Nuisance::Known(sd) => Ok(sd),
            Nuisance::Unknown(_) => Err("needs a known sd: with an unknown one the posterior is not normal"),
        }
    }

    fn simulate(&self, predictor: f64, sd: f64, _trials: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        predictor + sd * normal(uniform)
    }
}
