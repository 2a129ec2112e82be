//! Pays for counts of bad cells: levels that the file does not hold show, the bill stays within the budget, and without
//! the key nothing changes.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::data::Unit;
use barkeep::insecure::Insecure;
use barkeep::{FaultCounts, PublicRng, Run};
use std::fmt::Write;
use written::{plan, refusal, series};

const RECORDS: usize = 4000;

/// People by sex and height; the effect of sex is 2.4. `words` are those the file uses.
fn people(words: [&str; 2], by_person: bool) -> String {
    let mut rng = PublicRng::new(3, 0);
    let mut text = "who,tall,sex,height\n".to_owned();
    for i in 0..RECORDS {
        let sex = usize::from(rng.uniform() < 0.5);
        let tall = rng.uniform() < if sex == 1 { 0.77 } else { 0.23 };
        // One height in ten is in centimetres.
        let height = if i % 10 == 0 { 180.0 } else { 1.8 };
        let who = if by_person { i / 4 } else { i };
        writeln!(text, "{who},{tall},{},{height}", words[sex]).unwrap();
    }
    text
}

fn spec(folder: &std::path::Path, whose: &str, report: &str, sampler: &str) -> String {
    format!(
        "[data]\npath = '{}/people.csv'\n{whose}\n{report}\n[data.columns]\n\
         tall = {{ kind = 'bool', invalid = false }}\n\
         sex = {{ kind = 'category', levels = ['male', 'female'], invalid = 'male' }}\n\
         height = {{ min = 1, max = 2.5, invalid = 1.7, scale = 'bounds' }}\n\
         [model]\nformula = 'tall ~ sex + height'\nfamily = 'bernoulli'\n\
         [privacy]\nepsilon = 2\ndelta = 1e-5\n[sampler]\n{sampler}\nseed = 1\n",
        folder.display()
    )
}

const RECORDS_KEY: &str = "records = 4000";
const REPORT: &str = "report = { share = 0.1 }";
const LANGEVIN: &str = "name = 'langevin'\nstart = [0, 0, 0]\nsteps = 30";

fn run(folder: &std::path::Path, text: &str, people: &str) -> Run {
    std::fs::write(folder.join("people.csv"), people).unwrap();
    let plan = plan(text).unwrap();
    let table = plan.read_records(&mut |_| {}).unwrap();
    plan.runner().insecure(Insecure::seed(8)).run(table).unwrap()
}

fn assert_near(counts: &FaultCounts, column: &str, invalid: f64, clamped: f64) {
    let found = counts.columns.iter().find(|found| found.column == column).unwrap();
    // Two standard deviations of the noise, twice: missed in one of ten thousand cases, under a fixed seed.
    for (found, expected) in [(found.invalid, invalid), (found.clamped, clamped)] {
        assert!((found - expected).abs() < 2.0 * counts.error, "{column}: {found} where {expected} is true");
    }
}

#[test]
fn levels_that_the_file_does_not_hold_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let text = spec(folder.path(), RECORDS_KEY, REPORT, LANGEVIN);
    let wrong = run(folder.path(), &text, &people(["man", "woman"], false));
    let counts = wrong.faults.clone().unwrap();
    assert_eq!((counts.of, counts.unit, counts.columns.len()), (Some(4000), Unit::Record, 3));
    // μ is about 0.6 at (2, 1e-5), a tenth of μ² buys 0.19, and Δ = √6: the noise has sd 13.
    assert!(counts.error > 15.0 && counts.error < 60.0, "{}", counts.error);
    assert_near(&counts, "sex", 4000.0, 0.0);
    assert_near(&counts, "height", 0.0, 400.0);
    assert_near(&counts, "tall", 0.0, 0.0);
    let shown = wrong.summary().to_string();
    assert!(
        shown.contains("of 4000 cells of column sex were invalid: check its kind, its levels"),
        "{shown}"
    );
    assert!(shown.contains("cells of column height were outside the bounds"), "{shown}");
    assert!(!shown.contains("column tall"), "{shown}");
    let json = serde_json::to_value(wrong.summary()).unwrap();
    assert_eq!(json["faults"]["columns"][1]["column"], "sex");
    let right = run(folder.path(), &text, &people(["male", "female"], false));
    assert_near(right.faults.as_ref().unwrap(), "sex", 0.0, 0.0);
    assert!(!right.summary().to_string().contains("column sex"));
}

#[test]
fn the_bill_holds_the_counts_and_stays_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    for sampler in [
        LANGEVIN,
        "name = 'langevin'\nstart = [0, 0, 0]",
        "name = 'barker'\nproposal_sd = 0.02\nstart = [0, 0, 0]\nsteps = 100",
        "name = 'dpvi'\nsteps = 50",
    ] {
        let with = plan(&spec(folder.path(), RECORDS_KEY, REPORT, sampler)).unwrap();
        let without = plan(&spec(folder.path(), RECORDS_KEY, "", sampler)).unwrap();
        assert!(with.epsilon().unwrap().get() <= 2.0, "{sampler}");
        assert!(with.steps() <= without.steps());
        assert!(with.fact("report_error").is_some() && without.fact("report_error").is_none());
        std::fs::write(folder.path().join("people.csv"), people(["male", "female"], false)).unwrap();
        let run = with.run(with.read_records(&mut |_| {}).unwrap()).unwrap();
        assert!(run.faults.is_some());
        run.certificate.verify().unwrap();
    }
}

#[test]
fn draws_are_those_of_a_run_without_counts_where_the_steps_are() {
    let folder = tempfile::tempdir().unwrap();
    // A fixed clip: the default one follows what the budget leaves.
    let sampler = format!("{LANGEVIN}\nclip = 3");
    let draws = |report: &str| {
        let text = spec(folder.path(), RECORDS_KEY, report, &sampler);
        let run = run(folder.path(), &text, &people(["male", "female"], false));
        series(&run, 0)
    };
    assert_eq!(draws(REPORT), draws(""));
}

#[test]
fn a_person_counts_once_by_the_share_of_bad_rows() {
    let folder = tempfile::tempdir().unwrap();
    let whose = "person = 'who'\npersons = 1000\nmost_rows = 4";
    let text = spec(folder.path(), whose, REPORT, LANGEVIN);
    let counts = run(folder.path(), &text, &people(["man", "female"], true)).faults.unwrap();
    assert_eq!((counts.of, counts.unit), (Some(1000), Unit::Person { most_rows: Some(4) }));
    assert_near(&counts, "sex", 500.0, 0.0);
    assert_near(&counts, "height", 0.0, 100.0);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let with = |report: &str, sampler: &str| spec(folder.path(), RECORDS_KEY, report, sampler);
    for (report, words) in [
        ("report = { share = 0 }", "data.report.share"),
        ("report = { share = 1 }", "data.report.share"),
        ("report = { part = 0.1 }", "data.report.part"),
        ("report = {}", "data.report.share"),
        ("report = 0.1", "data.report"),
    ] {
        let shown = refusal(&with(report, LANGEVIN));
        assert!(shown.contains(words), "{report}: {shown}");
    }
    let varying = "name = 'barker'\nproposal_sd = 0.02\nproposal = 'gaussian'\nstart = [0, 0, 0]\nsteps = 9";
    assert!(refusal(&with(REPORT, varying)).contains("composed before the run"));
    let baseline = with(REPORT, "name = 'rwmh'\nproposal_sd = 0.1\nstart = [0, 0, 0]\nsteps = 5");
    let baseline = baseline.replace("epsilon = 2\ndelta = 1e-5", "private = false");
    assert!(refusal(&baseline).contains("share of a budget"));
}
