//! Reads `[data]`: where the records are and every public fact about them.

use crate::keys::{Files, Key, Section, SpecError, key};
use barkeep_data::{
    Column, CsvOptions, Kind, Precision, Records, Scale, Schema, Unit, View, is_remote, read_header,
};
use std::path::{Path, PathBuf};

/// The keys of `[data]`.
pub const DATA_KEYS: [Key; 11] = [
    key(
        "path",
        "",
        "the CSV or Parquet file (by its ending .parquet or .pq), relative to the spec; s3://bucket/key.parquet with the feature object-store",
    ),
    key(
        "records",
        "",
        "how many records it holds; public, and another count is refused. With neighbours = \"add-remove\" a public \
         scale instead: any number is accepted, all records are used, and nothing shows how many",
    ),
    key("id", "", "what the custodian calls this data set; public, and stated in the certificate"),
    key("delimiter", "\",\"", "the one character between cells"),
    key(
        "memory",
        "half of the machine's, where it is known",
        "\"4GB\": how much memory the records may take. A file of more records is read anew at every pass, a stretch at a time: \
         the same draws. A batch takes a pass over all records too. Rows of persons are as many as persons times most_rows; \
         where they do not stand person by person, a pass may read the file several times",
    ),
    key(
        "person",
        "",
        "the column that says whose row it is, where a person may have several; text or a number, no part of the model \
         and never shown. Neighbouring data sets then differ in all rows of one person",
    ),
    key(
        "persons",
        "",
        "instead of records, with person: how many persons there are; public, unlike the number of rows. Another count is \
         refused",
    ),
    key(
        "most_rows",
        "all rows count",
        "with person: the first rows of a person that count, in file order; what bounds a row then bounds a person",
    ),
    key(
        "report",
        "nothing is reported",
        "{ share = 0.02 }: this share of the budget buys two noisy counts for each column, cells that were invalid and cells \
         that were outside the bounds",
    ),
    key(
        "columns",
        "",
        "one entry for each column the model reads, in the model's order; a formula picks its own by name",
    ),
    key(
        "schema",
        "",
        "instead of columns: a file, relative to the spec, with a [columns] section; `barkeep schema` drafts one",
    ),
];

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

/// Where the records are and what is publicly known of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    pub(super) path: PathBuf,
    id: Option<String>,
    /// Records, or persons.
    records: Records,
    person: Option<Person>,
    /// The share of μ² that buys counts of bad cells.
    report: Option<f64>,
    delimiter: u8,
    /// Bytes that the records may take in memory, where somebody has said so.
    memory: Option<u64>,
    pub(super) view: View,
}

/// Whose the rows are.
#[derive(Debug, Clone, PartialEq)]
struct Person {
    /// The column that says.
    column: String,
    /// Rows of a person that count.
    most_rows: Option<u64>,
}

/// The most records a sum can take without overflow (2³²).
const MOST_RECORDS: Records = Records(1 << 32);

/// Checks a number of records or persons, by the key that declares it.
fn admissible(key: &str, records: Records) -> Result<(), SpecError> {
    let fail = |reason: &str| Err(SpecError::new(key, reason));
    match records {
        Records(0) => fail("must be a whole number of at least 1, not the number 0"),
        records if records > MOST_RECORDS => fail("must be at most 2^32, so that no sum can overflow"),
        _ => Ok(()),
    }
}

/// Stands for the path of records that are in no file.
const IN_MEMORY: &str = "in memory";

impl Data {
    /// Reads and checks the section; relative paths start where `files` says.
    ///
    /// # Errors
    /// The first key that is missing, unknown or out of range.
    pub(crate) fn parse(table: &toml::Table, files: Files<'_>) -> Result<Self, SpecError> {
        let inlined = with_columns(table, files)?;
        let section = Section::new("data", inlined.as_ref().unwrap_or(table), DATA_KEYS.iter())?;
        let path = Path::new(section.require("path", section.text("path")?)?);
        let path = if is_remote(path) { path.to_path_buf() } else { files.folder().join(path) };
        let person = section.text("person")?;
        for key in ["persons", "most_rows"] {
            if person.is_none() && section.has(key) {
                return Err(section.error(key, "needs person, the column that says whose row it is"));
            }
        }
        if person.is_some() && section.has("records") {
            return Err(section.error(
                "records",
                "is the number of rows, which person keeps secret; give persons, the number of persons",
            ));
        }
        let counted = if person.is_some() { "persons" } else { "records" };
        let records = Records(section.require(counted, section.count(counted)?)?);
        admissible(&section.name(counted), records)?;
        let most_rows = section.count("most_rows")?;
        let person = person.map(|column| Person { column: column.to_owned(), most_rows });
        let delimiter = match section.text("delimiter")?.unwrap_or(",").as_bytes() {
            [one] if *one != b'"' && *one != b'\n' && *one != b'\r' => *one,
            _ => {
                return Err(
                    section.error("delimiter", "must be one ASCII character, not a quote or a line end")
                );
            }
        };
        let Some(columns) = section.table("columns")? else {
            return Err(section.error("columns", "is required, or schema"));
        };
        let report = report(&section)?;
        let id = section.text("id")?.map(str::to_owned);
        let memory = match section.text("memory")? {
            None => None,
            Some(text) => Some(bytes(text).ok_or_else(|| {
                section.error("memory", "must be a number and its unit, such as \"500MB\" or \"4GB\"")
            })?),
        };
        let view = View::all(schema(columns)?);
        let data = Self { path, id, records, person, report, delimiter, memory, view };
        data.check()?;
        Ok(data)
    }

    /// Records that a program holds in memory, all of whose columns the model reads in this order.
    #[must_use]
    pub fn new(schema: Schema, records: Records) -> Self {
        Self::in_file(schema, records, IN_MEMORY)
    }

    /// Records in a CSV or Parquet file, by its ending .parquet or .pq.
    #[must_use]
    pub fn in_file(schema: Schema, records: Records, path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            id: None,
            records,
            person: None,
            report: None,
            delimiter: b',',
            memory: None,
            view: View::all(schema),
        }
    }

    /// The same rows, each a person's whom `column` names: the declared number of records is then that of persons.
    ///
    /// **Privacy.** Neighbouring data sets differ in all rows of one person, of which there may be any number. The number of
    /// rows is not public.
    #[must_use]
    pub fn by_person(self, column: impl Into<String>) -> Self {
        Self { person: Some(Person { column: column.into(), most_rows: None }), ..self }
    }

    /// The same rows by person, of whom the first `most_rows` count in file order: what bounds a row then bounds a person.
    /// Without [`Data::by_person`] this changes nothing.
    #[must_use]
    pub fn most_rows(mut self, most_rows: u64) -> Self {
        if let Some(person) = &mut self.person {
            person.most_rows = Some(most_rows);
        }
        self
    }

    /// Declares another number of records or persons.
    pub(super) fn set_records(&mut self, records: Records) {
        self.records = records;
    }

    /// The same records under the name that their custodian gives them; public, and stated in the certificate.
    #[must_use]
    pub fn identified_by(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// What the custodian calls the data set.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The same file with another character between cells.
    #[must_use]
    pub fn delimited_by(self, delimiter: u8) -> Self {
        Self { delimiter, ..self }
    }

    /// The same records with counts of the cells of each column that were invalid, or outside the bounds, for this share of
    /// the budget's μ².
    #[must_use]
    pub fn report(self, share: f64) -> Self {
        Self { report: Some(share), ..self }
    }

    /// The same file, of which about this many bytes may be in memory at a time.
    #[must_use]
    pub fn memory(self, bytes: u64) -> Self {
        Self { memory: Some(bytes), ..self }
    }

    /// How many bytes the records may take in memory, and none where they may take any: what somebody said, or half of the
    /// machine's.
    #[must_use]
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory.or_else(|| machine_memory().map(|bytes| bytes / 2))
    }

    /// How many bytes the spec says that the records may take in memory.
    pub(crate) fn declared_memory(&self) -> Option<u64> {
        self.memory
    }

    /// Checks the number of records, and that of persons and their rows.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        admissible(&format!("data.{}", self.unit().plural()), self.records)?;
        if self.report.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
            return Err(SpecError::new("data.report.share", "must be above 0 and below 1"));
        }
        let Some(Person { column, most_rows }) = &self.person else { return Ok(()) };
        if *most_rows == Some(0) {
            return Err(SpecError::new("data.most_rows", "must be at least 1"));
        }
        if self.view.source().columns().iter().any(|declared| declared.name() == column) {
            let reason = format!(
                "is \"{column}\", which data.columns declares too: whose row it is is no part of a model"
            );
            return Err(SpecError::new("data.person", reason));
        }
        Ok(())
    }

    /// The section that says the same.
    pub(super) fn to_toml(&self) -> toml::Table {
        let columns = self.view.source().columns().iter();
        let mut table = toml::Table::from_iter([
            ("path".to_owned(), self.path.display().to_string().into()),
            (self.unit().plural().to_owned(), whole(self.records.0)),
            (
                "columns".to_owned(),
                toml::Table::from_iter(columns.map(|c| (c.name().to_owned(), written(c).into()))).into(),
            ),
        ]);
        if let Some(Person { column, most_rows }) = &self.person {
            table.insert("person".to_owned(), column.clone().into());
            most_rows.map(|most| table.insert("most_rows".to_owned(), whole(most)));
        }
        if let Some(share) = self.report {
            let report = toml::Table::from_iter([("share".to_owned(), share.into())]);
            table.insert("report".to_owned(), report.into());
        }
        if let Some(id) = &self.id {
            table.insert("id".to_owned(), id.clone().into());
        }
        if self.delimiter != b',' {
            table.insert("delimiter".to_owned(), char::from(self.delimiter).to_string().into());
        }
        if let Some(memory) = self.memory {
            table.insert("memory".to_owned(), format!("{memory}B").into());
        }
        table
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many records it must hold, or persons where [`Data::unit`] is a person; about how many where neighbours add or remove
    /// one: public.
    #[must_use]
    pub fn records(&self) -> Records {
        self.records
    }

    /// What a neighbouring data set differs in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.person.as_ref().map_or(Unit::Record, |person| Unit::Person { most_rows: person.most_rows })
    }

    /// The column that says whose row it is, if a person may have several.
    #[must_use]
    pub fn person(&self) -> Option<&str> {
        self.person.as_ref().map(|person| person.column.as_str())
    }

    /// The share of the budget's μ² that buys counts of bad cells, if any.
    #[must_use]
    pub fn reported_share(&self) -> Option<f64> {
        self.report
    }

    /// The character between cells.
    #[must_use]
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The columns read and what the model sees of them.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Whether it is declared of every column with bounds where most of its values lie.
    #[must_use]
    pub fn spread_declared(&self) -> bool {
        let columns = self.view.source().columns();
        columns.iter().all(|column| column.bounds().is_none() || column.typical().is_some())
    }

    /// What is publicly known of what the model sees, in the order it reads it.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        self.view.schema()
    }
}

/// A number of bytes, such as "4GB"; decimal units, or those of 1024 with an i.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().ok()?;
    let units = ["B", "KB", "MB", "GB", "TB", "KIB", "MIB", "GIB", "TIB"];
    let place = units.iter().position(|known| unit.eq_ignore_ascii_case(known))?;
    let unit = if place < 5 { 1e3_f64.powi(place as i32) } else { 1024_f64.powi(place as i32 - 4) };
    let bytes = number * unit;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0 and below 2^63")]
    (bytes >= 1.0 && bytes < 2_f64.powi(63)).then_some(bytes as u64)
}

/// The machine's memory in bytes, or what its control group allows, where the system says so: Linux does.
fn machine_memory() -> Option<u64> {
    let facts = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = facts.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = allowed.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some(allowed.min(total.saturating_mul(1024)))
}

/// Reads `report`.
fn report(section: &Section<'_>) -> Result<Option<f64>, SpecError> {
    let Some(table) = section.table("report")? else { return Ok(None) };
    let keys = [key("share", "", "the share of the budget, above 0 and below 1")];
    let report = Section::new("data.report", table, keys.iter())?;
    Ok(Some(report.require("share", report.number("share")?)?))
}

/// A count as TOML has it.
fn whole(count: u64) -> toml::Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

/// The section with the columns of its schema file in place of the file's name, if it names one: what a certificate keeps
/// must not change with a file beside it.
pub(super) fn with_columns(table: &toml::Table, files: Files<'_>) -> Result<Option<toml::Table>, SpecError> {
    let section = Section::new("data", table, DATA_KEYS.iter())?;
    let Some(file) = section.text("schema")? else { return Ok(None) };
    if section.has("columns") {
        return Err(section.error("schema", "and columns say the same thing; give one of them"));
    }
    let columns = columns_of(&section, file, files)?;
    let mut inlined = table.clone();
    inlined.remove("schema");
    inlined.insert("columns".to_owned(), columns.into());
    Ok(Some(inlined))
}

/// The `[columns]` of a schema file.
fn columns_of(section: &Section<'_>, file: &str, files: Files<'_>) -> Result<toml::Table, SpecError> {
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

fn schema(columns: &toml::Table) -> Result<Schema, SpecError> {
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
const BLANK: &str = "?";

/// Drafts a schema file from the header of a file of records, every field left blank for a person.
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
    let mut text = String::from(
        "# Drafted from the header alone. Everything here is public: fill in every \"?\" from what is known of the records'\n\
         # making, never from the records, and delete the lines that do not apply and the columns nobody needs.\n\
         # Values outside [min, max] are clamped; a missing, unreadable or undeclared cell becomes invalid.\n",
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
fn written(column: &Column) -> toml::Table {
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

#[cfg(test)]
mod tests;
