//! Says why an accounting question has no answer.

/// Why an accounting question has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// An argument is outside the range in which the quantity is defined.
    #[error("{name} must be {requirement}, not {value}")]
    Argument {
        /// The argument's name as a user writes it.
        name: &'static str,
        /// What is required of it, as in "a finite number above 0".
        requirement: &'static str,
        /// What was given.
        value: f64,
    },
    /// The mechanism, its sampling scheme and the neighbouring relation do not go together.
    #[error("{0}")]
    Mismatch(&'static str),
    /// The answer exists but could not be bounded to the requested accuracy within the work limit.
    #[error("cannot bound {what} within the work limit: {reason}")]
    Unresolved {
        /// The quantity asked for.
        what: &'static str,
        /// What stood in the way.
        reason: &'static str,
    },
    /// No finite answer exists, as ε at a δ below the mechanism's mass at infinity.
    #[error("{0}")]
    Unbounded(&'static str),
}
