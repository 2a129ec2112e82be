//! Hands a request over the airlock and a bundle back, with the real program; kills it on the way; feeds it what is no request.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod program;

use program::Folder;
use std::process::Stdio;
use std::time::Instant;

const SET: &str = r#"id = "cohort 7"
path = "records.csv"
records = 3000
[columns]
late = { kind = "bool", invalid = false }
hour = { min = 5, max = 23, invalid = 12, scale = "bounds" }
"#;

const SPEC: &str = r#"[data]
set = "public.toml"

[model]
formula = "late ~ hour"
family = "bernoulli"

[privacy]
epsilon = 2.0
delta = 1e-6
ledger = "the custodian knows where"
account = "cohort"

[sampler]
name = "langevin"
start = [0, 0]
steps = 60
"#;

fn done(folder: &Folder, arguments: &[&str]) -> String {
    let shown = folder.barkeep(arguments);
    assert_eq!(shown.code, 0, "{arguments:?}: {}", shown.stderr);
    shown.stdout
}

/// The custodian's room: records, a ledger with an account, a key, and a request of this spec.
fn room(spec: &str) -> Folder {
    let folder = Folder::new();
    folder.write("spec.toml", spec);
    folder.write("cohort.dataset.toml", SET);
    // What analysts get.
    folder.write("public.toml", &done(&folder, &["dataset", "show", "cohort.dataset.toml"]));
    done(
        &folder,
        &["simulate", "spec.toml", "--records", "3000", "--theta", "-1,0.8", "--out", "records.csv"],
    );
    done(&folder, &["ledger", "new", "books"]);
    done(&folder, &["ledger", "open", "books", "cohort", "--epsilon", "5", "--delta", "1e-5"]);
    done(&folder, &["ledger", "add", "books", "cohort", "cohort.dataset.toml"]);
    done(&folder, &["key", "new", "key"]);
    assert_eq!(done(&folder, &["job", "pack", "spec.toml"]).trim(), "spec.request");
    folder
}

const RUN: [&str; 9] =
    ["job", "run", "spec.request", "--set", "cohort.dataset.toml", "--ledger", "books", "--sign", "key"];

/// Runs that the account has reserved.
fn reserved(folder: &Folder, ledger: &str) -> usize {
    let log = done(folder, &["ledger", "log", ledger, "--json"]);
    log.matches("\"reserve\"").count()
}

#[test]
fn a_request_goes_in_and_a_bundle_comes_out() {
    let folder = room(SPEC);
    assert_eq!(done(&folder, &RUN).trim(), "spec.tar");
    let words = done(&folder, &["verify", "spec.tar", "--key", "key.pub", "--ledger", "books"]);
    for line in
        ["signed by the given key", "request, draws, summary and report", "the ledger holds its reservation"]
    {
        assert!(words.contains(line), "{words}");
    }
    assert_eq!(reserved(&folder, "books"), 1);
    // A bundle is not replaced, and nothing more is spent.
    let again = folder.barkeep(&RUN);
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("spec.tar exists"), "{}", again.stderr);
    // The run has ended: only the bundle is written anew, equal to the byte.
    let first = std::fs::read(folder.path().join("spec.tar")).unwrap();
    std::fs::remove_file(folder.path().join("spec.tar")).unwrap();
    done(&folder, &RUN);
    assert_eq!(std::fs::read(folder.path().join("spec.tar")).unwrap(), first);
    assert_eq!(reserved(&folder, "books"), 1);
    done(&folder, &["key", "new", "other"]);
    let refused = folder.barkeep(&["verify", "spec.tar", "--key", "other.pub"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("signed by another key"), "{}", refused.stderr);
    let mut edited = first.clone();
    let middle = edited.len() / 2;
    edited[middle] ^= 1;
    std::fs::write(folder.path().join("edited.tar"), edited).unwrap();
    assert_ne!(folder.barkeep(&["verify", "edited.tar", "--key", "key.pub"]).code, 0);
}

/// Kills jobs after parts of the time that a whole one takes, every third twice, and gives the same command again. Each has one
/// reservation, one bundle that verifies, and nothing was answered that is not recorded.
#[expect(clippy::print_stdout, reason = "a slow test says what it met")]
fn kill(rounds: u32) {
    let folder = room(&SPEC.replace("epsilon = 2.0", "epsilon = 0.5"));
    done(&folder, &["ledger", "new", "many"]);
    done(&folder, &["ledger", "open", "many", "cohort", "--epsilon", "1000", "--delta", "1e-5"]);
    done(&folder, &["ledger", "add", "many", "cohort", "cohort.dataset.toml"]);
    let job = |out: &str| {
        let run = [
            "job",
            "run",
            "spec.request",
            "--set",
            "cohort.dataset.toml",
            "--ledger",
            "many",
            "--sign",
            "key",
            "--out",
        ];
        run.iter().map(|word| (*word).to_owned()).chain([out.to_owned()]).collect::<Vec<String>>()
    };
    let started = Instant::now();
    let first = job("first.tar");
    done(&folder, &first.iter().map(String::as_str).collect::<Vec<_>>());
    let length = started.elapsed();
    let (mut killed, mut torn, mut ended) = (0, 0, 1);
    for round in 0..rounds {
        let out = format!("out{round}.tar");
        let arguments = job(&out);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for again in 0..if round % 3 == 0 { 2 } else { 1 } {
            let mut child =
                folder.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Multiples of the golden ratio fill the interval evenly.
            std::thread::sleep(length.mul_f64((0.618_034 * f64::from(round + 7 * again)).fract()));
            killed += u32::from(child.try_wait().unwrap().is_none());
            let _ = child.kill();
            child.wait().unwrap();
            if folder.exists(&out) {
                break;
            }
        }
        if !folder.exists(&out) {
            let shown = folder.barkeep(&arguments);
            if shown.code != 0 {
                // Claimed and not begun, or a header that was torn: nothing was asked or reserved.
                let begun = folder.exists(&format!("{out}.run/certificate.json"));
                assert!(!begun, "{}", shown.stderr);
                torn += 1;
                continue;
            }
        }
        ended += 1;
        done(&folder, &["verify", &out, "--key", "key.pub", "--ledger", "many"]);
    }
    done(&folder, &["ledger", "check", "many"]);
    assert_eq!(reserved(&folder, "many"), ended);
    println!(
        "{killed} kills of jobs in {rounds} rounds: {ended} bundles and as many reservations, {torn} had not begun"
    );
}

#[test]
fn a_killed_job_is_continued_and_charged_once() {
    kill(8);
}

#[test]
#[ignore = "slow: cargo test -p barkeep-cli --test job -- --ignored --nocapture"]
fn two_hundred_killed_jobs_are_charged_once() {
    kill(200);
}

/// Whoever signs is charged; whoever does not is whom the custodian names.
#[test]
fn analysts_are_keys() {
    let folder = room(SPEC);
    done(&folder, &["key", "new", "ann"]);
    done(&folder, &["key", "new", "mallory"]);
    done(&folder, &["ledger", "analyst", "books", "ann", "--key", "ann.pub"]);
    for name in ["ann", "bob"] {
        done(
            &folder,
            &["ledger", "cap", "books", "cohort", "--analyst", name, "--epsilon", "2.5", "--delta", "1e-5"],
        );
    }
    let run = |request: &str, more: &[&str]| {
        let words =
            ["job", "run", request, "--set", "cohort.dataset.toml", "--ledger", "books", "--sign", "key"];
        folder.barkeep(&[&words[..], more].concat())
    };
    let refused = |request: &str, more: &[&str], words: &str| {
        let shown = run(request, more);
        assert_eq!(shown.code, 2, "{}", shown.stderr);
        assert!(shown.stderr.contains(words), "{words}: {}", shown.stderr);
    };
    // A name in the spec is nobody's word.
    folder.write("named.toml", &SPEC.replace("account =", "analyst = \"bob\"\naccount ="));
    let shown = folder.barkeep(&["job", "pack", "named.toml"]);
    assert!(shown.code == 2 && shown.stderr.contains("privacy.analyst"), "{}", shown.stderr);
    refused("spec.request", &[], "bounds every analyst");
    for (key, out) in [("ann", "ann.request"), ("mallory", "mallory.request")] {
        done(&folder, &["job", "pack", "spec.toml", "--sign", key, "--out", out]);
    }
    refused("mallory.request", &[], "signs for no analyst");
    refused("mallory.request", &["--analyst", "bob"], "signs for no analyst");
    refused("ann.request", &["--analyst", "bob"], "signed by \"ann\"");
    folder.write("edited.request", &folder.read("ann.request").replace("steps = 60", "steps = 61"));
    assert_ne!(run("edited.request", &[]).code, 0);
    assert_eq!(reserved(&folder, "books"), 0);
    assert_eq!(run("ann.request", &[]).code, 0);
    assert_eq!(run("spec.request", &["--analyst", "bob"]).code, 0);
    let log = done(&folder, &["ledger", "show", "books", "--json"]);
    assert!(log.contains("\"analyst\":\"ann\"") && log.contains("\"analyst\":\"bob\""), "{log}");
}

#[test]
fn bad_input_is_named_and_nothing_is_spent() {
    let folder = room(SPEC);
    let refused = |arguments: &[&str], code: i32, words: &str| {
        let shown = folder.barkeep(arguments);
        assert_eq!(shown.code, code, "{arguments:?}: {}", shown.stderr);
        assert!(shown.stderr.contains(words), "{words}: {}", shown.stderr);
    };
    let set = "cohort.dataset.toml";
    let run = |request: &'static str, set: &'static str, ledger: &'static str, key: &'static str| {
        ["job", "run", request, "--set", set, "--ledger", ledger, "--sign", key, "--out", "new.tar"]
    };
    refused(&run("records.csv", set, "books", "key"), 2, "no request that `barkeep job pack` made");
    refused(&run("nothing", set, "books", "key"), 2, "cannot read nothing");
    refused(&run("spec.request", set, "books", "key.pub"), 2, "no barkeep secret key");
    refused(&run("spec.request", set, "nowhere", "key"), 2, "nowhere");
    folder.write("other.csv", "late,hour\ntrue,6\n");
    folder.write("other.dataset.toml", &SET.replace("records.csv", "other.csv"));
    refused(&run("spec.request", "other.dataset.toml", "books", "key"), 2, "no version that account");
    folder.write("other.dataset.toml", &SET.replace("cohort 7", "cohort 8"));
    refused(&run("spec.request", "other.dataset.toml", "books", "key"), 2, "another data set");
    // The custodian's declaration is another one now: the account was opened for the first.
    folder.write(
        "other.dataset.toml",
        &SET.replace("records = 3000", "person = \"hour\"\npersons = 3000").replace("hour = {", "hours = {"),
    );
    refused(&run("spec.request", "other.dataset.toml", "books", "key"), 2, "hour");
    folder.write(
        "free.toml",
        &SPEC.replace("ledger = \"the custodian knows where\"\naccount = \"cohort\"\n", ""),
    );
    assert_eq!(done(&folder, &["job", "pack", "free.toml"]).trim(), "free.request");
    refused(&run("free.request", set, "books", "key"), 2, "a job is charged to an account");
    folder.write("large.toml", &SPEC.replace("epsilon = 2.0", "epsilon = 9.0").replace("steps = 60\n", ""));
    done(&folder, &["job", "pack", "large.toml"]);
    refused(&run("large.request", set, "books", "key"), 3, "Nothing was spent");
    folder.write("bad.toml", &SPEC.replace("hour\"", "hours\""));
    refused(&["job", "pack", "bad.toml"], 2, "hours");
    refused(&["job", "pack", "spec.toml"], 2, "spec.request exists");
    assert_eq!(reserved(&folder, "books"), 0);
    assert!(!folder.exists("new.tar"));
}
