//! Every figure of the papers has a name, cells and a picture.

use super::*;
use experiment::Size;
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
    assert_eq!(
        names,
        all.chain([
            "privacy-for-free-2",
            "gradient-samplers",
            "acceptance",
            "frontier",
            "coverage",
            "real-data",
            "promise",
            "crossing",
            "mixture",
        ])
        .collect()
    );
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

/// "published" is a paper's own number; what was run again or rewritten is called so.
#[test]
fn only_a_papers_own_numbers_are_called_published() {
    let kinds = include_str!("../published/README.md");
    let mut named = 0;
    for experiment in EXPERIMENTS {
        let file = format!("`{}.csv`", experiment.name());
        let Some(row) = kinds.lines().find(|line| line.starts_with('|') && line.contains(&file)) else {
            continue;
        };
        let (_, comparison) = experiment.show(&experiment::Cells::default()).unwrap();
        let own = row.contains("| published:");
        assert_eq!(comparison.reference == "published", own, "{}", experiment.name());
        named += 1;
    }
    assert!(named >= 5);
}

/// Figure 3 of the NeurIPS paper has no numbers of its own: each that stands beside ours says whether code was run again or rewritten.
#[test]
fn figure_3_says_where_each_number_comes_from() {
    let (_, comparison) = Mixture::Errors.show(&experiment::Cells::default()).unwrap();
    assert_eq!(comparison.reference, "the paper's code");
    let beside = comparison.rows.iter().filter(|row| row.published != experiment::NONE);
    let kinds: Vec<bool> = beside
        .map(|row| {
            let (again, rewritten) =
                (row.published.contains("run again"), row.published.contains("rewritten"));
            assert!(again != rewritten, "{}: {}", row.what, row.published);
            assert!(row.what.contains("SGLD") == rewritten, "{}", row.what);
            rewritten
        })
        .collect();
    assert!(kinds.iter().filter(|rewritten| **rewritten).count() == 8 && kinds.len() > 12);
}
