//! Times subsampled Gaussians on one thread: `cargo bench -p barkeep-accounting --bench sampling`.

use barkeep_accounting::{Delta, Epsilon, Error, Neighbours, Query, Rate, Ratio, Sampling, Steps};

fn main() {
    divan::main();
}

/// q = 0.01 and ratio 1, one record added or removed.
fn step() -> Result<Query, Error> {
    Query::gaussian(Ratio::new(1.0)?, Sampling::Poisson { rate: Rate::new(0.01)? }, Neighbours::AddRemove)
}

/// ε of 1000 steps at δ = 1e-6, 2.12451517 to 1e-5: to stay below 10 ms.
#[divan::bench]
fn epsilon() -> Result<f64, Error> {
    Ok(step()?.epsilon(Steps(1000), Delta::new(1e-6)?)?.bracket.upper)
}

/// The largest number of steps within (1, 1e-6), 120: to stay below 30 ms.
#[divan::bench]
fn largest_steps() -> Result<Steps, Error> {
    step()?.largest_steps(Epsilon::new(1.0)?, Delta::new(1e-6)?)
}
