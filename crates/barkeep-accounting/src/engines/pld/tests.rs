//! Holds privacy-loss distributions to references computed elsewhere, to a second evaluator, and to their properties.

mod against_contour;
mod barker_batches;
mod contour;
mod oracles;
mod properties;
mod reference;
