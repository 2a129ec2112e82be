//! Charges runs of the real program to a ledger, kills them at every kind of moment, and lets eight ask at once.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod program;

use program::{Folder, GOOD_SPEC};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const STEPS: usize = 60;

/// A ledger with an account of this total, records under it, and a spec that is charged to it.
fn ready(total: &str) -> Folder {
    let folder = Folder::new();
    let head = GOOD_SPEC.split("[sampler]").next().unwrap();
    let sampler = format!("name = 'langevin'\nstep = 0.000003\nsteps = {STEPS}\nstart = [0, 0]\nseed = 6\n");
    let charged = "ledger = \"books\"\naccount = \"people\"\nproject = \"p\"\n";
    folder.write("spec.toml", &format!("{head}{charged}[sampler]\n{sampler}"));
    let rows: String =
        (0..20).map(|i| format!("{},{}\n", 0.1 * f64::from(i), 1.0 - 0.05 * f64::from(i))).collect();
    folder.write("records.csv", &format!("x1,x2\n{rows}"));
    ok(&folder, &["ledger", "new", "books"]);
    ok(&folder, &["ledger", "open", "books", "people", "--epsilon", total, "--delta", "1e-6"]);
    ok(&folder, &["ledger", "add", "books", "people", "spec.toml", "--data", "survey"]);
    folder
}

fn ok(folder: &Folder, arguments: &[&str]) -> String {
    let shown = folder.barkeep(arguments);
    assert_eq!(shown.code, 0, "{arguments:?}: {}", shown.stderr);
    shown.stdout
}

/// The account, as the program shows it.
fn account(folder: &Folder) -> Value {
    let shown: Value = serde_json::from_str(&ok(folder, &["ledger", "show", "books", "--json"])).unwrap();
    shown["accounts"][0].clone()
}

fn runs(folder: &Folder) -> Vec<Value> {
    account(folder)["runs"].as_array().unwrap().clone()
}

fn certificate(folder: &Folder, out: &str) -> Value {
    serde_json::from_str(&folder.read(&format!("{out}/certificate.json"))).unwrap()
}

#[test]
fn runs_are_charged_shown_verified_and_at_last_refused() {
    let folder = ready("0.06");
    let plan: Value = serde_json::from_str(&ok(&folder, &["plan", "spec.toml", "--json"])).unwrap();
    assert_eq!(plan["account"]["name"], "people");
    assert_eq!((&plan["account"]["spent_before"], &plan["account"]["refused"]), (&0.0.into(), &Value::Null));
    let asked = ok(&folder, &["ledger", "show", "books", "--spec", "spec.toml"]);
    assert!(asked.contains("accepts the run"), "{asked}");
    assert!(runs(&folder).is_empty(), "asking spends nothing");

    folder.sample("spec.toml", "one");
    let stated = certificate(&folder, "one");
    let [run] = &runs(&folder)[..] else { unreachable!("one run") };
    assert_eq!(stated["charged"]["run"], run["run"]);
    assert_eq!((&run["state"], &run["answers"]), (&"ended".into(), &STEPS.into()));
    assert_eq!(account(&folder)["spent"], plan["account"]["spent_after"]);
    let verified = ok(&folder, &["verify", "one/certificate.json", "--ledger", "books"]);
    assert!(verified.contains("the ledger holds its reservation"), "{verified}");
    // Another run's name is another reservation.
    let text = folder.read("one/certificate.json");
    let name = stated["charged"]["run"].as_str().unwrap();
    folder.write("forged/certificate.json", &text.replace(name, &"0".repeat(32)));
    assert_eq!(folder.barkeep(&["verify", "forged/certificate.json", "--ledger", "books"]).code, 1);
    folder.write(
        "forged/certificate.json",
        &text.replace("\"account\": \"people\"", "\"account\": \"nobody\""),
    );
    assert_eq!(folder.barkeep(&["verify", "forged/certificate.json"]).code, 1);

    let mut taken = 1;
    let refused = loop {
        let shown = folder.barkeep(&["sample", "spec.toml", "--out", &format!("more{taken}")]);
        if shown.code == 3 {
            break shown;
        }
        assert!(matches!(shown.code, 0 | 1), "{}", shown.stderr);
        taken += 1;
        assert!(taken < 20, "never refused");
    };
    assert!(taken > 1, "the total pays for more than one");
    assert!(refused.stderr.contains("Nothing was spent; the refusal is recorded"), "{}", refused.stderr);
    assert!(!folder.exists(&format!("more{taken}")), "a refused run leaves no folder");
    let now = account(&folder);
    assert_eq!((now["runs"].as_array().unwrap().len(), &now["refusals"]), (taken, &1.into()));
    assert!(now["spent"].as_f64().unwrap() <= 0.06);
    let checked = ok(&folder, &["ledger", "check", "books"]);
    assert!(checked.contains(&format!("computed again: {}", taken + 1)), "{checked}");
    let log = ok(&folder, &["ledger", "log", "books"]);
    assert_eq!(log.lines().count(), 2 + 2 * taken + 1, "{log}");
    let identity = ok(&folder, &["ledger", "log", "books", "--json"]);
    assert!(!identity.contains("identity"), "a hash of records is shown nowhere");
}

#[test]
fn what_cannot_be_charged_is_refused_and_nothing_is_spent() {
    let folder = ready("1");
    let spec = folder.read("spec.toml");
    let refused = |name: &str, code: i32, word: &str| {
        let shown = folder.barkeep(&["sample", name, "--out", "out"]);
        assert_eq!(shown.code, code, "{word}: {}", shown.stderr);
        assert!(shown.stderr.contains(word), "{word}: {}", shown.stderr);
        assert!(!folder.exists("out"), "{word}");
        assert!(runs(&folder).is_empty(), "{word}");
    };
    let with = |from: &str, to: &str| folder.write("other.toml", &spec.replace(from, to));
    let charged = "delta = 1e-6\nneighbours = \"add-remove\"\nledger = \"books\"\naccount = \"people\"";
    folder.write("other.toml", &GOOD_SPEC.replace("delta = 1e-6", charged));
    refused("other.toml", 2, "counts for neighbours = \"substitute\"");
    with("records = 20", "persons = 20\nperson = \"who\"\nmost_rows = 1");
    refused("other.toml", 2, "counts by the record; the run's is a person");
    with("\"people\"", "\"nobody\"");
    refused("other.toml", 2, "there are: people");
    with("\"books\"", "\"nowhere\"");
    refused("other.toml", 2, "there is no ledger here");
    with("\"books\"", "\"records.csv\"");
    refused("other.toml", 2, "no ledger of barkeep's");
    with("account = \"people\"\n", "");
    refused("other.toml", 2, "privacy.account");
    with("ledger = \"books\"\n", "");
    refused("other.toml", 2, "needs ledger");
    with("x2 =", "x3 =");
    refused("other.toml", 2, "not in the header");
    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out", "--insecure-seed", "4"]);
    assert!(shown.code == 2 && shown.stderr.contains("gives up privacy"), "{}", shown.stderr);
    std::fs::rename(folder.path().join("records.csv"), folder.path().join("kept.csv")).unwrap();
    folder.write("records.csv", &folder.read("kept.csv").replacen("0,1\n", "0,2\n", 1));
    refused("spec.toml", 2, "no version that account");
    std::fs::rename(folder.path().join("kept.csv"), folder.path().join("records.csv")).unwrap();
    let mut bytes = std::fs::read(folder.path().join("books")).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(folder.path().join("books"), &bytes).unwrap();
    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "out"]);
    assert!(shown.code == 1 && shown.stderr.contains("not as barkeep left it"), "{}", shown.stderr);
    assert_eq!(folder.barkeep(&["ledger", "check", "books"]).code, 1);
}

#[test]
fn a_run_whose_records_cannot_be_read_stays_reserved_and_is_charged_once() {
    let folder = ready("1");
    // Cells that begin with a 1 are quoted, it says, and no quote is closed: another number of records.
    folder
        .write("odd.toml", &folder.read("spec.toml").replace("records = 20", "records = 20\nquote = \"1\""));
    let shown = folder.barkeep(&["sample", "odd.toml", "--out", "out"]);
    assert!(shown.code == 2 && shown.stderr.contains("stays spent"), "{}", shown.stderr);
    assert_eq!(runs(&folder)[0]["state"], "reserved");
    let shown = folder.barkeep(&["resume", "out"]);
    assert!(shown.code == 2 && shown.stderr.contains("stays spent"), "{}", shown.stderr);
    assert_eq!(runs(&folder).len(), 1);
    folder.sample("spec.toml", "other");
    // A run that has ended has no reservation left.
    let shown = folder.barkeep(&["resume", "other"]);
    assert!(shown.code == 2 && shown.stderr.contains("has ended"), "{}", shown.stderr);
    ok(&folder, &["verify", "other/certificate.json", "--ledger", "books"]);
}

#[test]
fn eight_at_once_never_overspend() {
    let folder = ready("0.05");
    let children: Vec<_> = (0..8)
        .map(|hand| {
            let mut command = folder.command(&["sample", "spec.toml", "--out", &format!("out{hand}")]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let (mut taken, mut refused) = (0, 0);
    for output in ended {
        match output.status.code() {
            Some(0 | 1) => taken += 1,
            Some(3) => refused += 1,
            other => unreachable!("{other:?}: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }
    let now = account(&folder);
    assert_eq!((taken, refused), (now["runs"].as_array().unwrap().len(), 8 - taken));
    assert_eq!(now["refusals"].as_u64(), Some(refused as u64));
    assert!(taken >= 1 && refused >= 1, "{taken} {refused}");
    assert!(now["spent"].as_f64().unwrap() <= 0.05);
    ok(&folder, &["ledger", "check", "books"]);
}

/// When a process is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// While an entry is on its way into the ledger: the seal says so.
    Writing,
    /// When the journal appears, perhaps before the reservation.
    Journal,
    /// When the certificate appears, after the reservation.
    Certificate,
    /// Some time later, amid the steps.
    Steps,
    /// When draws appear.
    Draws,
    /// After a part of the time a whole run takes.
    Later(u32),
}

impl Moment {
    fn of(round: u32) -> Self {
        [Self::Writing, Self::Journal, Self::Certificate, Self::Steps, Self::Draws, Self::Later(round)]
            [(round % 6) as usize]
    }

    /// Waits for it, or for the end of the process.
    fn wait(self, folder: &Path, out: &str, length: Duration, ended: &mut dyn FnMut() -> bool) {
        let there = |name: &str| folder.join(out).join(name).exists();
        let writing = || {
            std::fs::read_to_string(folder.join("books.seal"))
                .is_ok_and(|seal| !seal.contains("\"pending\":null"))
        };
        let started = Instant::now();
        // Multiples of the golden ratio fill the interval evenly.
        let part = |round: u32| length.mul_f64((0.618_034 * f64::from(round)).fract());
        let reached = || match self {
            Self::Writing => writing(),
            Self::Journal => there("journal.bin"),
            Self::Certificate => there("certificate.json"),
            Self::Steps => there("certificate.json") && started.elapsed() > length / 2,
            Self::Draws => there("draws.csv"),
            Self::Later(round) => started.elapsed() > part(round),
        };
        while !reached() && !ended() {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Runs the program in the background and kills it at a moment.
fn kill_at(folder: &Folder, arguments: &[&str], out: &str, moment: Moment, length: Duration) {
    let mut child = folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    moment.wait(folder.path(), out, length, &mut || child.try_wait().unwrap().is_some());
    let _ = child.kill();
    child.wait().unwrap();
}

/// Whether a journal holds an answer: a record that is whole and notes no lease.
fn answered(folder: &Folder, out: &str) -> bool {
    let journal = std::fs::read(folder.path().join(out).join("journal.bin")).unwrap_or_default();
    let number = |at: usize| {
        let field = journal.get(at..at + 4).and_then(|field| field.try_into().ok());
        field.map_or(usize::MAX / 4, |field| u32::from_le_bytes(field) as usize)
    };
    // Magic and version, two parts behind their lengths, a hash.
    let second = 24 + number(20);
    let mut at = second.saturating_add(4 + 32).saturating_add(number(second));
    while let Some(kind) = journal.get(at.saturating_add(4)) {
        let next = at.saturating_add(29 + 8).saturating_add(number(at + 5));
        if *kind != 5 && next <= journal.len() {
            return true;
        }
        at = next;
    }
    false
}

/// Kills runs, continued runs and commands of the ledger at every kind of moment. Whatever was answered is recorded, no run is
/// charged twice, and the ledger is whole after each.
#[expect(clippy::print_stdout, reason = "SECURITY.md quotes it")]
fn kill(rounds: u32) {
    let folder = ready("1000");
    let started = Instant::now();
    folder.sample("spec.toml", "first");
    assert!(answered(&folder, "first"));
    let length = started.elapsed();
    let (mut healed, mut unreserved, mut reserved, mut again) = (0, 0, 0, 0);
    for round in 0..rounds {
        let out = format!("out{round}");
        if round % 5 == 4 {
            // A command of the ledger itself.
            let cap = [
                "ledger",
                "cap",
                "books",
                "people",
                "--project",
                "p",
                "--epsilon",
                "5000",
                "--delta",
                "1e-7",
            ];
            kill_at(&folder, &cap[..], &out, Moment::Writing, length);
            healed += u32::from(pending(&folder));
            ok(&folder, &["ledger", "check", "books"]);
            continue;
        }
        kill_at(&folder, &["sample", "spec.toml", "--out", &out], &out, Moment::of(round), length);
        healed += u32::from(pending(&folder));
        let recorded = |out: &str| -> bool {
            let runs = runs(&folder);
            let Ok(text) = std::fs::read_to_string(folder.path().join(out).join("certificate.json")) else {
                // Without a certificate nothing may have been answered.
                assert!(!answered(&folder, out), "{out}: an answer before its certificate");
                return false;
            };
            let stated: Value = serde_json::from_str(&text).unwrap();
            assert!(runs.iter().any(|run| run["run"] == stated["charged"]["run"]), "{out}: not recorded");
            true
        };
        if recorded(&out) {
            reserved += 1
        } else {
            unreserved += 1
        }
        if !folder.exists(&format!("{out}/journal.bin")) {
            continue;
        }
        if round % 3 == 0 && !folder.exists(&format!("{out}/draws.csv")) {
            kill_at(&folder, &["resume", &out], &out, Moment::of(round / 3), length);
            healed += u32::from(pending(&folder));
            again += 1;
            recorded(&out);
        }
        let shown = folder.barkeep(&["resume", &out]);
        let ended = matches!(shown.code, 0 | 1) || shown.stderr.contains("has ended");
        // A journal whose header was torn has neither asked nor reserved anything.
        assert!(ended || shown.stderr.contains("header is not whole"), "{}: {}", shown.code, shown.stderr);
        assert_eq!(recorded(&out), ended);
        ok(&folder, &["ledger", "check", "books"]);
    }
    // Every run that has a certificate has one reservation of its own.
    let mut names: Vec<String> = runs(&folder).iter().map(|run| run["run"].to_string()).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all);
    println!(
        "{rounds} kills, {again} of them killed again: {unreserved} before a certificate, {reserved} after it; \
         {healed} left an entry half written, and each was healed; {all} reservations"
    );
}

fn pending(folder: &Folder) -> bool {
    !folder.read("books.seal").contains("\"pending\":null")
}

#[test]
fn kills_at_every_kind_of_moment_lose_no_reservation() {
    kill(10);
}

#[test]
#[ignore = "slow: cargo test -p barkeep-cli --test ledger -- --ignored --nocapture"]
fn five_hundred_kills_lose_no_reservation() {
    kill(500);
}
