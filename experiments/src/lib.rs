//! Repeats every figure and table of the papers, and sets published values beside barkeep's, by the papers' own methods and at its
//! best.
//!
//! An [`Experiment`] names cells to compute and makes a figure and a comparison of those that are known. [`reproduce`] computes the
//! missing ones, keeping each in a [`Store`](store::Store) as soon as it is known, and writes the rest. All records here are simulated
//! with public seeds: numbers that would be secret in a run over real records, such as the share of clipped ones, may be shown.

mod clip_counter;
pub mod experiment;
mod neurips;
mod privacy_for_free;
mod published;
mod replicate;
mod report;
mod runner;
pub mod store;
pub mod svg;
mod thesis;

pub use experiment::{Comparison, Experiment, Size};
pub use report::{report, seconds};
pub use runner::{Setting, reproduce, table};

use neurips::budget::Budget;
use neurips::mixture::Mixture;
use neurips::supplement::Supplement;
use privacy_for_free::Illustration;
use thesis::clipping::Clipping;
use thesis::clips::ClipEffect;
use thesis::distances::Distances;
use thesis::gradients::Gradients;
use thesis::iterations::Iterations;
use thesis::pictures::Picture;

/// Every experiment, in the order of the papers.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
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
    &Distances::Frontier,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_figure_of_the_papers_has_a_name() {
        let names: BTreeSet<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
        let neurips = ["neurips-1a", "neurips-1b", "neurips-1c", "neurips-2", "neurips-3"];
        let supplement = ["supplement-1", "supplement-2", "supplement-3"];
        let thesis: Vec<String> =
            ["4.1", "5.1"].map(str::to_owned).into_iter().chain((1..=8).map(|k| format!("6.{k}"))).collect();
        let thesis: Vec<String> = thesis.into_iter().map(|number| format!("thesis-{number}")).collect();
        let all = neurips.into_iter().chain(supplement).chain(thesis.iter().map(String::as_str));
        assert_eq!(names, all.chain(["privacy-for-free-2", "gradient-samplers", "frontier"]).collect());
        assert_eq!(names.len(), EXPERIMENTS.len());
    }

    #[test]
    fn cells_have_names_of_their_own_within_a_store() {
        for size in [Size::Quick, Size::Full] {
            for experiment in EXPERIMENTS {
                let tasks = experiment.tasks(size).unwrap();
                let keys: BTreeSet<&str> = tasks.iter().map(|task| task.key.as_str()).collect();
                assert!(!tasks.is_empty() && keys.len() == tasks.len(), "{}", experiment.name());
            }
        }
    }

    #[test]
    fn nothing_known_still_makes_a_figure() {
        for experiment in EXPERIMENTS {
            let (figure, _) = experiment.show(&experiment::Cells::default()).unwrap();
            assert!(figure.svg().ends_with("</svg>\n"), "{}", experiment.name());
        }
    }
}
