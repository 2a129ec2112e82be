//! barkeep-data.
