//! Holds every sampler's entry to what the rest of the house reads from it: summary, examples, start rule, privacy, facts.

#![expect(clippy::panic, reason = "a test that cannot set itself up has failed")]

use barkeep::samplers::{ExampleSpec, SAMPLERS, SamplerEntry, StartRule};
use barkeep::{Error, Plan, Spec};
use std::collections::BTreeSet;
use std::path::Path;

fn spec(example: &ExampleSpec) -> Spec {
    Spec::parse(&example.text, Path::new("")).unwrap_or_else(|error| panic!("{}: {error}", example.title))
}

fn simplest(sampler: &SamplerEntry) -> ExampleSpec {
    sampler.examples().next().unwrap_or_else(|| panic!("{} has no example", sampler.name))
}

/// The stability test plans and runs all examples; here titles and texts are held.
#[test]
fn every_entry_is_complete() {
    let mut titles = BTreeSet::new();
    for sampler in SAMPLERS {
        let SamplerEntry { name, summary, .. } = sampler;
        assert!(summary.len() > 20, "{name} has no summary");
        assert_eq!(simplest(sampler).title, *name, "the simplest example needs no name of its own");
        for example in sampler.examples() {
            assert!(titles.insert(example.title.clone()), "two examples are called {}", example.title);
            let table: toml::Table = example.text.parse().unwrap();
            assert_eq!(table["sampler"]["name"].as_str(), Some(*name));
        }
        let keys: Vec<&str> = sampler.all_keys().map(|key| key.name).collect();
        let distinct: BTreeSet<&&str> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len(), "{name} lists a key twice: {keys:?}");
    }
}

#[test]
fn every_private_sampler_is_audited_and_only_those() {
    for sampler in SAMPLERS {
        assert_eq!(sampler.examples().any(|example| example.audited), sampler.private, "{}", sampler.name);
    }
}

#[test]
fn a_plan_is_as_private_as_its_entry_says() {
    for sampler in SAMPLERS {
        let example = simplest(sampler);
        let plan = Plan::new(spec(&example)).unwrap();
        assert_eq!(plan.is_private(), sampler.private, "{}", sampler.name);
        // The opposite is refused.
        let opposite = match sampler.private {
            true => example.text.replace("epsilon = 1\ndelta = 1e-3", "private = false"),
            false => example.text.replace("private = false", "epsilon = 1\ndelta = 1e-3"),
        };
        assert_ne!(opposite, example.text);
        let refused = Plan::new(Spec::parse(&opposite, Path::new("")).unwrap());
        assert!(matches!(refused, Err(Error::Spec(_))), "{}", sampler.name);
    }
}

#[test]
fn a_start_may_be_absent_where_the_entry_says() {
    for sampler in SAMPLERS {
        let mut table: toml::Table = simplest(sampler).text.parse().unwrap();
        table["sampler"].as_table_mut().unwrap().remove("start");
        let planned = Plan::new(Spec::parse(&table.to_string(), Path::new("")).unwrap());
        match sampler.start {
            StartRule::Required => {
                let error = planned.err().unwrap_or_else(|| panic!("{} needs no start", sampler.name));
                assert!(error.to_string().contains("`sampler.start`: is required"), "{error}");
            }
            // The scene's prior is proper.
            StartRule::PriorMode | StartRule::Independent => assert!(planned.is_ok(), "{}", sampler.name),
        }
    }
}

/// Programs find a fact by its key, so that no plan may have two of one.
#[test]
fn facts_have_keys_of_their_own() {
    for sampler in SAMPLERS {
        let plan = Plan::new(spec(&simplest(sampler))).unwrap();
        let mut keys = BTreeSet::new();
        for fact in plan.facts() {
            assert!(keys.insert(fact.key), "{}: two facts are called {}", sampler.name, fact.key);
            assert!(fact.key.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_'));
            assert!(!fact.words.is_empty() && plan.fact(fact.key) == Some(fact));
        }
        let json = plan.to_json();
        assert_eq!(json["facts"].as_object().map(|facts| facts.len()), Some(plan.facts().len()));
    }
}
