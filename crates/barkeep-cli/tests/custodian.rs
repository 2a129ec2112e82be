//! Does to the real program what broke earlier versions of it: requests that said how a file becomes records and persons.

mod program;

use program::{Folder, GOOD_SPEC};
use std::io::Write;

const UNITS: usize = 20;

fn done(folder: &Folder, arguments: &[&str]) -> String {
    let shown = folder.barkeep(arguments);
    assert_eq!(shown.code, 0, "{arguments:?}: {}", shown.stderr);
    shown.stdout
}

/// A model and a budget on the columns of this `[data]`.
fn spec(data: &str) -> String {
    format!(
        "[data]\n{data}\n[model]\nname = 'gaussian'\n[privacy]\nepsilon = 1\ndelta = 1e-6\n\
         [sampler]\nname = 'barker'\nproposal_sd = 0.05\nclip = 1\nsteps = 2\nstart = [0]\n"
    )
}

/// The exit code of a run of a spec on some records, refusals of the verdict apart, and what it said.
fn ran(folder: &Folder, spec: &str, records: &str) -> (bool, String) {
    folder.write("spec.toml", spec);
    folder.write("records.csv", records);
    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out"]);
    let ran = folder.exists("out/summary.json");
    let _ = std::fs::remove_dir_all(folder.path().join("out"));
    (ran, shown.stderr)
}

/// 1. A delimiter that one cell holds made a row ragged: exit code 2 against draws.
#[test]
fn a_delimiter_reads_no_cell() {
    let folder = Folder::new();
    let file = |cell: &str| {
        let rows: String = (1..UNITS).map(|i| format!("n,{i}\n")).collect();
        format!("x,y\n{cell},1\n{rows}")
    };
    for neighbours in ["", "neighbours = 'add-remove'\n"] {
        // Where analyst and custodian are one, a delimiter is what they say it is, and a row with too many cells has none.
        let data = format!(
            "path = 'records.csv'\nrecords = {UNITS}\ndelimiter = 'q'\ncolumns = {{ 'x,y' = {{ min = -1, max = 1, invalid = 0 }} }}"
        );
        let text = spec(&data).replace("[privacy]\n", &format!("[privacy]\n{neighbours}"));
        let [with, without] = ["q", "n"].map(|cell| ran(&folder, &text, &file(cell)));
        assert!(with.0 && without.0, "{} {}", with.1, without.1);
    }
    // In a request it is refused by its name, whatever the file says.
    let request = |text: &str| {
        let request =
            serde_json::json!({ "kind": "barkeep-request", "format": 2, "spec": text, "signature": null });
        folder.write("a.request", &request.to_string());
        done_or(
            &folder,
            &["job", "run", "a.request", "--set", "nowhere.toml", "--ledger", "books", "--sign", "key"],
        )
    };
    for key in ["delimiter = 'q'", "path = 'records.csv'", "person = 'x'", "persons = 1", "records = 20"] {
        let (code, said) = request(&spec(&format!("set = 'clinic'\n{key}")));
        let name = key.split(' ').next().unwrap();
        assert!(code == 2 && said.contains(&format!("`data.{name}`")), "{said}");
    }
}

fn done_or(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let shown = folder.barkeep(arguments);
    (shown.code, shown.stderr)
}

/// 2. The ledger knew "person", not which column: a column with another value in every row was as good, and `persons` counted any.
#[test]
fn an_account_knows_the_person_column() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("p{},v{i},note{},{}\n", i % UNITS, i % 2, i % 3)).collect();
    folder.write("records.csv", &format!("patient,visit,note,x\n{rows}"));
    let data = |person: &str, persons: usize, more: &str| {
        format!(
            "path = 'records.csv'\nperson = '{person}'\npersons = {persons}\n{more}columns = {{ x = {{ min = -1, max = 1, invalid = 0 }} }}"
        )
    };
    let charged =
        |data: &str| spec(data).replace("[privacy]\n", "[privacy]\nledger = 'books'\naccount = 'people'\n");
    folder.write("spec.toml", &charged(&data("patient", UNITS, "")));
    done(&folder, &["ledger", "new", "books"]);
    done(
        &folder,
        &["ledger", "open", "books", "people", "--epsilon", "100", "--delta", "1e-5", "--unit", "person"],
    );
    done(&folder, &["ledger", "add", "books", "people", "spec.toml", "--data", "visits"]);
    let entries = || done(&folder, &["ledger", "log", "books"]).lines().count();
    let before = entries();
    for (person, persons, more, word) in [
        ("visit", 60, "", "the run's is persons by column \"visit\""),
        ("note", 1, "", "the run's is persons by column \"note\""),
        ("note", 2, "", "the run's is persons by column \"note\""),
        ("patient", 1, "", "the run's is 1"),
        ("patient", UNITS, "most_rows = 1\n", "the run's is at most 1 rows"),
    ] {
        folder.write("other.toml", &charged(&data(person, persons, more)));
        let shown = folder.barkeep(&["sample", "other.toml", "--out", "out"]);
        assert!(shown.code == 2 && shown.stderr.contains(word), "{person} {persons}: {}", shown.stderr);
        assert!(!folder.exists("out"));
        assert_eq!(entries(), before, "nothing was spent");
    }
    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out"]);
    assert!(shown.stderr.contains("when one `patient`'s rows are substituted"), "{}", shown.stderr);
}

/// 6. One more line break, or gzip, put the same records into a second account.
#[test]
fn the_same_cells_are_in_one_account() {
    let folder = Folder::new();
    let rows: String = (0..UNITS).map(|i| format!("{i},{i}\n")).collect();
    folder.write("records.csv", &format!("x1,x2\n{rows}"));
    folder.write("spec.toml", GOOD_SPEC);
    done(&folder, &["ledger", "new", "books"]);
    for account in ["one", "two"] {
        done(&folder, &["ledger", "open", "books", account, "--epsilon", "1", "--delta", "1e-6"]);
    }
    done(&folder, &["ledger", "add", "books", "one", "spec.toml", "--data", "survey"]);
    let text = folder.read("records.csv");
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let shapes = [format!("{text}\n").into_bytes(), text.replace('\n', "\r\n").into_bytes(), packed];
    for bytes in shapes {
        std::fs::write(folder.path().join("records.csv"), bytes).unwrap();
        let shown = folder.barkeep(&["ledger", "add", "books", "two", "spec.toml", "--data", "survey"]);
        assert!(shown.code == 2 && shown.stderr.contains("in account \"one\" already"), "{}", shown.stderr);
    }
}

/// A data set that was checked is known again by its bytes, and nothing about its cells refuses a run.
#[test]
fn a_checked_data_set_is_known_again() {
    let folder = Folder::new();
    let rows: String = (0..UNITS).map(|i| format!("{i},{i}\n")).collect();
    folder.write("records.csv", &format!("x1,x2\n{rows}7,8,9\n"));
    let set = format!(
        "path = 'records.csv'\nrecords = {}\n[columns]\nx1 = {{ min = 0, max = 9, invalid = 0 }}\n",
        UNITS + 1
    );
    folder.write("clinic.dataset.toml", &set);
    let found = done(&folder, &["dataset", "check", "clinic.dataset.toml"]);
    for line in [
        "custodian's eyes only",
        "records                  21",
        "1 have another number of cells",
        "1 cells invalid, 10 outside",
    ] {
        assert!(found.contains(line), "{line}: {found}");
    }
    let public = done(&folder, &["dataset", "show", "clinic.dataset.toml"]);
    assert!(public.contains("x1") && !public.contains("records.csv"), "{public}");
    folder.write("public.toml", &public);
    done(&folder, &["dataset", "rehearsal", "public.toml", "--out", "made.csv", "--records", "5"]);
    assert_eq!(folder.read("made.csv").lines().count(), 6);
    folder.write("spec.toml", &spec("set = 'clinic.dataset.toml'"));
    let sample = |out: &str| folder.barkeep(&["sample", "spec.toml", "--out", out]);
    let shown = sample("out");
    assert!(matches!(shown.code, 0 | 1), "{}", shown.stderr);
    assert_eq!(folder.barkeep(&["verify", "out/certificate.json"]).code, 0);
    // Another byte, another declaration: checked again, or not run.
    folder.write("records.csv", &folder.read("records.csv").replace("7,8,9", "7,8,10"));
    assert!(sample("changed").stderr.contains("the records changed since"), "{}", sample("again").stderr);
    done(&folder, &["dataset", "check", "clinic.dataset.toml"]);
    assert!(matches!(sample("checked").code, 0 | 1));
    folder.write("clinic.dataset.toml", &set.replace("max = 9", "max = 8"));
    assert!(sample("declared").stderr.contains("the declaration changed since"));
    // Another number than declared is the custodian's to see.
    folder.write("clinic.dataset.toml", &set.replace("records = 21", "records = 20"));
    let shown = folder.barkeep(&["dataset", "check", "clinic.dataset.toml"]);
    assert!(shown.code == 1 && shown.stderr.contains("no stamp was written"), "{}", shown.stderr);
}

/// A run on a data set is continued where its declaration is.
#[test]
fn a_run_on_a_data_set_is_resumed() {
    let folder = Folder::new();
    let rows: String = (0..UNITS).map(|i| format!("{i};{i}\n")).collect();
    folder.write("records.csv", &format!("x1;x2\n{rows}"));
    folder.write(
        "clinic.dataset.toml",
        &format!("path = 'records.csv'\ndelimiter = ';'\nrecords = {UNITS}\n[columns]\nx1 = {{ min = 0, max = 9, invalid = 0 }}\n"),
    );
    let long = spec("set = 'clinic.dataset.toml'")
        .replace("steps = 2", "steps = 2000")
        .replace("epsilon = 1", "epsilon = 100")
        .replace("1e-6", "1e-3");
    folder.write("spec.toml", &long);
    let mut child = folder.command(&["sample", "spec.toml", "--out", "out"]).spawn().unwrap();
    while !folder.exists("out/certificate.json") && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let _ = child.kill();
    child.wait().unwrap();
    let shown = folder.barkeep(&["resume", "out"]);
    assert!(matches!(shown.code, 0 | 1) || shown.stderr.contains("has ended"), "{}", shown.stderr);
    assert_eq!(folder.barkeep(&["verify", "out/certificate.json"]).code, 0);
}
