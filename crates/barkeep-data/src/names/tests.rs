use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

proptest! {
    #[test]
    fn numbers_are_those_of_a_map(texts in prop::collection::vec("[a-c\u{0}]{0,4}", 1..600)) {
        let (mut names, mut map) = (Names::default(), BTreeMap::new());
        for text in &texts {
            let known = map.get(text).copied();
            prop_assert_eq!(names.find(text.as_bytes()), known);
            if known.is_none() {
                let next = map.len() as u32;
                prop_assert_eq!(names.add(text.as_bytes()), Some(next));
                map.insert(text.clone(), next);
            }
            prop_assert_eq!(names.find(text.as_bytes()), map.get(text).copied());
            prop_assert_eq!(names.len(), map.len());
        }
        prop_assert!(names.slots.len() > names.len());
    }
}

#[test]
fn many_are_found_again() {
    let mut names = Names::default();
    assert_eq!(names.find(b""), None);
    for k in 0..20_000_u32 {
        assert_eq!(names.add(format!("person {k}").as_bytes()), Some(k));
    }
    assert!((0..20_000).rev().all(|k| names.find(format!("person {k}").as_bytes()) == Some(k)));
    assert_eq!(names.find(b"person 20000"), None);
}
