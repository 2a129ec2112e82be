//! Names the keys a model or family takes and reads them, whatever they are written in.

use crate::Error;

/// One documented key: the list of them is at once the reader's whitelist and the user's manual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Key {
    /// As written in the spec.
    pub name: &'static str,
    /// The default in words; empty when the key is required.
    pub default: &'static str,
    /// One line of meaning.
    pub meaning: &'static str,
}

/// Shorthand for a documented key.
#[must_use]
pub const fn key(name: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key { name, default, meaning }
}

/// The values given for keys; `None` where a key is not given.
///
/// # Errors
/// All: [`Error::Setting`] if the value given is not of the kind asked for.
pub trait Settings {
    /// A number, whole or not.
    #[expect(clippy::missing_errors_doc, reason = "see the trait")]
    fn number(&self, key: &str) -> Result<Option<f64>, Error>;

    /// A finite number above zero.
    #[expect(clippy::missing_errors_doc, reason = "see the trait")]
    fn positive(&self, key: &str) -> Result<Option<f64>, Error>;

    /// A list of `length` finite numbers.
    #[expect(clippy::missing_errors_doc, reason = "see the trait")]
    fn vector(&self, key: &str, length: usize) -> Result<Option<Vec<f64>>, Error>;

    /// A square matrix, row by row: given as one number for the whole diagonal, the diagonal, or rows.
    #[expect(clippy::missing_errors_doc, reason = "see the trait")]
    fn matrix(&self, key: &str, dimension: usize) -> Result<Option<Vec<f64>>, Error>;
}
