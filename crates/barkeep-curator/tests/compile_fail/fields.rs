//! Must not compile: a budget that was marked NOT PRIVATE is not unmarked.

use barkeep_curator::Budget;

pub fn unmarked(budget: Budget) -> Budget {
    Budget { marked: false, ..budget } //~ error[E0451]: fields `account` and `marked` of struct `Budget` are private
}
