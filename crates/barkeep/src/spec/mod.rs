//! Turns a spec, written in TOML by a person, into checked facts; nothing here touches a record.
//!
//! A spec has four sections: `[data]` (where the records are and what is public about them), `[model]`,
//! `[privacy]` and `[sampler]`. Every key is documented beside the code that reads it; a key nobody reads is an
//! error that suggests the nearest one.

mod data;
mod privacy;
pub mod section;

pub use data::{COLUMN_KEYS, DATA_KEYS, Data, draft_schema};
pub use privacy::{PRIVACY_KEYS, Privacy};
pub use section::{Key, SpecError};

use crate::models::{self, Built};
use barkeep_accounting::Neighbours;
use barkeep_curator::Temper;
use barkeep_model::{Likelihood, Model, ModelEntry};
use section::{Section, key};
use std::path::Path;
use std::sync::Arc;

/// The sections of a spec.
pub const SECTIONS: [Key; 4] = [
    key("data", "", "the records and the public facts about them"),
    key("model", "", "how likely a record is, and the prior"),
    key("privacy", "", "the budget"),
    key("sampler", "langevin by its rules", "how to draw"),
];

/// A checked spec.
#[derive(Clone)]
pub struct Spec {
    data: Data,
    model_entry: &'static ModelEntry,
    likelihood: Arc<dyn Likelihood>,
    model: Arc<dyn Model>,
    temper: Temper,
    privacy: Privacy,
    /// `[sampler]` as written; the sampler's own entry reads it.
    sampler: toml::Table,
    /// The text the spec was read from, with the columns of a schema file written in.
    text: String,
}

impl Spec {
    /// Reads a spec; relative paths in it start from `folder`.
    ///
    /// # Errors
    /// The first fault, by key.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, SpecError> {
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| SpecError::new("", data::not_toml(text, &error)))?;
        let root = Section::new("", &table, SECTIONS.iter())?;
        let section = |name: &str| root.require(name, root.table(name)?);
        let (mut data, text) = match data::with_columns(section("data")?, folder)? {
            None => (Data::parse(section("data")?, folder)?, text.to_owned()),
            Some(inlined) => {
                let data = Data::parse(&inlined, folder)?;
                let mut whole = table.clone();
                whole.insert("data".to_owned(), inlined.into());
                (
                    data,
                    toml::to_string(&whole)
                        .map_err(|error| SpecError::new("data.schema", error.to_string()))?,
                )
            }
        };
        let model_table = section("model")?;
        let Built { entry: model_entry, likelihood, model, view } =
            models::build(model_table, data.schema())?;
        data.view = view;
        let temper = temper(&Section::open("model", model_table), data.records)?;
        let privacy = Privacy::parse(section("privacy")?)?;
        if let (Privacy::Budget { neighbours: Neighbours::AddRemove, .. }, true) =
            (privacy, model_table.contains_key("n0"))
        {
            return Err(SpecError::new(
                "model.n0",
                "depends on the number of records, which neighbours = \"add-remove\" protects; give temper instead",
            ));
        }
        let sampler = root.table("sampler")?.cloned().unwrap_or_default();
        Ok(Self { data, model_entry, likelihood, model, temper, privacy, sampler, text })
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

    /// The model's name.
    #[must_use]
    pub fn model_name(&self) -> &str {
        self.model_entry.name
    }

    /// The power of the likelihood.
    #[must_use]
    pub fn temper(&self) -> Temper {
        self.temper
    }

    /// `[privacy]`.
    #[must_use]
    pub fn privacy(&self) -> Privacy {
        self.privacy
    }

    /// The spec as TOML, word for word, or with the columns of its schema file written in.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `[sampler]` as written.
    pub(crate) fn sampler(&self) -> &toml::Table {
        &self.sampler
    }

    /// Names the sampler where the spec does not.
    pub(crate) fn name_sampler(&mut self, name: &str) {
        self.sampler.entry("name").or_insert_with(|| name.into());
    }
}

fn temper(section: &Section<'_>, records: u64) -> Result<Temper, SpecError> {
    #[expect(clippy::cast_precision_loss, reason = "records is at most 2^32")]
    let records = records as f64;
    let (name, temper) = match (section.positive("temper")?, section.positive("n0")?) {
        (Some(_), Some(_)) => {
            return Err(section.error("n0", "and temper say the same thing; give one of them"));
        }
        (Some(temper), None) => ("temper", temper),
        (None, Some(n0)) => ("n0", n0 / records),
        (None, None) => ("temper", 1.0),
    };
    if temper > 1.0 {
        let reason = "would sharpen the likelihood; temper must be at most 1, n0 at most records";
        return Err(section.error(name, reason));
    }
    Temper::new(temper).map_err(|error| section.error("temper", error.to_string()))
}
