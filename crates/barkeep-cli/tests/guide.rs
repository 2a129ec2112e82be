//! Runs the book's commands in the order a reader does, and follows its links.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set itself up has failed")]

mod program;

use program::Folder;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Every page of the book.
fn pages() -> Vec<PathBuf> {
    let summary = std::fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    links(&summary).into_iter().map(|link| docs().join(link)).collect()
}

/// The targets of a page's links that are files.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets
        .map(|target| target.split('#').next().unwrap_or_default().to_owned())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

/// Writes the files a page shows, and runs its commands, each as it comes.
fn follow(page: &str, folder: &Folder) -> usize {
    follow_text(page, &std::fs::read_to_string(docs().join(page)).unwrap(), folder)
}

fn follow_text(page: &str, text: &str, folder: &Folder) -> usize {
    let (mut name, mut block, mut kind, mut commands) = (None, String::new(), None, 0);
    for line in text.lines() {
        match (line.strip_prefix("```"), kind) {
            (Some(language), None) => kind = Some(language),
            (Some(_), Some("console")) => kind = None,
            (Some(_), Some(_)) => {
                if let Some(name) = name.take() {
                    folder.write(name, &block);
                }
                (kind, block) = (None, String::new());
            }
            (None, Some("console")) => {
                // Cargo's own commands are those of `.ci/run`.
                if line.starts_with("$ cargo ") {
                    continue;
                }
                let command = line.strip_prefix("$ barkeep ").unwrap_or_else(|| panic!("{page}: {line}"));
                let command = command.split_once(" #").map_or(command, |(command, _)| command);
                let (command, into) = match command.split_once('>') {
                    Some((command, file)) => (command, Some(file.trim())),
                    None => (command, None),
                };
                let shown = folder.barkeep(&command.split_whitespace().collect::<Vec<&str>>());
                if let Some(file) = into {
                    folder.write(file, &shown.stdout);
                }
                // Noise is not seeded here: now and then a verdict is what a reader's may be, too.
                let unlucky = shown.code == 1 && shown.stdout.starts_with("Verdict: not to be trusted");
                assert!(shown.code == 0 || unlucky, "{page}: {line}\n{}\n{}", shown.stdout, shown.stderr);
                commands += 1;
            }
            (None, Some(_)) => block += &format!("{line}\n"),
            (None, None) => {
                let file = line.strip_prefix("<!-- file: ").and_then(|rest| rest.strip_suffix(" -->"));
                name = file.or(name);
            }
        }
    }
    commands
}

#[test]
fn a_first_fit_works_as_the_guide_says() {
    let folder = Folder::new();
    assert_eq!(follow("guide/first-fit.md", &folder), 7);
    for file in ["results/report.html", "results/draws.csv", "results/certificate.json"] {
        assert!(folder.path().join(file).exists(), "{file}");
    }
}

/// A custodian's walk, from a file to a request that was run.
#[test]
fn a_request_is_run_as_the_guide_says() {
    let folder = Folder::new();
    assert_eq!(follow("guide/custodian.md", &folder), 13);
    let statement = folder.read("spec.tar.run/certificate.json");
    assert!(statement.contains("when one `patient_id`'s rows, at most 5, are substituted"), "{statement}");
}

/// As the README says it, on fewer flights.
#[test]
fn the_readme_works() {
    let readme = std::fs::read_to_string(docs().join("../README.md")).unwrap();
    let folder = Folder::new();
    let row =
        |k: u32| format!("{},{},{}\n", (k * 7) % 11 < 3, 5 + k % 19, ["EWR", "JFK", "LGA"][k as usize % 3]);
    folder.write("trips.csv", &format!("late,hour,origin\n{}", (0..3000).map(row).collect::<String>()));
    folder.write("profiles.csv", "profile,hour,origin\nearly,6,JFK\n");
    assert_eq!(follow_text("README.md", &readme.replace("336776", "3000"), &folder), 6);
    assert!(folder.path().join("results/report.html").exists());
}

#[test]
fn persons_are_planned_as_the_guide_says() {
    assert_eq!(follow("guide/persons.md", &Folder::new()), 1);
}

#[test]
fn bad_cells_are_counted_as_the_guide_says() {
    let folder = Folder::new();
    assert_eq!(follow("guide/missing-values.md", &folder), 3);
    let summary = std::fs::read_to_string(folder.path().join("results/summary.json")).unwrap();
    assert!(summary.contains("clamped"), "{summary}");
}

#[test]
fn few_records_are_planned_as_the_guide_says() {
    assert_eq!(follow("guide/small-data.md", &Folder::new()), 2);
}

#[test]
fn every_link_of_the_book_leads_somewhere() {
    let readme = docs().join("../README.md");
    let pages: Vec<PathBuf> = pages().into_iter().chain([readme]).collect();
    assert!(pages.len() > 10);
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap_or_else(|_| panic!("{}", page.display()));
        for link in links(&text) {
            let target = page.parent().unwrap().join(&link);
            assert!(target.exists(), "{}: {link}", page.display());
        }
    }
}

/// Every page stands in the summary, so that no page is lost.
#[test]
fn every_page_is_in_the_book() {
    let listed: Vec<PathBuf> = pages().iter().map(|page| page.canonicalize().unwrap()).collect();
    for folder in [docs(), docs().join("guide")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path().canonicalize().unwrap();
            let is_page =
                path.extension().is_some_and(|ending| ending == "md") && !path.ends_with("SUMMARY.md");
            assert!(!is_page || listed.contains(&path), "{}", path.display());
        }
    }
}
