//! Scores private posteriors against the posterior without privacy: error, coverage, width, the plan's promise and the verdict.

pub(crate) mod coverage;
mod designs;
pub(crate) mod laplace;
mod lookalikes;
mod named;
pub(crate) mod promise;
pub(crate) mod real_data;
mod score;
