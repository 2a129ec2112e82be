//! Turns spec keys shared by several samplers into kernels, prices and forecasts.

pub(crate) mod batch_error;
pub(crate) mod correction_keys;
pub(crate) mod diffusion;
pub(crate) mod fit;
pub(crate) mod forecast;
pub(crate) mod judged;
pub(crate) mod learned;
pub(crate) mod outlook;
pub(crate) mod path_keys;
pub(crate) mod stochastic;
pub(crate) mod walk_keys;
