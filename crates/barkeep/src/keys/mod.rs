//! Reads what a person wrote, key by key; below everything that gives keys a meaning.

mod files;
mod section;

pub(crate) use files::Files;
pub use section::{Key, SpecError};
pub(crate) use section::{Section, key, named, suggestion};

use barkeep_model::{Error, Settings};

/// The error of a model's builder, at the key it names.
pub(crate) fn refused(section: &Section<'_>, error: Error) -> SpecError {
    match error {
        Error::Key { key, requirement } => section.error(key, requirement),
        Error::Setting { key, reason } => SpecError::new(key, reason),
        other => SpecError::new(section.path(), other.to_string()),
    }
}

impl From<SpecError> for Error {
    fn from(error: SpecError) -> Self {
        Self::Setting { key: error.key, reason: error.reason }
    }
}

impl Settings for Section<'_> {
    fn number(&self, key: &str) -> Result<Option<f64>, Error> {
        Ok(Section::number(self, key)?)
    }

    fn positive(&self, key: &str) -> Result<Option<f64>, Error> {
        Ok(Section::positive(self, key)?)
    }

    fn vector(&self, key: &str, length: usize) -> Result<Option<Vec<f64>>, Error> {
        Ok(Section::vector(self, key, length)?)
    }

    fn matrix(&self, key: &str, dimension: usize) -> Result<Option<Vec<f64>>, Error> {
        Ok(Section::matrix(self, key, dimension)?)
    }
}
