//! Tests of `audit`.

use super::*;
use barkeep::accounting::{Delta, Neighbours, Query, Ratio, Sampling, Steps};
use barkeep::curator::{LatticeSigma, NoiseRng, rounded_normal};
use barkeep_audit::{Claim, Each, Effort, Source, World, attack};

/// A secret moved by 1000 lattice steps in noise of `sigma`, certified as if that were 1000.
fn row(sigma: f64) -> Row {
    let ratio = Ratio::new(1.0).unwrap();
    let query = Query::gaussian(ratio, Sampling::Full, Neighbours::Substitute).unwrap();
    let delta = Delta::new(1e-3).unwrap();
    let noise = LatticeSigma::new(sigma).unwrap();
    let game = Each(move |world: World, rng: &mut NoiseRng| {
        let secret = if world == World::First { 1000 } else { 0 };
        (secret + rounded_normal(rng, noise)) as f64
    });
    let trials = 100_000;
    let effort = Effort { trials, alpha: ALPHA, source: Source::new(Some(3)).unwrap() };
    Row {
        mechanism: "a sum".to_owned(),
        certified: query.epsilon(Steps(1), delta).unwrap().bracket.upper,
        delta: delta.get(),
        audited: attack(&game, Claim { delta, gaussian: false }, effort).unwrap(),
        trials,
        priced_as_released: true,
    }
}

#[test]
fn a_broken_mechanism_ends_the_program_with_code_1() {
    assert!(verdict(&[row(1000.0)]).is_ok());
    let exit = verdict(&[row(1000.0), row(500.0)]).unwrap_err();
    assert_eq!(exit.code(), 1);
    assert!(exit.to_string().contains("a sum: epsilon"), "{exit}");
}
