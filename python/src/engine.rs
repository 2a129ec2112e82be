//! Asks records that an engine such as Spark or Ray keeps: Python carries questions out and partial sums back.
//!
//! **Privacy.** Partial sums are secrets. They pass through Python's memory on their way here and are kept nowhere. What an engine
//! raises may quote a row, so that nothing of it is kept, but for the package's own errors, whose words are public.

use crate::failure::{Failure, contained};
use crate::stream::Stream;
use barkeep::Error;
use barkeep::curator::{Refused, Table};
use barkeep::data::{Error as DataError, Unavailable};
use barkeep::shards::{Partial, Shards, partial as answered};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// What carries questions: called with the bytes of the plan and of a question, it returns the bytes of every shard's partial.
#[pyclass(frozen, module = "barkeep._barkeep")]
pub(crate) struct Engine {
    ask: Py<PyAny>,
    /// The package's own error that ended the last question.
    said: Arc<Mutex<Option<PyErr>>>,
}

#[pymethods]
impl Engine {
    #[new]
    fn new(ask: Py<PyAny>) -> Self {
        Self { ask, said: Arc::new(Mutex::new(None)) }
    }
}

impl Engine {
    /// All shards as one table, once they were counted.
    pub(crate) fn table(&self, py: Python<'_>, plan: &barkeep::Plan) -> PyResult<Table> {
        let known = plan.for_workers().map_err(Failure::from)?;
        let asked = Carrier { ask: self.ask.clone_ref(py), plan: known, said: Arc::clone(&self.said) };
        let table = py.detach(|| contained(|| Ok(plan.sharded(Box::new(asked))?)));
        table.map_err(|failure| self.said().unwrap_or_else(|| failure.into()))
    }

    /// Why the last question was not answered, if the package itself says so.
    pub(crate) fn said(&self) -> Option<PyErr> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

struct Carrier {
    ask: Py<PyAny>,
    plan: Vec<u8>,
    said: Arc<Mutex<Option<PyErr>>>,
}

impl Shards for Carrier {
    fn ask(&self, question: &[u8]) -> Result<Vec<Partial>, Refused> {
        Python::attach(|py| {
            let arguments = (PyBytes::new(py, &self.plan), PyBytes::new(py, question));
            let partials = self.ask.call1(py, arguments).and_then(|all| all.extract::<Vec<Vec<u8>>>(py));
            partials.map(|all| all.into_iter().map(Partial::from_bytes).collect()).map_err(|error| {
                let own = py.import("barkeep._errors").and_then(|module| module.getattr("Error"));
                if own.is_ok_and(|class| error.is_instance(py, &class)) {
                    *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                Refused::Unasked { reason: "the engine that keeps the records did not answer" }
            })
        })
    }
}

/// A worker's answer: the partial sums of its shard, from what the driver sent and an object that offers its rows by Arrow's stream.
#[pyfunction]
pub(crate) fn partial<'py>(
    py: Python<'py>,
    plan: &[u8],
    question: &[u8],
    place: u32,
    rows: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let lost = |Unavailable| Failure::from(Error::from(DataError::Frame));
    let mut stream = contained(|| Stream::of(rows).map_err(lost))?;
    let sums = py.detach(|| contained(|| Ok(answered(plan, question, place, &mut stream)?.into_bytes())))?;
    Ok(PyBytes::new(py, &sums))
}
