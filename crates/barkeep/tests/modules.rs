//! Reads the sources of every crate of the workspace and fails where its top-level modules use each other in a circle.
//!
//! A module without a circle can be read, tested and moved on its own. What counts as use is a path in the source: `crate::…`,
//! `super::…`, `$crate::…`, and in a crate's root a path that starts with a module's name. A method called on a value names no module
//! and is not seen. Items of the root itself are not followed: a root may hold what all of its modules share.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// Uses that are known to close a circle, by crate: from a module, of a module. Each must still be needed.
const KNOWN: &[(&str, &str, &str)] = &[
    ("barkeep-accounting", "engines", "mechanisms"),
    ("barkeep-accounting", "price", "engines"),
    ("barkeep-accounting", "price", "mechanisms"),
    ("barkeep-accounting", "price", "rule"),
    ("barkeep-model", "likelihood", "regression"),
    ("barkeep-model", "model", "regression"),
];

/// A file's path below `src`, and its text.
type Sources = Vec<(String, String)>;

/// Which top-level module uses which, and where it does so first.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn no_crate_has_a_circle_of_modules() {
    let mut wrong = Vec::new();
    for (name, sources) in workspace() {
        let mut graph = graph(&sources);
        let known: Vec<_> = KNOWN.iter().filter(|known| known.0 == name).collect();
        for (_, from, to) in &known {
            if graph.get_mut(*from).and_then(|uses| uses.remove(*to)).is_none() {
                wrong.push(format!("{name}: {from} does not use {to} any more: take it off the list"));
            }
        }
        wrong.extend(circle(&graph).map(|circle| format!("{name}: {circle}")));
        for (_, from, to) in &known {
            if path(&graph, to, from).is_none() {
                wrong.push(format!("{name}: {from} → {to} closes no circle: take it off the list"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_workspace_is_read() {
    let crates: BTreeMap<String, Sources> = workspace().into_iter().collect();
    assert!(crates.len() >= 13, "{:?}", crates.keys());
    let graph = graph(&crates["barkeep"]);
    assert!(graph["run"].contains_key("plan") && graph["plan"].contains_key("samplers"));
    assert!(graph["samplers"].contains_key("keys") && graph["formula"].contains_key("keys"));
}

/// Three modules in a row; `back` is what the first says besides.
fn planted(back: &str) -> Option<String> {
    let files = [
        (
            "lib.rs",
            "mod a; mod b; mod c; pub use c::deep::{First, Second as Third}; pub use b::*; pub struct Own;",
        ),
        ("a.rs", back),
        ("b.rs", "use crate::a; pub fn shared() {} #[cfg(test)] mod tests;"),
        ("b/tests.rs", "use crate::c::deep::First;"),
        ("c/mod.rs", "mod deep;"),
        ("c/deep.rs", "use super::super::{a::{self, X}, b::Y};"),
    ];
    circle(&graph(&files.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec()))
}

#[test]
fn a_planted_back_edge_is_found_in_every_spelling() {
    for back in [
        "use crate::b::Y;",
        "use crate::{b::Y as Z};",
        "use super::b;",
        "fn f() { crate::b::shared() }",
        "fn f() -> Vec<crate::b::Y> {}",
        "mod inner { use super::super::b::Y; }",
        "macro_rules! m { () => { $crate::b::shared() } }",
        "use crate::shared;",
        "use crate::First;",
        "use crate::{Third, Own};",
        "fn f() { let text = \"\\\"\"; let c = '\"'; let r = r#\"a\"b\"#; crate::c::X }",
        "fn f<'a>(x: &'a str) { crate::c::X }",
    ] {
        assert!(planted(back).is_some(), "{back}");
    }
    let found = planted("\n\nuse crate::\n  {b::Y};").unwrap();
    assert_eq!(found, "a (a.rs:4) → b (b.rs:1) → a");
}

#[test]
fn what_is_no_use_is_not_taken_for_one() {
    for fine in [
        "",
        "use std::b::Y; use b::Y; use crate::Own;",
        "// use crate::b;\n/* crate::b /* crate::c */ crate::b */ /// [`x`](crate::b)\n",
        "const TEXT: &str = \"crate::b \\\" crate::b\"; const RAW: &str = r#\"crate::b \" \"#;",
        "#[cfg(test)] mod tests { use crate::b; } #[cfg(test)] use crate::b; #[cfg(test)] fn f() { crate::b::x() }",
        "mod inner { use super::b; }",
        "use self::b::Y;",
    ] {
        assert_eq!(planted(fine), None, "{fine}");
    }
}

/// All crates with their sources.
fn workspace() -> Vec<(String, Sources)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<_> =
        std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.push(root.join("experiments"));
    folders.sort();
    let with_sources = folders.iter().filter(|folder| folder.join("src").is_dir());
    with_sources
        .map(|folder| {
            let mut sources = Vec::new();
            collect(&folder.join("src"), "", &mut sources);
            sources.sort();
            (folder.file_name().unwrap().to_str().unwrap().to_owned(), sources)
        })
        .collect()
}

fn collect(folder: &Path, below: &str, sources: &mut Sources) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{below}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), sources);
        } else if name.ends_with(".rs") {
            sources.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The path of modules that a file is, empty for a root; none for tests and for programs of their own.
fn modules(file: &str) -> Option<Vec<&str>> {
    let mut path: Vec<&str> = file.strip_suffix(".rs")?.split('/').collect();
    if path.contains(&"tests") || path[0] == "bin" {
        return None;
    }
    if matches!(path[..], [.., "mod"] | ["lib" | "main"]) {
        path.pop();
    }
    Some(path)
}

/// The uses among top-level modules.
fn graph(sources: &Sources) -> Graph {
    let files: Vec<(Vec<&str>, &str, Vec<Token>)> = sources
        .iter()
        .filter_map(|(file, text)| Some((modules(file)?, file.as_str(), without_tests(tokens(text)))))
        .collect();
    let tops: BTreeSet<&str> = files.iter().filter_map(|(path, ..)| path.first().copied()).collect();
    let defined = defined(&files);
    let mut graph: Graph = tops.iter().map(|top| ((*top).to_owned(), BTreeMap::new())).collect();
    // What names of the root stand for: first what its own uses say, then what a glob could have brought.
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (_, _, tokens) in files.iter().filter(|(path, ..)| path.is_empty()) {
        for used in uses(tokens, &[]) {
            let Some(top) = used.path.first().filter(|top| tops.contains(top.as_str())) else { continue };
            if used.path.last().is_some_and(|last| last == "*") {
                for (name, home) in defined.iter().filter(|(_, home)| home == top) {
                    names.entry(name.clone()).or_insert_with(|| home.clone());
                }
            } else if let Some(name) = used.name {
                names.insert(name, top.clone());
            }
        }
    }
    for (path, file, tokens) in files.iter().filter(|(path, ..)| !path.is_empty()) {
        for used in uses(tokens, path) {
            let Some(first) = used.path.first() else { continue };
            let to = tops.get(first.as_str()).copied().or(names.get(first).map(String::as_str));
            if let Some(to) = to.filter(|to| *to != path[0]) {
                let place = format!("{file}:{}", used.line);
                graph.entry(path[0].to_owned()).or_default().entry(to.to_owned()).or_insert(place);
            }
        }
    }
    graph
}

/// Every name that an item of a top-level module has, with the module.
fn defined(files: &[(Vec<&str>, &str, Vec<Token>)]) -> BTreeSet<(String, String)> {
    let mut defined = BTreeSet::new();
    for (path, _, tokens) in files {
        let Some(top) = path.first() else { continue };
        for pair in tokens.windows(2) {
            let item = ["struct", "enum", "trait", "fn", "const", "static", "type", "mod"];
            if item.contains(&pair[0].text.as_str()) {
                defined.insert((pair[1].text.clone(), (*top).to_owned()));
            }
        }
    }
    defined
}

/// One use: the path from the crate's root, the name it gets, and its line.
struct Use {
    path: Vec<String>,
    name: Option<String>,
    line: usize,
}

/// All paths of a file that start at the crate's root, at `super`, or, in a root, at a name.
fn uses(tokens: &[Token], file: &[&str]) -> Vec<Use> {
    let (mut found, mut inner, mut depth, mut at) = (Vec::new(), Vec::<(String, usize)>::new(), 0, 0);
    while at < tokens.len() {
        let text = tokens[at].text.as_str();
        let next = tokens.get(at + 1).map_or("", |token| token.text.as_str());
        let before = at.checked_sub(1).map_or("", |before| tokens[before].text.as_str());
        match text {
            "mod" if tokens.get(at + 2).is_some_and(|token| token.text == "{") => {
                inner.push((next.to_owned(), depth));
            }
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inner.pop_if(|(_, outside)| *outside == depth);
            }
            _ if before == "::" || next != "::" => {}
            "crate" => at = tree(tokens, at + 2, Vec::new(), &mut found) - 1,
            "self" | "super" => {
                let here = file.iter().map(|name| (*name).to_owned());
                let mut path: Vec<String> = here.chain(inner.iter().map(|(name, _)| name.clone())).collect();
                let mut start = at;
                while tokens[start].text == "super" || tokens[start].text == "self" {
                    if tokens[start].text == "super" {
                        path.pop();
                    }
                    start += 2;
                }
                at = tree(tokens, start, path, &mut found) - 1;
            }
            _ if file.is_empty() && inner.is_empty() => at = tree(tokens, at, Vec::new(), &mut found) - 1,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Reads the path or the braces at `at`, and gives the place after them.
fn tree(tokens: &[Token], mut at: usize, mut path: Vec<String>, found: &mut Vec<Use>) -> usize {
    let line = tokens.get(at).map_or(0, |token| token.line);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    loop {
        if text(at) == "{" {
            at += 1;
            while text(at) != "}" && at < tokens.len() {
                at = tree(tokens, at, path.clone(), found);
                at += usize::from(text(at) == ",");
            }
            return at + 1;
        }
        if text(at) != "self" {
            path.push(text(at).to_owned());
        }
        at += 1;
        if text(at) != "::" || text(at + 1) == "<" {
            break;
        }
        at += 1;
    }
    let mut name = path.last().cloned();
    if text(at) == "as" {
        name = Some(text(at + 1).to_owned());
        at += 2;
    }
    found.push(Use { path, name, line });
    at
}

/// A word, `::`, or a single sign, with its line.
struct Token {
    text: String,
    line: usize,
}

/// The source without comments, texts and characters.
fn tokens(source: &str) -> Vec<Token> {
    let (mut rest, mut line, mut found) = (source, 1, Vec::new());
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            comment(rest)
        } else if let Some(length) = raw_text(rest) {
            length
        } else if first == '"' || rest.starts_with("b\"") {
            let start = rest.find('"').unwrap_or_default() + 1;
            start + closing(&rest[start..], '"')
        } else if first == '\'' {
            quoted(rest)
        } else {
            let length = match word {
                0 if rest.starts_with("::") => 2,
                0 => first.len_utf8(),
                word => word,
            };
            if !first.is_whitespace() {
                found.push(Token { text: rest[..length].to_owned(), line });
            }
            length
        };
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// The length of a comment that may hold others.
fn comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match &rest.as_bytes()[at..(at + 2).min(rest.len())] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a text without escapes, if one starts here.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix("br").or(rest.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(rest.len() - body.len() + body.find(&end).map_or(body.len(), |place| place + end.len()))
}

/// The length of what starts with a quote: a character, or a lifetime, of which only the quote is taken.
fn quoted(rest: &str) -> usize {
    let mut after = rest[1..].chars();
    match (after.next(), after.next()) {
        (Some('\\'), _) => 1 + closing(&rest[1..], '\''),
        (Some(character), Some('\'')) => character.len_utf8() + 2,
        _ => 1,
    }
}

/// The length of a text up to its end, which no backslash stands before.
fn closing(text: &str, end: char) -> usize {
    let mut escaped = false;
    for (place, character) in text.char_indices() {
        if !escaped && character == end {
            return place + 1;
        }
        escaped = character == '\\' && !escaped;
    }
    text.len()
}

/// The source without items that are compiled for tests alone.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        kept.push(token);
        let marks = [["#", "[", "cfg", "(", "test", ")", "]"], ["#", "[", "cfg", "(", "doctest", ")", "]"]];
        let Some(start) = kept.len().checked_sub(7) else { continue };
        if !marks.iter().any(|mark| kept[start..].iter().map(|token| token.text.as_str()).eq(*mark)) {
            continue;
        }
        kept.truncate(start);
        let mut depth = 0;
        for token in rest.by_ref() {
            match token.text.as_str() {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 && (token.text == "}" || token.text == ";") {
                break;
            }
        }
    }
    kept
}

/// The shortest circle, in words.
fn circle(graph: &Graph) -> Option<String> {
    let circles = graph.keys().filter_map(|start| path(graph, start, start));
    let shortest = circles.min_by_key(Vec::len)?;
    let mut words = String::new();
    for (from, to) in shortest.iter().zip(&shortest[1..]) {
        words += &format!("{from} ({}) → ", graph[from][to]);
    }
    Some(words + &shortest[0])
}

/// The shortest way along uses, of one step at least.
fn path(graph: &Graph, from: &str, to: &str) -> Option<Vec<String>> {
    let (mut open, mut seen) = (VecDeque::from([vec![from.to_owned()]]), BTreeSet::new());
    while let Some(path) = open.pop_front() {
        for next in graph.get(&path[path.len() - 1])?.keys() {
            let longer = [path.as_slice(), std::slice::from_ref(next)].concat();
            if next == to {
                return Some(longer);
            }
            if seen.insert(next.clone()) {
                open.push_back(longer);
            }
        }
    }
    None
}
