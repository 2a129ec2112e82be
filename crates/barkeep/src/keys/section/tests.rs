//! Checks that faults are named by key.

use super::*;

const KNOWN: [Key; 2] = [key("clip", "", "bound"), key("steps", "all", "cap")];

fn table(text: &str) -> toml::Table {
    text.parse().unwrap()
}

#[test]
fn unknown_key_suggests_the_nearest() {
    let error = Section::new("sampler", &table("clp = 1"), KNOWN.iter()).err().unwrap();
    assert_eq!(error.to_string(), "spec key `sampler.clp`: unknown key; did you mean `clip`?");
    let error = Section::new("sampler", &table("zzzzzz = 1"), KNOWN.iter()).err().unwrap();
    assert_eq!(error.to_string(), "spec key `sampler.zzzzzz`: unknown key");
}

#[test]
fn wrong_types_and_ranges_name_the_key() {
    let table = table("clip = -1\nsteps = 0");
    let section = Section::new("sampler", &table, KNOWN.iter()).unwrap();
    assert!(section.positive("clip").unwrap_err().to_string().contains("`sampler.clip`"));
    assert!(section.count("steps").unwrap_err().to_string().contains("`sampler.steps`"));
    assert!(section.text("clip").is_err());
    assert!(section.flag("clip").is_err());
    assert!(section.numbers("clip").is_err());
    assert!(section.table("clip").is_err());
    assert!(section.require::<f64>("tau", None).unwrap_err().to_string().contains("is required"));
}

#[test]
fn a_matrix_is_a_number_a_list_or_rows() {
    for text in ["clip = 2", "clip = [2, 2]", "clip = [[2, 0], [0, 2]]"] {
        let table = table(text);
        let section = Section::open("sampler", &table);
        assert_eq!(section.matrix("clip", 2).unwrap().unwrap(), [2.0, 0.0, 0.0, 2.0]);
    }
}

#[test]
fn non_finite_numbers_are_refused() {
    let table = table("clip = nan\nsteps = [1.0, inf]");
    let section = Section::new("", &table, KNOWN.iter()).unwrap();
    assert!(section.positive("clip").is_err());
    assert!(section.numbers("steps").is_err());
}
