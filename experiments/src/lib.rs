//! Repeats every figure and table of the papers, and sets published values beside barkeep's, by the papers' own methods and at its
//! best.
//!
//! An [`Experiment`] names cells to compute and makes a figure and a comparison of those that are known. [`reproduce`] computes the
//! missing ones, keeping each in a [`Store`](store::Store) as soon as it is known, and writes the rest. All records here are simulated
//! with public seeds: numbers that would be secret in a run over real records, such as the share of clipped ones, may be shown.

mod easy_2d;
pub mod experiment;
mod gradient_samplers;
mod neurips;
mod neurips_mixture;
mod published;
mod replicate;
mod report;
mod runner;
pub mod store;
pub mod svg;
mod thesis;

pub use experiment::{Comparison, Experiment, Size};
pub use report::report;
pub use runner::{Setting, reproduce, table};

use neurips::budget::Budget;
use neurips::supplement::Supplement;
use thesis::iterations::Iterations;

/// Every experiment, in the order of the papers.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &Budget::Rate,
    &Budget::Steps,
    &Supplement::Errors,
    &Supplement::Densities,
    &Supplement::Distributions,
    &Iterations,
];

const USAGE: &str = "usage: experiments easy-2d [DATA-SEED START-SEED] | neurips-mixture [RUNS] | sgld-mixture | gradient-samplers [--quick] [--underdamped] [--off-by-two] [--resume] [MODEL…]";

/// The comparisons that are not experiments yet, by name.
///
/// # Errors
/// What is wrong, for people.
pub fn measure(arguments: &[&str], out: &mut dyn std::io::Write) -> Result<(), String> {
    match *arguments {
        ["easy-2d"] => easy_2d::write(out, easy_2d::SEEDS),
        ["easy-2d", data, starts] => match (data.parse(), starts.parse()) {
            (Ok(data), Ok(starts)) => easy_2d::write(out, (&[data], &[starts])),
            _ => Err("seeds must be whole numbers".to_owned()),
        },
        ["neurips-mixture"] => neurips_mixture::write(out, 40),
        ["neurips-mixture", runs] => match runs.parse() {
            Ok(runs) => neurips_mixture::write(out, runs),
            Err(_) => Err("runs must be a whole number".to_owned()),
        },
        ["sgld-mixture"] => neurips_mixture::write_sgld(out, 10),
        ["gradient-samplers", ref options @ ..] => gradient_samplers::write(out, options),
        _ => Err(USAGE.to_owned()),
    }
}
