//! Lists the built-in models by name, each with its spec keys, and builds one from a spec.

use crate::formula::{self, REGRESSION_KEYS};
use crate::spec::section::{self, Key, Section, SpecError, key};
use barkeep_data::{Schema, View};
use barkeep_model::{Banana, Bend, Bernoulli, Circle, GaussianMean, Likelihood, Mixture, Model};
use std::sync::Arc;

/// The two sides of one model: what the curator holds, and what everyone else does.
pub(crate) type Sides = (Arc<dyn Likelihood>, Arc<dyn Model>);

type ByColumns = fn(&Section<'_>, usize) -> Result<Sides, SpecError>;

/// How a model is built from its keys.
enum Build {
    /// For data of so many columns, which it reads as they are declared.
    Columns(ByColumns),
    /// From a formula over the declared columns.
    Formula,
}

/// A model a spec can name.
pub struct ModelEntry {
    /// As written in `model.name`.
    pub name: &'static str,
    /// One line of meaning.
    pub summary: &'static str,
    /// The keys of `[model]` beside the common ones.
    pub keys: &'static [Key],
    build: Build,
}

/// The keys every model takes.
pub const MODEL_KEYS: [Key; 3] = [
    key("name", "\"regression\" if there is a formula", "which model; `barkeep models` lists them"),
    key("temper", "1", "power of the likelihood, above 0 and at most 1"),
    key(
        "n0",
        "",
        "instead of temper: how many records the likelihood should count as; temper = n0 / records",
    ),
];

const PRIOR_VARIANCE: Key =
    key("prior_variance", "1000", "variance of the normal prior, the same for every parameter");

const GAUSSIAN_KEYS: [Key; 3] = [
    key("covariance", "1", "of one record: a variance, a list of variances, or a matrix as a list of rows"),
    key("prior_mean", "0 everywhere", "mean of the normal prior, a number per parameter"),
    PRIOR_VARIANCE,
];

const BANANA_KEYS: [Key; 5] = [
    key("a", "20", "how strongly the second coordinate bends: u2 = theta2 + a·(theta1 − m)² + b"),
    key("b", "0", "shift of the bend"),
    key("m", "0", "where the bend is centred"),
    key("variances", "20, 2.5, then 1", "variances of a record's coordinates, a number per column"),
    PRIOR_VARIANCE,
];

const BERNOULLI_KEYS: [Key; 1] = [key(
    "prior",
    "[1, 1]",
    "a and b of the Beta prior of the rate: as if so many ones and zeros had been seen",
)];

const CIRCLE_KEYS: [Key; 1] = [key("a", "1e-5", "sharpness: ln p(r|x, y) = −a·(x² + y² − r²)²")];

const MIXTURE_KEYS: [Key; 2] = [
    key("variance", "2", "variance of a record around either centre"),
    key("prior_variances", "[10, 1]", "variances of the normal priors of theta1 and theta2"),
];

/// Every model, in the order shown to users.
pub const MODELS: &[ModelEntry] = &[
    ModelEntry {
        name: "gaussian",
        summary: "mean of a multivariate normal with known covariance; normal prior",
        keys: &GAUSSIAN_KEYS,
        build: Build::Columns(|section, columns| {
            let covariance =
                matrix(section, "covariance", columns)?.unwrap_or_else(|| scaled_identity(columns, 1.0));
            let mean = vector(section, "prior_mean", columns)?.unwrap_or_else(|| vec![0.0; columns]);
            let prior = scaled_identity(columns, section.positive("prior_variance")?.unwrap_or(1000.0));
            built(section, GaussianMean::new(&covariance, &mean, &prior))
        }),
    },
    ModelEntry {
        name: "banana",
        summary: "normal records around a bent mean (thesis, section 5.1); the posterior is a banana",
        keys: &BANANA_KEYS,
        build: Build::Columns(|section, columns| {
            let number = |key, default| Ok::<f64, SpecError>(section.number(key)?.unwrap_or(default));
            let bend = Bend { a: number("a", 20.0)?, b: number("b", 0.0)?, m: number("m", 0.0)? };
            let variances = vector(section, "variances", columns)?.unwrap_or_else(|| {
                [20.0, 2.5].into_iter().chain(std::iter::repeat(1.0)).take(columns).collect()
            });
            built(
                section,
                Banana::new(bend, &variances, section.positive("prior_variance")?.unwrap_or(1000.0)),
            )
        }),
    },
    ModelEntry {
        name: "bernoulli",
        summary: "a rate of zeros and ones, by its log-odds; Beta prior",
        keys: &BERNOULLI_KEYS,
        build: Build::Columns(|section, _| {
            let prior = vector(section, "prior", 2)?.unwrap_or_else(|| vec![1.0, 1.0]);
            built(section, Bernoulli::new(prior[0], prior[1]))
        }),
    },
    ModelEntry {
        name: "circle",
        summary: "a ring-shaped posterior from noisy radii (thesis, section 5.1); flat prior",
        keys: &CIRCLE_KEYS,
        build: Build::Columns(|section, _| {
            built(section, Circle::new(section.positive("a")?.unwrap_or(1e-5)))
        }),
    },
    ModelEntry {
        name: "mixture",
        summary: "two normals of equal weight at theta1 and theta1 + theta2 (Heikkilä et al. 2019); normal priors",
        keys: &MIXTURE_KEYS,
        build: Build::Columns(|section, _| {
            let prior = vector(section, "prior_variances", 2)?.unwrap_or_else(|| vec![10.0, 1.0]);
            built(section, Mixture::new(section.positive("variance")?.unwrap_or(2.0), [prior[0], prior[1]]))
        }),
    },
    ModelEntry {
        name: "regression",
        summary: "a generalised linear model by formula and family",
        keys: &REGRESSION_KEYS,
        build: Build::Formula,
    },
];

/// More parameters than a dense covariance is for.
const MOST_COLUMNS: usize = 1000;

/// A model found and built, with what it sees of the declared columns.
pub struct Built {
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
pub fn build(table: &toml::Table, schema: &Schema) -> Result<Built, SpecError> {
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
        Build::Columns(build) => (build(&section, columns)?, View::all(schema.clone())),
        Build::Formula => formula::build(&section, schema)?,
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
        Build::Columns(build) => Ok((build(&section, dimension)?.1, None)),
        Build::Formula => {
            let schema = formula::implied_schema(&section)?;
            formula::build(&section, &schema).map(|((_, model), view)| (model, Some(view)))
        }
    }
}

fn entry(table: &toml::Table) -> Result<&'static ModelEntry, SpecError> {
    let mut table = std::borrow::Cow::Borrowed(table);
    if table.contains_key("formula") && !table.contains_key("name") {
        table.to_mut().insert("name".to_owned(), "regression".into());
    }
    section::named("model", &table, MODELS, |entry| entry.name)
}

fn built<M: Likelihood + Model + 'static>(
    section: &Section<'_>,
    model: Result<M, barkeep_model::Error>,
) -> Result<Sides, SpecError> {
    model.map(sides).map_err(|error| match error {
        barkeep_model::Error::Key { key, requirement } => section.error(key, requirement),
        other => SpecError::new(section.path(), other.to_string()),
    })
}

/// Both sides of a model.
pub(crate) fn sides<M: Likelihood + Model + 'static>(model: M) -> Sides {
    let model = Arc::new(model);
    (Arc::<M>::clone(&model), model)
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
        let schema = Schema::unbounded(names(columns)).unwrap();
        build(&text.parse().unwrap(), &schema).err().unwrap().to_string()
    }

    fn names(columns: usize) -> Vec<String> {
        (1..=columns).map(|number| format!("x{number}")).collect()
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
        assert!(error("name = 'gaussian'", 1001).contains("reads 1000 columns at most"));
        assert!(error("", 1).contains("`model.name`: is required"));
        assert!(error("name = 'gausian'", 1).contains("did you mean `gaussian`?"));
        assert!(error("name = 'gaussian'\ntau = 1", 1).contains("`model.tau`: unknown key"));
        assert!(error("name = 'gaussian'\ncovariance = [1, 2, 3]", 2).contains("must hold 2 numbers"));
        assert!(error("name = 'gaussian'\ncovariance = [[1, 2], [3]]", 2).contains("2 rows of 2"));
        assert!(error("name = 'gaussian'\ncovariance = [[1, 2], [2, 1]]", 2).contains("`model.covariance`"));
    }
}
