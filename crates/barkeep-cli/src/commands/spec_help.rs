//! `barkeep help spec`, or `barkeep spec`: explains every key of a spec.

use super::catalogue::key_lines;
use crate::exit::{Exit, print};
use barkeep::models::{MODEL_KEYS, MODELS};
use barkeep::samplers::{SAMPLER_KEYS, SAMPLERS};
use barkeep::spec::{COLUMN_KEYS, DATA_KEYS, Key, PRIVACY_KEYS};

/// Runs it.
pub(super) fn run() -> Result<(), Exit> {
    print(text().trim_end())
}

/// Every key, section by section.
pub(super) fn text() -> String {
    let mut text = String::from(
        "A spec is a TOML file with four sections. Defaults are in brackets; a key without one is \
         required, unless it stands in for another.\n",
    );
    let mut section = |title: &str, keys: &mut dyn Iterator<Item = &Key>| {
        text.push_str(&format!("\n{title}\n"));
        text.push_str(&key_lines(keys));
    };
    section("[data]", &mut DATA_KEYS.iter());
    section("[data.columns], for each column: name = { ... }", &mut COLUMN_KEYS.iter());
    section("[model]", &mut MODEL_KEYS.iter());
    for model in MODELS.iter() {
        section(&format!("[model] name = \"{}\"", model.name), &mut model.keys.iter());
    }
    section("[privacy]", &mut PRIVACY_KEYS.iter());
    section("[sampler]", &mut SAMPLER_KEYS.iter());
    for sampler in SAMPLERS {
        section(
            &format!("[sampler] name = \"{}\"", sampler.name),
            &mut sampler.keys.iter().copied().flatten(),
        );
    }
    text
}
