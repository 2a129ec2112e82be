//! Runs the program `experiments`: names, files, and going on where an earlier run stopped.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::path::Path;
use std::process::{Command, Stdio};

/// What a run of the program showed.
struct Shown {
    code: i32,
    stdout: String,
    stderr: String,
}

fn experiments(folder: &Path, arguments: &[&str]) -> Shown {
    let mut command = Command::new(env!("CARGO_BIN_EXE_experiments"));
    let output = command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    Shown {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn every_name_is_listed_with_what_it_shows() {
    let folder = tempfile::tempdir().unwrap();
    let shown = experiments(folder.path(), &["--list"]);
    assert_eq!(shown.code, 0);
    let (names, words): (Vec<&str>, Vec<&str>) =
        shown.stdout.lines().map(|line| line.split_once("  ").unwrap()).unzip();
    assert!(words.iter().all(|words| words.trim().len() > 20), "{words:?}");
    assert!(["crossing", "coverage", "real-data", "frontier"].iter().all(|name| names.contains(name)));
    assert!(shown.stdout.lines().any(|line| line.starts_with("thesis-6.3  ") && line.contains("MMD")));
}

#[test]
fn an_unknown_name_is_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let shown = experiments(folder.path(), &["thesis-9.9"]);
    assert_eq!(shown.code, 2);
    assert!(shown.stderr.contains("--list"), "{}", shown.stderr);
    assert_eq!(experiments(folder.path(), &[]).code, 2);
}

#[test]
fn a_second_run_computes_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["thesis-4.1", "--quick", "--out", "results"];
    let first = experiments(folder.path(), &arguments);
    assert_eq!(first.code, 0, "{}", first.stderr);
    for file in ["thesis-4.1-quick.svg", "thesis-4.1-quick.csv", "thesis-4.1-quick.jsonl"] {
        assert!(folder.path().join("results").join(file).exists(), "{file}");
    }
    let second = experiments(folder.path(), &arguments);
    assert!(second.stderr.contains("1 of 1 cells are known"), "{}", second.stderr);
    assert_eq!(first.stdout, second.stdout);
    assert!(first.stdout.contains("leapfrog steps") && first.stdout.contains("published"));
}

#[test]
fn a_report_on_nothing_says_that_nothing_was_run() {
    let folder = tempfile::tempdir().unwrap();
    let shown = experiments(folder.path(), &["--out", "results", "--report", "RESULTS.md"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let text = std::fs::read_to_string(folder.path().join("RESULTS.md")).unwrap();
    let listed = experiments(folder.path(), &["--list"]).stdout.lines().count();
    assert_eq!(text.matches("(not run)").count(), listed);
    assert!(!text.contains("Where barkeep beats the papers"));
}
