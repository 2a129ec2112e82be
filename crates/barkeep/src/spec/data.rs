//! Reads `[data]`: where the records are and every public fact about them.

use super::columns::{columns_of, schema, written};
use super::memory::{bytes, machine_memory};
use crate::keys::{Files, Key, Section, SpecError, key};
use barkeep_data::{CsvOptions, Records, Schema, Unit, View, is_remote};
use std::path::{Path, PathBuf};

/// The keys of `[data]`.
pub const DATA_KEYS: [Key; 14] = [
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
    key("quote", "'\"'", "the one character around a cell that holds delimiters or line ends"),
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
        "set",
        "",
        "instead of all keys but columns, report and memory: a custodian's data set, a file relative to the spec that declares path, \
         unit, number and columns; `barkeep schema` drafts one. [data.columns] then chooses columns, and for each may tighten min and \
         max and set scale",
    ),
    key(
        "number",
        "\"public\"",
        "in a data set: \"secret\" makes records or persons a public scale, and runs need neighbours = \"add-remove\"",
    ),
    key("schema", "", "set, as it was called before: a file with a [columns] section alone"),
];

/// Where the records are and what is publicly known of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// The files; none of a data set of which only the public part is known.
    pub(super) paths: Vec<PathBuf>,
    id: Option<String>,
    /// Where the records are a custodian's data set: its name.
    set: Option<String>,
    /// The file that declares it.
    pub(super) declared_in: Option<PathBuf>,
    /// Whether the number of records is secret by its declaration.
    secret: bool,
    /// Records, or persons.
    records: Records,
    person: Option<Person>,
    /// The share of μ² that buys counts of bad cells.
    report: Option<f64>,
    pub(super) options: CsvOptions,
    /// Bytes that the records may take in memory, where somebody has said so.
    memory: Option<u64>,
    /// All columns that are declared, whether a model reads them or not.
    declared: Schema,
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
        let set = section.text("set")?;
        let foreign = match set {
            Some(_) => ["path", "delimiter", "quote", "schema"].iter().find(|key| section.has(key)),
            None => ["number"].iter().find(|key| section.has(key)),
        };
        if let Some(key) = foreign {
            return Err(section.error(key, "is declared by a data set, a file that `set` names"));
        }
        let paths = match set {
            Some(_) => Vec::new(),
            None => vec![located(section.require("path", section.text("path")?)?, files.folder())],
        };
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
        let options = csv_options(&section)?;
        let secret = is_secret(&section)?;
        let Some(columns) = section.table("columns")? else {
            return Err(section.error("columns", "is required, or set"));
        };
        let report = report(&section)?;
        let id = section.text("id")?.or(set).map(str::to_owned);
        let set = set.map(str::to_owned);
        let memory = match section.text("memory")? {
            None => None,
            Some(text) => Some(bytes(text).ok_or_else(|| {
                section.error("memory", "must be a number and its unit, such as \"500MB\" or \"4GB\"")
            })?),
        };
        let declared = schema(columns)?;
        let view = View::all(declared.clone());
        let declared_in = None;
        let data = Self {
            paths,
            id,
            set,
            declared_in,
            secret,
            records,
            person,
            report,
            options,
            memory,
            declared,
            view,
        };
        data.check()?;
        Ok(data)
    }

    /// Records as a spec's `[data]` declares them; relative paths start from the working folder.
    ///
    /// # Errors
    /// The first key that is missing, unknown or out of range.
    pub fn from_table(table: &toml::Table) -> Result<Self, SpecError> {
        Self::parse(table, Files::From(Path::new("")))
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
            paths: vec![path.into()],
            id: None,
            set: None,
            declared_in: None,
            secret: false,
            records,
            person: None,
            report: None,
            options: CsvOptions::default(),
            memory: None,
            declared: schema.clone(),
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
        Self { options: CsvOptions { delimiter, ..self.options }, ..self }
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
            ("path".to_owned(), self.path().display().to_string().into()),
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
        for (key, byte, usual) in
            [("delimiter", self.options.delimiter, b','), ("quote", self.options.quote, b'"')]
        {
            if byte != usual {
                table.insert(key.to_owned(), char::from(byte).to_string().into());
            }
        }
        if let Some(memory) = self.memory {
            table.insert("memory".to_owned(), format!("{memory}B").into());
        }
        table
    }

    /// The file, or the first of several; empty where only a data set's public part is known.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.paths.first().map_or(Path::new(""), PathBuf::as_path)
    }

    /// The files.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The name of the custodian's data set, where the records are one.
    #[must_use]
    pub fn set(&self) -> Option<&str> {
        self.set.as_deref()
    }

    /// The file that declares that data set, where it was read.
    #[must_use]
    pub fn declared_in(&self) -> Option<&Path> {
        self.declared_in.as_deref()
    }

    /// Whether a data set declares its number of records, or persons, as secret.
    #[must_use]
    pub fn is_number_secret(&self) -> bool {
        self.secret
    }

    /// What a neighbouring data set differs in, by the column that says whose a row is: "one `patient`'s rows, at most 5".
    #[must_use]
    pub fn whose(&self) -> String {
        whose(self.unit(), self.person())
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

    /// How a CSV file is written.
    #[must_use]
    pub fn csv_options(&self) -> CsvOptions {
        self.options
    }

    /// The columns read and what the model sees of them.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }

    /// All columns that are declared: those of a data set, or of a spec that declares its records itself.
    #[must_use]
    pub fn declared(&self) -> &Schema {
        &self.declared
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

/// What a neighbouring data set differs in, by the column that says whose a row is.
pub(crate) fn whose(unit: Unit, person: Option<&str>) -> String {
    let words = unit.to_string();
    person.map_or(words.clone(), |column| words.replace("one person's", &format!("one `{column}`'s")))
}

/// A path that starts from a folder, unless it names an object in a store.
pub(super) fn located(path: &str, folder: &Path) -> PathBuf {
    let path = Path::new(path);
    if is_remote(path) { path.to_path_buf() } else { folder.join(path) }
}

/// Reads `number`.
fn is_secret(section: &Section<'_>) -> Result<bool, SpecError> {
    Ok(section.choice("number", &[("public", false), ("secret", true)])?.unwrap_or(false))
}

/// Reads `delimiter` and `quote`.
pub(super) fn csv_options(section: &Section<'_>) -> Result<CsvOptions, SpecError> {
    let one = |key, usual: u8| match section.text(key)?.map(str::as_bytes) {
        None => Ok(usual),
        Some([one]) if one.is_ascii() && *one != b'\n' && *one != b'\r' => Ok(*one),
        Some(_) => Err(section.error(key, "must be one ASCII character, not a quote or a line end")),
    };
    let options = CsvOptions { delimiter: one("delimiter", b',')?, quote: one("quote", b'"')? };
    match options.delimiter == options.quote {
        true => Err(section.error("delimiter", "must be one ASCII character, not a quote or a line end")),
        false => Ok(options),
    }
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

#[cfg(test)]
mod tests;
