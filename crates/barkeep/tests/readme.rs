//! Holds the README's table of keys to the entries it is generated from.
//!
//! After a key, a model, a family or a sampler changed, `BARKEEP_REWRITE=1 cargo test -p barkeep --test readme` writes it anew.

#![expect(clippy::expect_used, reason = "a test that cannot set itself up has failed")]

use barkeep::model::families::FAMILIES;
use barkeep::models::{MODEL_KEYS, MODELS};
use barkeep::samplers::{SAMPLER_KEYS, SAMPLERS};
use barkeep::spec::{COLUMN_KEYS, DATA_KEYS, Key, PRIVACY_KEYS};

const START: &str = "<!-- keys: generated, see crates/barkeep/tests/readme.rs -->\n";
const END: &str = "<!-- end of keys -->\n";

/// Keys by name, separated by commas.
fn names<'k>(keys: impl IntoIterator<Item = &'k Key>) -> String {
    let names: Vec<String> = keys.into_iter().map(|key| format!("`{}`", key.name)).collect();
    if names.is_empty() { "none of its own".to_owned() } else { names.join(", ") }
}

fn table() -> String {
    let mut rows = vec![
        ("`[data]`".to_owned(), format!("{}; each column {}", names(&DATA_KEYS), names(&COLUMN_KEYS))),
        ("`[model]`".to_owned(), names(&MODEL_KEYS)),
    ];
    rows.extend(MODELS.iter().map(|model| (format!("… `{}`", model.name), names(model.keys))));
    let families: Vec<String> = FAMILIES.iter().map(|family| format!("`{}`", family.name)).collect();
    rows.push(("… … `family` is one of".to_owned(), families.join(", ")));
    rows.push(("`[privacy]`".to_owned(), names(&PRIVACY_KEYS)));
    rows.push(("`[sampler]`".to_owned(), names(&SAMPLER_KEYS)));
    let own = SAMPLERS
        .iter()
        .map(|sampler| (format!("… `{}`", sampler.name), names(sampler.keys.iter().copied().flatten())));
    rows.extend(own);
    let head = "| section | keys (`barkeep spec all` explains them and their defaults) |\n| --- | --- |\n";
    rows.iter().fold(head.to_owned(), |table, (section, keys)| table + &format!("| {section} | {keys} |\n"))
}

#[test]
fn the_table_of_keys_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(path).expect("a README");
    let (before, rest) = readme.split_once(START).expect("where the table starts");
    let (held, after) = rest.split_once(END).expect("where the table ends");
    if std::env::var_os("BARKEEP_REWRITE").is_some() {
        std::fs::write(path, [before, START, &table(), END, after].concat()).expect("a README to write");
    } else {
        assert_eq!(
            held,
            table(),
            "the README's table of keys is stale; the head of this file says what to do"
        );
    }
}
