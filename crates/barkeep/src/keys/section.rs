//! Reads one section of a spec, so that every key is typed, ranged and known, or refused by name.

pub use barkeep_model::Key;
pub(crate) use barkeep_model::key;
use barkeep_num::linear::diagonal;
use std::fmt;

/// What is wrong in a spec, at which key, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// The key as a user writes it, as in `sampler.clip`; empty for the spec as a whole.
    pub key: String,
    /// What is wrong and what is expected.
    pub reason: String,
}

impl SpecError {
    /// An error at `key`.
    pub fn new(key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { key: key.into(), reason: reason.into() }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(out, "spec: {}", self.reason),
            key => write!(out, "spec key `{key}`: {}", self.reason),
        }
    }
}

impl std::error::Error for SpecError {}

/// A TOML table with the path that leads to it and the keys it may hold.
pub(crate) struct Section<'a> {
    path: String,
    table: &'a toml::Table,
}

impl<'a> Section<'a> {
    /// Checks that `table` holds no key outside `known`.
    ///
    /// # Errors
    /// The first unknown key, with the nearest known one.
    pub(crate) fn new<'k>(
        path: &str,
        table: &'a toml::Table,
        known: impl Iterator<Item = &'k Key> + Clone,
    ) -> Result<Self, SpecError> {
        for name in table.keys() {
            if !known.clone().any(|key| key.name == name) {
                let names = known.clone().map(|key| key.name);
                return Err(SpecError::new(
                    join(path, name),
                    format!("unknown key{}", suggestion(name, names)),
                ));
            }
        }
        Ok(Self { path: path.to_owned(), table })
    }

    /// The whole table, for sections whose keys are names a user chose.
    pub(crate) fn open(path: &str, table: &'a toml::Table) -> Self {
        Self { path: path.to_owned(), table }
    }

    /// The path that leads to this section.
    #[must_use]
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The full name of a key of this section.
    #[must_use]
    pub(crate) fn name(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// An error at a key of this section.
    pub(crate) fn error(&self, key: &str, reason: impl Into<String>) -> SpecError {
        SpecError::new(self.name(key), reason)
    }

    /// Whether the key is written in the spec.
    #[must_use]
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The value as written.
    #[must_use]
    pub(crate) fn value(&self, key: &str) -> Option<&'a toml::Value> {
        self.table.get(key)
    }

    /// A number, whole or not.
    ///
    /// # Errors
    /// The value is not a number.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, SpecError> {
        self.value(key).map(|value| self.as_number(key, value)).transpose()
    }

    /// A finite number above zero.
    ///
    /// # Errors
    /// The value is anything else.
    pub(crate) fn positive(&self, key: &str) -> Result<Option<f64>, SpecError> {
        match self.number(key)? {
            Some(x) if !(x.is_finite() && x > 0.0) => {
                Err(self.error(key, format!("must be a finite number above 0, not {x}")))
            }
            other => Ok(other),
        }
    }

    /// A whole number of at least one.
    ///
    /// # Errors
    /// The value is anything else.
    pub(crate) fn count(&self, key: &str) -> Result<Option<u64>, SpecError> {
        match self.value(key) {
            None => Ok(None),
            Some(toml::Value::Integer(n)) if *n >= 1 => Ok(Some(n.unsigned_abs())),
            Some(other) => {
                Err(self.error(key, format!("must be a whole number of at least 1, not {}", shown(other))))
            }
        }
    }

    /// A string.
    ///
    /// # Errors
    /// The value is not a string.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, SpecError> {
        match self.value(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.error(key, format!("must be text in quotes, not {}", shown(other)))),
        }
    }

    /// A string out of a fixed choice.
    ///
    /// # Errors
    /// The value is not among `choices`; the nearest is suggested.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &str,
        choices: &[(&'static str, T)],
    ) -> Result<Option<T>, SpecError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, chosen)) => Ok(Some(*chosen)),
            None => {
                let names = choices.iter().map(|(name, _)| *name);
                let list: Vec<String> = names.clone().map(|name| format!("\"{name}\"")).collect();
                Err(self.error(
                    key,
                    format!("must be one of {}, not \"{text}\"{}", list.join(", "), suggestion(text, names)),
                ))
            }
        }
    }

    /// true or false.
    ///
    /// # Errors
    /// The value is neither.
    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, SpecError> {
        match self.value(key) {
            None => Ok(None),
            Some(toml::Value::Boolean(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.error(key, format!("must be true or false, not {}", shown(other)))),
        }
    }

    /// A list of finite numbers.
    ///
    /// # Errors
    /// The value is not a list, or an entry is not a finite number.
    pub(crate) fn numbers(&self, key: &str) -> Result<Option<Vec<f64>>, SpecError> {
        match self.value(key) {
            None => Ok(None),
            Some(toml::Value::Array(items)) => items
                .iter()
                .map(|item| match self.as_number(key, item)? {
                    x if x.is_finite() => Ok(x),
                    x => Err(self.error(key, format!("must hold finite numbers only, not {x}"))),
                })
                .collect::<Result<_, _>>()
                .map(Some),
            Some(other) => Err(self.error(key, format!("must be a list of numbers, not {}", shown(other)))),
        }
    }

    /// A list of exactly `length` finite numbers.
    ///
    /// # Errors
    /// The value is not a list of finite numbers, or has another length.
    pub(crate) fn vector(&self, key: &str, length: usize) -> Result<Option<Vec<f64>>, SpecError> {
        match self.numbers(key)? {
            Some(numbers) if numbers.len() != length => {
                Err(self.error(key, format!("must hold {length} numbers, not {}", numbers.len())))
            }
            other => Ok(other),
        }
    }

    /// A square matrix, row by row: a variance for all, a list of variances, or a list of rows.
    ///
    /// # Errors
    /// The value is none of them, or of another dimension.
    pub(crate) fn matrix(&self, key: &str, dimension: usize) -> Result<Option<Vec<f64>>, SpecError> {
        match self.value(key) {
            None => Ok(None),
            Some(toml::Value::Array(rows)) if rows.iter().any(toml::Value::is_array) => {
                let mut matrix = Vec::with_capacity(dimension * dimension);
                for row in rows {
                    let one = toml::Table::from_iter([(key.to_owned(), row.clone())]);
                    let row = Section::open(&self.path, &one).numbers(key)?.unwrap_or_default();
                    if row.len() != dimension || rows.len() != dimension {
                        return Err(
                            self.error(key, format!("must be {dimension} rows of {dimension} numbers"))
                        );
                    }
                    matrix.extend(row);
                }
                Ok(Some(matrix))
            }
            Some(toml::Value::Array(_)) => Ok(self.vector(key, dimension)?.map(|entries| diagonal(&entries))),
            Some(_) => Ok(self.positive(key)?.map(|variance| diagonal(&vec![variance; dimension]))),
        }
    }

    /// A nested table.
    ///
    /// # Errors
    /// The value is not a table.
    pub(crate) fn table(&self, key: &str) -> Result<Option<&'a toml::Table>, SpecError> {
        match self.value(key) {
            None => Ok(None),
            Some(toml::Value::Table(table)) => Ok(Some(table)),
            Some(other) => Err(self.error(key, format!("must be a section, not {}", shown(other)))),
        }
    }

    /// Turns an absent key into the error that asks for it.
    ///
    /// # Errors
    /// The key is absent.
    pub(crate) fn require<T>(&self, key: &str, value: Option<T>) -> Result<T, SpecError> {
        value.ok_or_else(|| self.error(key, "is required"))
    }

    fn as_number(&self, key: &str, value: &toml::Value) -> Result<f64, SpecError> {
        match value {
            toml::Value::Float(x) => Ok(*x),
            #[expect(clippy::cast_precision_loss, reason = "a spec's whole numbers are far below 2^53")]
            toml::Value::Integer(n) => Ok(*n as f64),
            other => Err(self.error(key, format!("must be a number, not {}", shown(other)))),
        }
    }
}

/// The entry that a section's `name` key names, or without one `default`, or the error that lists or suggests names.
///
/// # Errors
/// There is neither, the key is not text, or it names nothing in `entries`.
pub(crate) fn named<'e, T>(
    path: &str,
    table: &toml::Table,
    default: Option<&'static str>,
    entries: &'e [T],
    name_of: fn(&T) -> &'static str,
) -> Result<&'e T, SpecError> {
    let section = Section::open(path, table);
    let name = section
        .text("name")?
        .or(default)
        .ok_or_else(|| section.error("name", format!("is required; `barkeep {path}s` lists the choices")))?;
    entries.iter().find(|entry| name_of(entry) == name).ok_or_else(|| {
        let nearest = suggestion(name, entries.iter().map(name_of));
        section.error("name", format!("there is no {path} \"{name}\"{nearest}"))
    })
}

/// `, did you mean "…"?` with the nearest of `names`, or nothing when none is near.
pub(crate) fn suggestion<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> String {
    names
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .min()
        .filter(|(distance, name)| *distance <= 1 + name.len().max(given.len()) / 3)
        .map(|(_, name)| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// A spec is public, but a value can be long; show its kind and, if short, itself.
fn shown(value: &toml::Value) -> String {
    let text = value.to_string();
    let kind = match value {
        toml::Value::String(_) => "the text",
        toml::Value::Integer(_) | toml::Value::Float(_) => "the number",
        toml::Value::Boolean(_) => "the flag",
        toml::Value::Datetime(_) => "the date",
        toml::Value::Array(_) => return "a list".to_owned(),
        toml::Value::Table(_) => return "a section".to_owned(),
    };
    if text.chars().count() <= 40 { format!("{kind} {text}") } else { kind.replacen("the", "a", 1) }
}

#[cfg(test)]
mod tests;
