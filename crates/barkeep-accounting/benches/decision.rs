//! Times coins and the price of decisions on one thread: `cargo bench -p barkeep-accounting --bench decision`.

use barkeep_accounting::{Delta, Epsilon, Error, Rule, Sensitivity, Steps, decision};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const RULES: [&str; 3] = ["barker", "penalty(2)", "penalty(1)"];

fn rule(name: &str) -> Rule {
    match name {
        "barker" => Rule::Barker,
        "penalty(2)" => Rule::Penalty { sigma: 2.0 },
        _ => Rule::Penalty { sigma: 1.0 },
    }
}

/// One coin: to stay below a microsecond.
#[divan::bench(args = RULES)]
fn coin(bencher: Bencher, name: &str) {
    let rule = rule(name);
    bencher.bench(|| rule.coin(black_box(1.7), 0.0));
}

/// The largest number of steps at (1, 1e-6) for Δ = 0.02: to stay below a second.
#[divan::bench(args = RULES, sample_count = 5)]
fn largest_steps(name: &str) -> Result<Steps, Error> {
    decision::largest_steps(&rule(name), Sensitivity::new(0.02)?, Epsilon::new(1.0)?, Delta::new(1e-6)?)
}

/// ε of a million steps, by blocks.
#[divan::bench(args = RULES, sample_count = 5)]
fn million_steps(name: &str) -> Result<f64, Error> {
    let step = Sensitivity::new(0.001)?;
    Ok(decision::epsilon(&rule(name), step, Steps(1_000_000), Delta::new(1e-6)?)?.upper)
}
