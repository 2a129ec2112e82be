//! A plan, as Python holds it: public facts, and no records.

use crate::failure::Failure;
use crate::spec;
use barkeep::PublicRng;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// A run, ready to start.
#[pyclass(frozen, module = "barkeep._barkeep")]
pub(crate) struct Plan(pub(crate) barkeep::Plan);

#[pymethods]
impl Plan {
    /// Plans what a spec says, with the least epsilon that is expected to reach an error where one is given.
    #[new]
    #[pyo3(signature = (sections, folder, error=None))]
    fn new(py: Python<'_>, sections: &str, folder: PathBuf, error: Option<f64>) -> PyResult<Self> {
        Ok(py.detach(|| {
            let spec = spec::read(sections, &folder)?;
            let plan = match error {
                None => barkeep::Plan::new(spec),
                Some(error) => barkeep::Plan::for_error(spec, error),
            };
            plan.map(Self).map_err(Failure::from)
        })?)
    }

    /// Everything as `barkeep plan --json` prints it, without what takes a second plan.
    fn json(&self) -> String {
        let mut json = self.0.to_json();
        json["meaning"] = serde_json::json!(self.0.meaning());
        json.to_string()
    }

    /// What half and twice the epsilon, and ten times the records, would give, in JSON.
    fn alternatives(&self, py: Python<'_>) -> String {
        py.detach(|| serde_json::json!(self.0.alternatives()).to_string())
    }

    /// The plan in words, as `barkeep plan` says it.
    fn words(&self) -> String {
        self.0.words().join("\n")
    }

    /// The spec in TOML.
    fn toml(&self) -> String {
        self.0.spec().text()
    }

    /// The names of all parameters, in order.
    fn parameters(&self) -> Vec<String> {
        self.0.spec().model().parameter_names().to_vec()
    }

    /// The names of what follows from the parameters, in order.
    fn quantities(&self) -> Vec<String> {
        self.0.spec().model().quantity_names().to_vec()
    }

    /// The columns that are read, whose rows they are included.
    fn reads(&self) -> Vec<String> {
        let data = self.0.spec().data();
        let columns = self.0.view().source().columns().iter().map(|column| column.name());
        columns.chain(data.person()).map(str::to_owned).collect()
    }

    /// Draws of the prior, row after row of parameters and quantities, as bytes of 64-bit floats; `None` where it is improper.
    fn prior<'py>(&self, py: Python<'py>, draws: usize, seed: u64) -> Option<Bound<'py, PyBytes>> {
        let model = self.0.spec().model();
        let mut rng = PublicRng::new(seed, 0);
        let mut theta = vec![0.0; model.dimension()];
        let mut bytes = Vec::new();
        for _ in 0..draws {
            if !model.sample_prior(&mut || rng.open_uniform(), &mut theta) {
                return None;
            }
            let row = theta.iter().copied().chain(model.quantities(&theta));
            bytes.extend(row.flat_map(f64::to_ne_bytes));
        }
        Some(PyBytes::new(py, &bytes))
    }
}
