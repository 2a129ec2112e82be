//! Feeds any text to the model language over columns of every kind; of what it accepts everything is asked once.

#![no_main]

use barkeep::data::{Block, Column, Schema};
use barkeep::model::{Centring, Likelihood, Model, Scratch, TextModel};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let levels = ["p", "q", "r", "s"].map(str::to_owned).to_vec();
    let columns = [
        Column::real("x", -1.0, 3.0, 0.0),
        Column::real("y", 0.1, 9.0, 1.0),
        Column::integer("k", 0.0, 9.0, 1.0),
        Column::boolean("event", false),
        Column::category("g", levels, "p"),
    ];
    let Ok(schema) = columns.into_iter().collect::<Result<_, _>>().and_then(Schema::new) else { return };
    let Ok(model) = TextModel::new(text, &schema) else { return };
    let d = Likelihood::dimension(&model);
    let record = vec![1.0; Likelihood::columns(&model)];
    let theta = vec![0.5; d];
    let mut out = vec![0.0; d * d];
    let block = Block::over(&record, 1, 1);
    let mut scratch = Scratch::new();
    model.gradient(block, &theta, &mut out[..d], &mut scratch);
    model.log_ratio(block, &theta, &theta, &mut out[..1], &mut scratch);
    let _ = (model.lipschitz(&schema), model.log_ratio_range(&schema, &theta, &theta));
    let _ = (model.fisher(&theta, &mut out), model.quantities(&theta));
    if let Ok(given) = model.given() {
        let centring = Centring { theta: &theta, whitening: &out, clip: 1.0 };
        let mut centres = vec![0.0; d];
        centring.write((&model, given), block, &mut centres, &mut scratch);
    }
});
