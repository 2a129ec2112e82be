//! Keeps what plans of one spec under other budgets, or for other numbers of records, need not find out again.

use crate::samplers::noise_aware::LookedAt;
use crate::samplers::prepare::forecast::{Averaged, Outlook};
use barkeep_accounting::vcor::{Fit, Fitted};
use std::sync::{Mutex, PoisonError};

/// What forecasts of one spec share. All of it follows from public facts.
#[derive(Default)]
pub(crate) struct Foreseen {
    /// Points of the prior, for noisy scores.
    pub(crate) scores: LookedAt,
    /// Averages over proposals.
    pub(crate) walks: Known<Averaged, Outlook>,
    /// Corrections of normal noise, by their fit and the noise's variance.
    pub(crate) corrections: Known<(Fit, f64), Fitted>,
}

/// Values by what they were computed from.
pub(crate) struct Known<From, Value>(Mutex<Vec<(From, Value)>>);

impl<From, Value> Default for Known<From, Value> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<From: PartialEq, Value: Clone> Known<From, Value> {
    /// The value of this, computed if it is not known. What fails is not kept.
    pub(crate) fn of<E>(&self, from: From, compute: impl FnOnce() -> Result<Value, E>) -> Result<Value, E> {
        let find = |known: &[(From, Value)]| {
            known.iter().find(|(known, _)| *known == from).map(|(_, value)| value.clone())
        };
        if let Some(value) = find(&self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(value);
        }
        let value = compute()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((from, value.clone()));
        Ok(value)
    }
}
