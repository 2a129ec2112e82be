//! barkeep.
