//! Reads a data set: a custodian's declaration of files, unit, number and columns. A request names one, and says nothing about reading it.
//!
//! **Privacy.** How a file becomes records and persons decides what a certificate protects. An analyst who could choose the delimiter, the
//! person column or the number of persons would learn about cells from refusals, or have a certificate about somebody else. So
//! [`Dataset::resolve`] takes from a request what is a function of one record's admitted cells and nothing more: which columns a model
//! sees, tighter bounds (a clamp of a clamped cell) and scales.

use super::columns::{BLANK, not_toml};
use super::data::{DATA_KEYS, Data, csv_options, located};
use crate::keys::{Files, Key, Section, SpecError, suggestion};
use barkeep_data::{Column, CsvOptions};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The keys of a data set's file, which mean what they mean in `[data]`; `path` may be a list.
const SET_KEYS: [&str; 10] =
    ["id", "path", "delimiter", "quote", "records", "person", "persons", "most_rows", "number", "columns"];
/// Those that say how files are read: not for analysts.
const READING_KEYS: [&str; 3] = ["path", "delimiter", "quote"];
/// The keys of `[data]` where it names a data set.
const ASKED_KEYS: [&str; 4] = ["set", "columns", "report", "memory"];
/// What an analyst may say of a column.
const ASKED_OF_COLUMNS: [&str; 3] = ["min", "max", "scale"];

/// A data set as its custodian declares it, or the public part of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    file: PathBuf,
    text: String,
    /// The facts that are no matter of reading.
    facts: Table,
    paths: Vec<PathBuf>,
    options: CsvOptions,
    /// All of its columns.
    data: Data,
}

impl Dataset {
    /// Reads a data set's file; relative paths start from its folder. No record is opened.
    ///
    /// # Errors
    /// The first fault, by key.
    pub fn read(file: &Path) -> Result<Self, SpecError> {
        let fail = |reason: String| SpecError::new("data.set", format!("{}: {reason}", file.display()));
        let text = std::fs::read_to_string(file).map_err(|error| fail(error.kind().to_string()))?;
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.split('.').next().unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new(""));
        let set = Self::parse(&text, folder, name).map_err(|error| match error.key.as_str() {
            "" => fail(error.reason),
            key => fail(format!("`{key}`: {}", error.reason)),
        })?;
        Ok(Self { file: file.to_owned(), ..set })
    }

    /// Reads a declaration that is called `name` unless it says otherwise.
    fn parse(text: &str, folder: &Path, name: &str) -> Result<Self, SpecError> {
        let mut facts: Table =
            text.parse().map_err(|error: toml::de::Error| SpecError::new("", not_toml(text, &error)))?;
        let keys = DATA_KEYS.iter().filter(|key| SET_KEYS.contains(&key.name));
        let section = Section::new("", &facts, keys)?;
        if let Some((key, _)) = facts.iter().find(|(_, value)| value.as_str() == Some(BLANK)) {
            return Err(section.error(key, "is still \"?\": fill it in, or delete it if it does not apply"));
        }
        let options = csv_options(&section)?;
        let listed = match section.value("path") {
            None => Some(Vec::new()),
            Some(Value::String(path)) => Some(vec![path.as_str()]),
            Some(Value::Array(paths)) => paths.iter().map(Value::as_str).collect(),
            Some(_) => None,
        };
        let paths: Vec<PathBuf> = listed
            .ok_or_else(|| section.error("path", "must be a text in quotes, or a list of such"))?
            .into_iter()
            .map(|path| located(path, folder))
            .collect();
        READING_KEYS.iter().for_each(|key| drop(facts.remove(*key)));
        let name = match facts.remove("id") {
            None => name.to_owned(),
            Some(Value::String(id)) if !id.trim().is_empty() => id,
            Some(_) => return Err(SpecError::new("id", "must be a text in quotes")),
        };
        facts.insert("set".to_owned(), name.into());
        let mut data = Data::parse(&facts, Files::Closed)?;
        (data.paths, data.options) = (paths.clone(), options);
        Ok(Self { file: PathBuf::new(), text: text.to_owned(), facts, paths, options, data })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        self.data.set().unwrap_or_default()
    }

    /// The file that declares it.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The declaration, word for word.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All that it declares.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// Its public part, for analysts: a data set's file without how its files are read.
    #[must_use]
    pub fn public(&self) -> String {
        let mut facts = self.facts.clone();
        let id = facts.remove("set").unwrap_or_else(|| self.name().into());
        let columns = facts.remove("columns");
        let mut table = Table::from_iter([("id".to_owned(), id)]);
        table.extend(facts);
        table.extend(columns.map(|columns| ("columns".to_owned(), columns)));
        table.to_string()
    }

    /// The `[data]` of a spec that names this data set, with all that the data set declares written in.
    ///
    /// # Errors
    /// The first key that is the custodian's to declare, column there is not, or bound that is wider than the declared one.
    pub(super) fn resolve(&self, asked: &Table) -> Result<Table, SpecError> {
        check_asked(asked)?;
        let mut resolved = self.facts.clone();
        for key in ["report", "memory"] {
            asked.get(key).map(|value| resolved.insert(key.to_owned(), value.clone()));
        }
        let Some(chosen) = chosen(asked)? else { return Ok(resolved) };
        let mut columns = Table::new();
        for (name, said) in chosen {
            columns.insert(name.to_owned(), self.column(name, said)?.into());
        }
        resolved.insert("columns".to_owned(), columns.into());
        Ok(resolved)
    }

    /// A declared column, as an analyst wants to see it.
    fn column(&self, name: &str, said: Option<&Table>) -> Result<Table, SpecError> {
        let key = format!("data.columns.{name}");
        let declared = self.data.declared().columns().iter();
        let entry = self.facts.get("columns").and_then(|columns| columns.get(name)).and_then(Value::as_table);
        let (Some(column), Some(entry)) = (declared.clone().find(|column| column.name() == name), entry)
        else {
            let hint = suggestion(name, declared.map(Column::name));
            return Err(SpecError::new(key, format!("is no column of data set \"{}\"{hint}", self.name())));
        };
        let mut entry = entry.clone();
        let Some(said) = said else { return Ok(entry) };
        entry.extend(said.iter().map(|(key, value)| (key.clone(), value.clone())));
        let section = Section::open(&key, &entry);
        if let (Some((min, max)), true) =
            (column.bounds(), said.contains_key("min") || said.contains_key("max"))
        {
            let own = |key| Ok::<_, SpecError>(section.number(key)?.unwrap_or(f64::NAN));
            let (low, high) = (own("min")?, own("max")?);
            for (key, bound) in [("min", low), ("max", high)] {
                if !(min..=max).contains(&bound) {
                    let reason = format!(
                        "must lie within the declared bounds {min} to {max}: they can be tightened only"
                    );
                    return Err(section.error(key, reason));
                }
            }
            if low < high {
                let invalid = column.invalid().clamp(low, high);
                let typical = column.typical().map(|(a, b)| (a.clamp(low, high), b.clamp(low, high)));
                entry.insert("invalid".to_owned(), invalid.into());
                entry.remove("typical");
                if let Some((a, b)) = typical.filter(|(a, b)| a < b) {
                    entry.insert("typical".to_owned(), vec![a, b].into());
                }
            }
        }
        Ok(entry)
    }

    /// Says where the records are that a spec resolved on this data set reads.
    pub(super) fn place(&self, data: &mut Data) {
        data.paths.clone_from(&self.paths);
        (data.options, data.declared_in) = (self.options, Some(self.file.clone()));
    }
}

/// Refuses what is the custodian's to declare, by name.
pub(super) fn check_asked(asked: &Table) -> Result<(), SpecError> {
    let section = Section::new("data", asked, DATA_KEYS.iter())?;
    let foreign = |keys: &[&str], own: &Table| own.keys().find(|key| !keys.contains(&key.as_str())).cloned();
    if let Some(key) = foreign(&ASKED_KEYS, asked) {
        let reason = "is the custodian's to declare, in the data set: a spec that names one says nothing about how its records are read";
        return Err(section.error(&key, reason));
    }
    for (name, said) in chosen(asked)?.into_iter().flatten() {
        if let Some(key) = said.and_then(|said| foreign(&ASKED_OF_COLUMNS, said)) {
            let reason = "is the custodian's to declare, in the data set: a spec that names one may tighten min and max, and set scale";
            return Err(SpecError::new(format!("data.columns.{name}.{key}"), reason));
        }
    }
    Ok(())
}

/// A column by its name, and what is said of it.
type Chosen<'a> = (&'a str, Option<&'a Table>);

/// The columns that `[data]` chooses, and what it says of each; none where it chooses none.
fn chosen(asked: &Table) -> Result<Option<Vec<Chosen<'_>>>, SpecError> {
    let fail = || SpecError::new("data.columns", "must be a list of names, or a table of columns");
    match asked.get("columns") {
        None => Ok(None),
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| Some((name.as_str()?, None)));
            Ok(Some(names.collect::<Option<_>>().ok_or_else(fail)?))
        }
        Some(Value::Table(columns)) => {
            let columns = columns.iter().map(|(name, said)| Some((name.as_str(), Some(said.as_table()?))));
            Ok(Some(columns.collect::<Option<_>>().ok_or_else(fail)?))
        }
        Some(_) => Err(fail()),
    }
}

/// Whether a spec, with its data set written in, is one that names the data set so, and asks for the same.
pub(crate) fn is_of(resolved: &Table, asked: &Table) -> bool {
    let data = |spec: &Table| spec.get("data").and_then(Value::as_table).cloned().unwrap_or_default();
    let (whole, part) = (data(resolved), data(asked));
    let without = |spec: &Table| {
        spec.iter().filter(|(key, _)| *key != "data").map(|(k, v)| (k.clone(), v.clone())).collect::<Table>()
    };
    let columns = whole.get("columns").and_then(Value::as_table);
    let same_columns = match chosen(&part) {
        Ok(None) => true,
        Ok(Some(chosen)) => columns.is_some_and(|columns| {
            columns.len() == chosen.len()
                && columns.iter().zip(chosen).all(|((name, entry), (wanted, said))| {
                    let says = |(key, value): (&String, &Value)| entry.get(key) == Some(value);
                    name == wanted && said.is_none_or(|said| said.iter().all(says))
                })
        }),
        Err(_) => false,
    };
    without(resolved) == without(asked)
        && ["set", "report", "memory"].iter().all(|key| whole.get(*key) == part.get(*key))
        && same_columns
}

/// The keys of a data set's file, each with what it says.
pub fn dataset_keys() -> impl Iterator<Item = &'static Key> {
    DATA_KEYS.iter().filter(|key| SET_KEYS.contains(&key.name))
}

#[cfg(test)]
mod tests;
