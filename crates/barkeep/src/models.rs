//! Lists the built-in models by name, each with its spec keys, and builds one from a spec.

use crate::spec::section::{Key, Section, SpecError, key, suggestion};
use barkeep_model::{GaussianMean, Model};
use std::sync::Arc;

/// A model a spec can name.
pub struct ModelEntry {
    /// As written in `model.name`.
    pub name: &'static str,
    /// One line of meaning.
    pub summary: &'static str,
    /// The keys of `[model]` beside the common ones.
    pub keys: &'static [Key],
    /// Builds the model for data of so many columns.
    build: fn(&Section<'_>, usize) -> Result<Arc<dyn Model>, SpecError>,
}

/// The keys every model takes.
pub const MODEL_KEYS: [Key; 3] = [
    key("name", "", "which model; `barkeep models` lists them"),
    key("temper", "1", "power of the likelihood, above 0 and at most 1"),
    key(
        "n0",
        "",
        "instead of temper: how many records the likelihood should count as; temper = n0 / records",
    ),
];

const COVARIANCE: Key =
    key("covariance", "1", "of one record: a variance, a list of variances, or a matrix as a list of rows");
const PRIOR_MEAN: Key = key("prior_mean", "0 everywhere", "mean of the normal prior, a number per parameter");
const PRIOR_VARIANCE: Key =
    key("prior_variance", "1000", "variance of the normal prior, the same for every parameter");

/// Every model, in the order shown to users.
pub const MODELS: &[ModelEntry] = &[ModelEntry {
    name: "gaussian",
    summary: "mean of a multivariate normal with known covariance; normal prior",
    keys: &[COVARIANCE, PRIOR_MEAN, PRIOR_VARIANCE],
    build: |section, columns| {
        let covariance =
            matrix(section, "covariance", columns)?.unwrap_or_else(|| scaled_identity(columns, 1.0));
        let mean = vector(section, "prior_mean", columns)?.unwrap_or_else(|| vec![0.0; columns]);
        let prior = scaled_identity(columns, section.positive("prior_variance")?.unwrap_or(1000.0));
        built(section, GaussianMean::new(&covariance, &mean, &prior))
    },
}];

/// Finds and builds the model a `[model]` section names.
///
/// # Errors
/// An unknown name or key, or parameters the model refuses.
pub fn build(
    table: &toml::Table,
    columns: usize,
) -> Result<(&'static ModelEntry, Arc<dyn Model>), SpecError> {
    let name = match table.get("name") {
        Some(toml::Value::String(name)) => name,
        Some(_) => return Err(SpecError::new("model.name", "must be text in quotes")),
        None => return Err(SpecError::new("model.name", "is required; `barkeep models` lists the choices")),
    };
    let entry = MODELS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names = MODELS.iter().map(|entry| entry.name);
        SpecError::new("model.name", format!("there is no model \"{name}\"{}", suggestion(name, names)))
    })?;
    let section = Section::new("model", table, MODEL_KEYS.iter().chain(entry.keys))?;
    let model = (entry.build)(&section, columns)?;
    if model.columns() == columns {
        Ok((entry, model))
    } else {
        Err(SpecError::new(
            "data.columns",
            format!("model \"{name}\" reads {} columns, but {columns} are declared", model.columns()),
        ))
    }
}

fn built<M: Model + 'static>(
    section: &Section<'_>,
    model: Result<M, barkeep_model::Error>,
) -> Result<Arc<dyn Model>, SpecError> {
    model
        .map(|model| Arc::new(model) as Arc<dyn Model>)
        .map_err(|error| SpecError::new(section.path(), error.to_string()))
}

fn scaled_identity(dimension: usize, variance: f64) -> Vec<f64> {
    let mut matrix = vec![0.0; dimension * dimension];
    for j in 0..dimension {
        matrix[j * dimension + j] = variance;
    }
    matrix
}

/// A list of exactly `length` numbers.
fn vector(section: &Section<'_>, key: &str, length: usize) -> Result<Option<Vec<f64>>, SpecError> {
    match section.numbers(key)? {
        Some(numbers) if numbers.len() != length => {
            Err(section.error(key, format!("must hold {length} numbers, not {}", numbers.len())))
        }
        other => Ok(other),
    }
}

/// A square matrix: a variance for all, a list of variances, or a list of rows; row-major.
pub(crate) fn matrix(
    section: &Section<'_>,
    key: &str,
    dimension: usize,
) -> Result<Option<Vec<f64>>, SpecError> {
    match section.value(key) {
        None => Ok(None),
        Some(toml::Value::Array(rows)) if rows.iter().any(toml::Value::is_array) => {
            let mut matrix = Vec::with_capacity(dimension * dimension);
            for row in rows {
                let one = toml::Table::from_iter([(key.to_owned(), row.clone())]);
                let row = Section::open(section.path(), &one).numbers(key)?.unwrap_or_default();
                if row.len() != dimension || rows.len() != dimension {
                    return Err(
                        section.error(key, format!("must be {dimension} rows of {dimension} numbers"))
                    );
                }
                matrix.extend(row);
            }
            Ok(Some(matrix))
        }
        Some(toml::Value::Array(_)) => Ok(vector(section, key, dimension)?.map(|variances| {
            let mut matrix = scaled_identity(dimension, 0.0);
            for (j, variance) in variances.into_iter().enumerate() {
                matrix[j * dimension + j] = variance;
            }
            matrix
        })),
        Some(_) => Ok(section.positive(key)?.map(|variance| scaled_identity(dimension, variance))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str, columns: usize) -> String {
        build(&text.parse().unwrap(), columns).err().unwrap().to_string()
    }

    #[test]
    fn covariance_is_a_number_a_list_or_rows() {
        for text in ["covariance = 2", "covariance = [2, 2]", "covariance = [[2, 0], [0, 2]]"] {
            let table: toml::Table = text.parse().unwrap();
            let section = Section::open("model", &table);
            assert_eq!(matrix(&section, "covariance", 2).unwrap().unwrap(), [2.0, 0.0, 0.0, 2.0]);
        }
    }

    #[test]
    fn faults_are_named() {
        assert!(error("", 1).contains("`model.name`: is required"));
        assert!(error("name = 'gausian'", 1).contains("did you mean `gaussian`?"));
        assert!(error("name = 'gaussian'\ntau = 1", 1).contains("`model.tau`: unknown key"));
        assert!(error("name = 'gaussian'\ncovariance = [1, 2, 3]", 2).contains("must hold 2 numbers"));
        assert!(error("name = 'gaussian'\ncovariance = [[1, 2], [3]]", 2).contains("2 rows of 2"));
        assert!(error("name = 'gaussian'\ncovariance = [[1, 2], [2, 1]]", 2).contains("`model`"));
    }
}
