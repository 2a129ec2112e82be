//! Holds what the program says to `golden/`, word for word, so that a change of words is seen and meant.
//!
//! `BARKEEP_REWRITE=1 cargo test -p barkeep-cli --test golden` writes the files anew.

mod program;

use program::Folder;
use std::path::Path;

const SPEC: &str = r#"[data]
path = "visits.csv"
records = 2000
[data.columns]
back = { kind = "bool", invalid = false }
age = { kind = "integer", min = 18, max = 100, invalid = 50, scale = "bounds", typical = [35, 80] }
ward = { kind = "category", levels = ["medicine", "surgery", "other"], invalid = "other" }

[model]
formula = "back ~ age + ward"
family = "bernoulli"

[privacy]
epsilon = 1.0
delta = 1e-6
"#;

/// Commands in the order a user gives them, each with the file that holds its answer.
const COMMANDS: [(&str, &str); 10] = [
    ("help", "help"),
    ("help_sample", "help sample"),
    ("plan", "plan spec.toml"),
    ("plan_verbose", "plan spec.toml --verbose"),
    ("plan_error", "plan spec.toml --error 0.5"),
    ("simulate", "simulate spec.toml --records 2000 --theta -1,0.8,0.5,-0.2 --seed 5 --out visits.csv"),
    ("sample", "sample spec.toml --insecure-seed 7 --out results"),
    ("not_private", "verify results/certificate.json"),
    ("verify", "verify paid/certificate.json"),
    ("refused", "plan wrong.toml"),
];

#[test]
fn the_program_says_what_it_said() {
    let folder = Folder::new();
    folder.write("spec.toml", SPEC);
    folder.write("wrong.toml", &SPEC.replace("age + ward", "age + wrad"));
    let held = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for (name, command) in COMMANDS {
        if name == "verify" {
            // Its noise is fresh, so that its draws are not compared; what is said of the certificate is.
            folder.sample("spec.toml", "paid");
        }
        let shown = folder.barkeep(&command.split_whitespace().collect::<Vec<&str>>());
        let said = format!(
            "$ barkeep {command}\n{}== standard error\n{}== exit code {}\n",
            shown.stdout, shown.stderr, shown.code
        );
        let path = held.join(format!("{name}.txt"));
        if std::env::var_os("BARKEEP_REWRITE").is_some() {
            std::fs::write(path, said).unwrap();
        } else {
            assert_eq!(said, std::fs::read_to_string(path).unwrap_or_default(), "{name}");
        }
    }
}

#[test]
fn shells_and_readers_of_manuals_are_served() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let shown = folder.barkeep(&["completions", shell]);
        assert!(shown.code == 0 && shown.stdout.contains("insecure-seed"), "{shell}: {}", shown.stderr);
    }
    assert!(folder.barkeep(&["man"]).stdout.contains(".TH barkeep 1"));
    assert_eq!(folder.barkeep(&["man", "--out", "manual"]).code, 0);
    assert!(folder.read("manual/barkeep-sample.1").contains("insecure\\-seed"));
}
