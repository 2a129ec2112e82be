//! Runs `barkeep audit` on specs: a row beside the certificate, no record opened, and reasons where nothing can be audited.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod program;

use program::{Folder, GOOD_SPEC};

fn spec(sampler: &str) -> String {
    format!("{}[sampler]\n{sampler}\n", GOOD_SPEC.split("[sampler]").next().unwrap())
}

#[test]
fn a_spec_is_attacked_without_its_records() {
    let folder = Folder::new();
    folder.write("spec.toml", &spec("name = 'langevin'\nstep = 0.04\nsteps = 3\nstart = [0, 0]"));
    let shown = folder.barkeep(&["audit", "spec.toml", "--trials", "40000", "--seed", "2"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let lines: Vec<&str> = shown.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", shown.stdout);
    for word in ["mechanism", "certified", "audited", "trials"] {
        assert!(lines[0].contains(word), "{}", lines[0]);
    }
    assert!(lines[1].starts_with("sampler langevin ") && lines[1].contains(" 40000 "), "{}", lines[1]);
    assert!(!folder.exists("records.csv"), "there never were records to open");

    let shown = folder.barkeep(&["audit", "spec.toml", "--trials", "40000", "--seed", "2", "--json"]);
    let shown_json: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let row = &shown_json["rows"][0];
    assert_eq!(shown_json["holds"], true);
    let (certified, audited) = (row["certified"].as_f64().unwrap(), row["audited"].as_f64().unwrap());
    // A Gaussian mechanism's whole curve is claimed, of which some thousand trials show most.
    assert!(audited <= certified && audited > 0.5 * certified, "{row}");
    let planned = folder.barkeep(&["plan", "spec.toml", "--json"]);
    let planned: serde_json::Value = serde_json::from_str(&planned.stdout).unwrap();
    assert_eq!(planned["epsilon"]["upper"], row["certified"]);
}

#[test]
fn a_regression_by_formula_is_attacked_too() {
    let folder = Folder::new();
    folder.write(
        "spec.toml",
        "[data]\npath = 'trips.csv'\nrecords = 400\n[data.columns]\n\
         hour = { min = 5, max = 23, invalid = 12, scale = 'bounds' }\n\
         origin = { kind = 'category', levels = ['EWR', 'JFK'], invalid = 'EWR' }\n\
         late = { kind = 'bool', invalid = false }\n\
         [model]\nformula = 'late ~ hour * origin'\nfamily = 'bernoulli'\n\
         [privacy]\nepsilon = 2.0\ndelta = 1e-4\n\
         [sampler]\nname = 'langevin'\nstart = [0, 0, 0, 0]\nsteps = 4\n",
    );
    let shown = folder.barkeep(&["audit", "spec.toml", "--trials", "10000", "--seed", "2", "--json"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let shown_json: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert!(shown_json["rows"][0]["audited"].as_f64().unwrap() > 0.0, "{shown_json}");
}

#[test]
fn a_spec_by_person_is_attacked_on_whole_persons() {
    let folder = Folder::new();
    let records = spec("name = 'langevin'\nstep = 0.04\nsteps = 3\nstart = [0, 0]\nclip = 3");
    let persons = records.replace("records = 20", "person = 'who'\npersons = 20\nmost_rows = 4");
    let certified = |text: &str| {
        folder.write("spec.toml", text);
        let shown = folder.barkeep(&["audit", "spec.toml", "--trials", "40000", "--seed", "2", "--json"]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        assert!(shown.stderr.contains("all but one person's rows"), "{}", shown.stderr);
        let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
        let row = &shown["rows"][0];
        let (certified, audited) = (row["certified"].as_f64().unwrap(), row["audited"].as_f64().unwrap());
        assert!(audited <= certified && audited > 0.5 * certified, "{row}");
        certified
    };
    // The clip is what a person costs, whatever the number of rows.
    assert_eq!(certified(&persons), certified(&records));
}

#[test]
fn a_baseline_is_refused_with_the_reason() {
    let folder = Folder::new();
    let baseline = spec("name = 'rwmh'\nproposal_sd = 0.1\nsteps = 5\nstart = [0, 0]");
    folder.write("spec.toml", &baseline.replace("epsilon = 1.0\ndelta = 1e-6", "private = false"));
    let shown = folder.barkeep(&["audit", "spec.toml"]);
    assert_eq!(shown.code, 2, "{}", shown.stderr);
    assert!(shown.stderr.contains("privacy.private") && shown.stderr.contains("nothing to audit"));
    assert_eq!(folder.barkeep(&["audit"]).code, 2);
    assert_eq!(folder.barkeep(&["audit", "--all", "spec.toml"]).code, 2);
    assert_eq!(folder.barkeep(&["audit", "nowhere.toml"]).code, 2);
}
