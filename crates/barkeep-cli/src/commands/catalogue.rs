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
    /// A section of a spec that uses it, headed by its name.
    example: Option<String>,
}

impl Catalogue {
    /// Lists the models.
    pub(crate) fn models(self) -> Result<(), Exit> {
        let entries = MODELS.iter().map(|entry| Entry {
            name: entry.name,
            summary: entry.summary,
            keys: entry.keys.iter().collect(),
            example: None,
        });
        self.show("model", &MODEL_KEYS, entries.collect())
    }

    /// Lists the samplers.
    pub(crate) fn samplers(self) -> Result<(), Exit> {
        let entries = SAMPLERS.iter().map(|sampler| Entry {
            name: sampler.name,
            summary: sampler.summary,
            keys: sampler.keys.iter().copied().flatten().collect(),
            example: Some(sampler.example_section()),
        });
        self.show("sampler", &SAMPLER_KEYS, entries.collect())
    }

    fn show(&self, kind: &str, common: &[Key], entries: Vec<Entry>) -> Result<(), Exit> {
        if self.json {
            let entries: Vec<Value> = entries
                .iter()
                .map(|Entry { name, summary, keys, example }| match example {
                    Some(example) => {
                        json!({ "name": name, "summary": summary, "keys": keys, "example": example })
                    }
                    None => json!({ "name": name, "summary": summary, "keys": keys }),
                })
                .collect();
            return print(&json!({ "common_keys": common, "entries": entries }).to_string());
        }
        for entry in entries {
            print(&format!("{}: {}", entry.name, entry.summary))?;
            print(key_lines(entry.keys.into_iter()).trim_end())?;
            if let Some(example) = entry.example {
                let keys: Vec<&str> = example.lines().skip(1).collect();
                print(&format!("  for example: sampler = {{ {} }}", keys.join(", ")))?;
            }
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
