//! Holds the programs of likelihoods to their loops, to the bit.

use barkeep_data::{Block, Schema};
use barkeep_machine::{Block as Records, Machine, Output, Program, Writer};

use crate::{Law, Likelihood, Regression, Scratch};

/// What a program writes for each record, entry by entry.
pub(crate) fn outputs(program: &Program, records: Records<'_>) -> Vec<f64> {
    let mut out = vec![f64::NAN; program.width() * records.len()];
    Machine::default().write_all(program, records, &mut out);
    out
}

/// The program of a gradient, entry by entry.
pub(crate) fn gradient(model: &impl Likelihood, theta: &[f64]) -> Program {
    let mut w = Writer::default();
    let entries = model.write_gradient(theta, &mut w).entries(&mut w);
    w.finish(entries.into_iter().map(Output::Dense)).unwrap()
}

/// The same number, or not a number both; zeros may differ in sign.
pub(crate) fn same(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let both = found.is_nan() && expected.is_nan();
        assert!(both || found == expected, "{what} {i}: {found} {expected}");
    }
}

/// To 1e-13 of the size of what was added up, which a record's response bounds.
fn near(found: &[f64], expected: &[f64], responses: &[f64], what: &str) {
    for ((found, expected), y) in found.iter().zip(expected).zip(responses) {
        let size = 1.0 + expected.abs() + y.abs() * (1.0 + y.abs()).ln();
        let fits = found == expected || (found - expected).abs() <= 1e-13 * size;
        assert!(fits || (found.is_nan() && expected.is_nan()), "{what}: {found} {expected}");
    }
}

/// Checks densities, ratios and gradients over records that lie column by column.
pub(crate) fn same_as_loops(model: &impl Likelihood, values: &[f64], from: &[f64], to: &[f64]) {
    let length = values.len() / model.columns();
    let (block, records) = (Block::over(values, length, length), Records::over(values, length, length));
    let scratch = &mut Scratch::new();
    let (mut density, mut ratio) = (vec![f64::NAN; length], vec![f64::NAN; length]);
    let mut slopes = vec![f64::NAN; length * model.dimension()];
    model.log_density(block, from, &mut density, scratch);
    model.log_ratio(block, from, to, &mut ratio, scratch);
    model.gradient(block, from, &mut slopes, scratch);
    let found =
        [model.density_program(from).unwrap(), model.ratio_program(from, to).unwrap(), gradient(model, from)];
    let found = found.map(|program| outputs(&program, records));
    match model.regression().and_then(Regression::law) {
        // Their ln Γ, or all of them, are the machine's own functions without branches.
        Some(Law::Poisson | Law::NegativeBinomial | Law::Binomial) => {
            near(&found[0], &density, block.column(0), "density");
            same(&found[1], &ratio, "ratio");
            same(&found[2], &slopes, "gradient");
        }
        Some(Law::Probit) => {
            near(&found[0], &density, block.column(0), "density");
            near(&found[1], &ratio, block.column(0), "ratio");
            let responses = block.column(0).repeat(model.dimension());
            near(&found[2], &slopes, &responses, "gradient");
        }
        Some(Law::Logit | Law::Normal | Law::StudentT { .. } | Law::Gamma) | None => {
            same(&found[0], &density, "density");
            same(&found[1], &ratio, "ratio");
            same(&found[2], &slopes, "gradient");
        }
    }
}

/// Checks statistics over records that lie column by column.
pub(crate) fn same_statistics(model: &impl Likelihood, schema: &Schema, values: &[f64]) {
    let length = values.len() / model.columns();
    let statistics = model.record_statistics(schema).unwrap();
    let mut expected = vec![f64::NAN; statistics.width() * length];
    statistics.write(Block::over(values, length, length), &mut expected);
    let program = model.statistics_program(schema).unwrap();
    same(&outputs(&program, Records::over(values, length, length)), &expected, "statistics");
}
