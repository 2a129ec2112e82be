//! Builds a spec in code. Keys and their checks are those of the text: what is built can be written down as TOML.

use super::{ChargedTo, Data, Privacy, Spec, SpecError};
use crate::keys::Files;
use crate::step::Proposal;
use barkeep_curator::Temper;
use barkeep_model::{Likelihood, Model, sides};
use std::path::Path;
use std::sync::Arc;
use toml::{Table, Value};

/// A sampler by name, with the keys that `barkeep samplers` lists. Planning checks them.
///
/// ```
/// use barkeep::spec::Sampler;
/// let sampler = Sampler::named("barker").with("clip", 0.02).with("start", vec![0.5]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sampler(Table);

/// One of barkeep's own models by name, with the keys that `barkeep models` lists.
///
/// ```
/// use barkeep::spec::BuiltIn;
/// let model = BuiltIn::named("regression").with("formula", "late ~ hour").with("family", "bernoulli");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltIn(Table);

impl Sampler {
    /// The sampler of this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(named(name))
    }

    /// Sets a key, as a spec's `[sampler]` would.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }
}

impl BuiltIn {
    /// The model of this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(named(name))
    }

    /// Sets a key, as a spec's `[model]` would.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }
}

fn named(name: &str) -> Table {
    Table::from_iter([("name".to_owned(), name.into())])
}

impl Spec {
    /// A spec of a model of your own.
    ///
    /// **Privacy.** The model writes programs and sees no record; the certificate names its type.
    #[must_use]
    pub fn new<M: Likelihood + Model + 'static>(data: Data, model: M, privacy: Privacy) -> Self {
        let own = std::any::type_name::<M>();
        let (likelihood, model) = sides(model);
        let table = Table::from_iter([
            ("data".to_owned(), data.to_toml().into()),
            ("model".to_owned(), Table::from_iter([(OWN.to_owned(), own.into())]).into()),
            ("privacy".to_owned(), privacy.to_toml().into()),
        ]);
        Self {
            data,
            model_name: own.to_owned(),
            own: true,
            likelihood,
            model,
            temper: Temper::NONE,
            privacy,
            charged_to: None,
            proposal: None,
            table,
            asked: None,
            names_schema: false,
            written: None,
        }
    }

    /// Proposes by code of your own, for a model of your own and samplers that propose and test. Keys that shape a walk then have no
    /// meaning.
    #[must_use]
    pub fn propose_by(mut self, proposal: impl Proposal + 'static) -> Self {
        self.proposal = Some(Arc::new(proposal));
        self
    }

    /// A spec of one of barkeep's own models.
    ///
    /// # Errors
    /// The first fault of the model's keys or the data, as [`Spec::parse`] would name it.
    pub fn built_in(data: &Data, model: BuiltIn, privacy: Privacy) -> Result<Self, SpecError> {
        let table = Table::from_iter([
            ("data".to_owned(), data.to_toml().into()),
            ("model".to_owned(), model.0.into()),
            ("privacy".to_owned(), privacy.to_toml().into()),
        ]);
        Self::from_table(table, Files::From(Path::new("")))
    }

    /// Draws by this sampler instead of the default.
    #[must_use]
    pub fn sampler(mut self, sampler: Sampler) -> Self {
        self.table.insert("sampler".to_owned(), sampler.0.into());
        self.written = None;
        self
    }

    /// Raises the likelihood to this power.
    #[must_use]
    pub fn temper(mut self, temper: Temper) -> Self {
        if let Some(Value::Table(model)) = self.table.get_mut("model") {
            model.remove("n0");
            model.insert("temper".to_owned(), temper.get().into());
        }
        self.temper = temper;
        self.written = None;
        self
    }

    /// Charges the run to an account of a custodian's ledger. Nothing is opened yet.
    #[must_use]
    pub fn charge_to(mut self, account: ChargedTo) -> Self {
        if let Some(Value::Table(privacy)) = self.table.get_mut("privacy") {
            privacy.extend(account.to_toml());
        }
        self.charged_to = Some(account);
        self.written = None;
        self
    }
}

/// The key of `[model]` that names the type of a model of one's own.
pub(crate) const OWN: &str = "own";
