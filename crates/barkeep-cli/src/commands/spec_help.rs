//! `barkeep spec`: explains every key of a spec.

use super::catalogue::keys;
use crate::exit::{Exit, print};
use barkeep::models::MODEL_KEYS;
use barkeep::sampler::SAMPLER_KEYS;
use barkeep::spec::{COLUMN_KEYS, DATA_KEYS, PRIVACY_KEYS};

/// Runs it.
pub(super) fn run() -> Result<(), Exit> {
    print(
        "A spec is a TOML file with four sections. Defaults are in brackets; a key without one is required.",
    )?;
    for (title, section) in [
        ("[data]", &DATA_KEYS[..]),
        ("[data.columns], for each column: name = { ... }", &COLUMN_KEYS[..]),
        ("[model], and the model's own keys (barkeep models)", &MODEL_KEYS[..]),
        ("[privacy]", &PRIVACY_KEYS[..]),
        ("[sampler], and the sampler's own keys (barkeep samplers)", &SAMPLER_KEYS[..]),
    ] {
        print(title)?;
        keys(section.iter())?;
    }
    Ok(())
}
