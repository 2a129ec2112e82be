//! barkeep-num.
