//! Sets the iterations of the thesis' minibatch samplers beside what barkeep allows.
//!
//! The published ones come from an accountant that takes sensitivity 1 for a gap of 2 and a Poisson pair for batches drawn without
//! replacement, and for Barker from the published theorem; ours are proved for what runs.

use barkeep::accounting::{BarkerBound, Delta, Epsilon, Error, Query};
use std::io::Write;

/// Model, sampler, n, b, τ (a variance ratio; absent for Barker) and published iterations at ε = 1, 2, 4, 6 and δ = 0.1/n.
type Row = (&'static str, &'static str, u64, u64, Option<f64>, [u64; 4]);

const ROWS: [Row; 12] = [
    ("easy-2d", "mdpps", 100_000, 1000, Some(0.7), [3, 130, 828, 1817]),
    ("easy-2d", "mdppa", 100_000, 1000, Some(0.7), [3, 130, 828, 1817]),
    ("easy-2d", "barker", 100_000, 1300, None, [106, 433, 1687, 3640]),
    ("tempered-2d", "mdpps", 100_000, 1000, Some(1.5), [185, 697, 2465, 5039]),
    ("tempered-2d", "mdppa", 100_000, 1000, Some(2.0), [264, 965, 3388, 6914]),
    ("tempered-2d", "barker", 100_000, 1300, None, [106, 433, 1687, 3640]),
    ("easy-10d", "mdpps", 200_000, 1000, Some(0.6), [7, 321, 2407, 5313]),
    ("easy-10d", "mdppa", 200_000, 1000, Some(0.5), [1, 52, 1347, 3508]),
    ("easy-10d", "barker", 200_000, 2600, None, [102, 417, 1632, 3536]),
    ("tempered-10d", "mdpps", 200_000, 1200, Some(0.7), [19, 462, 2279, 4848]),
    ("tempered-10d", "mdppa", 200_000, 1200, Some(0.8), [75, 721, 2869, 5980]),
    ("tempered-10d", "barker", 200_000, 2600, None, [102, 417, 1632, 3536]),
];

/// Writes the table.
pub(crate) fn write(out: &mut dyn Write) -> Result<(), String> {
    let mut say = |line: &str| writeln!(out, "{line}").map_err(|error| error.to_string());
    say("model          sampler  epsilon  thesis  barkeep")?;
    for (model, sampler, records, batch, tau, published) in ROWS {
        for (epsilon, published) in [1.0, 2.0, 4.0, 6.0].into_iter().zip(published) {
            let steps =
                steps(records, batch, tau, epsilon).map_err(|error| format!("{model} {sampler}: {error}"))?;
            say(&format!("{model:<14} {sampler:<8} {epsilon:>7}  {published:>6}  {steps:>7}"))?;
        }
    }
    Ok(())
}

fn steps(records: u64, batch: u64, tau: Option<f64>, epsilon: f64) -> Result<u64, Error> {
    let query = match tau {
        Some(tau) => Query::penalty_minibatch(tau, batch, records)?,
        None => Query::barker_minibatch(batch, records, BarkerBound::Tight)?,
    };
    Ok(query.largest_steps(Epsilon::new(epsilon)?, Delta::new(0.1 / records as f64)?)?.0)
}
