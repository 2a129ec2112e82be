//! Lists the built-in models, one file each, all of the same shape.

use crate::entry::ModelEntry;

/// Declares the files and the list of their entries: a new model is a file and a word here.
macro_rules! models {
    ($($model:ident),+ $(,)?) => {
        $(pub mod $model;)+

        /// Every model that reads columns as they are declared, in the order shown to users.
        pub const MODELS: &[ModelEntry] = &[$($model::ENTRY),+];
    };
}

models![gaussian, banana, bernoulli, circle, mixture];
