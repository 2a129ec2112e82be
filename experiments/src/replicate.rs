//! Runs one spec many times over the same simulated records, each time with the whole budget, as the papers do.

use barkeep::data::{Schema, Table, TableBuilder};
use barkeep::model::Model;
use barkeep::plan::start::Start;
use barkeep::samplers::State;
use barkeep::{Draws, Plan, PublicRng, Spec, Unwatched};
use std::path::Path;
use std::sync::Arc;

/// Simulated records and their means; both are public here.
pub(crate) fn simulate(
    model: &dyn Model,
    theta: &[f64],
    records: usize,
    seed: u64,
) -> Result<(Arc<Table>, Vec<Vec<f64>>), String> {
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
    Ok((Arc::new(builder.finish().map_err(|error| error.to_string())?), columns))
}

/// The means of the records [`simulate`] makes.
pub(crate) fn simulated_means(model: &dyn Model, theta: &[f64], records: usize, seed: u64) -> Vec<f64> {
    let mut rng = PublicRng::new(seed, 0);
    let mut row = vec![0.0; model.columns()];
    let mut sums = vec![0.0; model.columns()];
    for _ in 0..records {
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        sums.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
    }
    sums.iter_mut().for_each(|sum| *sum /= records as f64);
    sums
}

/// Plans a spec with another ε.
pub(crate) fn plan(spec: &str, epsilon: f64) -> Result<Plan, String> {
    let mut spec: toml::Table = spec.parse().map_err(|_| "a spec that is not TOML".to_owned())?;
    if let Some(toml::Value::Table(privacy)) = spec.get_mut("privacy") {
        privacy.insert("epsilon".to_owned(), epsilon.into());
    }
    let spec = Spec::parse(&spec.to_string(), Path::new("")).map_err(|error| error.to_string())?;
    Plan::new(spec).map_err(|error| error.to_string())
}

/// One run from each start, each with the whole budget. Seeded throughout, so that anyone can repeat it.
pub(crate) fn runs(
    plan: &mut Plan,
    table: &Arc<Table>,
    starts: &[Vec<f64>],
    seed: u64,
) -> Result<Vec<Draws>, String> {
    let mut all = Vec::with_capacity(starts.len());
    for (run, theta) in (0_u64..).zip(starts) {
        let log_prior = plan.spec.model.log_prior(theta);
        plan.start = Start::Given(vec![State { theta: theta.clone(), log_prior }]);
        plan.seed = Some(seed + run);
        let run = barkeep::run(plan, Arc::clone(table), Some(seed + run), &Unwatched)
            .map_err(|error| error.to_string())?;
        all.push(run.draws);
    }
    Ok(all)
}
