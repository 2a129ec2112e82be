//! Answers that need no records: accounting, audits, verification, simulation, and the program itself.

use crate::failure::{Failure, contained};
use crate::plan::Plan;
use crate::spec;
use barkeep::ledger::Ledger;
use barkeep::predict::{Predictor, Profiles};
use barkeep::{Certificate, Finished, PublicKey, Simulation};
use barkeep_audit::{ALPHA, Options, Progress, Row};
use barkeep_report::Report;
use pyo3::prelude::*;
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Runs the program `barkeep` and returns its exit code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| barkeep_cli::run(arguments))
}

/// Answers a question to the accountant in JSON, by the arguments of `barkeep account`.
#[pyfunction]
pub(crate) fn account(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<String> {
    Ok(py.detach(|| contained(|| Ok(barkeep_cli::account(arguments)?.to_string())))?)
}

/// The mechanisms the accountant knows, each with what it is, in JSON.
#[pyfunction]
pub(crate) fn mechanisms() -> String {
    json!(barkeep_cli::mechanisms()).to_string()
}

/// The samplers, each with its summary and keys, in JSON.
#[pyfunction]
pub(crate) fn samplers() -> String {
    let of = |entry: &barkeep::samplers::SamplerEntry| json!({ "name": entry.name, "summary": entry.summary, "keys": entry.all_keys().map(|key| key.name).collect::<Vec<_>>() });
    json!(barkeep::samplers::SAMPLERS.iter().map(of).collect::<Vec<_>>()).to_string()
}

/// Attacks a plan; `watch` hears the share that is done and may raise to stop it.
#[pyfunction]
#[pyo3(signature = (plan, watch, trials=None, seed=None))]
pub(crate) fn audit(
    py: Python<'_>,
    plan: &Plan,
    watch: &Bound<'_, PyAny>,
    trials: Option<u64>,
    seed: Option<u64>,
) -> PyResult<String> {
    let hears = Hears::new(watch);
    let row = py.detach(|| {
        contained(|| {
            let watch = |progress: Progress<'_>| hears.hear(&progress);
            let options = Options { trials, seed, watch: Some(&watch) };
            Ok(barkeep_audit::audit_plan(&plan.0, options)?)
        })
    })?;
    hears.ended()?;
    Ok(audited(&[row]))
}

/// Attacks every mechanism and every private sampler.
#[pyfunction]
#[pyo3(signature = (watch, trials=None, seed=None))]
pub(crate) fn audit_all(
    py: Python<'_>,
    watch: &Bound<'_, PyAny>,
    trials: Option<u64>,
    seed: Option<u64>,
) -> PyResult<String> {
    let hears = Hears::new(watch);
    let rows = py.detach(|| {
        contained(|| {
            let watch = |progress: Progress<'_>| hears.hear(&progress);
            let options = Options { trials, seed, watch: Some(&watch) };
            Ok(barkeep_audit::audit_all(options, &mut |_| {})?)
        })
    })?;
    hears.ended()?;
    Ok(audited(&rows))
}

fn audited(rows: &[Row]) -> String {
    let holds = rows.iter().all(Row::holds);
    json!({ "confidence": 1.0 - ALPHA, "rows": rows, "holds": holds }).to_string()
}

/// Lets Python hear of progress from any thread.
struct Hears {
    watch: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

impl Hears {
    fn new(watch: &Bound<'_, PyAny>) -> Self {
        Self { watch: watch.clone().unbind(), raised: Mutex::new(None) }
    }

    fn hear(&self, progress: &Progress<'_>) {
        #[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
        let share = (progress.before as f64 + progress.share) / progress.games.max(1) as f64;
        Python::attach(|py| {
            if let Err(error) = self.watch.call1(py, (share, progress.mechanism)) {
                *self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
            }
        });
    }

    fn ended(self) -> PyResult<()> {
        match self.raised.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Computes the epsilon of a certificate again, and checks the files beside it, its signature and its reservation.
#[pyfunction]
#[pyo3(signature = (certificate, key=None, ledger=None))]
pub(crate) fn verify(
    py: Python<'_>,
    certificate: PathBuf,
    key: Option<PathBuf>,
    ledger: Option<PathBuf>,
) -> PyResult<String> {
    Ok(py.detach(|| {
        contained(|| {
            let key = key.as_deref().map(PublicKey::read).transpose()?;
            let read = Certificate::read(&certificate)?;
            read.check_signature(key.as_ref())?;
            let verified = read.verify()?;
            let absent = read.check_files(certificate.parent().unwrap_or(Path::new("")))?;
            if let Some(ledger) = &ledger {
                read.check_ledger(&Ledger::open(ledger)?)?;
            }
            Ok(json!({
                "statement": read.statement,
                "epsilon": verified.epsilon.get(),
                "stated": read.epsilon,
                "signed_by": read.signature.as_ref().map(|signature| &signature.key),
                "signature_checked": read.signature.is_some() && key.is_some(),
                "ended": read.hashes.is_some(),
                "absent": absent,
                "ledger_checked": ledger.is_some(),
                "not_planned": verified.not_planned,
                "checked": verified.checked.as_ref().map(|check| check.epsilon).ok(),
                "meaning": verified.meaning.iter().flat_map(|risk| risk.words()).collect::<Vec<_>>(),
            })
            .to_string())
        })
    })?)
}

/// Profiles by name, each with cells by column.
type Rows = Vec<(String, Vec<(String, String)>)>;

/// Predicts at public profiles from the draws in a run's folder: in JSON, and in words.
#[pyfunction]
pub(crate) fn predict(
    py: Python<'_>,
    folder: PathBuf,
    profiles: Rows,
    against: Option<String>,
    along: Vec<String>,
    points: usize,
) -> PyResult<(String, String)> {
    Ok(py.detach(|| {
        contained(|| {
            let finished = Finished::read(&folder)?;
            let mut predictor = Predictor::new(&finished)?;
            if let Some(against) = against {
                predictor = predictor.against(against);
            }
            for column in along {
                predictor = predictor.along(column, points);
            }
            let found = predictor.predict(&Profiles::new(profiles, finished.spec())?)?;
            Ok((json!(found).to_string(), barkeep_cli::prediction_words(&found)))
        })
    })?)
}

/// One HTML page about the run in a folder, with predictions at profiles where some are given.
#[pyfunction]
pub(crate) fn report(
    py: Python<'_>,
    folder: PathBuf,
    profiles: Option<Rows>,
    ledger: Option<PathBuf>,
) -> PyResult<String> {
    Ok(py.detach(|| {
        contained(|| {
            let finished = Finished::read(&folder)?;
            let mut report = Report::of(&finished);
            if let Some(profiles) = profiles {
                report = report.at(Profiles::new(profiles, finished.spec())?);
            }
            if let Some(ledger) = ledger {
                report = report.charged_in(&Ledger::open(&ledger)?)?;
            }
            Ok(report.html()?)
        })
    })?)
}

/// Writes simulated records of a spec's model as CSV: nobody's. Returns the columns that fill their bounds, and the parameters'
/// names.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    sections: &str,
    theta: Vec<f64>,
    records: u64,
    seed: u64,
    path: PathBuf,
) -> PyResult<Vec<String>> {
    Ok(py.detach(|| {
        contained(|| {
            let spec = spec::read(sections, Path::new(""))?;
            let simulation = Simulation::of_spec(&spec);
            let model = simulation.model();
            if theta.len() != model.dimension() {
                let names = model.parameter_names().join(", ");
                let words = format!("theta must hold {} numbers: {names}", model.dimension());
                return Err(Failure::input(words));
            }
            if theta.iter().any(|value| !value.is_finite()) {
                return Err(Failure::input("theta must hold finite numbers"));
            }
            if !model.simulates() {
                return Err(Failure::input(
                    "a model with a bare `log_density` cannot be simulated; write distributions by name, as in \
                     `y ~ normal(m, s)`",
                ));
            }
            let (delimiter, records) = (spec.data().csv_options().delimiter, barkeep::data::Records(records));
            simulation.write_csv(&path, delimiter, &theta, records, seed).map_err(barkeep::Error::from)?;
            Ok(simulation.filling_bounds().into_iter().map(str::to_owned).collect())
        })
    })?)
}
