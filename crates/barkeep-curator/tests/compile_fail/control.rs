//! Must compile: it shows that the other programs are refused for what they do, not for how they are compiled.

use barkeep_accounting::{Contract, Neighbours};
use barkeep_curator::{Ask, Budget, Curator, Gate, NoiseRng, PrivacyModel, Table, TableBuilder};
use barkeep_data::{Admission, Block, Count, Records, Schema, View};
use std::sync::Arc;

pub fn serialised(_: impl serde::Serialize) {}

pub fn main(contract: &Contract, schema: Schema) -> Option<Gate> {
    serialised(Records(3));
    let mut builder = TableBuilder::viewed(View::all(schema), Count::About(3)).ok()?;
    builder.push_row(&[0.5]).ok()?;
    let table: Table = builder.finish().ok()?;
    let privacy_model = PrivacyModel { neighbours: Neighbours::AddRemove };
    let curator = Curator::new(table, privacy_model, Budget::permits(contract)).ok()?;
    Gate::open(&Arc::new(curator), NoiseRng::from_os().ok()?).ok()
}

pub fn sampler(_: &mut dyn Ask, _: &Admission, _: Block<'_>) {}
