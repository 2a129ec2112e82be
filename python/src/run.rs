//! Runs plans over records: reads a frame or a file, steps in threads of its own, and lets Python watch and stop it.

use crate::columns::Columns;
use crate::engine::Engine;
use crate::failure::{Failure, contained};
use crate::plan::Plan;
use crate::stream::Stream;
use barkeep::accounting::{Epsilon, Steps};
use barkeep::curator::Table;
use barkeep::data::{Error as DataError, Frame, Identified, Records, Unavailable};
use barkeep::insecure::Insecure;
use barkeep::{Error, Folder, JOURNAL, Outcome, SigningKey, Watch};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often Python hears of a run, and may stop it.
const GLANCE: Duration = Duration::from_millis(50);

/// Where the records are, as Python says it.
#[derive(FromPyObject)]
pub(crate) enum Source<'py> {
    /// Columns in Python's memory, and the number of rows.
    #[pyo3(transparent)]
    Columns((Bound<'py, PyList>, usize)),
    /// Files of the same columns.
    #[pyo3(transparent)]
    Files(Vec<PathBuf>),
    /// Shards that an engine keeps.
    #[pyo3(transparent)]
    Shards(Bound<'py, Engine>),
    /// An object that offers Arrow's stream.
    #[pyo3(transparent)]
    Stream(Bound<'py, PyAny>),
}

impl Source<'_> {
    /// Reads all records, once. Where an account must know them again, also takes their identity from the same cells.
    fn read(
        self,
        py: Python<'_>,
        plan: &barkeep::Plan,
        charged: bool,
    ) -> PyResult<(Table, Option<[u8; 32]>)> {
        let lost = |Unavailable| Failure::from(Error::from(DataError::Frame));
        match self {
            Self::Columns((columns, rows)) => {
                let mut frame = Columns::of(&columns, rows)?;
                Ok(contained(|| framed(plan, &mut frame, charged))?)
            }
            Self::Files(_) | Self::Shards(_) if charged => Err(unknowable().into()),
            Self::Files(paths) => {
                let table = py.detach(|| contained(|| Ok(plan.read_files(&paths, &mut |_| {})?)))?;
                Ok((table, None))
            }
            Self::Shards(engine) => Ok((engine.get().table(py, plan)?, None)),
            Self::Stream(frame) => {
                let mut stream = contained(|| Stream::of(&frame).map_err(lost))?;
                // A stream may need Python's other threads to come on.
                Ok(py.detach(|| contained(|| framed(plan, &mut stream, charged)))?)
            }
        }
    }

    /// The identity of a frame that nobody else reads.
    pub(crate) fn identity(self, py: Python<'_>, data: &barkeep::Data) -> PyResult<[u8; 32]> {
        let lost = |Unavailable| Failure::from(Error::from(DataError::Frame));
        let whole = |frame: &mut dyn Frame| {
            let taken = |error| Failure::from(Error::from(error));
            let mut identified = Identified::new(frame, data.declared(), data.person()).map_err(taken)?;
            while identified.turn().map_err(lost)?.is_some() {}
            identified.finish().map_err(taken)
        };
        match self {
            Self::Columns((columns, rows)) => {
                let mut frame = Columns::of(&columns, rows)?;
                Ok(contained(|| whole(&mut frame))?)
            }
            Self::Files(_) | Self::Shards(_) => Err(unknowable().into()),
            Self::Stream(frame) => {
                let mut stream = contained(|| Stream::of(&frame).map_err(lost))?;
                Ok(py.detach(|| contained(|| whole(&mut stream)))?)
            }
        }
    }
}

fn unknowable() -> Failure {
    Failure::input(
        "an account knows a data set's files by their bytes, or a frame by its cells; neither a list of files nor a cluster's frame",
    )
}

/// Reads a frame, and takes its identity where an account asks for it.
fn framed(
    plan: &barkeep::Plan,
    frame: &mut dyn Frame,
    charged: bool,
) -> Result<(Table, Option<[u8; 32]>), Failure> {
    if !charged {
        return Ok((plan.read_frame(frame, &mut |_| {})?, None));
    }
    let data = plan.spec().data();
    let taken = |error| Failure::from(Error::from(error));
    let mut identified = Identified::new(frame, data.declared(), data.person()).map_err(taken)?;
    let table = plan.read_frame(&mut identified, &mut |_| {})?;
    Ok((table, Some(identified.finish().map_err(taken)?)))
}

/// Counts a run's steps and keeps what each did. All of it is public.
struct Watcher {
    read: AtomicU64,
    steps: AtomicU64,
    accepted: AtomicU64,
    outcomes: Vec<Mutex<Vec<u8>>>,
    spent: Arc<Mutex<Vec<(Steps, Epsilon)>>>,
    stop: AtomicBool,
}

impl Watcher {
    /// Watches a run; `shown` says whether somebody looks at what it spends.
    fn new(plan: &barkeep::Plan, shown: bool) -> Self {
        let chains = usize::try_from(plan.chains()).unwrap_or(0);
        let spent = Arc::new(Mutex::new(Vec::new()));
        if shown {
            // Accounting for a part of the steps can take longer than making them: the run does not wait for it.
            let (known, spending) = (Arc::clone(&spent), plan.spending());
            std::thread::spawn(move || {
                for part in spending {
                    known.lock().unwrap_or_else(PoisonError::into_inner).push(part);
                }
            });
        }
        Self {
            read: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            accepted: AtomicU64::new(0),
            outcomes: (0..chains).map(|_| Mutex::new(Vec::new())).collect(),
            spent,
            stop: AtomicBool::new(false),
        }
    }

    /// ε of the steps so far, an upper bound; `None` where it is not known yet, or nothing is spent step by step.
    fn spent(&self, steps: u64) -> Option<f64> {
        let known = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(until, _)| steps <= until.0).map(|(_, epsilon)| epsilon.get())
    }
}

impl Watch for Watcher {
    fn read(&self, records: Records) {
        self.read.store(records.0, Ordering::Relaxed);
    }

    fn step(&self, chain: usize, outcome: Outcome) {
        self.steps.fetch_add(1, Ordering::Relaxed);
        let did = match outcome {
            Outcome::Rejected => 0,
            Outcome::Accepted => 1,
            Outcome::Moved => 2,
        };
        self.accepted.fetch_add(u64::from(outcome == Outcome::Accepted), Ordering::Relaxed);
        if let Some(outcomes) = self.outcomes.get(chain) {
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(did);
        }
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs a plan in a new folder. `records` is called for a frame once the run is paid for; without it the spec's file is read.
#[pyfunction]
#[pyo3(signature = (plan, records, folder, watch, *, journal=true, insecure_seed=None, sign=None))]
#[expect(clippy::too_many_arguments, reason = "called from one place, by name")]
pub(crate) fn new_run(
    py: Python<'_>,
    plan: &Plan,
    records: Option<Bound<'_, PyAny>>,
    folder: PathBuf,
    watch: &Bound<'_, PyAny>,
    journal: bool,
    insecure_seed: Option<u64>,
    sign: Option<PathBuf>,
) -> PyResult<Saved> {
    let key = sign.as_deref().map(SigningKey::read).transpose().map_err(Failure::from)?;
    let mut claimed = Folder::claim(&folder).map_err(Failure::from)?.dated(barkeep_cli::now());
    if !journal {
        claimed = claimed.without_journal();
    }
    if let Some(key) = key {
        claimed = claimed.signed_by(key);
    }
    run(py, &plan.0, claimed, records, insecure_seed, watch)
}

/// Continues the run in a folder. Without records it reads the spec's file, or the one at `path`.
#[pyfunction]
#[pyo3(signature = (records, folder, watch, *, path=None, sign=None))]
pub(crate) fn resume_run(
    py: Python<'_>,
    records: Option<Bound<'_, PyAny>>,
    folder: PathBuf,
    watch: &Bound<'_, PyAny>,
    path: Option<PathBuf>,
    sign: Option<PathBuf>,
) -> PyResult<(Plan, Saved)> {
    let key = sign.as_deref().map(SigningKey::read).transpose().map_err(Failure::from)?;
    let (mut claimed, plan) = Folder::resume(&folder, path.as_deref()).map_err(Failure::from)?;
    claimed = claimed.dated(barkeep_cli::now());
    if let Some(key) = key {
        claimed = claimed.signed_by(key);
    }
    let saved = run(py, &plan, claimed, records, None, watch)?;
    Ok((Plan(plan), saved))
}

/// Has the account pay, reads a frame once, and runs in a thread of its own, while this one lets Python look and interrupt.
fn run(
    py: Python<'_>,
    plan: &barkeep::Plan,
    folder: Folder,
    records: Option<Bound<'_, PyAny>>,
    insecure_seed: Option<u64>,
    watch: &Bound<'_, PyAny>,
) -> PyResult<Saved> {
    let watcher = Watcher::new(plan, watch.getattr("shown")?.is_truthy()?);
    let mut runner = plan.runner().watch(&watcher);
    if let Some(seed) = insecure_seed {
        runner = runner.insecure(Insecure::seed(seed));
    }
    let watch = watch.clone().unbind();
    let work: Box<dyn FnOnce() -> Result<barkeep::Saved, Failure> + Send + '_> = match records {
        None => Box::new(move || Ok(folder.run(runner)?)),
        Some(records) => {
            let reserved = folder.reserve(runner).map_err(Failure::from)?;
            let charged = plan.spec().charged_to().is_some();
            let read = records.call0().and_then(|source| source.extract::<Source<'_>>());
            match read.and_then(|source| source.read(py, plan, charged)) {
                Ok((table, identity)) => Box::new(move || Ok(reserved.run(table, identity)?)),
                Err(error) => {
                    // Gives an unpaid folder back; what is paid for stays, and its words say so.
                    let stands = reserved.refuse(Error::from(DataError::Frame));
                    return Err(if charged { Failure::from(stands).into() } else { error });
                }
            }
        }
    };
    let saved = py.detach(|| {
        std::thread::scope(|scope| {
            let (ended, waits) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                let result = contained(work);
                drop(ended);
                result
            });
            while let Err(RecvTimeoutError::Timeout) = waits.recv_timeout(GLANCE) {
                glance(&watcher, &watch);
            }
            worker.join().unwrap_or_else(|_| Err(Failure::input("the run ended without a word")))
        })
    })?;
    let outcomes =
        watcher.outcomes.into_iter().map(|kept| kept.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(Saved { run: saved, outcomes: outcomes.collect() })
}

/// Shows Python how far a run is, and stops the run where a person interrupts.
fn glance(watcher: &Watcher, watch: &Py<PyAny>) {
    Python::attach(|py| {
        let steps = watcher.steps.load(Ordering::Relaxed);
        let accepted = watcher.accepted.load(Ordering::Relaxed);
        let read = watcher.read.load(Ordering::Relaxed);
        let shown = watch.call1(py, (read, steps, accepted, watcher.spent(steps), watcher.stop()));
        for result in [shown.map(drop), py.check_signals()] {
            match result {
                Ok(()) => {}
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    watcher.stop.store(true, Ordering::Relaxed);
                }
                // How progress looks is no reason to lose a run that is paid for.
                Err(_) => {}
            }
        }
    });
}

/// A run whose files are written; all of it public.
#[pyclass(frozen, module = "barkeep._barkeep")]
pub(crate) struct Saved {
    run: barkeep::Saved,
    outcomes: Vec<Vec<u8>>,
}

#[pymethods]
impl Saved {
    /// The summary in JSON, as in summary.json.
    fn summary(&self) -> String {
        serde_json::json!(self.run.summary()).to_string()
    }

    /// The summary as a table.
    fn table(&self) -> String {
        self.run.summary().to_string()
    }

    /// The verdict in words.
    fn verdict(&self) -> String {
        self.run.summary().verdict.to_string()
    }

    /// The certificate in JSON.
    fn certificate(&self) -> String {
        serde_json::json!(self.run.certificate).to_string()
    }

    /// The folder.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.run.folder.clone()
    }

    /// Seed of the proposals.
    #[getter]
    fn seed(&self) -> u64 {
        self.run.seed
    }

    /// Steps each chain made.
    #[getter]
    fn steps_used(&self) -> Vec<u64> {
        self.run.steps_used.clone()
    }

    /// Whether a person stopped it.
    #[getter]
    fn interrupted(&self) -> bool {
        self.run.interrupted
    }

    /// Whether it can be continued.
    #[getter]
    fn resumable(&self) -> bool {
        self.run.interrupted && self.run.folder.join(JOURNAL).exists()
    }

    /// The draws of one parameter or quantity after warm-up, as bytes of 64-bit floats, chain by chain.
    fn series<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let series = py.detach(|| self.run.series(place)).map_err(Failure::from)?;
        let bytes =
            |chain: &Vec<f64>| chain.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>();
        Ok(series.iter().map(|chain| PyBytes::new(py, &bytes(chain))).collect())
    }

    /// What each step did, chain by chain, a byte a step: 0 rejected, 1 accepted, 2 moved without a test.
    fn outcomes<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.outcomes.iter().map(|chain| PyBytes::new(py, chain)).collect()
    }
}
