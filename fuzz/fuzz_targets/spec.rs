//! Feeds any text to the spec's parser, and what it accepts to the planner.

#![no_main]

use barkeep::{Plan, Spec};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Ok(spec) = Spec::parse(text, Path::new("")) {
        let _ = Plan::new(spec);
    }
});
