//! Reads the columns of a data set: kinds, bounds, levels, and what stands for a bad cell.

use crate::keys::{Files, Key, Section, SpecError, key};
use barkeep_data::{Column, CsvOptions, Kind, Precision, Scale, Schema, read_header};
use std::path::Path;

/// The keys of one entry of `[data.columns]`.
pub const COLUMN_KEYS: [Key; 8] = [
    key("kind", "\"real\"", "\"real\", \"integer\", \"bool\" or \"category\""),
    key("min", "", "public lower bound of a real or integer column; values below are raised to it"),
    key("max", "", "public upper bound of a real or integer column; values above are lowered to it"),
    key("levels", "", "the names a category column may hold"),
    key("invalid", "", "stands in for a cell that is missing, unreadable or undeclared"),
    key("scale", "\"none\"", "\"bounds\" maps [min, max] to [-1, 1]"),
    key(
        "typical",
        "from min to max",
        "where about nine of ten values of a real or integer column lie, such as [40, 80], known without the records; it \
         shapes forecasts, whitening and simulated records, and changes no value",
    ),
    key(
        "precision",
        "\"f64\"",
        "\"f32\" rounds a real column to the nearest number of 32 bits within its bounds as it is read, some seven digits, and \
         keeps it in 4 bytes in place of 8",
    ),
];

/// The `[columns]` of a schema file.
pub(super) fn columns_of(
    section: &Section<'_>,
    file: &str,
    files: Files<'_>,
) -> Result<toml::Table, SpecError> {
    let (text, shown) = files.read(section, "schema", file)?;
    let root: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        section.error("schema", format!("{shown}: {}", not_toml(&text, &error)))
    })?;
    let keys = [key("columns", "", "one entry for each column")];
    let root = Section::new("", &root, keys.iter())
        .map_err(|error| section.error("schema", format!("{shown}: `{}`: {}", error.key, error.reason)))?;
    match root.table("columns") {
        Ok(Some(columns)) => Ok(columns.clone()),
        _ => Err(section.error("schema", format!("{shown} has no [columns] section"))),
    }
}

/// Where TOML ends being TOML.
pub(super) fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(text));
    format!("line {} is not TOML: {}", before.matches('\n').count() + 1, error.message())
}

/// Checks the entries of `[data.columns]` by themselves.
///
/// # Errors
/// The first fault, by key, as [`Spec::parse`](super::Spec::parse) would name it.
pub fn check_columns(columns: &toml::Table) -> Result<(), SpecError> {
    schema(columns).map(drop)
}

/// The schema of these columns, in their order.
pub(super) fn schema(columns: &toml::Table) -> Result<Schema, SpecError> {
    let columns = columns
        .iter()
        .map(|(name, value)| match value {
            toml::Value::Table(table) => column(name, table),
            _ => Err(SpecError::new(
                format!("data.columns.{name}"),
                "must be a table such as { min = 0, max = 1, invalid = 0 }",
            )),
        })
        .collect::<Result<Vec<_>, _>>()?;
    Schema::new(columns).map_err(|error| SpecError::new("data.columns", error.to_string()))
}

/// What a draft puts where a person must fill something in.
pub(super) const BLANK: &str = "?";

/// Drafts a data set's file from the header of a file of records, every field left blank for a person.
///
/// **Privacy.** Reads names alone, never a record: bounds and levels taken from records would be answers nobody paid for.
///
/// # Errors
/// [`barkeep_data::Error`] if the file is missing, unreadable or empty, or its first row is not a header.
pub fn draft_schema(
    path: &Path,
    delimiter: u8,
    columns: Option<&[String]>,
) -> Result<String, barkeep_data::Error> {
    let options = CsvOptions { delimiter, ..CsvOptions::default() };
    let header = read_header(path, options)?;
    if let Some(missing) = columns.into_iter().flatten().find(|name| !header.contains(name)) {
        return Err(barkeep_data::Error::Header { path: path.to_owned(), column: missing.clone() });
    }
    let mut text = format!(
        "# Drafted from the header alone. Replace every \"?\" using what you know about how the data were collected (the form, the\n\
         # device, the law), never by looking at the data. Delete the lines that do not apply and the columns nobody needs.\n\
         # Values outside [min, max] are clamped; a missing, unreadable or undeclared cell becomes invalid.\n\
         path = {}\n{}\
         records = \"?\"      # how many; or, where a person may have several rows, delete this and give the next three\n\
         person = \"?\"       # the column that says whose row it is\n\
         persons = \"?\"      # how many persons there are\n\
         most_rows = \"?\"    # the most rows a person counts with\n\
         number = \"public\"  # \"secret\" where runs may not show how many there are; records or persons is then a public scale\n",
        toml::Value::String(path.display().to_string()),
        match delimiter {
            b',' => String::new(),
            other => format!("delimiter = {}\n", toml::Value::String(char::from(other).to_string())),
        },
    );
    for name in header.into_iter().filter(|name| columns.is_none_or(|columns| columns.contains(name))) {
        let quoted = toml::Value::String(name).to_string();
        text.push_str(&format!(
            "\n[columns.{quoted}]\n\
             kind = \"?\"         # \"real\", \"integer\", \"bool\" or \"category\"\n\
             min = \"?\"          # real and integer: a number\n\
             max = \"?\"          # real and integer: a number\n\
             levels = \"?\"       # category: a list such as [\"a\", \"b\"]; the first is the reference\n\
             invalid = \"?\"      # a number, true or false, or a level\n\
             scale = \"bounds\"   # real and integer: map [min, max] to [-1, 1]; \"none\" for a response that is a count, positive or a share\n\
             typical = \"?\"      # real and integer: where nine of ten values lie, such as [40, 80]\n"
        ));
    }
    Ok(text)
}

/// The entry of `[data.columns]` that [`column`] reads as this column.
pub(super) fn written(column: &Column) -> toml::Table {
    let mut table = toml::Table::new();
    let mut set = |key: &str, value: toml::Value| table.insert(key.to_owned(), value);
    match column.kind() {
        Kind::Real { min, max } | Kind::Integer { min, max } => {
            let kind = if matches!(column.kind(), Kind::Integer { .. }) { "integer" } else { "real" };
            set("kind", kind.into());
            set("min", (*min).into());
            set("max", (*max).into());
            set("invalid", column.invalid().into());
        }
        Kind::Bool => {
            set("kind", "bool".into());
            set("invalid", (column.invalid() != 0.0).into());
        }
        Kind::Category { levels } => {
            set("kind", "category".into());
            set("levels", levels.clone().into());
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a level's index")]
            let stands_in = levels.get(column.invalid() as usize).cloned().unwrap_or_default();
            set("invalid", stands_in.into());
        }
    }
    match column.scale() {
        Scale::None => {}
        Scale::Bounds => {
            set("scale", "bounds".into());
        }
    }
    if let Some((low, high)) = column.typical() {
        set("typical", vec![low, high].into());
    }
    match column.precision() {
        Precision::Double => {}
        Precision::Single => {
            set("precision", "f32".into());
        }
    }
    table
}

fn column(name: &str, table: &toml::Table) -> Result<Column, SpecError> {
    let path = format!("data.columns.{name}");
    let section = Section::new(&path, table, COLUMN_KEYS.iter())?;
    // A level may be called "?" and then stand for a bad cell.
    let levels = table.get("levels").and_then(toml::Value::as_array);
    let is_level = levels.is_some_and(|levels| levels.iter().any(|level| level.as_str() == Some(BLANK)));
    let blank = |(key, value): &(&String, &toml::Value)| {
        value.as_str() == Some(BLANK) && !(is_level && *key == "invalid")
    };
    if let Some((key, _)) = table.iter().find(blank) {
        return Err(section.error(key, "is still \"?\": fill it in, or delete it if it does not apply"));
    }
    let kind = section
        .choice(
            "kind",
            &[("real", "real"), ("integer", "integer"), ("bool", "bool"), ("category", "category")],
        )?
        .unwrap_or("real");
    for (key, kinds) in [
        ("min", ["real", "integer"]),
        ("max", ["real", "integer"]),
        ("typical", ["real", "integer"]),
        ("precision", ["real"; 2]),
        ("levels", ["category"; 2]),
    ] {
        if section.has(key) && !kinds.contains(&kind) {
            return Err(section.error(key, format!("does not apply to a column of kind \"{kind}\"")));
        }
    }
    let bound = |key| section.require(key, section.number(key)?);
    let invalid = section.require("invalid", section.value("invalid"))?;
    let column = match kind {
        "bool" => match invalid {
            toml::Value::Boolean(flag) => Column::boolean(name, *flag),
            _ => return Err(section.error("invalid", "must be true or false for a bool column")),
        },
        "category" => {
            let levels = match section.require("levels", section.value("levels"))? {
                toml::Value::Array(items) => items
                    .iter()
                    .map(|item| item.as_str().map(str::to_owned))
                    .collect::<Option<Vec<_>>>()
                    .ok_or_else(|| section.error("levels", "must be a list of texts in quotes"))?,
                _ => return Err(section.error("levels", "must be a list of texts in quotes")),
            };
            let text = section.require("invalid", section.text("invalid")?)?;
            Column::category(name, levels, text)
        }
        kind => {
            let (min, max) = (bound("min")?, bound("max")?);
            let invalid = bound("invalid")?;
            let kind = if kind == "integer" { Kind::Integer { min, max } } else { Kind::Real { min, max } };
            Column::new(name, kind, invalid)
        }
    };
    let scale =
        section.choice("scale", &[("none", Scale::None), ("bounds", Scale::Bounds)])?.unwrap_or_default();
    let typical = match section.numbers("typical")?.as_deref() {
        None => None,
        Some([low, high]) => Some((*low, *high)),
        Some(_) => return Err(section.error("typical", "must be two numbers, the smaller first")),
    };
    let precision = section
        .choice("precision", &[("f64", Precision::Double), ("f32", Precision::Single)])?
        .unwrap_or_default();
    let described = column.and_then(|column| column.scaled(scale)?.kept_in(precision));
    let described = described.and_then(|column| match typical {
        Some((low, high)) => column.typically(low, high),
        None => Ok(column),
    });
    described.map_err(|error| match error {
        barkeep_data::Error::Column { key, requirement, .. } => section.error(key, requirement),
        other => SpecError::new(&path, other.to_string()),
    })
}
