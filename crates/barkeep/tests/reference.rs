//! Holds the book's reference of keys to the entries it is generated from.
//!
//! After a key, a model, a family or a sampler changed, `BARKEEP_REWRITE=1 cargo test -p barkeep --test reference` writes it anew.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

use barkeep::model::families::FAMILIES;
use barkeep::models::{MODEL_KEYS, MODELS};
use barkeep::samplers::{SAMPLER_KEYS, SAMPLERS};
use barkeep::spec::{COLUMN_KEYS, DATA_KEYS, Key, PRIVACY_KEYS};

const HEAD: &str = "# Every key of a spec\n\n\
    A spec is a TOML file with four sections. A key without a default is required, unless it stands in for another. Unknown keys are refused\n\
    with the nearest valid one. `barkeep spec NAME` prints a section of this page; the page is generated from the same entries.\n";

/// A table of keys under a heading.
fn section<'k>(title: &str, summary: &str, keys: impl IntoIterator<Item = &'k Key>) -> String {
    let rows: String = keys
        .into_iter()
        .map(|key| {
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            format!("| `{}` | {} | {} |\n", key.name, cell(key.meaning), cell(key.default))
        })
        .collect();
    let table = match rows.as_str() {
        "" => "It has no keys of its own.\n".to_owned(),
        rows => format!("| key | meaning | default |\n| --- | --- | --- |\n{rows}"),
    };
    let summary = if summary.is_empty() { String::new() } else { format!("{summary}\n\n") };
    format!("\n{title}\n\n{summary}{table}")
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    page += &section("## `[data]`", "", &DATA_KEYS);
    page += &section("### `[data.columns]`", "For each column: `name = { … }`.", &COLUMN_KEYS);
    page += &section("## `[model]`", "", &MODEL_KEYS);
    for model in MODELS.iter() {
        page += &section(&format!("### `name = \"{}\"`", model.name), model.summary, model.keys);
    }
    let families: Vec<String> = FAMILIES.iter().map(|family| format!("`{}`", family.name)).collect();
    page += &format!("\nThe families of a regression are {}.\n", families.join(", "));
    page += &section("## `[privacy]`", "", &PRIVACY_KEYS);
    page += &section("## `[sampler]`", "", &SAMPLER_KEYS);
    for sampler in SAMPLERS {
        let keys = sampler.keys.iter().copied().flatten();
        page += &section(&format!("### `name = \"{}\"`", sampler.name), sampler.summary, keys);
    }
    page
}

#[test]
fn the_reference_of_keys_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/spec.md");
    if std::env::var_os("BARKEEP_REWRITE").is_some() {
        std::fs::write(path, page()).expect("a page to write");
    } else {
        let held = std::fs::read_to_string(path).expect("a page");
        assert_eq!(held, page(), "docs/spec.md is stale; the head of this file says what to do");
    }
}
