//! Holds the book's page of proofs to the comments it is generated from.
//!
//! After a proof changed, `BARKEEP_REWRITE=1 cargo test -p barkeep --test proofs` writes it anew.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

use std::path::{Path, PathBuf};

const HEAD: &str = "# Proofs\n\n\
    Every proof stands beside the code it speaks of, and this page is generated from there. Names in `code` are those of the sources.\n";

/// What the crates prove, in the order a reader wants it.
const CRATES: [(&str, &str); 8] = [
    ("barkeep-curator", "Answers: what one record can do to a sum, and what leaves"),
    ("barkeep-accounting", "Prices: what answers cost, one by one and together"),
    ("barkeep-verify", "Checks: what a bill costs, computed again"),
    ("barkeep-num", "Arithmetic: what rounding can do"),
    ("barkeep-data", "Reading: what a file may show"),
    ("barkeep-model", "Models"),
    ("barkeep", "Runs: what is asked, kept and continued"),
    ("barkeep-ledger", "Books: what all runs cost together"),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources under a folder, in order, without tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let is_test =
        |path: &Path| path.file_stem().is_some_and(|name| name == "tests" || name == "test_support");
    paths.retain(|path| !is_test(path));
    let nested = paths.into_iter().map(|path| match path.is_dir() {
        true => sources(&path),
        false => Vec::from_iter(path.extension().is_some_and(|ending| ending == "rs").then_some(path)),
    });
    nested.flatten().collect()
}

/// A comment and the line of code it belongs to; none for a file's own.
struct Comment {
    text: String,
    item: Option<String>,
}

/// The documentation in a source.
fn comments(source: &str) -> Vec<Comment> {
    let (mut found, mut text, mut inner) = (Vec::new(), String::new(), false);
    for line in source.lines().map(str::trim_start) {
        let words = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
        match words {
            Some(words) => {
                inner = line.starts_with("//!");
                text += &format!("{}\n", words.strip_prefix(' ').unwrap_or(words));
            }
            None if text.is_empty() => {}
            // An attribute stands between a comment and its item.
            None if !inner && line.starts_with('#') => {}
            None => {
                let item = (!inner).then(|| line.to_owned());
                found.push(Comment { text: std::mem::take(&mut text), item });
            }
        }
    }
    found
}

/// The name in a line that declares something.
fn name(line: &str) -> &str {
    let ends = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let kinds = ["fn ", "struct ", "trait ", "enum ", "const ", "mod ", "type "];
    let declared = kinds.iter().find_map(|kind| line.split_once(kind)).map_or(line, |(_, rest)| rest);
    declared.split(ends).next().unwrap_or_default()
}

/// Whether a comment argues: by a proof in so many words, or at length about privacy.
fn proves(text: &str) -> bool {
    let named = ["Proof", "**Theorem", "# Theorem", "Lemma"].iter().any(|word| text.contains(word));
    named || (text.contains("**Privacy.**") && text.split_whitespace().count() > 120)
}

/// Comments as a page has them: no sections about errors, headings below the page's own, names without links.
fn plain(text: &str) -> String {
    let kept =
        text.split("\n# Errors").next().unwrap_or_default().split("\n# Example").next().unwrap_or_default();
    let lines: Vec<String> = kept
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(title) => format!("**{title}**"),
            None => line.to_owned(),
        })
        .collect();
    let (mut out, joined) = (String::new(), lines.join("\n"));
    let mut rest = joined.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        let Some((words, after)) = after.split_once(']') else { break };
        let (is_code, target) =
            (words.starts_with('`'), after.strip_prefix('(').and_then(|link| link.split_once(')')));
        out += before;
        (out, rest) = match target {
            // Links lead to names of the sources, where a page has none.
            Some((_, after)) => (out + words, after),
            None if is_code => (out + words, after),
            None => (out + "[" + words + "]", after),
        };
    }
    (out + rest).trim_end().to_owned()
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for (package, title) in CRATES {
        let root = crates().join(package).join("src");
        let mut parts = Vec::new();
        for path in sources(&root) {
            let source = std::fs::read_to_string(&path).expect("a source");
            let file = path.strip_prefix(&root).expect("a source of the crate").display().to_string();
            for comment in comments(&source) {
                if proves(&comment.text) {
                    let of = comment.item.map_or(String::new(), |item| format!("`{}`, ", name(&item)));
                    parts.push(format!(
                        "\n### {of}{}\n\n{}\n",
                        file.replace('\\', "/"),
                        plain(&comment.text)
                    ));
                }
            }
        }
        if !parts.is_empty() {
            page += &format!("\n## {title}\n\nIn `crates/{package}/src`.\n{}", parts.concat());
        }
    }
    page
}

#[test]
fn the_page_of_proofs_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/proofs.md");
    if std::env::var_os("BARKEEP_REWRITE").is_some() {
        std::fs::write(path, page()).expect("a page to write");
    } else {
        let held = std::fs::read_to_string(path).expect("a page");
        assert!(held == page(), "docs/proofs.md is stale; the head of this file says what to do");
    }
}
