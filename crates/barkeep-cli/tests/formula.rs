//! Runs the real program on regressions by formula, from a header to a certificate, and on faulty ones.

mod program;

use program::Folder;

/// Values that appear in the records only; no message may carry them.
const CANARY: &str = "17.654321";

const SPEC: &str = r#"[data]
path = "trips.csv"
records = 400
schema = "trips.schema.toml"

[model]
formula = "late ~ hour + origin + hour:origin"
family = "bernoulli"

[privacy]
epsilon = 2.0
delta = 1e-6

[sampler]
name = "barker"
proposal_sd = 0.1
clip = 0.5
start = [0, 0, 0, 0]
"#;

const SCHEMA: &str = r#"[columns]
hour = { min = 5, max = 23, invalid = 12, scale = "bounds" }
origin = { kind = "category", levels = ["EWR", "JFK"], invalid = "EWR" }
late = { kind = "bool", invalid = false }
note = { min = 0, max = 1, invalid = 0 }
"#;

fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("spec.toml", SPEC);
    folder.write("trips.schema.toml", SCHEMA);
    let mut records = String::from("origin,late,hour\n");
    for i in 0..400 {
        let hour = 5 + i % 19;
        let late = (i * 7 + hour * 3) % 10 < hour / 3;
        let cell = if i == 11 { CANARY.to_owned() } else { hour.to_string() };
        records.push_str(&format!("{},{late},{cell}\n", ["EWR", "JFK", "SFO"][i % 3]));
    }
    folder.write("trips.csv", &records);
    folder
}

#[test]
fn a_regression_is_sampled_and_certified() {
    let folder = ready();
    folder.sample("spec.toml", "out");
    let header = folder.read("out/draws.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, "chain,draw,warmup,intercept,hour,origin[JFK],hour:origin[JFK]");
    assert_eq!(folder.barkeep(&["verify", "out/certificate.json"]).code, 0);
    let spec = SPEC
        .replace("epsilon = 2.0\ndelta = 1e-6", "private = false")
        .replace("barker", "rwmh")
        .replace("start =", "steps = 200\nstart =");
    folder.write("baseline.toml", &spec);
    folder.sample("baseline.toml", "baseline");
}

#[test]
fn a_regression_is_simulated_from_its_spec_or_its_formula() {
    let folder = ready();
    let simulate = |model: &str, theta: &str, more: &[&str]| {
        let mut arguments =
            vec!["simulate", model, "--records", "400", "--theta", theta, "--out", "trips.csv"];
        arguments.extend(more);
        let shown = folder.barkeep(&arguments);
        (shown.code, shown.stderr, folder.read("trips.csv"))
    };
    let (code, stderr, text) = simulate("spec.toml", "-1,0.5,0.2,0", &[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(text.starts_with("hour,origin,late\n") && text.lines().count() == 401);
    assert!(text.contains(",EWR,") && text.contains(",JFK,") && text.contains(",true\n"));
    folder.sample("spec.toml", "out");
    for (family, response) in [
        ("gaussian", "y"),
        ("student_t", "y"),
        ("bernoulli", "y"),
        ("binomial", "y | trials(m)"),
        ("binomial", "y | trials(7)"),
        ("poisson", "y"),
        ("negative_binomial", "y"),
        ("exponential", "y"),
        ("gamma", "y"),
    ] {
        let formula = format!("formula=\"{response} ~ x1 + log(x2) + x1:x2 + offset(o)\"");
        let family = format!("family=\"{family}\"");
        let settings = ["--set", &formula, "--set", &family];
        let (_, stderr, _) = simulate("regression", "1", &settings);
        let needed = stderr.matches(", ").count() + 1;
        let (code, stderr, text) = simulate("regression", &vec!["0.1"; needed].join(","), &settings);
        assert_eq!(code, 0, "{family}: {stderr}");
        assert!(text.starts_with("y,") && text.lines().count() == 401, "{family}");
    }
    let (code, stderr, _) =
        simulate("regression", "1", &["--set", "formula='y ~ (x'", "--set", "family='gamma'"]);
    assert!(code == 2 && stderr.contains("^"), "{stderr}");
    assert_eq!(simulate("spec.toml", "-1,0.5,0.2,0", &["--set", "temper=1"]).0, 2);
    assert_eq!(simulate("spec.toml", "-1,0.5", &[]).0, 2);
}

#[test]
fn the_flagship_needs_no_clip() {
    let folder = ready();
    let sampler = SPEC.find("[sampler]").unwrap();
    folder.write(
        "spec.toml",
        &format!("{}[sampler]\nname = \"langevin\"\nstart = [0, 0, 0, 0]\n", &SPEC[..sampler]),
    );
    let shown = folder.barkeep(&["plan", "spec.toml", "--verbose"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(shown.stdout.contains("clip of a whitened gradient"), "{}", shown.stdout);
}

#[test]
fn a_schema_is_drafted_from_the_header_alone() {
    let folder = ready();
    let shown = folder.barkeep(&["schema", "trips.csv"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert_eq!(shown.stdout.matches("invalid = \"?\"").count(), 3);
    assert!(!shown.stdout.contains(CANARY) && !shown.stdout.contains("JFK"));
    folder.write("trips.dataset.toml", &shown.stdout);
    let model = &SPEC[SPEC.find("[model]").unwrap()..];
    folder.write("drafted.toml", &format!("[data]\nset = \"trips.dataset.toml\"\n{model}"));
    let refused = folder.barkeep(&["plan", "drafted.toml"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("`records`: is still \"?\""), "{}", refused.stderr);
    // The old key goes on being read, and says what it is called now.
    let warned = folder.barkeep(&["plan", "spec.toml"]);
    assert!(warned.stdout.contains("data.schema is the old name of data.set"), "{}", warned.stdout);
    folder.write("headless.csv", &format!("{CANARY},1\n2,3\n"));
    let refused = folder.barkeep(&["schema", "headless.csv"]);
    assert_eq!(refused.code, 2);
    assert!(!refused.stderr.contains(CANARY), "{}", refused.stderr);
    assert_eq!(folder.barkeep(&["schema", "nowhere.parquet"]).code, 2);
}

fn refused(spec: &[(&str, &str)], schema: &[(&str, &str)], expected: &str) {
    let folder = ready();
    let replace = |text: &str, replacements: &[(&str, &str)]| {
        replacements.iter().fold(text.to_owned(), |text, (from, to)| {
            assert!(text.contains(from));
            text.replacen(from, to, 1)
        })
    };
    folder.write("spec.toml", &replace(SPEC, spec));
    folder.write("trips.schema.toml", &replace(SCHEMA, schema));
    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out"]);
    assert_eq!(shown.code, 2, "{spec:?} {schema:?}: {}", shown.stderr);
    assert!(shown.stderr.contains(expected), "{spec:?} {schema:?}: {}", shown.stderr);
    assert!(!shown.stderr.contains(CANARY) && !shown.stderr.contains("internal error"));
    assert!(!folder.exists("out"), "refused, yet a folder was left behind");
}

#[test]
fn faults_are_refused_before_anything_is_spent() {
    refused(
        &[("late ~ hour", "late ~ huor")],
        &[],
        "did you mean `hour`?\n  late ~ huor + origin + hour:origin\n         ^^^^",
    );
    refused(&[("late ~ hour", "late ~ hour +* ")], &[], "\n               ^");
    refused(&[("late ~ hour", "late ~ log(hour)")], &[("min = 5", "min = 0")], "min above 0 for log");
    refused(&[("bernoulli", "poisson")], &[], "kind \"integer\"");
    refused(&[], &[("min = 5, ", "")], "data.columns.hour.min");
    refused(&[], &[(", invalid = 12", "")], "data.columns.hour.invalid");
    refused(&[], &[("[columns]", "[column]")], "data.schema");
    refused(&[("trips.schema.toml", "nowhere.toml")], &[], "data.schema");
    refused(
        &[("late ~ hour", "late ~ note + hour"), ("start = [0", "start = [0, 0")],
        &[],
        "data.columns.note",
    );
}

#[test]
fn bad_parquet_files_are_refused_in_words() {
    let folder = ready();
    for (bytes, words) in [("", "cannot be read"), ("PAR1 not really PAR1", "cannot be read")] {
        folder.write("trips.parquet", bytes);
        folder.write("spec.toml", &SPEC.replace("trips.csv", "trips.parquet"));
        let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out"]);
        assert_eq!(shown.code, 2, "{}", shown.stderr);
        assert!(shown.stderr.contains(words), "{}", shown.stderr);
        assert!(!folder.exists("out"));
    }
}
