//! States what a plan found as typed values with words beside them: programs read the value, people the words.

use serde::Serialize;

/// One public fact of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fact {
    /// Its name for programs.
    #[serde(skip)]
    pub key: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// What it is.
    pub value: Value,
    /// What a number counts or measures; empty for a pure number.
    pub unit: &'static str,
    /// The value as a person reads it, with what there is to say of it.
    pub words: String,
}

/// The value of a fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Several numbers.
    Numbers(Vec<f64>),
    /// A whole number.
    Count(u64),
    /// One of a few words.
    Word(&'static str),
    /// None, or none that is known; the words say why.
    Absent,
}

impl Fact {
    /// A fact, a pure number unless [`Fact::unit`] says otherwise.
    pub(crate) fn new(
        key: &'static str,
        label: &'static str,
        value: Value,
        words: impl Into<String>,
    ) -> Self {
        Self { key, label, value, unit: "", words: words.into() }
    }

    /// A number with the words that show it.
    pub(crate) fn number(
        key: &'static str,
        label: &'static str,
        value: f64,
        words: impl Into<String>,
    ) -> Self {
        Self::new(key, label, Value::Number(value), words)
    }

    /// A number shown to six decimals.
    pub(crate) fn decimal(key: &'static str, label: &'static str, value: f64) -> Self {
        Self::number(key, label, value, format!("{value:.6}"))
    }

    /// A whole number.
    pub(crate) fn count(key: &'static str, label: &'static str, value: u64) -> Self {
        Self::new(key, label, Value::Count(value), value.to_string())
    }

    /// One of a few words with what it means.
    pub(crate) fn word(
        key: &'static str,
        label: &'static str,
        value: &'static str,
        words: impl Into<String>,
    ) -> Self {
        Self::new(key, label, Value::Word(value), words)
    }

    /// The fact in a unit.
    pub(crate) fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// The value as a number, if it is one.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self.value {
            Value::Number(number) => Some(number),
            #[expect(clippy::cast_precision_loss, reason = "counts of a plan are far below 2^53")]
            Value::Count(count) => Some(count as f64),
            Value::Numbers(_) | Value::Word(_) | Value::Absent => None,
        }
    }
}

/// What a plan found, in the order shown.
pub(crate) type Facts = Vec<Fact>;

/// Facts as one JSON object by key.
pub(crate) fn to_json(facts: &[Fact]) -> serde_json::Value {
    let entry = |fact: &Fact| (fact.key.to_owned(), serde_json::json!(fact));
    serde_json::Value::Object(facts.iter().map(entry).collect())
}
