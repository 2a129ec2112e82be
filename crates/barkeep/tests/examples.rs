//! Runs the examples, which `cargo test` builds beside the tests.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot set itself up has failed")]

use std::process::Command;

fn run(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let examples = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples");
    let program = examples.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let temporary = tempfile::tempdir().unwrap();
    let output =
        Command::new(&program).env("TMPDIR", temporary.path()).env("TMP", temporary.path()).output().expect(
            "the examples are built first, by `cargo build --examples` or `cargo test` without a selection",
        );
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_own_model_ends_with_its_certificate() {
    let shown = run("own_model");
    assert!(shown.contains("log_rate") && shown.contains("differentially private"), "{shown}");
    let source =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/own_model.rs")).unwrap();
    assert!(source.lines().count() <= 40);
}

#[test]
fn the_others_run_too() {
    assert!(run("csv_to_posterior").contains("differentially private"));
    assert!(run("embedding").contains("100 % of the steps"));
    let shown = run("persons");
    assert!(shown.contains("20000 persons; what is protected is one person's rows, at most 5"), "{shown}");
    assert!(shown.contains("when one `patient_id`'s rows, at most 5, are substituted"), "{shown}");
    assert!(run("accounting").contains("epsilon = 1 buys"));
}
