//! Must not compile: a table that was handed over is gone, so that no second budget is spent on it.

use barkeep_accounting::Neighbours;
use barkeep_curator::{Budget, Curator, PrivacyModel, Table};
use barkeep_model::Likelihood;
use std::sync::Arc;

const MODEL: PrivacyModel = PrivacyModel { neighbours: Neighbours::Substitute };

pub fn two_budgets(table: Table, likelihood: Arc<dyn Likelihood>, one: Budget, other: Budget) {
    let _ = Curator::new(table, Arc::clone(&likelihood), MODEL, one);
    let _ = Curator::new(table, likelihood, MODEL, other); //~ error[E0382]: use of moved value: `table`
}

pub fn borrowed(table: &Table, likelihood: Arc<dyn Likelihood>, budget: Budget) {
    let _ = Curator::new(*table, likelihood, MODEL, budget); //~ error[E0507]: cannot move out of `*table` which is behind a shared reference
}
