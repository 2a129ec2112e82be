//! Reads `[privacy]`: the budget and what it protects.

use crate::keys::{Files, Key, Section, SpecError, key};
use barkeep_accounting::{Delta, Epsilon, Neighbours};
use std::path::{Path, PathBuf};

/// The keys of `[privacy]`.
pub const PRIVACY_KEYS: [Key; 8] = [
    key("epsilon", "", "the most privacy loss the run may cost, above 0"),
    key("delta", "", "the probability with which ε may be exceeded, between 0 and 1; well below 1/records"),
    key(
        "neighbours",
        "\"substitute\"",
        "\"substitute\": one record is replaced; \"add-remove\": one is added or removed",
    ),
    key("private", "true", "false runs a baseline without any protection and marks every output NOT PRIVATE"),
    key(
        "ledger",
        "none",
        "the custodian's ledger, a file that `barkeep ledger new` made, relative to the spec; the run is charged to it before \
         records are opened, and refused where its account does not pay for it",
    ),
    key("account", "", "with ledger: the account whose total pays"),
    key("analyst", "none", "with ledger: who asks; needed where the account has caps for analysts"),
    key("project", "none", "with ledger: for which project; needed where the account has caps for projects"),
];

/// Neighbours by the names a spec gives them.
const NEIGHBOURS: [(&str, Neighbours); 2] =
    [("substitute", Neighbours::Substitute), ("add-remove", Neighbours::AddRemove)];

/// What protects the records.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Privacy {
    /// An (ε, δ) budget under a neighbouring relation.
    Budget {
        /// The ε that may be spent.
        epsilon: Epsilon,
        /// The δ that may be spent.
        delta: Delta,
        /// What counts as one record's change.
        neighbours: Neighbours,
    },
    /// Nothing: a baseline.
    NotPrivate,
}

/// Largest ε of a budget. From 20 on a plan warns; this is where only a mistake can be meant.
const LARGEST_EPSILON: f64 = 1e6;

impl Privacy {
    /// An (ε, δ) budget that protects against the substitution of one record.
    ///
    /// # Errors
    /// ε or δ out of range.
    pub fn budget(epsilon: f64, delta: f64) -> Result<Self, barkeep_accounting::Error> {
        let (epsilon, delta) = (Epsilon::new(epsilon)?, Delta::new(delta)?);
        Ok(Self::Budget { epsilon, delta, neighbours: Neighbours::Substitute })
    }

    /// The same budget for other neighbours.
    #[must_use]
    pub fn between(self, neighbours: Neighbours) -> Self {
        match self {
            Self::Budget { epsilon, delta, .. } => Self::Budget { epsilon, delta, neighbours },
            Self::NotPrivate => Self::NotPrivate,
        }
    }

    /// The section that says the same.
    pub(super) fn to_toml(self) -> toml::Table {
        match self {
            Self::Budget { epsilon, delta, neighbours } => {
                let neighbours = NEIGHBOURS.iter().find(|(_, named)| *named == neighbours);
                toml::Table::from_iter([
                    ("epsilon".to_owned(), epsilon.get().into()),
                    ("delta".to_owned(), delta.get().into()),
                    ("neighbours".to_owned(), neighbours.map_or("substitute", |(name, _)| *name).into()),
                ])
            }
            Self::NotPrivate => toml::Table::from_iter([("private".to_owned(), false.into())]),
        }
    }

    /// Reads and checks the section.
    ///
    /// # Errors
    /// The first key that is missing, unknown or out of range.
    pub(crate) fn parse(table: &toml::Table) -> Result<Self, SpecError> {
        let section = Section::new("privacy", table, PRIVACY_KEYS.iter())?;
        if section.flag("private")? == Some(false) {
            for key in ["epsilon", "delta", "neighbours", "ledger", "account", "analyst", "project"] {
                if section.has(key) {
                    return Err(
                        section.error(key, "has no meaning with private = false; remove one of the two")
                    );
                }
            }
            return Ok(Self::NotPrivate);
        }
        let epsilon = section.require("epsilon", section.positive("epsilon")?)?;
        if epsilon > LARGEST_EPSILON {
            return Err(section.error(
                "epsilon",
                format!(
                    "must be at most {LARGEST_EPSILON:e}: it protects nobody; write private = false for a run that protects nothing"
                ),
            ));
        }
        let delta = section.require("delta", section.number("delta")?)?;
        let delta = Delta::new(delta)
            .map_err(|_| section.error("delta", format!("must be strictly between 0 and 1, not {delta}")))?;
        let neighbours = section.choice("neighbours", &NEIGHBOURS)?.unwrap_or(Neighbours::Substitute);
        let epsilon = Epsilon::new(epsilon).map_err(|error| section.error("epsilon", error.to_string()))?;
        Ok(Self::Budget { epsilon, delta, neighbours })
    }
}

/// The account of a custodian's ledger that a run is charged to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChargedTo {
    /// The ledger.
    pub ledger: PathBuf,
    /// The account.
    pub account: String,
    /// Who asks.
    pub analyst: Option<String>,
    /// For which project.
    pub project: Option<String>,
}

impl ChargedTo {
    /// An account of a ledger.
    pub fn new(ledger: impl AsRef<Path>, account: impl Into<String>) -> Self {
        let ledger = ledger.as_ref().to_owned();
        Self { ledger, account: account.into(), analyst: None, project: None }
    }

    /// The same account, asked by this analyst.
    #[must_use]
    pub fn by_analyst(self, analyst: impl Into<String>) -> Self {
        Self { analyst: Some(analyst.into()), ..self }
    }

    /// The same account, asked for this project.
    #[must_use]
    pub fn for_project(self, project: impl Into<String>) -> Self {
        Self { project: Some(project.into()), ..self }
    }

    /// Reads the keys; relative paths start where `files` says. The ledger is not opened.
    ///
    /// # Errors
    /// Keys that need another one.
    pub(super) fn parse(table: &toml::Table, files: Files<'_>) -> Result<Option<Self>, SpecError> {
        let section = Section::new("privacy", table, PRIVACY_KEYS.iter())?;
        let text = |key| section.text(key).map(|text| text.map(str::to_owned));
        let Some(ledger) = text("ledger")? else {
            let lone = ["account", "analyst", "project"].into_iter().find(|key| section.has(key));
            return match lone {
                None => Ok(None),
                Some(key) => Err(section.error(key, "needs ledger, the file that holds the account")),
            };
        };
        let account = section.require("account", text("account")?)?;
        let ledger = files.folder().join(ledger);
        Ok(Some(Self { ledger, account, analyst: text("analyst")?, project: text("project")? }))
    }

    /// The keys that say the same.
    pub(super) fn to_toml(&self) -> impl Iterator<Item = (String, toml::Value)> + '_ {
        let ledger = self.ledger.display().to_string();
        let rest = [("analyst", self.analyst.clone()), ("project", self.project.clone())];
        [("ledger", Some(ledger)), ("account", Some(self.account.clone()))]
            .into_iter()
            .chain(rest)
            .filter_map(|(key, value)| Some((key.to_owned(), value?.into())))
    }
}

#[cfg(test)]
mod tests;
