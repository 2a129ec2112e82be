//! Checks that a stated ε is never below its bound, and never above the budget.

use super::words::stated;
use barkeep_num::up_by;
use proptest::prelude::*;

#[test]
fn the_stated_epsilon_is_never_below_the_bound() {
    for upper in [1e-12, 0.1, 0.999_999_999_9, 1.0, 3.7, 499.123_456_789_012] {
        let shown = stated(upper, 1000.0);
        assert!(shown > upper && shown < upper * (1.0 + 2.1e-8), "{upper} {shown}");
        assert_eq!(stated(upper, upper), upper);
    }
}

proptest! {
    /// Not by a rounding: the bound may be the budget itself, or a unit in the last place below it.
    #[test]
    fn the_stated_epsilon_is_never_above_the_budget(upper in 1e-9..100.0_f64, units in 0_u32..4) {
        let budget = up_by(upper, units);
        let shown = stated(upper, budget);
        prop_assert!(upper <= shown && shown <= budget, "{upper} {shown} {budget}");
    }
}
