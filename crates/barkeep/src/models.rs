//! Lists the models a spec can name, each with its keys, and builds one from a spec.

use crate::formula::{self, REGRESSION_KEYS};
use crate::keys::{Files, Key, Section, SpecError, key, named, refused};
use barkeep_data::{Feature, Schema, View};
use barkeep_model::models::MODELS as COLUMN_MODELS;
use barkeep_model::{Build, Likelihood, Model, ModelEntry, Sides, TextModel, sides};
use std::sync::{Arc, LazyLock};

/// The keys every model takes.
pub const MODEL_KEYS: [Key; 3] = [
    key(
        "name",
        "\"regression\" if there is a formula, \"text\" if there is a text or a file",
        "which model; `barkeep models` lists them",
    ),
    key("temper", "1", "power of the likelihood, above 0 and at most 1"),
    key(
        "n0",
        "",
        "instead of temper: how many records the likelihood should count as; temper = n0 / records",
    ),
];

/// The name of a model written as text.
pub(crate) const TEXT_MODEL: &str = "text";

/// The keys of a model written as text.
pub const TEXT_KEYS: [Key; 2] = [
    key("text", "", "the model itself, between triple quotes; public, like everything in a spec"),
    key("file", "", "instead of text: a file that holds it, relative to the spec"),
];

/// Every model, in the order shown to users.
pub static MODELS: LazyLock<Vec<ModelEntry>> = LazyLock::new(|| {
    let regression = ModelEntry {
        name: "regression",
        summary: "a generalised linear model by formula and family",
        keys: &REGRESSION_KEYS,
        build: Build::Formula,
    };
    let text = ModelEntry {
        name: TEXT_MODEL,
        summary: "a model of your own, written down in the model language (docs/model-language.md)",
        keys: &TEXT_KEYS,
        build: Build::Text,
    };
    COLUMN_MODELS.iter().copied().chain([regression, text]).collect()
});

/// The most columns of a model that reads all: a dense covariance suits no more.
const MOST_COLUMNS: usize = 1000;

/// A model found and built, with what it sees of the declared columns.
pub(crate) struct Built {
    /// The registry's entry.
    pub entry: &'static ModelEntry,
    /// The side that sees records, for the curator.
    pub likelihood: Arc<dyn Likelihood>,
    /// The public side.
    pub model: Arc<dyn Model>,
    /// What it sees.
    pub view: View,
}

/// Finds and builds the model a `[model]` section names, for data of these columns.
///
/// # Errors
/// An unknown name or key, parameters the model refuses, or another number of columns than it reads.
pub(crate) fn build(table: &toml::Table, schema: &Schema) -> Result<Built, SpecError> {
    let entry = entry(table)?;
    let section = Section::new("model", table, MODEL_KEYS.iter().chain(entry.keys))?;
    let columns = schema.width();
    if matches!(entry.build, Build::Columns(_)) && columns > MOST_COLUMNS {
        let reason = format!(
            "model \"{}\" reads {MOST_COLUMNS} columns at most, but {columns} are declared",
            entry.name
        );
        return Err(SpecError::new("data.columns", reason));
    }
    let ((likelihood, model), view) = match entry.build {
        Build::Columns(build) => {
            let sides = build(&section, columns).map_err(|error| refused(&section, error))?;
            (sides, View::all(schema.clone()))
        }
        Build::Formula => formula::build(&section, schema)?,
        Build::Text => text(&section, schema)?,
    };
    if model.columns() == view.schema().width() {
        Ok(Built { entry, likelihood, model, view })
    } else {
        Err(SpecError::new(
            "data.columns",
            format!("model \"{}\" reads {} columns, but {columns} are declared", entry.name, model.columns()),
        ))
    }
}

/// Finds and builds the model a `[model]` section names, for parameters of a given number, and, for a regression, what it
/// sees of columns with bounds that suit its formula.
///
/// # Errors
/// An unknown name or key, or parameters the model refuses.
pub(crate) fn for_simulation(
    table: &toml::Table,
    dimension: usize,
) -> Result<(Arc<dyn Model>, Option<View>), SpecError> {
    let entry = entry(table)?;
    let section = Section::new("model", table, MODEL_KEYS.iter().chain(entry.keys))?;
    match entry.build {
        // Where the number of columns shapes a model, each column has a parameter of its own.
        Build::Columns(build) => {
            let (_, model) = build(&section, dimension).map_err(|error| refused(&section, error))?;
            Ok((model, None))
        }
        Build::Formula => {
            let schema = formula::implied_schema(&section)?;
            formula::build(&section, &schema).map(|((_, model), view)| (model, Some(view)))
        }
        Build::Text => {
            Err(section.error("text", "needs declared columns: simulate from a spec, a file ending in .toml"))
        }
    }
}

/// Builds the model a section writes down, and the view of the columns it names.
fn text(section: &Section<'_>, schema: &Schema) -> Result<(Sides, View), SpecError> {
    let text = section.require("text", section.text("text")?)?;
    let model = TextModel::new(text, schema).map_err(|error| section.error("text", error.to_string()))?;
    let columns = schema.columns();
    let features =
        model.places().iter().map(|place| Feature::column(columns[*place].name(), *place)).collect();
    let view =
        View::new(schema.clone(), features).map_err(|error| section.error("text", error.to_string()))?;
    Ok((sides(model), view))
}

/// The section with the text of its file in place of the file's name, if it names one: what a certificate keeps must not change
/// with a file beside it.
pub(crate) fn with_text(table: &toml::Table, files: Files<'_>) -> Result<Option<toml::Table>, SpecError> {
    let section = Section::open("model", table);
    let Some(file) = section.text("file")? else { return Ok(None) };
    if section.has("text") {
        return Err(section.error("file", "and text say the same thing; give one of them"));
    }
    let (text, _) = files.read(&section, "file", file)?;
    let mut inlined = table.clone();
    inlined.remove("file");
    inlined.insert("text".to_owned(), text.into());
    Ok(Some(inlined))
}

fn entry(table: &toml::Table) -> Result<&'static ModelEntry, SpecError> {
    let has = |key: &str| table.contains_key(key);
    let default = match (has("formula"), has("text") || has("file")) {
        (true, _) => Some("regression"),
        (false, true) => Some(TEXT_MODEL),
        (false, false) => None,
    };
    named("model", table, default, &MODELS, |entry| entry.name)
}

#[cfg(test)]
mod tests;
