//! `barkeep reproduce`: names, files, and going on where an earlier run stopped.

mod program;

use program::Folder;

#[test]
fn every_name_is_listed_with_what_it_shows() {
    let shown = Folder::new().barkeep(&["reproduce", "--list"]);
    assert_eq!(shown.code, 0);
    assert_eq!(shown.stdout.lines().count(), 21);
    assert!(shown.stdout.lines().any(|line| line.starts_with("thesis-6.3  ") && line.contains("MMD")));
}

#[test]
fn an_unknown_name_is_bad_input() {
    let shown = Folder::new().barkeep(&["reproduce", "thesis-9.9"]);
    assert_eq!(shown.code, 2);
    assert!(shown.stderr.contains("--list"), "{}", shown.stderr);
}

#[test]
fn a_second_run_computes_nothing_again() {
    let folder = Folder::new();
    let arguments = ["reproduce", "thesis-4.1", "--quick", "--out", "results"];
    let first = folder.barkeep(&arguments);
    assert_eq!(first.code, 0, "{}", first.stderr);
    for file in ["thesis-4.1-quick.svg", "thesis-4.1-quick.csv", "thesis-4.1-quick.jsonl"] {
        assert!(folder.exists(&format!("results/{file}")), "{file}");
    }
    let second = folder.barkeep(&arguments);
    assert!(second.stderr.contains("1 of 1 cells are known"), "{}", second.stderr);
    assert_eq!(first.stdout, second.stdout);
    assert!(first.stdout.contains("leapfrog steps") && first.stdout.contains("published"));
}

#[test]
fn a_report_on_nothing_says_that_nothing_was_run() {
    let folder = Folder::new();
    let shown = folder.barkeep(&["reproduce", "--out", "results", "--report", "RESULTS.md"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let text = folder.read("RESULTS.md");
    assert_eq!(text.matches("(not run)").count(), 21);
    assert!(!text.contains("Where barkeep beats the papers"));
}
