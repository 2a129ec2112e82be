//! Says why a model cannot be built.

/// Why a model's description is refused; names the key, carries nothing from records.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A key of the model's description is wrong.
    #[error("model.{key} {requirement}")]
    Key {
        /// The key as the spec spells it.
        key: &'static str,
        /// What is required of it, as in "must be a finite number above 0".
        requirement: &'static str,
    },
    /// Two keys of the model's description do not go together.
    #[error("model.{key} must have {expected} entries")]
    Length {
        /// The key as the spec spells it.
        key: &'static str,
        /// How many entries it needs.
        expected: usize,
    },
    /// A value given for a key is not of the kind asked for.
    #[error("{key}: {reason}")]
    Setting {
        /// The key with the path that leads to it.
        key: String,
        /// What is wrong and what is expected.
        reason: String,
    },
}

/// Refuses `values` unless all are finite.
pub(crate) fn require_finite(key: &'static str, values: &[f64]) -> Result<(), Error> {
    if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(Error::Key { key, requirement: "must be finite" })
    }
}

/// Refuses `values` unless all are finite and above 0.
pub(crate) fn require_positive(key: &'static str, values: &[f64]) -> Result<(), Error> {
    if values.iter().all(|value| value.is_finite() && *value > 0.0) {
        Ok(())
    } else {
        Err(Error::Key { key, requirement: "must be finite and above 0" })
    }
}

/// Refuses `values` unless there are `expected` of them.
pub(crate) fn require_length(key: &'static str, values: &[f64], expected: usize) -> Result<(), Error> {
    if values.len() == expected { Ok(()) } else { Err(Error::Length { key, expected }) }
}
