//! Prepares a variational fit from its spec keys: for the sampler `dpvi`, and for chains that start from a fit.

use crate::Error;
use crate::facts::{Fact, Facts};
use crate::keys::{Key, Section, key};
use crate::samplers::entry::{Expected, Forecast, MakeForecast, Questions, Setting};
use crate::samplers::kernels::variational::Fit;
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::{Delta, Epsilon, Neighbours, Sampling, Steps, calibration};
use barkeep_curator::{Clip, PrivacyModel, sigma_for, sum_cost, sum_sensitivity};

/// The keys of a fit.
pub(crate) const FIT_KEYS: [Key; 5] = [
    key(
        "iterations",
        "100",
        "noisy gradients asked for; more of them are each noisier, and forget the start better",
    ),
    key("rate", "0.2", "share of a Newton step that an iteration moves the mean by, at most 1"),
    key(
        "clip",
        "√parameters + 2",
        "bound on one record's whitened gradient, times √(temper·records): 1 is a typical size per parameter",
    ),
    key("batch", "all records", "records asked in an iteration, drawn without replacement"),
    key(
        "scale",
        "from the model's expected information",
        "public guess of the posterior's standard deviations: a number, or one per parameter",
    ),
];

/// The keys of a fit that chains start from.
pub(crate) const START_KEYS: [Key; 2] = [
    key("epsilon", "", "what the fit alone would cost at the run's delta; it is part of the run's epsilon"),
    key("from", "the prior's mode", "where the fit itself starts, a number per parameter"),
];

impl Fit {
    /// Reads the keys and sets the noise to the least that (ε, δ) allows.
    ///
    /// # Errors
    /// A key out of range, or neighbours under which the number of records is secret.
    pub(crate) fn parse(
        section: &Section<'_>,
        setting: &Setting<'_>,
        from: Vec<f64>,
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<Self, Error> {
        let model = &**setting.model;
        if let Privacy::Budget { neighbours: Neighbours::AddRemove, .. } = setting.privacy {
            let reason = "dpvi uses the number of records, which is secret where neighbours = \"add-remove\"";
            return Err(SpecError::new(section.path(), reason).into());
        }
        let iterations = section.count("iterations")?.unwrap_or(100);
        if !(2..=1_000_000).contains(&iterations) {
            return Err(section.error("iterations", "must be from 2 to 1000000").into());
        }
        let rate = section.positive("rate")?.unwrap_or(0.2);
        if rate > 1.0 {
            return Err(section.error("rate", "must be at most 1").into());
        }
        let share = setting.temper.get() * setting.records;
        let rows = setting.rows().or(section.has("scale").then_some(1.0)).ok_or_else(|| {
            section.error("scale", "or data.most_rows is required: how much do a person's rows know?")
        })?;
        let information = share * rows;
        let batch = batch(section, setting)?;
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let usual = (model.dimension() as f64).sqrt() + 2.0;
        let width = section.positive("clip")?.unwrap_or(usual);
        let clip =
            Clip::new(width / share.sqrt()).map_err(|error| section.error("clip", error.to_string()))?;
        let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
        // Slightly less, so that the bill still fits when it is inverted for ε instead of δ: batches are priced on a lattice.
        let slack = if batch == Sampling::Full { 1e-9 } else { 1e-4 };
        let budget = Epsilon::new(epsilon.get() * (1.0 - slack))?;
        let ratio =
            calibration::smallest_ratio(batch, privacy_model.neighbours, Steps(iterations), budget, delta)?;
        let sigma = sigma_for(ratio, sum_sensitivity(setting.temper, clip, privacy_model.neighbours)?);
        let cost = sum_cost(setting.temper, clip, batch, sigma, privacy_model)?;
        let fit = Self {
            from,
            iterations,
            rate,
            temper: setting.temper,
            information,
            batch,
            clip,
            sigma,
            given: scale(section, model.dimension())?,
            cost,
        };
        if fit.precision(model, &fit.from).is_none() {
            let reason = "is required: the model's expected information has no inverse where the fit starts";
            return Err(section.error("scale", reason).into());
        }
        Ok(fit)
    }

    /// What a fit asks.
    pub(crate) fn questions(&self) -> Questions {
        vec![(self.cost.clone(), Steps(self.iterations))]
    }

    /// The error of the fitted mean by noise, in posterior standard deviations, which the widths of draws count.
    fn error(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a count of iterations is small")]
        let averaged = (self.iterations - self.iterations / 2) as f64;
        self.noise() / averaged.sqrt()
    }

    /// What a run can be expected to achieve, if the fit arrives: its noise alone.
    pub(crate) fn forecast(&self) -> MakeForecast {
        let error = self.error();
        Box::new(move |_| Forecast {
            expected: Some(Expected { error, range: (error, error), width: error.hypot(1.0) }),
            ..Forecast::default()
        })
    }

    /// What a plan shows.
    pub(crate) fn facts(&self) -> Facts {
        let error = self.error();
        vec![
            Fact::count("fit_iterations", "iterations of the fit", self.iterations),
            Fact::number(
                "fit_error",
                "error of the fitted mean by noise",
                error,
                format!("about {error:.3} posterior sd a parameter"),
            )
            .unit("posterior sd"),
        ]
    }
}

/// The batch of an iteration.
fn batch(section: &Section<'_>, setting: &Setting<'_>) -> Result<Sampling, SpecError> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of at most 2^32")]
    let records = setting.records as u64;
    match section.count("batch")? {
        None => Ok(Sampling::Full),
        Some(batch) if batch <= records => Ok(Sampling::WithoutReplacement { batch, records }),
        Some(_) => {
            let counted = setting.unit.plural();
            Err(section.error("batch", format!("must be at most data.{counted}, {records}")))
        }
    }
}

/// Precisions from the guessed standard deviations.
fn scale(section: &Section<'_>, dimension: usize) -> Result<Option<Vec<f64>>, SpecError> {
    let Some(diagonal) = section.matrix("scale", dimension)? else { return Ok(None) };
    let sds: Vec<f64> = diagonal.into_iter().step_by(dimension + 1).collect();
    if sds.iter().all(|sd| *sd > 0.0) {
        Ok(Some(sds.iter().map(|sd| 1.0 / (sd * sd)).collect()))
    } else {
        Err(section.error("scale", "must be above 0"))
    }
}
