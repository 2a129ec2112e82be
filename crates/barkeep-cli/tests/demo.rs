//! Runs the demo as a user does.

mod program;

use program::Folder;

/// Private means within half a posterior sd of those without privacy, and how many there were.
fn close(folder: &Folder, out: &str) -> (usize, usize) {
    let shown = folder.barkeep(&["demo", "--out", out]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let line =
        shown.stderr.lines().find(|line| line.contains("private means lie within")).unwrap_or_default();
    let numbers: Vec<usize> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers.len(), 2, "{}", shown.stderr);
    (numbers[0], numbers[1])
}

/// With fresh noise each time; at least 80 % must be close.
#[test]
#[ignore = "slow: cargo test -p barkeep-cli --release --test demo -- --ignored --nocapture"]
fn a_hundred_demos_stay_close_to_the_answer_without_privacy() {
    let folder = Folder::new();
    let mut total = (0, 0);
    for run in 1..=100 {
        let (found, of) = close(&folder, &format!("demo{run}"));
        total = (total.0 + found, total.1 + of);
        println!("run {run}: {found} of {of}; {} of {} so far", total.0, total.1);
        assert_eq!(folder.barkeep(&["verify", &format!("demo{run}/results/certificate.json")]).code, 0);
    }
    assert_eq!(total.1, 500);
    assert!(total.0 >= 400, "{} of 500", total.0);
}
