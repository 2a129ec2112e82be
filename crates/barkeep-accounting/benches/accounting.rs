//! Times contracts on one thread, whatever accountant they fall to: `cargo bench -p barkeep-accounting --bench accounting`.

use barkeep_accounting::mechanisms::{Decision, Gaussian};
use barkeep_accounting::{
    BarkerBound, Cost, Delta, Epsilon, Error, Mechanism, Neighbours, Probability, Query, Ratio, Rule,
    Sampling, Sensitivity, Steps,
};

fn main() {
    divan::main();
}

/// The closed form: ε of a thousand Gaussian mechanisms.
#[divan::bench]
fn gaussian_epsilon() -> Result<f64, Error> {
    let step = Query::gaussian(Ratio::new(50.0)?, Sampling::Full, Neighbours::Substitute)?;
    Ok(step.epsilon(Steps(1000), Delta::new(1e-6)?)?.bracket.upper)
}

/// Ten noisy gradients and one decision a step: how many steps within (1, 1e-6).
#[divan::bench(sample_count = 10)]
fn mixture_largest_steps() -> Result<Steps, Error> {
    let full = |mechanism| Cost::new(mechanism, Sampling::Full, Neighbours::Substitute);
    let bit = Mechanism::Decision(Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(0.05)? });
    let gradient = Mechanism::Gaussian(Gaussian { ratio: Ratio::new(100.0)? });
    let step = Query::new(vec![(full(bit)?, Steps(1)), (full(gradient)?, Steps(10))])?;
    step.largest_steps(Epsilon::new(1.0)?, Delta::new(1e-6)?)
}

/// The certified supremum of the minibatch Barker test and its Rényi composition.
#[divan::bench(sample_count = 10)]
fn barker_minibatch_epsilon() -> Result<f64, Error> {
    let step = Query::barker_minibatch(1000, 1_000_000, BarkerBound::Tight)?;
    Ok(step.epsilon(Steps(20_000), Delta::new(1e-6)?)?.bracket.upper)
}

/// The exact binomial sum over a hundred thousand bits.
#[divan::bench(sample_count = 10)]
fn bits_epsilon() -> Result<f64, Error> {
    let step = Query::bernoulli(Probability::new(0.5)?, Probability::new(0.49)?)?;
    Ok(step.epsilon(Steps(100_000), Delta::new(1e-6)?)?.bracket.upper)
}
