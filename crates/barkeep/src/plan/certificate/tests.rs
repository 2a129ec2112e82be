//! Checks that a stated ε is never below its bound.

use super::*;

#[test]
fn the_stated_epsilon_is_never_below_the_bound() {
    for upper in [1e-12, 0.1, 0.999_999_999_9, 1.0, 3.7, 499.123_456_789_012] {
        let shown = stated(upper, 1000.0);
        assert!(shown > upper && shown < upper * (1.0 + 2.1e-8), "{upper} {shown}");
        assert_eq!(stated(upper, upper), upper);
    }
}
