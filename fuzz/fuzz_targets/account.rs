//! Feeds any numbers to the accountant: a mechanism with any two of steps, epsilon and delta.

#![no_main]

use barkeep::accounting::{
    Delta, Epsilon, Neighbours, Query, Rate, Ratio, Rule, Sampling, Sensitivity, Steps, Variance,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, f64, f64, u64, u64, f64, f64)| {
    let (mechanism, x, y, n, steps, epsilon, delta) = input;
    let ratio = || Ratio::new(x);
    let neighbours = if mechanism & 16 == 0 { Neighbours::Substitute } else { Neighbours::AddRemove };
    let query = match mechanism % 7 {
        0 => ratio().and_then(|ratio| Query::gaussian(ratio, Sampling::Full, neighbours)),
        1 => ratio()
            .and_then(|ratio| Query::gaussian(ratio, Sampling::Poisson { rate: Rate::new(y)? }, neighbours)),
        2 => ratio().and_then(|ratio| {
            let sampling = Sampling::WithoutReplacement { batch: n >> 8, records: n };
            Query::gaussian(ratio, sampling, neighbours)
        }),
        3 => Variance::new(x).and_then(|variance| Query::discrete_gaussian(variance, n)),
        4 => ratio().and_then(Query::laplace),
        5 => Sensitivity::new(y).and_then(|sensitivity| Query::decision(Rule::Barker, sensitivity)),
        _ => Sensitivity::new(y)
            .and_then(|sensitivity| Query::decision(Rule::Penalty { sigma: x }, sensitivity)),
    };
    let (Ok(query), Ok(epsilon), Ok(delta)) = (query, Epsilon::new(epsilon), Delta::new(delta)) else {
        return;
    };
    match mechanism >> 6 {
        0 => drop(query.epsilon(Steps(steps), delta)),
        1 => drop(query.delta(Steps(steps), epsilon)),
        _ => drop(query.largest_steps(epsilon, delta)),
    }
});
