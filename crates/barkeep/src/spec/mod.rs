//! Turns a spec, written in TOML or built in code, into checked facts; nothing here touches a record.
//!
//! A spec has four sections: `[data]` (where the records are and what is public about them), `[model]`,
//! `[privacy]` and `[sampler]`. Every key is documented beside the code that reads it; a key nobody reads is an
//! error that suggests the nearest one.

mod builder;
mod columns;
mod data;
mod dataset;
mod memory;
mod privacy;

pub(crate) use builder::OWN;
pub use builder::{BuiltIn, Sampler};
pub use columns::{COLUMN_KEYS, check_columns, draft_schema};
pub(crate) use data::whose;
pub use data::{DATA_KEYS, Data};
pub(crate) use dataset::is_of;
pub use dataset::{Dataset, dataset_keys};
pub use privacy::{ChargedTo, PRIVACY_KEYS, Privacy};

pub use crate::keys::{Key, SpecError};

use crate::keys::{Files, Section, key};
use crate::models::{self, Built};
use crate::step::Proposal;
use barkeep_accounting::Neighbours;
use barkeep_curator::Temper;
use barkeep_data::{Count, Records};
use barkeep_model::{Likelihood, Model};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// The sections of a spec.
pub const SECTIONS: [Key; 4] = [
    key("data", "", "the records and the public facts about them"),
    key("model", "", "how likely a record is, and the prior"),
    key("privacy", "", "the budget"),
    key("sampler", "noise-aware or langevin by their rules", "how to draw"),
];

/// A spec: what a person decides, and everything public about the records.
///
/// [`Spec::parse`] reads one from text; [`Spec::new`] and [`Spec::built_in`] build one in code. Either way it can be
/// written down as TOML, which its certificate does.
#[derive(Clone)]
pub struct Spec {
    data: Data,
    model_name: String,
    /// Whether the model is code outside barkeep.
    own: bool,
    likelihood: Arc<dyn Likelihood>,
    model: Arc<dyn Model>,
    temper: Temper,
    privacy: Privacy,
    charged_to: Option<ChargedTo>,
    /// What proposes, if it is code outside barkeep.
    proposal: Option<Arc<dyn Proposal>>,
    /// All sections, with the columns of a schema file, or what a data set declares, written in.
    table: toml::Table,
    /// `[data]` as it was asked for, where it names a data set, by the data set's name.
    asked: Option<toml::Table>,
    /// Whether it names a schema file by the old key.
    names_schema: bool,
    /// The text it was read from, if the table is that text and nothing else.
    written: Option<String>,
}

impl Spec {
    /// Reads a spec; relative paths in it start from `folder`.
    ///
    /// # Errors
    /// The first fault, by key.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, SpecError> {
        Self::parse_with(text, Files::From(folder))
    }

    /// Reads a spec out of a certificate: no file is opened that it names.
    pub(crate) fn parse_alone(text: &str) -> Result<Self, SpecError> {
        Self::parse_with(text, Files::Closed)
    }

    /// Reads a request: a spec that names a custodian's data set. No file that it names is opened.
    ///
    /// # Errors
    /// The first fault, by key; first of all a key that is the custodian's to declare.
    pub fn parse_request(text: &str, set: &Dataset) -> Result<Self, SpecError> {
        Self::check_request(text)?;
        let mut table = parsed(text)?;
        let asked = data_section(&table)?;
        if asked.get("set").and_then(toml::Value::as_str) != Some(set.name()) {
            let reason = format!("is another data set than the custodian's \"{}\"", set.name());
            return Err(SpecError::new("data.set", reason));
        }
        table.insert("data".to_owned(), set.resolve(&asked)?.into());
        Self::from_table(table, Files::Closed)?.asked_of(asked, set)
    }

    /// Refuses a request that says how records are read, or who asks.
    ///
    /// # Errors
    /// The first such key.
    pub(crate) fn check_request(text: &str) -> Result<(), SpecError> {
        let table = parsed(text)?;
        let asked = data_section(&table)?;
        if !asked.contains_key("set") {
            return Err(SpecError::new("data.set", "is missing: a request names the custodian's data set"));
        }
        dataset::check_asked(&asked)?;
        let says_who = table.get("privacy").is_some_and(|privacy| privacy.get("analyst").is_some());
        if says_who {
            let reason =
                "is not a request's to say: whoever signs it is charged, or whom the custodian names";
            return Err(SpecError::new("privacy.analyst", reason));
        }
        Ok(())
    }

    fn parse_with(text: &str, files: Files<'_>) -> Result<Self, SpecError> {
        let table = parsed(text)?;
        let data = table.get("data").and_then(toml::Value::as_table);
        let set = data.and_then(|data| data.get("set")).and_then(toml::Value::as_str);
        if let (Files::From(folder), Some(file), Some(asked)) = (files, set, data)
            && !["records", "persons"].iter().any(|key| asked.contains_key(*key))
        {
            let set = Dataset::read(&folder.join(file))?;
            let (mut asked, mut table) = (asked.clone(), table.clone());
            asked.insert("set".to_owned(), set.name().into());
            table.insert("data".to_owned(), set.resolve(&asked)?.into());
            return Self::from_table(table, files)?.asked_of(asked, &set);
        }
        let mut spec = Self::from_table(table.clone(), files)?;
        spec.written = (spec.table == table).then(|| text.to_owned());
        Ok(spec)
    }

    /// The same spec, whose `[data]` was resolved from this on a data set.
    fn asked_of(mut self, asked: toml::Table, set: &Dataset) -> Result<Self, SpecError> {
        set.place(&mut self.data);
        Ok(Self { asked: Some(asked), ..self })
    }

    /// A spec out of a certificate, with the files of the data set that it names.
    ///
    /// # Errors
    /// [`SpecError`] if the data set is another one, or is declared otherwise now.
    pub fn on_set(mut self, set: &Dataset) -> Result<Self, SpecError> {
        let data = data_section(&self.table)?;
        let mut asked = toml::Table::from_iter([("set".to_owned(), set.name().into())]);
        for key in ["report", "memory"] {
            data.get(key).map(|value| asked.insert(key.to_owned(), value.clone()));
        }
        let now = set.resolve(&asked)?;
        let fact = |key: &&&str| data.get(**key) != now.get(**key);
        let facts = ["set", "records", "person", "persons", "most_rows", "number"];
        if let Some(key) = facts.iter().find(fact) {
            let reason =
                format!("{} declares another {key} than the run was begun with", set.file().display());
            return Err(SpecError::new("data.set", reason));
        }
        set.place(&mut self.data);
        Ok(self)
    }

    /// The spec as a request: it names its data set, and what else it needs is written in.
    ///
    /// # Errors
    /// [`SpecError`] where it names no data set, or says who asks.
    pub fn request_text(&self) -> Result<String, SpecError> {
        let Some(asked) = &self.asked else {
            let reason = "is missing: a request names the custodian's data set, by the file that `barkeep dataset show` printed";
            return Err(SpecError::new("data.set", reason));
        };
        let mut table = self.table.clone();
        table.insert("data".to_owned(), asked.clone().into());
        let text = table.to_string();
        Self::check_request(&text)?;
        Ok(text)
    }

    /// The same spec, asked by this analyst, whatever its text says.
    #[must_use]
    pub fn asked_by(mut self, analyst: Option<String>) -> Self {
        if let Some(charged_to) = &mut self.charged_to {
            charged_to.analyst = analyst;
        }
        self
    }

    /// Whether it names a schema file by the key that data sets have replaced.
    pub(crate) fn names_schema(&self) -> bool {
        self.names_schema
    }

    /// Checks all sections.
    fn from_table(mut table: toml::Table, files: Files<'_>) -> Result<Self, SpecError> {
        let root = Section::new("", &table, SECTIONS.iter())?;
        let section = |name: &str| root.require(name, root.table(name)?);
        let inlined = data::with_columns(section("data")?, files)?;
        let mut data = Data::parse(inlined.as_ref().unwrap_or(section("data")?), files)?;
        let texted = models::with_text(section("model")?, files)?;
        let model_table = texted.as_ref().unwrap_or(section("model")?);
        if let Some(own) = Section::open("model", model_table).text(OWN)? {
            let reason = format!("is {own}, code of another program: only that program can plan it");
            return Err(SpecError::new("model.own", reason));
        }
        let Built { entry, likelihood, model, view } = models::build(model_table, data.schema())?;
        data.view = view;
        let temper = temper(&Section::open("model", model_table), data.records())?;
        let privacy = Privacy::parse(section("privacy")?)?;
        let charged_to = ChargedTo::parse(section("privacy")?, files)?;
        if let (true, Privacy::Budget { neighbours: Neighbours::Substitute, .. }) =
            (data.is_number_secret(), privacy)
        {
            let reason = format!(
                "must be \"add-remove\": data set \"{}\" declares its number of {} as secret",
                data.set().unwrap_or_default(),
                data.unit().plural()
            );
            return Err(SpecError::new("privacy.neighbours", reason));
        }
        if let (Privacy::Budget { neighbours: Neighbours::AddRemove, .. }, true) =
            (privacy, model_table.contains_key("n0"))
        {
            return Err(SpecError::new(
                "model.n0",
                "depends on the number of records, which neighbours = \"add-remove\" protects; give temper instead",
            ));
        }
        root.table("sampler")?;
        let names_schema = inlined.is_some();
        if let Some(inlined) = inlined {
            table.insert("data".to_owned(), inlined.into());
        }
        if let Some(texted) = texted {
            table.insert("model".to_owned(), texted.into());
        }
        let model_name = entry.name.to_owned();
        Ok(Self {
            data,
            model_name,
            own: false,
            likelihood,
            model,
            temper,
            privacy,
            charged_to,
            proposal: None,
            table,
            asked: None,
            names_schema,
            written: None,
        })
    }

    /// How many records a table may hold: exactly the declared number, which is public, or any where neighbours add or
    /// remove one, the declared number then being a public scale.
    #[must_use]
    pub fn count(&self) -> Count {
        let records = self.data.records().as_len();
        match self.privacy {
            Privacy::Budget { neighbours: Neighbours::AddRemove, .. } => Count::About(records),
            Privacy::NotPrivate if self.data.is_number_secret() => Count::About(records),
            Privacy::Budget { neighbours: Neighbours::Substitute, .. } | Privacy::NotPrivate => {
                Count::Exactly(records)
            }
        }
    }

    /// The same spec with another ε, which its text says too; a baseline stays as it is.
    pub(crate) fn with_epsilon(&self, epsilon: barkeep_accounting::Epsilon) -> Self {
        let mut spec = self.clone();
        if let Privacy::Budget { epsilon: old, .. } = &mut spec.privacy
            && *old != epsilon
        {
            *old = epsilon;
            if let Some(toml::Value::Table(privacy)) = spec.table.get_mut("privacy") {
                privacy.insert("epsilon".to_owned(), epsilon.get().into());
            }
            spec.written = None;
        }
        spec
    }

    /// The same spec for another number of records or persons, to look ahead with; `None` where its tempering does not allow
    /// for it. Its text is not changed: such a spec is never run.
    pub(crate) fn with_records(&self, records: Records) -> Option<Self> {
        let mut spec = self.clone();
        spec.data.set_records(records);
        if let Some(toml::Value::Table(model)) = spec.table.get("model") {
            spec.temper = temper(&Section::open("model", model), records).ok()?;
        }
        Some(spec)
    }

    /// `[data]`.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The side of the model that sees records; goes to the curator alone.
    #[must_use]
    pub fn likelihood(&self) -> &Arc<dyn Likelihood> {
        &self.likelihood
    }

    /// The public side of the model.
    #[must_use]
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.model
    }

    /// The model's name; of a model of one's own, its type's.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.model_name
    }

    /// The power of the likelihood.
    #[must_use]
    pub fn tempering(&self) -> Temper {
        self.temper
    }

    /// `[privacy]`.
    #[must_use]
    pub fn privacy(&self) -> Privacy {
        self.privacy
    }

    /// The account of a custodian's ledger that pays, if the spec names one.
    #[must_use]
    pub fn charged_to(&self) -> Option<&ChargedTo> {
        self.charged_to.as_ref()
    }

    /// The same spec with its ledger in another place. Its text stays, and so does one that names no ledger.
    #[must_use]
    pub fn with_ledger_at(mut self, path: impl Into<PathBuf>) -> Self {
        if let Some(charged_to) = &mut self.charged_to {
            charged_to.ledger = path.into();
        }
        self
    }

    /// The spec as TOML: word for word as it was read, or with the columns of its schema file written in, or as it was
    /// built.
    #[must_use]
    pub fn text(&self) -> String {
        self.written.clone().unwrap_or_else(|| self.table.to_string())
    }

    /// The formula of a regression.
    #[must_use]
    pub fn formula(&self) -> Option<&str> {
        self.table.get("model")?.get("formula")?.as_str()
    }

    /// The text of a model that is written as text.
    #[must_use]
    pub fn model_text(&self) -> Option<&str> {
        self.table.get("model")?.get("text")?.as_str()
    }

    /// The same spec with its records in another place. Its text stays: where records lie is no part of what is certified.
    #[must_use]
    pub fn with_records_at(mut self, path: impl Into<PathBuf>) -> Self {
        self.data.paths = vec![path.into()];
        self
    }

    /// Whether the model is code outside barkeep, which nobody else can plan.
    pub(crate) fn has_own_model(&self) -> bool {
        self.own
    }

    /// What proposes, if it is code outside barkeep.
    pub(crate) fn own_proposal(&self) -> Option<&Arc<dyn Proposal>> {
        self.proposal.as_ref()
    }

    /// The same with another number of steps of each chain.
    pub(crate) fn with_steps(&self, steps: u64) -> Self {
        let mut keys = self.sampler_keys().clone();
        keys.insert("steps".to_owned(), i64::try_from(steps).unwrap_or(i64::MAX).into());
        let mut spec = self.clone();
        spec.table.insert("sampler".to_owned(), keys.into());
        spec.written = None;
        spec
    }

    /// `[sampler]` as written.
    pub(crate) fn sampler_keys(&self) -> &toml::Table {
        static NONE: LazyLock<toml::Table> = LazyLock::new(toml::Table::new);
        self.table.get("sampler").and_then(toml::Value::as_table).unwrap_or(&NONE)
    }

    /// Checks what [`Spec::parse`] checks and [`Spec::new`] takes on trust.
    pub(crate) fn check(&self) -> Result<(), SpecError> {
        self.data.check()?;
        let (reads, declared) = (self.model.columns(), self.data.schema().width());
        if reads == declared {
            Ok(())
        } else {
            let name = &self.model_name;
            let reason = format!("model \"{name}\" reads {reads} columns, but {declared} are declared");
            Err(SpecError::new("data.columns", reason))
        }
    }
}

/// A spec's sections.
fn parsed(text: &str) -> Result<toml::Table, SpecError> {
    text.parse().map_err(|error: toml::de::Error| SpecError::new("", columns::not_toml(text, &error)))
}

/// `[data]` as written.
fn data_section(table: &toml::Table) -> Result<toml::Table, SpecError> {
    let data = table.get("data").and_then(toml::Value::as_table);
    data.cloned().ok_or_else(|| SpecError::new("data", "is required"))
}

fn temper(section: &Section<'_>, records: Records) -> Result<Temper, SpecError> {
    let (name, temper) = match (section.positive("temper")?, section.positive("n0")?) {
        (Some(_), Some(_)) => {
            return Err(section.error("n0", "and temper say the same thing; give one of them"));
        }
        (Some(temper), None) => ("temper", temper),
        (None, Some(n0)) => ("n0", n0 / records.as_f64()),
        (None, None) => ("temper", 1.0),
    };
    if temper > 1.0 {
        let reason = "would sharpen the likelihood; temper must be at most 1, n0 at most records";
        return Err(section.error(name, reason));
    }
    Temper::new(temper).map_err(|error| section.error("temper", error.to_string()))
}
