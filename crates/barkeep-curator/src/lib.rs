//! barkeep-curator.
