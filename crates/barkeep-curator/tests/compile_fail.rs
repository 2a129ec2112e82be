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
const LIBRARIES: [&str; 5] =
    ["barkeep_curator", "barkeep_data", "barkeep_model", "barkeep_accounting", "serde"];

/// What precedes the error expected on a line.
const EXPECTED: &str = "//~ ";

#[test]
fn secrets_stay_inside() {
    let libraries = libraries();
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

/// The libraries that cargo built, one file of each, with which the control compiles.
///
/// A build for other features or of other sources may have left more than one file of a library. The newest are tried first:
/// cargo built or kept those this test is linked with, and anything newer is of sources as new.
fn libraries() -> Vec<PathBuf> {
    let folder = folder();
    let candidates = LIBRARIES.map(|library| {
        let start = format!("lib{library}-");
        let mut found: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "rlib"))
            .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(&start))
            .collect();
        found.sort_by_key(|path| std::cmp::Reverse(path.metadata().unwrap().modified().unwrap()));
        assert!(!found.is_empty(), "no {library} in {}", folder.display());
        found
    });
    let mut chosen: Vec<Vec<PathBuf>> = vec![Vec::new()];
    for found in candidates {
        // Newest with newest first, older ones where they do not go together.
        chosen = found
            .iter()
            .flat_map(|file| {
                chosen.iter().map(move |before| [before.as_slice(), std::slice::from_ref(file)].concat())
            })
            .collect();
    }
    let rank =
        |files: &Vec<PathBuf>| files.iter().map(|file| file.metadata().unwrap().modified().unwrap()).min();
    chosen.sort_by_key(|files| std::cmp::Reverse(rank(files)));
    let fits = |files: &Vec<PathBuf>| errors("control", files).is_empty();
    chosen.into_iter().take(100).find(fits).expect("the control compiles with the libraries cargo built")
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
