//! A custodian's ledger, as Python holds it.

use crate::failure::Failure;
use crate::plan::Plan;
use crate::run::Source;
use crate::spec;
use barkeep::PublicKey;
use barkeep::accounting::{Delta, Epsilon, Neighbours};
use barkeep::custody::Holding;
use barkeep::data::Count;
use barkeep::ledger::{Ledger, Unit, Whom};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// A ledger by its path; opened anew for every question, as other processes may write to it.
#[pyclass(frozen, module = "barkeep._barkeep")]
pub(crate) struct Books(PathBuf);

impl Books {
    fn open(&self) -> Result<Ledger, Failure> {
        Ok(Ledger::open(&self.0)?.dated(Some(barkeep_cli::now())))
    }
}

/// A total.
fn total(epsilon: f64, delta: f64) -> Result<(Epsilon, Delta), Failure> {
    let checked = || Ok::<_, barkeep::accounting::Error>((Epsilon::new(epsilon)?, Delta::new(delta)?));
    checked().map_err(|error| Failure::input(error.to_string()))
}

#[pymethods]
impl Books {
    /// Opens a ledger, or makes a new one and its key.
    #[new]
    fn new(path: PathBuf, create: bool) -> PyResult<Self> {
        if create { Ledger::create(&path) } else { Ledger::open(&path) }.map_err(Failure::from)?;
        Ok(Self(path))
    }

    /// Opens an account.
    fn open_account(
        &self,
        account: &str,
        epsilon: f64,
        delta: f64,
        neighbours: &str,
        unit: &str,
        reason: Option<String>,
    ) -> PyResult<()> {
        let neighbours = match neighbours {
            "substitute" => Neighbours::Substitute,
            "add-remove" => Neighbours::AddRemove,
            _ => return Err(PyValueError::new_err("neighbours is \"substitute\" or \"add-remove\"")),
        };
        let unit = match unit {
            "record" => Unit::Record,
            "person" => Unit::Person,
            _ => return Err(PyValueError::new_err("unit is \"record\" or \"person\"")),
        };
        let total = total(epsilon, delta)?;
        Ok(self.open()?.open_account(account, total, neighbours, unit, reason).map_err(Failure::from)?)
    }

    /// Puts a data set under an account, and returns its version: a data set's file, or a spec's that declares its records itself.
    fn add(
        &self,
        account: &str,
        data: Option<String>,
        set: PathBuf,
        reason: Option<String>,
    ) -> PyResult<u32> {
        let held = Holding::read(&set).map_err(Failure::from)?;
        let data = data.or_else(|| held.data().id().map(str::to_owned));
        let data = data.ok_or_else(|| Failure::input("the data set has no name: give data="))?;
        let found = held.inspect().map_err(Failure::from)?;
        Ok(held.add(&self.open()?, account, &data, &found, reason).map_err(Failure::from)?)
    }

    /// Puts records that Python declares under an account, in a file or a frame, and returns their version. `sections` is the `[data]` of a
    /// spec in JSON; `source` is called for a frame.
    #[expect(clippy::too_many_arguments, reason = "called from one place")]
    fn add_records(
        &self,
        py: Python<'_>,
        account: &str,
        data: &str,
        sections: &str,
        secret: bool,
        source: Option<Bound<'_, PyAny>>,
        reason: Option<String>,
    ) -> PyResult<u32> {
        let declared = spec::data(sections)?;
        let units = declared.records().as_len();
        let count = if secret { Count::About(units) } else { Count::Exactly(units) };
        let held = Holding::of(declared, count);
        let ledger = self.open()?;
        let version = match source {
            None => held.inspect().and_then(|found| held.add(&ledger, account, data, &found, reason)),
            Some(source) => {
                let cells = source.call0()?.extract::<Source<'_>>()?.identity(py, held.data())?;
                held.add_frame(&ledger, account, data, cells, reason)
            }
        };
        Ok(version.map_err(Failure::from)?)
    }

    /// Says that the key in a file signs for an analyst.
    fn add_analyst(&self, name: &str, key: PathBuf) -> PyResult<()> {
        let key = PublicKey::read(&key).map_err(Failure::from)?;
        Ok(self.open()?.add_analyst(name, &key.digits()).map_err(Failure::from)?)
    }

    /// Bounds what an analyst or a project may spend.
    fn cap(&self, account: &str, whom: &str, name: &str, epsilon: f64, delta: f64) -> PyResult<()> {
        let whom = if whom == "analyst" { Whom::Analyst } else { Whom::Project };
        Ok(self.open()?.cap(account, whom, name, total(epsilon, delta)?).map_err(Failure::from)?)
    }

    /// Closes an account for ever.
    fn close_account(&self, account: &str, reason: &str) -> PyResult<()> {
        Ok(self.open()?.close_account(account, reason).map_err(Failure::from)?)
    }

    /// One account or all, in JSON.
    #[pyo3(signature = (account=None))]
    fn accounts(&self, account: Option<&str>) -> PyResult<String> {
        Ok(barkeep_cli::ledger_accounts(&self.0, account).map_err(Failure::from)?.to_string())
    }

    /// Every entry, in JSON.
    fn entries(&self) -> PyResult<String> {
        let entries = self.open()?.entries().map_err(Failure::from)?;
        Ok(json!(entries.iter().map(|entry| entry.shown()).collect::<Vec<_>>()).to_string())
    }

    /// Verifies everything, in JSON.
    #[pyo3(signature = (head=None))]
    fn check(&self, head: Option<&str>) -> PyResult<String> {
        let checked = self.open()?.check(head).map_err(Failure::from)?;
        Ok(json!({ "entries": checked.entries, "bills": checked.bills, "head": checked.head }).to_string())
    }

    /// What a run of a plan would cost the account it names, in JSON; `None` where it names none.
    #[staticmethod]
    fn quote(plan: &Plan) -> PyResult<Option<String>> {
        let quote = plan.0.quote().map_err(Failure::from)?;
        Ok(quote.map(|quote| {
            json!({ "spent_before": quote.before, "spent_after": quote.after, "refused": quote.refused })
                .to_string()
        }))
    }
}
