//! The program `experiments`: repeats every figure and table of the papers, sets published values beside barkeep's, and
//! measures barkeep by itself.
//!
//! An [`Experiment`] names cells to compute and makes a figure and a comparison of those that are known.
//! [`runner::reproduce`] computes the missing ones and keeps each in a [`store::Store`] as soon as it is known.
//!
//! All records here are simulated with public seeds. Numbers that would be secret in a run over real records, such as the
//! share of clipped ones, may therefore be shown; the program that opens private data contains none of this code.

mod acceptance;
mod accuracy;
mod clip_counter;
mod command;
mod contour;
mod crossing;
mod date;
mod experiment;
mod neurips;
mod privacy_for_free;
mod progress;
mod published;
mod replicate;
mod report;
mod runner;
mod store;
mod thesis;

use acceptance::Acceptance;
use accuracy::coverage::Coverage;
use accuracy::promise::Promise;
use accuracy::real_data::RealData;
use clap::Parser;
use crossing::Crossing;
use experiment::Experiment;
use neurips::aware::Aware;
use neurips::budget::Budget;
use neurips::mixture::Mixture;
use neurips::supplement::Supplement;
use privacy_for_free::Illustration;
use std::process::ExitCode;
use thesis::clipping::Clipping;
use thesis::clips::ClipEffect;
use thesis::distances::Distances;
use thesis::gradients::Gradients;
use thesis::iterations::Iterations;
use thesis::pictures::Picture;

/// Every experiment, in the order of the papers.
const EXPERIMENTS: &[&dyn Experiment] = &[
    &Budget::Rate,
    &Budget::Steps,
    &Mixture::Clipped,
    &Mixture::Scatter,
    &Mixture::Errors,
    &Supplement::Errors,
    &Supplement::Densities,
    &Supplement::Distributions,
    &Picture::Trajectory,
    &Picture::Contours,
    &Iterations,
    &ClipEffect,
    &Distances::Bananas,
    &Distances::Harder,
    &Clipping::Bananas,
    &Clipping::Harder,
    &Clipping::Circle,
    &Clipping::Gradients,
    &Illustration,
    &Gradients,
    &Acceptance,
    &Distances::Frontier,
    &Aware,
    &Coverage,
    &RealData,
    &Promise,
    &Crossing,
];

fn main() -> ExitCode {
    match command::Command::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            progress::say(&format!("experiments: {failure}"));
            ExitCode::from(failure.code())
        }
    }
}

#[cfg(test)]
mod tests;
