//! Runs one spec many times over the same simulated records, each time with the whole budget, as the papers do.

use barkeep::curator::TableBuilder;
use barkeep::curator::insecure::SharedTable;
use barkeep::data::Schema;
use barkeep::insecure::Insecure;
use barkeep::model::{Likelihood, Model};
use barkeep::{Draws, Plan, PublicRng, Spec};
use std::path::Path;
use std::sync::Arc;

/// Simulated records and their means; both are public here.
pub(crate) fn simulate(
    model: &dyn Model,
    theta: &[f64],
    records: usize,
    seed: u64,
) -> Result<(SharedTable, Vec<Vec<f64>>), String> {
    let mut rng = PublicRng::new(seed, 0);
    let schema = Schema::unbounded(model.column_names()).map_err(|error| error.to_string())?;
    let mut builder = TableBuilder::new(schema, records).map_err(|error| error.to_string())?;
    let mut columns = vec![Vec::with_capacity(records); model.columns()];
    let mut row = vec![0.0; model.columns()];
    for _ in 0..records {
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        columns.iter_mut().zip(&row).for_each(|(column, x)| column.push(*x));
        builder.push_row(&row).map_err(|error| error.to_string())?;
    }
    Ok((SharedTable::from(builder.finish().map_err(|error| error.to_string())?), columns))
}

/// Records that are known by their columns.
pub(crate) fn table(names: &[String], columns: &[Vec<f64>]) -> Result<SharedTable, String> {
    let records = columns.first().map_or(0, Vec::len);
    let schema = Schema::unbounded(names.to_vec()).map_err(|error| error.to_string())?;
    let mut builder = TableBuilder::new(schema, records).map_err(|error| error.to_string())?;
    let mut row = vec![0.0; columns.len()];
    for record in 0..records {
        row.iter_mut().zip(columns).for_each(|(cell, column)| *cell = column[record]);
        builder.push_row(&row).map_err(|error| error.to_string())?;
    }
    Ok(SharedTable::from(builder.finish().map_err(|error| error.to_string())?))
}

/// Plans a spec with another ε, if it has one at all.
pub(crate) fn plan(spec: &str, epsilon: f64) -> Result<Plan, String> {
    plan_in(Path::new(""), spec, epsilon)
}

/// The same for records that lie in a folder.
pub(crate) fn plan_in(folder: &Path, spec: &str, epsilon: f64) -> Result<Plan, String> {
    let mut spec: toml::Table = spec.parse().map_err(|_| "a spec that is not TOML".to_owned())?;
    if let Some(toml::Value::Table(privacy)) = spec.get_mut("privacy")
        && !privacy.contains_key("private")
    {
        privacy.insert("epsilon".to_owned(), epsilon.into());
    }
    let spec = Spec::parse(&spec.to_string(), folder).map_err(|error| error.to_string())?;
    Plan::new(spec).map_err(|error| error.to_string())
}

/// The spec with this seed of the proposals.
pub(crate) fn seeded(spec: &str, seed: u64) -> Result<String, String> {
    let mut spec: toml::Table = spec.parse().map_err(|_| "a spec that is not TOML".to_owned())?;
    let seed = i64::try_from(seed).map_err(|error| error.to_string())?;
    if let Some(toml::Value::Table(sampler)) = spec.get_mut("sampler") {
        sampler.insert("seed".to_owned(), seed.into());
    }
    Ok(spec.to_string())
}

/// One run of a plan as it is, from wherever its own start leads; seeded throughout.
pub(crate) fn run(plan: &Plan, table: &SharedTable, seed: u64) -> Result<Draws, String> {
    let run = plan.runner().run_shared(table, Insecure::seed(seed));
    Ok(run.map_err(|error| error.to_string())?.draws)
}

/// One run from each start, each with the whole budget. Seeded throughout, so that anyone can repeat it; `observer` is the
/// plan's model with something that counts around it.
pub(crate) fn runs(
    plan: &Plan,
    table: &SharedTable,
    starts: &[Vec<f64>],
    seed: u64,
    observer: Option<Arc<dyn Likelihood>>,
) -> Result<Vec<Draws>, String> {
    let mut all = Vec::with_capacity(starts.len());
    for (run, theta) in (0_u64..).zip(starts) {
        let plan = plan.replicate(theta, seed + run).map_err(|error| error.to_string())?;
        let mut insecure = Insecure::seed(seed + run);
        if let Some(observer) = &observer {
            insecure = insecure.observed_by(Arc::clone(observer));
        }
        let run = plan.runner().run_shared(table, insecure);
        let run = run.map_err(|error| error.to_string())?;
        all.push(run.draws);
    }
    Ok(all)
}
