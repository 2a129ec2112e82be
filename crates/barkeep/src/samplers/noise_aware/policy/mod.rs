//! Decisions before money is spent: clips, the forecast, and the choice between scores and dynamics.

pub(crate) mod clip;
pub(crate) mod forecast;
pub(crate) mod rule;
