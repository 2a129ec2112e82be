//! Runs the real program in a temporary folder.

#![allow(dead_code, reason = "each test file uses its own part")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::path::Path;
use std::process::{Command, Stdio};

/// A spec that runs in a moment on twenty records.
pub(crate) const GOOD_SPEC: &str = r#"[data]
path = "records.csv"
records = 20
[data.columns]
x1 = { min = -10, max = 10, invalid = 0 }
x2 = { min = -10, max = 10, invalid = 0 }

[model]
name = "gaussian"
covariance = 1

[privacy]
epsilon = 1.0
delta = 1e-6

[sampler]
name = "barker"
proposal_sd = 0.05
clip = 1.0
start = [0, 0]
"#;

/// A temporary folder to run in.
pub(crate) struct Folder(tempfile::TempDir);

/// What a run of the program showed.
pub(crate) struct Shown {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_barkeep"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Samples into `out`. The exit code must be what the verdict in the summary says, and the verdict the first line.
    pub(crate) fn sample(&self, spec: &str, out: &str) -> Shown {
        let shown = self.barkeep(&["sample", spec, "--out", out]);
        self.assert_verdict(out, shown.code, &shown.stdout, &shown.stderr);
        shown
    }

    /// Asserts that a run's exit code and first line are what its summary says.
    pub(crate) fn assert_verdict(&self, out: &str, code: i32, stdout: &str, stderr: &str) {
        assert!(self.exists(&format!("{out}/summary.json")), "{stderr}");
        let summary = self.read(&format!("{out}/summary.json"));
        assert!(summary.starts_with("{\n  \"verdict\": {\n    \"grade\": "), "{summary}");
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let grade = summary["verdict"]["grade"].as_str().unwrap();
        assert_eq!(code, i32::from(grade == "not to be trusted"), "{stderr}");
        assert!(stdout.starts_with(&format!("Verdict: {grade}")), "{stdout}");
        assert!(!stdout.contains('\x1b'), "colour where there is no terminal");
    }

    pub(crate) fn barkeep(&self, arguments: &[&str]) -> Shown {
        let output = self.command(arguments).output().unwrap();
        Shown {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
