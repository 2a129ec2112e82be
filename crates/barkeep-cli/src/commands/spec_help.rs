//! `barkeep spec`: explains the keys of a spec, all of them or those of one section.

use super::catalogue::key_lines;
use crate::exit::{Exit, print};
use barkeep::models::{MODEL_KEYS, MODELS};
use barkeep::samplers::{SAMPLER_KEYS, SAMPLERS};
use barkeep::spec::{COLUMN_KEYS, DATA_KEYS, Key, PRIVACY_KEYS};
use clap::Args;

/// The command.
#[derive(Args)]
pub(crate) struct SpecHelp {
    /// data, columns, model, privacy, sampler, or the name of a model or a sampler; "all" for everything.
    section: Option<String>,
}

impl SpecHelp {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let sections = sections();
        let shown = |wanted: &dyn Fn(&Section) -> bool| {
            let parts = sections.iter().filter(|section| wanted(section)).map(Section::text);
            parts.collect::<Vec<String>>().join("\n")
        };
        let text = match self.section.as_deref() {
            None => {
                let rest =
                    sections.iter().filter(|section| !section.first).map(|section| section.name.as_str());
                format!(
                    "{INTRODUCTION}\n{}\nFurther keys, by `barkeep spec NAME`: {}",
                    shown(&|section| section.first),
                    rest.collect::<Vec<&str>>().join(", ")
                )
            }
            Some("all") => format!("{INTRODUCTION}\n{}", shown(&|_| true)),
            Some(name) => {
                let wanted = name.trim_matches(['[', ']']).trim_start_matches("data.");
                match shown(&|section| section.name == wanted) {
                    text if text.is_empty() => {
                        let names: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
                        let reason =
                            format!("there is no section or name {name}; there are {}", names.join(", "));
                        return Err(Exit::Input(reason));
                    }
                    text => text,
                }
            }
        };
        print(text.trim_end())
    }
}

const INTRODUCTION: &str = "A spec is a TOML file with four sections. Defaults are in brackets; a key without one is \
                            required, unless it stands in for another.\n";

/// One part of the help.
struct Section {
    name: String,
    title: String,
    keys: Vec<&'static Key>,
    /// Whether it is one every spec has, not one of a model or sampler.
    first: bool,
}

impl Section {
    fn text(&self) -> String {
        format!("{}\n{}", self.title, key_lines(&mut self.keys.iter().copied()))
    }
}

/// Every section, in the order shown.
fn sections() -> Vec<Section> {
    let common = |name: &str, title: &str, keys: Vec<&'static Key>| Section {
        name: name.to_owned(),
        title: title.to_owned(),
        keys,
        first: true,
    };
    let own = |kind: &str, name: &str, keys: Vec<&'static Key>| Section {
        name: name.to_owned(),
        title: format!("[{kind}] name = \"{name}\""),
        keys,
        first: false,
    };
    let mut sections = vec![
        common("data", "[data]", DATA_KEYS.iter().collect()),
        common("columns", "[data.columns], for each column: name = { ... }", COLUMN_KEYS.iter().collect()),
        common("model", "[model]", MODEL_KEYS.iter().collect()),
        common("privacy", "[privacy]", PRIVACY_KEYS.iter().collect()),
        common("sampler", "[sampler]", SAMPLER_KEYS.iter().collect()),
    ];
    sections.extend(MODELS.iter().map(|model| own("model", model.name, model.keys.iter().collect())));
    sections.extend(
        SAMPLERS
            .iter()
            .map(|sampler| own("sampler", sampler.name, sampler.keys.iter().copied().flatten().collect())),
    );
    sections
}
