//! A custodian's ledger, as Python holds it.

use crate::failure::Failure;
use crate::plan::Plan;
use crate::run::{Known, identity};
use barkeep::accounting::{Delta, Epsilon, Neighbours};
use barkeep::ledger::{Ledger, Records, Unit, Whom};
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

    /// Puts a file of records under an account, and returns its version.
    fn add(&self, account: &str, data: &str, records: PathBuf, reason: Option<String>) -> PyResult<u32> {
        Ok(self.open()?.add(account, data, &records, reason).map_err(Failure::from)?)
    }

    /// Puts a frame under an account, known by the cells of its declared columns, and returns its version.
    fn add_frame(
        &self,
        py: Python<'_>,
        account: &str,
        data: &str,
        known: Known<'_>,
        reason: Option<String>,
    ) -> PyResult<u32> {
        let identity = identity(py, known)?;
        let cells = |out: &mut dyn FnMut(&[u8])| identity.write(out);
        Ok(self.open()?.add(account, data, Records::Memory(&cells), reason).map_err(Failure::from)?)
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
