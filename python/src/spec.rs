//! Reads specs as Python writes them, in JSON with the keys of TOML.

use crate::failure::Failure;
use barkeep::{Data, Spec};
use pyo3::prelude::*;
use std::path::Path;

/// The spec that a JSON object with the sections of a spec says; relative paths start from `folder`.
///
/// # Errors
/// What the engine refuses, at the key it names.
pub(crate) fn read(sections: &str, folder: &Path) -> Result<Spec, Failure> {
    let table: toml::Table = serde_json::from_str(sections)
        .map_err(|_| Failure::input("a spec holds numbers, texts, true and false, lists and tables"))?;
    Ok(Spec::parse(&table.to_string(), folder)?)
}

/// The `[data]` that a JSON object says.
///
/// # Errors
/// As [`read`].
pub(crate) fn data(section: &str) -> Result<Data, Failure> {
    let table: toml::Table = serde_json::from_str(section)
        .map_err(|_| Failure::input("[data] holds numbers, texts and tables"))?;
    Ok(Data::from_table(&table)?)
}

/// Checks the columns of a schema, a JSON object by name, before anything else is known.
#[pyfunction]
pub(crate) fn check_schema(columns: &str) -> PyResult<()> {
    let columns: toml::Table =
        serde_json::from_str(columns).map_err(|_| Failure::input("a schema holds columns by name"))?;
    Ok(barkeep::spec::check_columns(&columns).map_err(Failure::from)?)
}
