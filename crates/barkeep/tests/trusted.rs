//! Holds TRUSTED.md to the sources: every file it lists exists, every file of the core is listed, line counts are the files' own, and
//! believed crates use no crate that is not believed.
//!
//! After a file of the core changed, `BARKEEP_REWRITE=1 cargo test -p barkeep --test trusted` writes the line counts again. Rows are written
//! by hand.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Crates whose every production file has a row of its own.
const LISTED: [&str; 3] = ["barkeep-machine", "barkeep-curator", "barkeep-verify"];

/// Crates that must be believed: they may use each other and no other crate of the workspace.
const BELIEVED: [&str; 5] =
    ["barkeep-machine", "barkeep-curator", "barkeep-accounting", "barkeep-num", "barkeep-verify"];

/// Uses of other crates, each with its reason. Each must still be needed.
const EXCEPTIONS: &[(&str, &str, &str)] =
    &[("barkeep-curator", "barkeep-data", "the curator's table is what records are admitted into")];

/// Sections that do not count as believed in full.
const APART: [&str; 2] = ["Accounting", "In these crates, but not believed"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect(path)
}

/// The production files under a file or a folder, by their paths from the root.
fn production(path: &str) -> BTreeSet<String> {
    let full = root().join(path);
    if full.is_file() {
        return BTreeSet::from([path.to_owned()]);
    }
    let Ok(entries) = std::fs::read_dir(full) else { return BTreeSet::new() };
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
    let is_production = |name: &String| {
        !["tests", "test_support"].contains(&name.trim_end_matches(".rs"))
            && (name.ends_with(".rs") || !name.contains('.'))
    };
    let paths = names.filter(is_production).map(|name| format!("{}/{name}", path.trim_end_matches('/')));
    paths.flat_map(|path| production(&path)).collect()
}

/// Code lines as `.ci/count` counts them: no blank lines, no lines of comment, no modules that are compiled for tests alone.
fn code_lines(source: &str) -> usize {
    let (mut lines, mut marked, mut inside) = (0, false, None);
    for line in source.lines() {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        if let Some(margin) = inside {
            if indent == margin && text.starts_with('}') {
                inside = None;
            }
            continue;
        }
        let item = text.strip_prefix("pub ").or(text.strip_prefix("pub(crate) ")).unwrap_or(text);
        if marked && item.starts_with("mod ") {
            (lines, marked) = (lines - 1, false);
            inside = text.ends_with('{').then_some(indent);
            continue;
        }
        marked = text.starts_with("#[cfg(test)]");
        lines += usize::from(!text.is_empty() && !text.starts_with("//"));
    }
    lines
}

/// A row of a table: the file or folder it is about.
fn row(line: &str) -> Option<&str> {
    line.strip_prefix("| `")?.split_once("` | ").map(|(path, _)| path)
}

/// A section's title, without its count.
fn title(line: &str) -> Option<&str> {
    let title = line.strip_prefix("## ")?;
    Some(title.split_once(" · ").map_or(title, |(title, _)| title))
}

/// The page with line counts of the sources as they are: of every row, every section, and of all that is believed in full.
fn counted(page: &str) -> String {
    let rows: BTreeSet<&str> = page.lines().filter_map(row).collect();
    let lines_of = |path: &str| -> usize {
        let own = |file: &String| file == path || !rows.contains(file.as_str());
        production(path).iter().filter(|file| own(file)).map(|file| code_lines(&text(file))).sum()
    };
    let mut sections: Vec<(&str, usize)> = Vec::new();
    for line in page.lines() {
        sections.extend(title(line).map(|title| (title, 0)));
        if let (Some(path), Some((_, count))) = (row(line), sections.last_mut()) {
            *count += lines_of(path);
        }
    }
    let counts = |title: &str| sections.iter().find(|section| section.0 == title).map_or(0, |found| found.1);
    let believed: usize =
        sections.iter().filter(|(title, _)| !APART.contains(title)).map(|found| found.1).sum();
    let mut out = String::new();
    for line in page.lines() {
        if let Some(path) = row(line) {
            let words = line.split(" | ").nth(2).unwrap_or_default();
            out += &format!("| `{path}` | {} | {words}", lines_of(path));
        } else if let Some(title) = title(line).filter(|title| counts(title) > 0) {
            out += &format!("## {title} · {} lines", counts(title));
        } else if let Some((_, words)) = line.strip_prefix("**").and_then(|line| line.split_once(" lines**"))
        {
            out += &format!("**{believed} lines**{words}");
        } else {
            out += line;
        }
        out.push('\n');
    }
    out
}

#[test]
fn every_listed_file_exists_and_every_file_of_the_core_is_listed() {
    let page = text("TRUSTED.md");
    let rows: Vec<&str> = page.lines().filter_map(row).collect();
    let mut wrong = Vec::new();
    for (place, path) in rows.iter().enumerate() {
        if production(path).is_empty() {
            wrong.push(format!("{path} is listed and is not there"));
        }
        if rows[..place].contains(path) {
            wrong.push(format!("{path} is listed twice"));
        }
    }
    for name in LISTED {
        let files = production(&format!("crates/{name}/src"));
        let unlisted = files.iter().filter(|file| !rows.contains(&file.as_str()));
        wrong.extend(unlisted.map(|file| format!("{file} is not listed")));
    }
    assert!(wrong.is_empty(), "TRUSTED.md:\n{}", wrong.join("\n"));
    assert!(rows.len() > 60, "only {} rows were read", rows.len());
}

#[test]
fn line_counts_are_those_of_the_files() {
    let page = text("TRUSTED.md");
    let counted = counted(&page);
    if std::env::var_os("BARKEEP_REWRITE").is_some() {
        std::fs::write(root().join("TRUSTED.md"), counted).expect("a page to write");
        return;
    }
    let stale = page.lines().zip(counted.lines()).find(|(held, counted)| held != counted);
    assert!(stale.is_none(), "TRUSTED.md is stale; the head of this file says what to do: {stale:?}");
    assert_eq!(page.len(), counted.len());
}

#[test]
fn lines_are_counted_as_the_budgets_are() {
    let source = "//! Why.\n\nfn f() {\n    // Why.\n    g();\n}\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more {\n    fn h() {}\n}\n#[cfg(test)]\nfn k() {}\n";
    assert_eq!(code_lines(source), 5);
    let script = text(".ci/count");
    assert!(script.contains("! -path '*/test_support/*'") && script.contains("! -name tests.rs"));
}

/// Whom a crate uses to run, of this workspace: what tests use does not count.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let is_used = section.ends_with("dependencies]") && section != "[dev-dependencies]";
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        if is_used && name.starts_with("barkeep") {
            found.insert(name.to_owned());
        }
    }
    found
}

#[test]
fn believed_crates_use_believed_crates_alone() {
    let mut wrong = Vec::new();
    let mut needed = BTreeSet::new();
    for name in BELIEVED {
        for used in dependencies(&text(&format!("crates/{name}/Cargo.toml"))) {
            let is_exception = |found: &&(&str, &str, &str)| found.0 == name && found.1 == used;
            match EXCEPTIONS.iter().find(is_exception) {
                Some(exception) => drop(needed.insert(*exception)),
                None if BELIEVED.contains(&used.as_str()) => {}
                None => wrong.push(format!("{name} is believed and uses {used}, which is not")),
            }
        }
    }
    for exception in EXCEPTIONS {
        if !needed.contains(exception) {
            wrong
                .push(format!("{} does not use {} any more: take it off the list", exception.0, exception.1));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_manifest_is_read() {
    let manifest = "[package]\nname = \"barkeep-x\"\n[dependencies]\nbarkeep-num.workspace = true\nlibm.workspace = true\n\
        [target.'cfg(unix)'.dependencies]\nbarkeep-data = { path = \"../barkeep-data\" }\n[dev-dependencies]\nbarkeep.workspace = true\n";
    assert_eq!(dependencies(manifest), BTreeSet::from(["barkeep-num", "barkeep-data"].map(str::to_owned)));
}
