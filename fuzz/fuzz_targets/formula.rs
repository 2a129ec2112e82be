//! Feeds any text to the formula's parser, and what it accepts to the layout over columns of every kind.

#![no_main]

use barkeep::data::{Column, Schema};
use barkeep::formula::{Formula, Layout};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(formula) = Formula::parse(text) else { return };
    let levels = ["p", "q", "r", "s"].map(str::to_owned).to_vec();
    let columns = [
        Column::real("a", -1.0, 3.0, 0.0),
        Column::integer("b", 1.0, 9.0, 1.0),
        Column::boolean("c", false),
        Column::category("z", levels, "p"),
    ];
    let Ok(schema) = columns.into_iter().collect::<Result<_, _>>().and_then(Schema::new) else { return };
    let _ = Layout::new(&formula, &schema, false);
});
