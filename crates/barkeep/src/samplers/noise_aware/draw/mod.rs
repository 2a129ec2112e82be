//! Draws from the fitted posterior, and the checks that judge them.

pub(crate) mod checks;
pub(crate) mod draws;
pub(crate) mod family;
pub(crate) mod free;
