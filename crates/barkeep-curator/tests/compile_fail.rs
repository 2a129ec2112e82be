//! Shows that what must stay secret cannot be let out by mistake: the compiler refuses these programs, for these reasons.
//!
//! Each program is compiled as a crate outside the workspace would be, against the libraries that cargo built for this very
//! test. Nothing is built again, so that the suite takes seconds. A program stands for a stage of the compiler, since errors
//! of one stage hide those of the next.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libraries a program may use.
const LIBRARIES: [&str; 4] = ["barkeep_curator", "barkeep_data", "barkeep_accounting", "serde"];

/// What precedes the error expected on a line.
const EXPECTED: &str = "//~ ";

#[test]
fn secrets_stay_inside() {
    let libraries = libraries();
    assert_eq!(errors("control", &libraries), BTreeSet::new(), "what is allowed compiles");
    for program in ["names", "types", "fields", "moves"] {
        let source = std::fs::read_to_string(path(program)).unwrap();
        let expected: BTreeSet<(usize, String)> = (1..)
            .zip(source.lines())
            .filter_map(|(line, text)| Some((line, text.split_once(EXPECTED)?.1.to_owned())))
            .collect();
        assert!(!expected.is_empty(), "{program} expects no error");
        // The compiler may explain after its message; the message itself must be the expected one.
        let message = |(line, words): (usize, String)| {
            let same = |wanted: &&(usize, String)| wanted.0 == line && words.starts_with(&wanted.1);
            expected.iter().find(same).cloned().unwrap_or((line, words.clone()))
        };
        let found: BTreeSet<_> = errors(program, &libraries).into_iter().map(message).collect();
        assert_eq!(found, expected, "{program}: found, and expected");
    }
}

fn path(program: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail").join(program).with_extension("rs")
}

/// The very files this test is linked with, by cargo's fingerprints, in the order of [`LIBRARIES`].
///
/// A target folder may hold a library built many times, for other features or of other sources. The fingerprint of this test
/// lists those of the libraries it was built with: a number for each, which the library's own folder of fingerprints repeats.
fn libraries() -> Vec<PathBuf> {
    let (program, folder) = (std::env::current_exe().unwrap(), folder());
    let name = program.file_stem().unwrap().to_string_lossy().into_owned();
    let hash = name.rsplit_once('-').unwrap().1;
    let fingerprints = folder.with_file_name(".fingerprint");
    let own = fingerprints.join(format!("barkeep-curator-{hash}/test-integration-test-compile_fail.json"));
    let own = std::fs::read_to_string(&own)
        .unwrap_or_else(|_| unreachable!("this cargo keeps fingerprints elsewhere than {}", own.display()));
    LIBRARIES
        .iter()
        .map(|library| {
            // …, "name", false, number], …
            let after = own.split_once(&format!("\"{library}\",")).unwrap().1;
            let number = after.split([',', ']']).nth(1).unwrap().parse::<u64>().unwrap();
            let digits: String = number.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            let same = |folder: &PathBuf| {
                std::fs::read_to_string(folder.join(format!("lib-{library}")))
                    .is_ok_and(|text| text == digits)
            };
            let mut known = std::fs::read_dir(&fingerprints).unwrap().map(|entry| entry.unwrap().path());
            let found = known.find(same).unwrap_or_else(|| unreachable!("no fingerprint of {library}"));
            let hash = found.to_string_lossy().rsplit_once('-').unwrap().1.to_owned();
            folder.join(format!("lib{library}-{hash}.rlib"))
        })
        .collect()
}

/// Where cargo put this test and the libraries it is linked with.
fn folder() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// The errors the compiler finds in a program, each with its line.
fn errors(program: &str, libraries: &[PathBuf]) -> BTreeSet<(usize, String)> {
    let path = path(program);
    let mut compiler = Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()));
    compiler.args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--error-format=short"]);
    compiler.args(["--color=never", "--cap-lints=allow", "--out-dir", env!("CARGO_TARGET_TMPDIR")]);
    compiler.arg("-L").arg(format!("dependency={}", folder().display()));
    for (name, file) in LIBRARIES.iter().zip(libraries) {
        compiler.arg("--extern").arg(format!("{name}={}", file.display()));
    }
    let output = compiler.arg(&path).output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    let start = format!("{}:", path.display());
    let found: BTreeSet<(usize, String)> = messages
        .lines()
        .filter_map(|message| {
            // path:line:column: error[code]: words
            let mut parts = message.strip_prefix(&start)?.splitn(3, ':');
            let line = parts.next()?.parse().ok()?;
            let words = parts.nth(1)?.trim();
            words.starts_with("error").then(|| (line, words.to_owned()))
        })
        .collect();
    // An error without a place in the program is one of the command.
    let elsewhere =
        messages.lines().any(|message| message.starts_with("error[") && !message.starts_with(&start));
    if output.status.success() || found.is_empty() || elsewhere {
        let whole = if output.status.success() { BTreeSet::new() } else { BTreeSet::from([(0, messages)]) };
        return whole;
    }
    found
}
