//! Tests of `gradients`.

use super::*;
use crate::thesis::chains::planned;

#[test]
fn constants_are_read_and_specs_take_them() {
    assert_eq!(CONSTANTS.len(), 5);
    for (name, change) in changes() {
        match change {
            Change::Line(line) => {
                let planned = planned(&by_mmd()[0], &format!("name = '{DEFAULT}'\n{line}"), 1.0);
                assert!(planned.is_ok(), "{name}: {:?}", planned.err());
            }
            Change::Clip(factor) => assert!(factor == 0.5 || factor == 2.0, "{name}"),
        }
    }
}
