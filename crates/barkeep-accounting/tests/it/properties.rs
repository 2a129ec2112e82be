//! States how answers to different questions must relate, and tries many.

use barkeep_accounting::mechanisms::{Bernoulli, Decision, DiscreteGaussian, Gaussian, Laplace};
use barkeep_accounting::renyi::{Curve, PoissonGaussian, RenyiComposition, WithoutReplacementGaussian};
use barkeep_accounting::{
    Bracket, Contract, Cost, Delta, Epsilon, Mechanism, Neighbours, Probability, Query, Rate, Ratio, Rule,
    Sampling, Sensitivity, Steps, Variance, calibration,
};
use proptest::prelude::*;

/// `cases` cases, or as many as the environment asks for: PROPTEST_CASES=500 cargo test --release -p barkeep-accounting.
fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

fn ratio(x: f64) -> Ratio {
    Ratio::new(x).unwrap()
}

fn full(mechanism: Mechanism) -> Cost {
    Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap()
}

/// A sampled Gaussian: Poisson with either relation, or without replacement.
fn sampled(scheme: u8, permille: u64, ratio: Ratio) -> Query {
    let poisson = Sampling::Poisson { rate: Rate::new(permille as f64 / 1000.0).unwrap() };
    let batches = Sampling::WithoutReplacement { batch: permille, records: 1000 };
    match scheme {
        0 => Query::gaussian(ratio, poisson, Neighbours::AddRemove),
        1 => Query::gaussian(ratio, poisson, Neighbours::Substitute),
        _ => Query::gaussian(ratio, batches, Neighbours::Substitute),
    }
    .unwrap()
}

fn renyi(scheme: u8, permille: u64, ratio: Ratio) -> Box<dyn Curve> {
    let rate = Rate::new(permille as f64 / 1000.0).unwrap();
    match scheme {
        0 => Box::new(PoissonGaussian { rate, ratio }),
        _ => Box::new(WithoutReplacementGaussian { rate, ratio }),
    }
}

fn consistent(bracket: Bracket) -> bool {
    bracket.upper >= 0.0 && bracket.lower.is_none_or(|lower| lower <= bracket.upper && lower >= 0.0)
}

fn overlap(a: Bracket, b: Bracket) -> bool {
    a.lower.unwrap_or(0.0) <= b.upper && b.lower.unwrap_or(0.0) <= a.upper
}

proptest! {
    #![proptest_config(config(6))]

    #[test]
    fn sampled_batches_are_monotone_and_below_renyi(
        scheme in 0..3_u8, permille in 1..200_u64, s in 0.8..8.0_f64, steps in 1..2000_u64, exponent in -10.0..-2.0_f64,
    ) {
        let delta = Delta::new(10_f64.powf(exponent)).unwrap();
        let at = |permille: u64, s: f64, steps: u64, delta: Delta| {
            sampled(scheme, permille, ratio(s)).epsilon(Steps(steps), delta).unwrap().bracket
        };
        let here = at(permille, s, steps, delta);
        prop_assert!(consistent(here));
        let lower = here.lower.unwrap();
        for more in [
            at(permille + 20, s, steps, delta),
            at(permille, 0.9 * s, steps, delta),
            at(permille, s, steps + steps / 4 + 1, delta),
            at(permille, s, steps, Delta::new(0.1 * delta.get()).unwrap()),
        ] {
            prop_assert!(more.upper >= lower, "{more:?} {here:?}");
        }
        let mut bound = RenyiComposition::new(vec![(renyi(scheme, permille, ratio(s)), Steps(steps))]);
        prop_assert!(bound.epsilon(Steps(1), delta).unwrap().upper >= lower);
        // Sampling only helps.
        let all = Query::gaussian(ratio(s), Sampling::Full, Neighbours::Substitute).unwrap();
        prop_assert!(all.epsilon(Steps(steps), delta).unwrap().bracket.upper >= lower);
        // And back again.
        if here.upper > 0.0 {
            let spent = sampled(scheme, permille, ratio(s)).delta(Steps(steps), Epsilon::new(here.upper).unwrap());
            prop_assert!(spent.unwrap().bracket.lower.unwrap() <= delta.get());
        }
    }

    #[test]
    fn a_run_in_two_halves_costs_the_same(
        kind in 0..4_u8, first in 1..300_u64, second in 1..300_u64, exponent in -9.0..-3.0_f64,
    ) {
        let delta = Delta::new(10_f64.powf(exponent)).unwrap();
        let cost = full(match kind {
            0 => Mechanism::Laplace(Laplace { ratio: ratio(20.0) }),
            1 => Mechanism::DiscreteGaussian(DiscreteGaussian { variance: Variance::new(400.0).unwrap(), sensitivity: 1 }),
            2 => Mechanism::Bernoulli(Bernoulli { p: Probability::new(0.3).unwrap(), q: Probability::new(0.32).unwrap() }),
            _ => Mechanism::Decision(Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(0.1).unwrap() }),
        });
        let halves = vec![(cost.clone(), Steps(first)), (cost.clone(), Steps(second))];
        let parts = Contract::new(halves).unwrap().epsilon(delta).unwrap();
        let whole = Contract::new(vec![(cost, Steps(first + second))]).unwrap().epsilon(delta).unwrap();
        prop_assert!(consistent(parts) && consistent(whole) && overlap(parts, whole), "{parts:?} {whole:?}");
    }

    #[test]
    fn a_bit_costs_less_than_the_noise_behind_it(
        sigma in 0.5..4.0_f64, delta_log_ratio in 0.02..0.3_f64, steps in 1..150_u64,
    ) {
        let (epsilon, sensitivity) = (Epsilon::new(1.0).unwrap(), Sensitivity::new(delta_log_ratio).unwrap());
        let bit = Query::decision(Rule::Penalty { sigma }, sensitivity).unwrap();
        let noise = Query::gaussian(ratio(sigma / delta_log_ratio), Sampling::Full, Neighbours::Substitute).unwrap();
        let (bit, noise) = (
            bit.delta(Steps(steps), epsilon).unwrap().bracket,
            noise.delta(Steps(steps), epsilon).unwrap().bracket,
        );
        prop_assert!(consistent(bit));
        // Below some δ the coins' own rounding and cut-off tails are all there is.
        prop_assert!(bit.upper <= noise.upper * 1.001 + 1e-12, "{bit:?} {noise:?}");
    }

    #[test]
    fn mixtures_cost_more_than_their_parts(steps in 5..60_u64, gradients in 1..8_u64, s in 30.0..200.0_f64) {
        let delta = Delta::new(1e-6).unwrap();
        let bit = full(Mechanism::Decision(Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(0.1).unwrap() }));
        let gradient = full(Mechanism::Gaussian(Gaussian { ratio: ratio(s) }));
        let alone = |cost: &Cost, steps: u64| {
            Contract::new(vec![(cost.clone(), Steps(steps))]).unwrap().epsilon(delta).unwrap()
        };
        let both = vec![(bit.clone(), Steps(steps)), (gradient.clone(), Steps(steps * gradients))];
        let both = Contract::new(both).unwrap().epsilon(delta).unwrap();
        prop_assert!(both.upper >= alone(&bit, steps).lower.unwrap());
        prop_assert!(both.upper >= alone(&gradient, steps * gradients).lower.unwrap());
        // Basic composition at half of δ each bounds it from above.
        let half = Delta::new(5e-7).unwrap();
        let sum = [(&bit, steps), (&gradient, steps * gradients)].map(|(cost, steps)| {
            Contract::new(vec![(cost.clone(), Steps(steps))]).unwrap().epsilon(half).unwrap().upper
        });
        prop_assert!(both.upper <= sum[0] + sum[1]);
    }
}

proptest! {
    #![proptest_config(config(3))]

    #[test]
    fn calibrated_noise_fits_and_barely(scheme in 0..3_u8, permille in 20..100_u64, steps in 100..500_u64) {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        let query = sampled(scheme, permille, ratio(1.0));
        let (cost, _) = &query.per_step()[0];
        let found =
            calibration::smallest_ratio(cost.sampling(), cost.neighbours(), Steps(steps), epsilon, delta).unwrap();
        let spent = |s: f64| sampled(scheme, permille, ratio(s)).delta(Steps(steps), epsilon).unwrap().bracket;
        prop_assert!(spent(found.get()).upper <= delta.get());
        prop_assert!(spent(found.get() * 0.999).upper > delta.get());
    }
}
