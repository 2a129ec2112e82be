//! The engine inside a program: a spec in text, records from memory, draws and their summary back.
//!
//! `cargo run --release -p barkeep --example embedding`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use barkeep::accounting::Epsilon;
use barkeep::data::TableBuilder;
use barkeep::{Plan, PublicRng, Spec};

const SPEC: &str = r#"
[data]
path = "in memory"
records = 100000
[data.columns]
dose = { min = 0, max = 10, invalid = 5, scale = "bounds" }
group = { kind = "category", levels = ["control", "treated"], invalid = "control" }
recovered = { kind = "bool", invalid = false }
[model]
formula = "recovered ~ dose * group"
family = "bernoulli"
[privacy]
epsilon = 2.0
delta = 1e-7
[sampler]
name = "langevin"
start = [0, 0, 0, 0]
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::new(Spec::parse(SPEC, ".".as_ref())?)?;
    println!("{} steps for ε = {:.3}", plan.steps().0, plan.epsilon().map_or(f64::NAN, Epsilon::get));

    // The view says which columns are read, in which order: those of the spec that the formula uses.
    let view = plan.spec().data().view();
    let mut table = TableBuilder::viewed(view.clone(), 100_000)?;
    let mut rng = PublicRng::new(1, 0);
    for _ in 0..100_000 {
        let (dose, treated) = (10.0 * rng.open_uniform(), rng.open_uniform() < 0.5);
        let predictor = if treated { 0.4 * (dose - 5.0) + 0.5 } else { 0.1 * (dose - 5.0) };
        let recovered = rng.open_uniform() < 1.0 / (1.0 + f64::exp(-predictor));
        table.push_row(&[dose, f64::from(treated), f64::from(recovered)])?;
    }

    print!("{}", plan.run(table.finish()?)?.summary());
    Ok(())
}
