//! Checks that seeds repeat and chains differ.

use super::*;

#[test]
fn chains_differ_and_seeds_repeat() {
    let draw = |seed, chain| PublicRng::new(seed, chain).uniform();
    assert_eq!(draw(7, 0), draw(7, 0));
    assert_ne!(draw(7, 0), draw(7, 1));
    assert_ne!(draw(7, 0), draw(8, 0));
}
