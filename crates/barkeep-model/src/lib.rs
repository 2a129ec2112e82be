//! barkeep-model.
