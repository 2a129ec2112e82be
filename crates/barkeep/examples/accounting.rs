//! The accountant on its own: what noisy sums and Barker decisions cost, and how many a budget buys.
//!
//! `cargo run --release -p barkeep --example accounting`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use barkeep::accounting::{
    Contract, Cost, Delta, Epsilon, Mechanism, Neighbours, Query, Ratio, Sampling, Steps,
};
use barkeep_accounting::mechanisms::Gaussian;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let delta = Delta::new(1e-6)?;
    let batch = Sampling::WithoutReplacement { batch: 1_000, records: 50_000 };
    let gradient = |noise: f64, sampling| {
        Cost::new(
            Mechanism::Gaussian(Gaussian { ratio: Ratio::new(noise)? }),
            sampling,
            Neighbours::Substitute,
        )
    };

    // One contract may hold questions of several kinds; their costs are composed exactly.
    let contract = Contract::new(vec![
        (gradient(20.0, Sampling::Full)?, Steps(100)),
        (gradient(2.0, batch)?, Steps(1_000)),
    ])?;
    let epsilon = contract.epsilon(delta)?;
    println!(
        "100 full and 1000 sampled gradients cost epsilon between {:?} and {:.4}",
        epsilon.lower, epsilon.upper
    );

    // The other way round: the most steps that stay within a budget.
    for noise in [1.0, 2.0, 4.0] {
        let steps = Query::new(vec![(gradient(noise, batch)?, Steps(1))])?
            .largest_steps(Epsilon::new(1.0)?, delta)?;
        println!("noise of {noise} sensitivities: epsilon = 1 buys {} steps", steps.0);
    }
    Ok(())
}
