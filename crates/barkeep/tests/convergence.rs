//! Compares summaries with the figures ArviZ computes from the same draws (tests/tables/make_convergence.py).

use barkeep::diagnostics::convergence::ess_mean;
use barkeep::{Draws, Outcome, Summary};

/// The two sides round differently in sums of a few hundred terms, in Fourier transforms and in Φ⁻¹: 4e-15 is the
/// worst seen.
const TOLERANCE: f64 = 1e-12;

#[derive(serde::Deserialize)]
struct Entry {
    name: String,
    figures: Figures,
    chains: Vec<Vec<f64>>,
}

#[derive(serde::Deserialize)]
struct Figures {
    mean: Option<f64>,
    sd: Option<f64>,
    q5: Option<f64>,
    q50: Option<f64>,
    q95: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    r_hat: Option<f64>,
    ess_bulk: Option<f64>,
    ess_tail: Option<f64>,
    ess_mean: Option<f64>,
    mcse_mean: Option<f64>,
}

#[test]
fn figures_agree_with_arviz() {
    let entries: Vec<Entry> = serde_json::from_str(include_str!("tables/convergence.json")).unwrap();
    assert!(entries.len() >= 27);
    let mut worst = 0.0_f64;
    let mut failures = Vec::new();
    for Entry { name, figures: expected, chains } in &entries {
        let mut draws = Draws::new(vec![name.clone()]).unwrap();
        for states in chains {
            let mut chain = draws.chain();
            states.iter().for_each(|state| chain.push(&[*state], Outcome::Moved).unwrap());
            draws.add(chain).unwrap();
        }
        let found = &Summary::new(&draws, 0).parameters[0];
        let scale = chains.iter().flatten().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let low = found.interval_89.map(|[low, _]| low);
        let high = found.interval_89.map(|[_, high]| high);
        // Location may cancel to almost nothing: its error is measured by the size of the draws.
        for (what, expected, found, unit) in [
            ("mean", expected.mean, found.mean, Some(scale)),
            ("5 %", expected.q5, found.q5, Some(scale)),
            ("50 %", expected.q50, found.q50, Some(scale)),
            ("95 %", expected.q95, found.q95, Some(scale)),
            ("5.5 %", expected.low, low, Some(scale)),
            ("94.5 %", expected.high, high, Some(scale)),
            ("sd", expected.sd, found.sd, None),
            ("R-hat", expected.r_hat, found.r_hat, None),
            ("bulk ESS", expected.ess_bulk, found.ess_bulk, None),
            ("tail ESS", expected.ess_tail, found.ess_tail, None),
            ("mean ESS", expected.ess_mean, ess_mean(chains), None),
            ("MCSE", expected.mcse_mean, found.mcse_mean, None),
        ] {
            let error = match (expected, found) {
                (Some(expected), Some(found)) => (found - expected).abs() / unit.unwrap_or(expected.abs()),
                (None, None) => 0.0,
                _ => f64::INFINITY,
            };
            worst = worst.max(error);
            if error.is_nan() || error > TOLERANCE {
                failures.push(format!("{name}, {what}: {found:?} against {expected:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    println!("worst relative difference {worst:.1e}");
}
