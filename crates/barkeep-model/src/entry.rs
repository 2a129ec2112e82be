//! Describes a model in the words of a spec: its name, its keys and how it is built from them.

use std::sync::Arc;

use crate::settings::{Key, Settings, key};
use crate::{Error, Likelihood, Model};

/// The two sides of one model: what the curator holds, and what everyone else does.
pub type Sides = (Arc<dyn Likelihood>, Arc<dyn Model>);

/// Both sides of a model.
#[must_use]
pub fn sides<M: Likelihood + Model + 'static>(model: M) -> Sides {
    let model = Arc::new(model);
    (Arc::<M>::clone(&model), model)
}

/// A model a spec can name.
#[derive(Debug, Clone, Copy)]
pub struct ModelEntry {
    /// As written in `model.name`.
    pub name: &'static str,
    /// One line of meaning.
    pub summary: &'static str,
    /// The keys of `[model]` beside the common ones.
    pub keys: &'static [Key],
    /// How it is built from them.
    pub build: Build,
}

/// How a model is built from its keys.
#[derive(Debug, Clone, Copy)]
pub enum Build {
    /// For data of this number of columns, which it reads as they are declared.
    Columns(fn(&dyn Settings, usize) -> Result<Sides, Error>),
    /// From a formula over the declared columns, which the reader of specs lays out.
    Formula,
    /// From a text over the declared columns, see [`TextModel`](crate::TextModel).
    Text,
}

/// The key of a normal prior that is the same for every parameter, and its default.
pub(crate) const PRIOR_VARIANCE: Key =
    key("prior_variance", "1000", "variance of the normal prior, the same for every parameter");

/// The variance given for [`PRIOR_VARIANCE`], or its default.
pub(crate) fn prior_variance(settings: &dyn Settings) -> Result<f64, Error> {
    Ok(settings.positive(PRIOR_VARIANCE.name)?.unwrap_or(1000.0))
}
