//! Writes reports of runs of the real program, and opens them in a browser where there is one.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]
#![expect(clippy::print_stderr, reason = "a test that did not run says so")]

mod program;

use program::{Folder, GOOD_SPEC};
use std::path::Path;
use std::process::Command;

/// A regression that noise-aware scores serve, charged to an account.
const CHARGED: &str = r#"[data]
path = "records.csv"
records = 4000
[data.columns]
late = { kind = "bool", invalid = false }
hour = { min = 5, max = 23, invalid = 12, scale = "bounds" }
origin = { kind = "category", levels = ["EWR", "JFK", "LGA"], invalid = "EWR" }

[model]
formula = "late ~ hour + origin"
family = "bernoulli"

[privacy]
epsilon = 2.0
delta = 1e-6
ledger = "books"
account = "cohort"
"#;

/// Runs the program, which must succeed.
fn done(folder: &Folder, arguments: &[&str]) -> String {
    let shown = folder.barkeep(arguments);
    assert_eq!(shown.code, 0, "{arguments:?}: {}", shown.stderr);
    shown.stdout
}

/// A run charged to an account, in `out`.
fn charged() -> Folder {
    let folder = Folder::new();
    folder.write("spec.toml", CHARGED);
    done(
        &folder,
        &["simulate", "spec.toml", "--records", "4000", "--theta", "-1,0.8,0.2,-0.3", "--out", "records.csv"],
    );
    done(&folder, &["ledger", "new", "books"]);
    done(&folder, &["ledger", "open", "books", "cohort", "--epsilon", "5", "--delta", "1e-5"]);
    done(&folder, &["ledger", "add", "books", "cohort", "spec.toml", "--data", "visits"]);
    folder.sample("spec.toml", "out");
    folder
}

/// Asserts that a browser shows a page without a word on its console, and takes pictures of it. Skipped where there is none.
fn open_in_browser(page: &Path) {
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|shown| shown.status.success()))
    else {
        eprintln!("skipped: there is no browser on this machine");
        return;
    };
    for width in [1400, 400] {
        let picture = page.with_extension(format!("{width}.png"));
        let output = Command::new(browser)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--enable-logging=stderr",
                "--v=0",
            ])
            .arg(format!("--user-data-dir={}", page.with_extension("profile").display()))
            .arg(format!("--window-size={width},6000"))
            .arg(format!("--screenshot={}", picture.display()))
            .arg(format!("file://{}", page.display()))
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(!words.contains("CONSOLE"), "{words}");
        assert!(std::fs::metadata(&picture).unwrap().len() > 20_000, "the page is empty: {words}");
    }
    // axe-core is no part of this repository: `BARKEEP_AXE` names a folder where npm installed it and puppeteer-core.
    let Some(modules) = std::env::var_os("BARKEEP_AXE") else {
        eprintln!("skipped: BARKEEP_AXE names no folder with axe-core");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/accessibility/axe.mjs");
    let path = Command::new("which").arg(browser).output().unwrap().stdout;
    let path = String::from_utf8(path).unwrap();
    let output = Command::new("node").arg(script).arg(path.trim()).arg(modules).arg(page).output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_charged_run_is_reported_with_its_account_and_predicted_from() {
    let folder = charged();
    let shown = done(&folder, &["report", "out", "--ledger", "books"]);
    assert_eq!(shown.trim(), "out/report.html");
    let html = folder.read("out/report.html");
    for words in
        ["before this run", "with this run", "Account cohort was charged", "odds ratio", "Fit diagnostics"]
    {
        assert!(html.contains(words), "{words}");
    }
    assert!(html.len() < 600_000);
    // The certificate still fits its files: a report is none of them.
    done(&folder, &["verify", "out/certificate.json", "--ledger", "books"]);
    let plain = done(&folder, &["report", "out", "--out", "plain.html"]);
    assert_eq!(plain.trim(), "plain.html");
    assert!(folder.read("plain.html").contains("made without its ledger"));
    folder.write("profiles.csv", "profile,hour,origin\nearly,6,JFK\nlate,22,<b>LGA\n");
    let refused = folder.barkeep(&["report", "out", "--at", "profiles.csv"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("profile `late`, column `origin`: `<b>LGA` is no declared level"),
        "{}",
        refused.stderr
    );
    folder.write("profiles.csv", "profile,hour,origin\nearly <i>,6,JFK\nlate,22,LGA\n");
    let table =
        done(&folder, &["predict", "out", "--at", "profiles.csv", "--along", "hour", "--points", "3"]);
    assert!(
        table.contains("probability of late at each profile") && table.contains("1 more of hour"),
        "{table}"
    );
    let json = done(&folder, &["predict", "out", "--at", "profiles.csv", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mean = json["predictions"][1]["expectation"]["mean"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&mean));
    done(&folder, &["report", "out", "--at", "profiles.csv"]);
    assert!(folder.read("out/report.html").contains("early &lt;i&gt;"));
    open_in_browser(&folder.path().join("out/report.html"));
}

#[test]
fn a_bad_run_is_reported_in_red() {
    let folder = Folder::new();
    folder.write("spec.toml", &GOOD_SPEC.replace("clip = 1.0", "clip = 1.0\nsteps = 10\nchains = 2"));
    let rows: String = (0..20).map(|i| format!("{},{}\n", 0.1 * f64::from(i), 1.0)).collect();
    folder.write("records.csv", &format!("x1,x2\n{rows}"));
    assert_eq!(folder.sample("spec.toml", "out").code, 1);
    done(&folder, &["report", "out"]);
    let html = folder.read("out/report.html");
    assert!(html.contains("verdict bad") && html.contains("Remedy: "));
    open_in_browser(&folder.path().join("out/report.html"));
    // A run that has not ended has no report, and an edited one none either.
    let certificate = folder.read("out/certificate.json");
    let summary = folder.read("out/summary.json");
    folder.write("out/summary.json", &summary.replace("not to be trusted", "trustworthy"));
    let refused = folder.barkeep(&["report", "out"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("summary.json is not the file this run left"), "{}", refused.stderr);
    folder.write("out/summary.json", &summary);
    folder.write("out/certificate.json", &certificate.replace("\"private\": true", "\"private\": false"));
    assert_ne!(folder.barkeep(&["verify", "out/certificate.json"]).code, 0);
    let refused = folder.barkeep(&["predict", "out", "--at", "records.csv"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("is of whole records"), "{}", refused.stderr);
    assert_eq!(folder.barkeep(&["report", "nowhere"]).code, 2);
}
