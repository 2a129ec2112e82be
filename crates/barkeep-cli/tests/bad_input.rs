//! Runs the real program on every kind of bad input: refused with code 2 or 3 before anything is spent, in words
//! that name the spec key, header or column, and never a row or a value of the records.

mod program;

use program::{Folder, GOOD_SPEC};

/// Values that appear in the records only; no message may carry them.
const CANARY: &str = "7.654321";

fn records() -> String {
    let mut text = String::from("x1,x2\n");
    for _ in 0..20 {
        text.push_str(&format!("{CANARY},0.5\n"));
    }
    text
}

/// Runs `sample` on a spec made from the good one by replacements, over given records.
fn refused(replacements: &[(&str, &str)], records: Option<&str>, code: i32, expected: &[&str]) {
    let folder = Folder::new();
    let mut spec = GOOD_SPEC.to_owned();
    for (from, to) in replacements {
        assert!(spec.contains(from), "the good spec has no {from}");
        spec = spec.replacen(from, to, 1);
    }
    folder.write("spec.toml", &spec);
    if let Some(records) = records {
        folder.write("records.csv", records);
    }
    let output = folder.barkeep(&["sample", "spec.toml", "--out", "out"]);
    assert_eq!(output.code, code, "{replacements:?}: {}", output.stderr);
    for word in expected {
        assert!(output.stderr.contains(word), "{replacements:?}: no {word:?} in: {}", output.stderr);
    }
    assert!(!output.stderr.contains(CANARY) && !output.stdout.contains(CANARY), "{}", output.stderr);
    assert!(!output.stderr.contains("internal error"), "{}", output.stderr);
    assert!(!folder.exists("out/certificate.json"), "refused, yet certified");
    assert!(!folder.exists("out"), "refused, yet a folder was left behind");
}

fn refused_spec(from: &str, to: &str, expected: &[&str]) {
    refused(&[(from, to)], Some(&records()), 2, expected);
}

#[test]
fn the_good_spec_is_good() {
    let folder = Folder::new();
    folder.write("spec.toml", GOOD_SPEC);
    folder.write("records.csv", &records());
    folder.sample("spec.toml", "out");
    for file in ["certificate.json", "draws.csv", "draws.parquet", "summary.json"] {
        assert!(folder.exists(&format!("out/{file}")), "no {file}");
    }
}

#[test]
fn files() {
    refused(&[], None, 2, &["records.csv"]);
    refused(&[], Some(""), 2, &["records.csv", "empty"]);
    refused(&[], Some(&records().replace("x2", "y2")), 2, &["x2"]);
    refused(&[], Some(&records().replace("x1,x2\n", "")), 2, &["x1", "header"]);
    refused(&[], Some(&format!("{}1,2\n", records())), 2, &["records"]);
    refused(&[("records = 20", "records = 21")], Some(&records()), 2, &["records"]);
    refused(
        &[],
        Some(&records().replace("x1,x2", "x1,x2,x1").replace(",0.5", ",0.5,1")),
        2,
        &["x1", "twice"],
    );
}

#[test]
fn persons() {
    let rows: String = (0..20).map(|i| format!("{CANARY}-{},0.5,1\n", i % 5)).collect();
    let visits = format!("who,x1,x2\n{rows}");
    let refused_persons = |keys: &str, words: &[&str]| {
        refused(&[("records = 20", keys)], Some(&visits), 2, words);
    };
    refused_persons("person = 'who'\npersons = 6", &["data.persons = 6", "another number of persons"]);
    refused_persons("person = 'who'\npersons = 4", &["data.persons = 4", "another number of persons"]);
    refused_persons("person = 'whom'\npersons = 5", &["data.person", "no such column", "did you mean who?"]);
    refused_persons("person = 'who'\nrecords = 20", &["data.records", "give persons"]);
    refused_persons("person = 'who'", &["data.persons", "required"]);
    refused_persons("records = 20\nmost_rows = 3", &["data.most_rows", "needs person"]);
    refused_persons("person = 'x1'\npersons = 5", &["data.person", "data.columns declares"]);
    refused_persons("person = 'who'\npersons = 5\nmost_row = 3", &["most_row", "most_rows"]);
}

#[test]
fn a_headerless_file_shows_none_of_its_first_record() {
    // The first row would be taken for a header; its cells are a record's and must not be named.
    let text = format!("{CANARY},{CANARY}\n").repeat(21);
    refused(&[], Some(&text), 2, &["header"]);
}

#[test]
fn bounds_and_invalid_values() {
    refused_spec("min = -10, ", "", &["data.columns.x1.min", "required"]);
    refused_spec(", invalid = 0", "", &["data.columns.x1.invalid", "required"]);
    refused_spec("min = -10", "min = 10", &["data.columns.x1.min"]);
    refused_spec("min = -10", "min = 11", &["data.columns.x1.min"]);
    refused_spec("invalid = 0", "invalid = 99", &["data.columns.x1.invalid"]);
}

#[test]
fn keys() {
    refused_spec("clip = ", "clpi = ", &["sampler.clpi", "did you mean `clip`"]);
    refused_spec("epsilon = ", "epsilom = ", &["privacy.epsilom", "did you mean `epsilon`"]);
    refused_spec("[privacy]", "[privcy]", &["privcy", "did you mean `privacy`"]);
    refused_spec("name = \"barker\"", "name = \"braker\"", &["sampler.name", "did you mean `barker`"]);
    refused_spec("name = \"gaussian\"", "name = \"gausian\"", &["model.name", "did you mean `gaussian`"]);
    refused_spec("covariance", "covarianse", &["model.covarianse", "did you mean `covariance`"]);
    refused_spec("clip = 1.0", "clip = \"one\"", &["sampler.clip", "must be a number"]);
    refused_spec("clip = 1.0", "", &["sampler.clip", "required"]);
    refused_spec("[data]", "[data", &["spec: line 1"]);
}

#[test]
fn numbers() {
    for epsilon in ["0", "-1", "nan", "inf"] {
        refused_spec("epsilon = 1.0", &format!("epsilon = {epsilon}"), &["privacy.epsilon"]);
    }
    for delta in ["0", "1", "-1e-6", "2", "nan"] {
        refused_spec("delta = 1e-6", &format!("delta = {delta}"), &["privacy.delta"]);
    }
    for clip in ["0", "-1", "nan", "inf"] {
        refused_spec("clip = 1.0", &format!("clip = {clip}"), &["sampler.clip"]);
    }
    refused_spec("records = 20", "records = 0", &["data.records"]);
    refused_spec("start = [0, 0]", "start = [nan, 0]", &["sampler.start", "finite"]);
    refused_spec("start = [0, 0]", "start = [inf, 0]", &["sampler.start", "finite"]);
    refused_spec("start = [0, 0]", "start = [0]", &["sampler.start", "2 numbers"]);
    refused_spec("start = [0, 0]", "start = [[0, 0], [0, 0]]", &["sampler.start", "1 chains"]);
    refused_spec("start = [0, 0]", "start = [0, 0]\nchains = 0", &["sampler.chains"]);
    refused_spec("start = [0, 0]", "start = [0, 0]\nburn_in = 99999999", &["sampler.burn_in"]);
    refused_spec("proposal_sd = 0.05", "proposal_sd = -1", &["sampler.proposal_sd"]);
    refused_spec("covariance = 1", "covariance = -1", &["model.covariance"]);
}

#[test]
fn no_columns_means_no_parameters() {
    let columns = "x1 = { min = -10, max = 10, invalid = 0 }\nx2 = { min = -10, max = 10, invalid = 0 }\n";
    refused_spec(columns, "", &["data.columns"]);
}

#[test]
fn a_budget_too_small_for_one_step_is_refused_as_such() {
    refused(
        &[("clip = 1.0", "clip = 1000.0"), ("epsilon = 1.0", "epsilon = 0.001")],
        Some(&records()),
        3,
        &["budget", "does not buy one step"],
    );
}

#[test]
fn what_cannot_go_together() {
    refused_spec("name = \"barker\"", "name = \"rwmh\"", &["sampler.name", "private = false"]);
    refused_spec("delta = 1e-6", "delta = 1e-6\nprivate = false", &["privacy.epsilon"]);
    refused_spec("name = \"gaussian\"", "name = \"gaussian\"\ntemper = 0.5\nn0 = 3", &["model.n0"]);
    refused_spec("name = \"gaussian\"", "name = \"gaussian\"\ntemper = 2", &["model.temper"]);
}

#[test]
fn an_output_folder_is_never_overwritten() {
    let folder = Folder::new();
    folder.write("spec.toml", GOOD_SPEC);
    folder.write("records.csv", &records());
    folder.write("out/precious.txt", "keep");
    let output = folder.barkeep(&["sample", "spec.toml", "--out", "out"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("not empty"), "{}", output.stderr);
    assert!(!folder.exists("out/certificate.json"));
}

#[test]
fn a_missing_spec_is_named() {
    let output = Folder::new().barkeep(&["plan", "nowhere.toml"]);
    assert_eq!(output.code, 2);
    assert!(output.stderr.contains("nowhere.toml"), "{}", output.stderr);
}

/// Every preset's own keys: unknown, of a wrong type, out of range, or at odds with another.
#[test]
fn keys_of_each_sampler() {
    let good = "name = \"barker\"";
    for (keys, expected) in [
        ("name = 'barker'\nlevel = 'release'", &["sampler.level", "adds no noise"][..]),
        ("name = 'barker'\ntau = 1", &["sampler.tau", "unknown key"]),
        ("name = 'barker'\nmove = 'guied'", &["sampler.move", "did you mean `guided`"]),
        ("name = 'barker'\nproposal = 'gaussian'\nproposal_cap = 1", &["sampler.proposal_cap", "no meaning"]),
        ("name = 'barker'\nproposal = 'uniform'", &["sampler.proposal_cap", "required"]),
        ("name = 'barker'\nproposal = 'uniform'\nproposal_cap = 1", &["sampler.proposal_sd", "no meaning"]),
        ("name = 'barker'\nclip_scale = 'distanse'", &["sampler.clip_scale", "did you mean `distance`"]),
        (
            "name = 'barker'\nproposal_covariance = [[1, 0], [0, 1]]",
            &["sampler.proposal_covariance", "proposal_sd"],
        ),
        ("name = 'lazy-barker'\nkeep = 2", &["sampler.keep", "at most 1"]),
        ("name = 'lazy-barker'\nkep = 0.5", &["sampler.kep", "did you mean `keep`"]),
        ("name = 'penalty'", &["sampler.tau", "required"]),
        ("name = 'penalty'\ntau = 'much'", &["sampler.tau", "must be a number"]),
        ("name = 'penalty'\ntau = 1\nlevel = 'relase'", &["sampler.level", "did you mean `release`"]),
        ("name = 'penalty-minibatch'\ntau = 1", &["sampler.batch", "required"]),
        ("name = 'penalty-minibatch'\ntau = 1\nbatch = 21", &["sampler.batch", "at most data.records, 20"]),
        ("name = 'penalty-minibatch'\ntau = 1\nbatch = 2.5", &["sampler.batch", "whole number"]),
        ("name = 'penalty-minibatch'\ntau = 1\nbatch = 5\nkappa = 4", &["sampler.kappa", "2 or 3"]),
        (
            "name = 'penalty-minibatch'\ntau = 1\nbatch = 5\nlevel = 'decision'",
            &["sampler.level", "amplification"],
        ),
        ("name = 'penalty-minibach'\ntau = 1", &["sampler.name", "did you mean `penalty-minibatch`"]),
        ("name = 'barker-corrected'\nvariance = 3.3", &["sampler.variance", "pi^2/3"]),
        ("name = 'barker-corrected'\nvariance = 0.001", &["sampler.variance", "1/64"]),
        ("name = 'barker-corrected'\ncorrection = 'ridge'", &["sampler.correction", "1.38"]),
        ("name = 'barker-corrected'\nvariance = 3\ncorrection = 'minimax'", &["sampler.variance", "2.91"]),
        (
            "name = 'barker-corrected'\ncorrection = 'minmax'",
            &["sampler.correction", "did you mean `minimax`"],
        ),
    ] {
        refused_spec(good, keys, expected);
    }
    let minibatch = |keys: &str, expected: &[&str]| {
        let keys = format!("name = 'barker-minibatch'\nbatch = 5\n{keys}");
        refused(&[(good, &keys), ("clip = 1.0\n", "")], Some(&records()), 2, expected);
    };
    minibatch("bound = 'tigth'", &["sampler.bound", "did you mean `tight`"]);
    minibatch("clip = 1", &["sampler.clip", "at most"]);
    minibatch("correction = 'ridge'", &["sampler.correction", "1.38"]);
    minibatch("clip_scale = 'constant'", &["sampler.clip_scale", "unknown key"]);
    minibatch("variance = 1", &["sampler.variance", "unknown key"]);
    for keys in ["name = 'penalty'\ntau = 1", "name = 'penalty-minibatch'\ntau = 1\nbatch = 5"] {
        refused(
            &[(good, keys), ("delta = 1e-6", "delta = 1e-6\nneighbours = 'add-remove'")],
            Some(&records()),
            2,
            &["sampler.name", "add-remove"],
        );
    }
    refused(
        &[(good, "name = 'penalty'\ntau = 1"), ("epsilon = 1.0\ndelta = 1e-6", "private = false")],
        Some(&records()),
        2,
        &["sampler.name", "private sampler"],
    );
}
