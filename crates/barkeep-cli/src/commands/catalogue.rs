//! `barkeep models` and `barkeep samplers`: what there is, with every key, its default and its meaning.

use crate::exit::{Exit, print};
use barkeep::models::{MODEL_KEYS, MODELS};
use barkeep::samplers::{SAMPLER_KEYS, SAMPLERS};
use barkeep::spec::Key;
use clap::Args;
use serde_json::{Value, json};

/// The commands' options.
#[derive(Args)]
pub(crate) struct Catalogue {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// A name with its meaning and its own keys.
struct Entry {
    name: &'static str,
    summary: &'static str,
    keys: Vec<&'static Key>,
}

impl Catalogue {
    /// Lists the models.
    pub(crate) fn models(self) -> Result<(), Exit> {
        let entries = MODELS.iter().map(|entry| Entry {
            name: entry.name,
            summary: entry.summary,
            keys: entry.keys.iter().collect(),
        });
        self.show("model", &MODEL_KEYS, entries.collect())
    }

    /// Lists the samplers.
    pub(crate) fn samplers(self) -> Result<(), Exit> {
        let entries = SAMPLERS.iter().map(|preset| Entry {
            name: preset.name,
            summary: preset.summary,
            keys: preset.keys.iter().copied().flatten().collect(),
        });
        self.show("sampler", &SAMPLER_KEYS, entries.collect())
    }

    fn show(&self, kind: &str, common: &[Key], entries: Vec<Entry>) -> Result<(), Exit> {
        if self.json {
            let entries: Vec<Value> = entries
                .iter()
                .map(|entry| json!({ "name": entry.name, "summary": entry.summary, "keys": entry.keys }))
                .collect();
            return print(&json!({ "common_keys": common, "entries": entries }).to_string());
        }
        for entry in entries {
            print(&format!("{}: {}", entry.name, entry.summary))?;
            print(key_lines(entry.keys.into_iter()).trim_end())?;
        }
        print(&format!("every {kind}:"))?;
        print(key_lines(common.iter()).trim_end())
    }
}

/// One line per key.
pub(super) fn key_lines<'k>(keys: impl Iterator<Item = &'k Key>) -> String {
    keys.map(|key| {
        let default = if key.default.is_empty() { String::new() } else { format!(" [{}]", key.default) };
        format!("  {:<20} {}{default}\n", key.name, key.meaning)
    })
    .collect()
}
