//! Times `noise-aware` on 10 000 simulated records: from start to end with ten coefficients, 2000 draws included, and the fit alone with twenty.
//!
//! `cargo bench -p barkeep --bench noise_aware`. The aims: 3 s for a binary response and 10 s for others; 1 s and 8 s for the fit.
#![allow(clippy::unwrap_used, missing_docs, reason = "a program that measures")]

use barkeep::curator::TableBuilder;
use barkeep::curator::insecure::SharedTable;
use barkeep::insecure::Insecure;
use barkeep::{Plan, PublicRng, Spec};
use std::fmt::Write;
use std::path::Path;

const RECORDS: usize = 10_000;
/// Features beside the intercept: from start to end, and of the fit alone.
const FEATURES: (usize, usize) = (9, 19);

fn main() {
    divan::main();
}

/// A plan over features of standard deviation 0.3, with this many draws where they are said.
fn plan(family: &str, features: usize, draws: Option<usize>) -> Plan {
    let response = match family {
        "bernoulli" => "kind = \"bool\", invalid = false",
        "poisson" => "kind = \"integer\", min = 0, max = 30, invalid = 0",
        "gaussian" => "min = -6, max = 6, invalid = 0",
        _ => "min = 0.001, max = 100, invalid = 1",
    };
    let names: Vec<String> = (0..features).map(|j| format!("x{j}")).collect();
    let mut text =
        format!("[data]\npath = \"none\"\nrecords = {RECORDS}\n[data.columns]\ny = {{ {response} }}\n");
    names.iter().for_each(|name| writeln!(text, "{name} = {{ min = -1, max = 1, invalid = 0 }}").unwrap());
    let (right, budget) = (names.join(" + "), "epsilon = 1.0\ndelta = 1e-6");
    write!(
        text,
        "[model]\nformula = \"y ~ {right}\"\nfamily = \"{family}\"\n[privacy]\n{budget}\n[sampler]\nname = \"noise-aware\"\n"
    )
    .unwrap();
    draws.iter().for_each(|draws| writeln!(text, "steps = {draws}").unwrap());
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap()
}

fn table(plan: &Plan) -> SharedTable {
    let model = plan.spec().model();
    let mut theta = vec![0.5; model.parameter_names().len()];
    theta[0] = 0.2;
    let mut builder = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    let (mut rng, mut row) = (PublicRng::new(1, 0), vec![0.0; model.columns()]);
    for _ in 0..RECORDS {
        row[1..].iter_mut().for_each(|x| *x = (0.3 * rng.normal()).clamp(-1.0, 1.0));
        model.respond(&theta, &mut || rng.open_uniform(), &mut row);
        builder.push_row(&row).unwrap();
    }
    SharedTable::from(builder.finish().unwrap())
}

#[divan::bench(args = ["bernoulli", "poisson", "gaussian", "gamma"], sample_count = 3, sample_size = 1)]
fn start_to_end(bencher: divan::Bencher<'_, '_>, family: &str) {
    let plan = plan(family, FEATURES.0, None);
    let table = table(&plan);
    bencher.bench_local(|| plan.runner().run_shared(&table, Insecure::seed(7)).unwrap().summary().draws);
}

/// One draw is free beside the fit; a hundred before it are thrown away.
#[divan::bench(args = ["bernoulli", "poisson", "gaussian", "gamma"], sample_count = 3, sample_size = 1)]
fn fit_alone(bencher: divan::Bencher<'_, '_>, family: &str) {
    let plan = plan(family, FEATURES.1, Some(1));
    let table = table(&plan);
    bencher.bench_local(|| plan.runner().run_shared(&table, Insecure::seed(7)).unwrap().summary().draws);
}
