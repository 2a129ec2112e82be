//! Holds the README to its promise that every key is there.

use barkeep::models::{MODEL_KEYS, MODELS};
use barkeep::samplers::{SAMPLER_KEYS, SAMPLERS};
use barkeep::spec::{COLUMN_KEYS, DATA_KEYS, PRIVACY_KEYS};

#[test]
fn every_key_is_in_the_readme() {
    let readme = include_str!("../../../README.md");
    let common = [&DATA_KEYS[..], &COLUMN_KEYS[..], &MODEL_KEYS[..], &PRIVACY_KEYS[..], &SAMPLER_KEYS[..]];
    let own = MODELS.iter().flat_map(|model| model.keys);
    let samplers = SAMPLERS.iter().flat_map(|sampler| sampler.keys.iter().copied().flatten());
    for key in common.into_iter().flatten().chain(own).chain(samplers) {
        assert!(readme.contains(&format!("`{}`", key.name)), "no `{}` in the README", key.name);
    }
    for name in SAMPLERS.iter().map(|sampler| sampler.name).chain(MODELS.iter().map(|model| model.name)) {
        assert!(readme.contains(name), "no {name} in the README");
    }
}
