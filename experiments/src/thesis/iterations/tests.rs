//! Holds the loose counts to those of the thesis' code, which mpmath confirmed.

use super::*;

#[test]
fn loose_counts_are_the_published_ones() {
    let table = Published::new(ALL);
    let mut compared = 0;
    for row in table.rows() {
        let counts = Sampler::of_all(&row).counts(&[row.number("epsilon")], false).unwrap();
        assert_eq!(counts["loose"], [row.number("steps_zcdp")], "{}", row.text("model"));
        compared += 1;
    }
    assert_eq!(compared, 96);
}
