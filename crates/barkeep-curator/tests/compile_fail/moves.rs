//! Must not compile: a table that was handed over is gone, so that no second budget is spent on it.

use barkeep_accounting::Neighbours;
use barkeep_curator::{Budget, Curator, PrivacyModel, Table};

const MODEL: PrivacyModel = PrivacyModel { neighbours: Neighbours::Substitute };

pub fn two_budgets(table: Table, one: Budget, other: Budget) {
    let _ = Curator::new(table, MODEL, one);
    let _ = Curator::new(table, MODEL, other); //~ error[E0382]: use of moved value: `table`
}

pub fn borrowed(table: &Table, budget: Budget) {
    let _ = Curator::new(*table, MODEL, budget); //~ error[E0507]: cannot move out of `*table` which is behind a shared reference
}
