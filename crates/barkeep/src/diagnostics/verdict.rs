//! Judges a run as a whole: trustworthy, wide, or not to be trusted, with reasons and remedies.
//!
//! A [`Verdict`] is made of [`Check`]s. Some read the draws, some come from the sampler that ran; the worst grade decides.
//!
//! **Privacy.** Checks are functions of draws, of answers that are paid for, and of public facts: post-processing.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

#[cfg(test)]
mod tests;

/// What a posterior is good for, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Every check ran and passed: means and intervals can be used as they are.
    Trustworthy,
    /// No check found the intervals wrong, but they are much wider than those without privacy, or something could not be checked.
    Wide,
    /// A check failed: intervals do not hold what they promise.
    NotToBeTrusted,
}

impl Grade {
    /// The grade in words, as in `summary.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trustworthy => "trustworthy",
            Self::Wide => "wide",
            Self::NotToBeTrusted => "not to be trusted",
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Grade {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let grades = [Self::Trustworthy, Self::Wide, Self::NotToBeTrusted];
        let known = grades.into_iter().find(|grade| grade.name() == name);
        known.ok_or_else(|| serde::de::Error::custom("not a grade"))
    }
}

impl Serialize for Grade {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// Its name for programs.
    pub key: Cow<'static, str>,
    /// What it alone would make of the run.
    pub grade: Grade,
    /// What was measured; absent where there is no number, or none that is known.
    pub value: Option<f64>,
    /// What was found, a clause for people.
    pub words: String,
    /// What to do about it, a clause for people; empty where nothing need be done.
    pub remedy: String,
}

impl Check {
    /// A check that found nothing wrong.
    #[must_use]
    pub fn passed(key: &'static str, value: f64, words: impl Into<String>) -> Self {
        Self {
            key: Cow::Borrowed(key),
            grade: Grade::Trustworthy,
            value: Some(value),
            words: words.into(),
            remedy: String::new(),
        }
    }

    /// A check that found something.
    #[must_use]
    pub fn found(
        key: &'static str,
        grade: Grade,
        value: f64,
        words: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let key = Cow::Borrowed(key);
        Self { key, grade, value: Some(value), words: words.into(), remedy: remedy.into() }
    }
}

/// What a run's posterior is good for: the first field of `summary.json` and the first line of the program's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The worst grade of all checks.
    pub grade: Grade,
    /// What the checks of that grade found; empty where it is trustworthy.
    pub reasons: Vec<String>,
    /// What to do about it, each remedy once.
    pub remedies: Vec<String>,
    /// Everything that was looked at.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// The verdict that follows from checks. Without any there is nothing to trust.
    #[must_use]
    pub fn new(checks: Vec<Check>) -> Self {
        let grade = checks.iter().map(|check| check.grade).max().unwrap_or(Grade::NotToBeTrusted);
        let found = |check: &&Check| check.grade == grade && grade > Grade::Trustworthy;
        let mut remedies: Vec<String> = Vec::new();
        for check in checks.iter().filter(found) {
            if !check.remedy.is_empty() && !remedies.contains(&check.remedy) {
                remedies.push(check.remedy.clone());
            }
        }
        Self {
            grade,
            reasons: checks.iter().filter(found).map(|check| check.words.clone()).collect(),
            remedies,
            checks,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verdict: {}", self.grade)?;
        if !self.reasons.is_empty() {
            write!(f, ". {}", sentences(&self.reasons))?;
        }
        if !self.remedies.is_empty() {
            write!(f, " Remedy: {}", sentences(&self.remedies))?;
        }
        Ok(())
    }
}

/// Clauses as sentences.
fn sentences(clauses: &[String]) -> String {
    let sentence = |clause: &String| {
        let mut letters = clause.chars();
        let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        format!("{first}{}.", letters.as_str())
    };
    clauses.iter().map(sentence).collect::<Vec<_>>().join(" ")
}
