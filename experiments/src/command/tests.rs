//! Names are unique and found.

use super::*;

#[test]
fn names_are_unique_and_found() {
    for experiment in EXPERIMENTS {
        assert_eq!(find(experiment.name()).ok().map(Experiment::name), Some(experiment.name()));
    }
    let names: std::collections::BTreeSet<_> =
        EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
    assert_eq!(names.len(), EXPERIMENTS.len());
    assert!(find("neurips-9").is_err());
}
