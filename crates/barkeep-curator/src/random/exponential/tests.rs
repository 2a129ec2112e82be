//! Tests of choices: the arithmetic of the draw, its law, its price and what moves it.

use super::*;
use crate::random::rng::Script;
use crate::test_support::echo::{Echo, table};
use crate::test_support::statistics::assert_fits;
use crate::{Ask, Budget, Choose, Curator, Gate, NoiseRng, PrivacyModel, choose_cost, choose_epsilon};
use barkeep_accounting::mechanisms::Bernoulli;
use barkeep_accounting::{Contract, Delta, Mechanism, Neighbours, Steps};
use barkeep_machine::{Output, Program, Source, Writer};
use dashu_int::UBig;
use proptest::prelude::*;
use std::sync::Arc;

const PRIVACY_MODEL: PrivacyModel = PrivacyModel { neighbours: Neighbours::Substitute };

/// The probability of each candidate, by 128 random bits: how many words lead to it, over 2^128.
fn probabilities(sums: &[i64], offsets: &[f64], worth: Worth) -> Vec<f64> {
    // Chosen positions grow with the random number: bisect for the last that leads to at most g.
    let chosen =
        |random: u128| draw(&mut Script::new([(random >> 64) as u64, random as u64]), sums, offsets, worth);
    let below = |g: usize| {
        let (mut inside, mut outside) = (0_u128, u128::MAX);
        if chosen(outside) <= g {
            return 1.0;
        }
        if chosen(inside) > g {
            return 0.0;
        }
        while outside - inside > 1 {
            let middle = inside + (outside - inside) / 2;
            if chosen(middle) <= g { inside = middle } else { outside = middle }
        }
        outside as f64 / 2_f64.powi(128)
    };
    let cumulative: Vec<f64> = (0..sums.len()).map(below).collect();
    (0..sums.len()).map(|g| if g == 0 { cumulative[0] } else { cumulative[g] - cumulative[g - 1] }).collect()
}

proptest! {
    #[test]
    fn the_high_half_of_a_product_is_exact(a in any::<u128>(), b in any::<u128>()) {
        let product: UBig = (UBig::from(a) * UBig::from(b)) >> 128;
        prop_assert_eq!(UBig::from(high_product(a, b)), product);
    }

    /// The privacy loss of the very program: no neighbouring move of the sums changes a probability by more than ε.
    #[test]
    fn no_neighbour_changes_a_probability_by_more_than_epsilon(
        sums in prop::collection::vec(-(1_i64 << 34)..1 << 34, 2..6),
        moves in prop::collection::vec(-(1_i64 << 31)..=1 << 31, 6),
        extreme in any::<u8>(),
        power in 0.01..0.9_f64,
    ) {
        let range = (-1.5, 0.5);
        let worth = Worth::of(Clip::new(1.0).unwrap(), power).unwrap();
        let epsilon = choose_epsilon(range, power, PRIVACY_MODEL).unwrap();
        // Half of the time the moves are the worst ones.
        let moved: Vec<i64> = sums.iter().enumerate().map(|(g, sum)| {
            let full = if extreme >> g & 1 == 1 { 1 << 31 } else { -(1 << 31) };
            sum + if extreme >= 128 { full } else { moves[g] }
        }).collect();
        let offsets = vec![0.0; sums.len()];
        let (before, after) = (probabilities(&sums, &offsets, worth), probabilities(&moved, &offsets, worth));
        for (p, q) in before.iter().zip(&after) {
            // Differences of cumulative f64 are good to 2^-52 absolutely, on either side.
            let (p, q, slack) = (*p, *q, 2_f64.powi(-52) * (1.0 + epsilon.exp()));
            prop_assert!(p <= epsilon.exp() * q + slack && q <= epsilon.exp() * p + slack, "{p} {q} {epsilon}");
        }
    }
}

#[test]
fn weights_are_those_of_the_exponential() {
    let worth = Worth::of(Clip::new(1.0).unwrap(), 0.25).unwrap();
    let kappa = 0.25 / (1_u64 << 30) as f64;
    let sums: [i64; 5] = [0, 1 << 32, -(1 << 31), (1 << 32) + 12345, -(1 << 40)];
    let offsets = [0.0, -0.5, 0.25, 1e-3, 3.0];
    let found = probabilities(&sums, &offsets, worth);
    let exponents: Vec<f64> =
        sums.iter().zip(offsets).map(|(sum, offset)| kappa * *sum as f64 + offset).collect();
    let largest = exponents.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = exponents.iter().map(|x| (x - largest).max(-32.0).exp()).collect();
    let total: f64 = weights.iter().sum();
    for (found, weight) in found.iter().zip(&weights) {
        assert!((found - weight / total).abs() < 1e-14, "{found} {}", weight / total);
    }
}

#[test]
fn a_choice_follows_the_tempered_posterior_on_its_candidates() {
    let rows = [vec![0.5], vec![-0.25], vec![7.0]];
    let curator = Curator::new(table(&rows), PRIVACY_MODEL, Budget::not_private()).unwrap();
    let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(4)).unwrap();
    // Log-ratios are multiples of the record. Offsets that undo their sums leave the weights.
    let (weights, factors) = ([0.1, 0.4, 0.2, 0.3], [0.0, 1.0, -2.0, 3.0]);
    let sum = |factor: f64| rows.iter().map(|row| (factor * row[0]).clamp(-1.0, 1.0)).sum::<f64>();
    let offsets: [f64; 4] = std::array::from_fn(|g| f64::ln(weights[g]) - 0.5 * sum(factors[g]));
    let question = Choose { ratios: &multiples(&factors), offsets: &offsets, range: (-1.0, 1.0), power: 0.5 };
    let mut counts = [0; 4];
    for _ in 0..20_000 {
        counts[gate.choose(&question).unwrap()] += 1;
    }
    assert_fits(&counts, &weights, "choices");
}

#[test]
fn the_price_is_four_times_power_times_half_the_range() {
    let epsilon = |range, power, neighbours| choose_epsilon(range, power, PrivacyModel { neighbours });
    let near = |a: f64, b: f64| (a - b).abs() < 1e-8;
    assert!(near(epsilon((-1.0, 3.0), 0.125, Neighbours::Substitute).unwrap(), 1.0));
    assert!(near(epsilon((-1.0, 3.0), 0.125, Neighbours::AddRemove).unwrap(), 0.5));
    let cost = choose_cost((-1.0, 3.0), 0.125, PRIVACY_MODEL).unwrap();
    let Mechanism::Bernoulli(Bernoulli { p, q }) = cost.mechanism() else { panic!("randomised response") };
    assert!((p.get() / q.get()).ln() >= 1.0 && ((1.0 - q.get()) / (1.0 - p.get())).ln() >= 1.0);
    // δ costs it nothing: at a tiny one ε is the pure one.
    let bill = Contract::new(vec![(cost, Steps(1))]).unwrap();
    let upper = bill.epsilon(Delta::new(1e-12).unwrap()).unwrap().upper;
    assert!(upper > 0.999_999 && upper < 1.000_001, "{upper}");
    for (range, power) in [
        ((0.0, 0.0), 1.0),
        ((1.0, -1.0), 1.0),
        ((-1.0, 1.0), 0.0),
        ((-1.0, 1.0), -1.0),
        ((-1.0, f64::NAN), 1.0),
        ((-1.0, 1.0), f64::NAN),
        ((-1.0, 1.0), 10.0),
        ((-1.0, 1.0), 1e-9),
    ] {
        assert!(choose_cost(range, power, PRIVACY_MODEL).is_err(), "{range:?} {power}");
    }
}

/// Programs that write multiples of the first column.
fn multiples(factors: &[f64]) -> Vec<Program> {
    let program = |factor: &f64| {
        let mut w = Writer::default();
        let multiple = w.dot(0.0, [(*factor, Source::Column(0))]);
        w.finish([Output::Dense(multiple)]).unwrap()
    };
    factors.iter().map(program).collect()
}

#[test]
fn malformed_choices_are_refused_before_anything_is_spent() {
    let cost = choose_cost((-1.0, 1.0), 0.5, PRIVACY_MODEL).unwrap();
    let budget = Budget::permits(&Contract::new(vec![(cost, Steps(1))]).unwrap());
    let curator = Curator::new(table(&[vec![0.5]]), PRIVACY_MODEL, budget).unwrap();
    let mut gate = Gate::open(&Arc::new(curator), NoiseRng::from_os().unwrap()).unwrap();
    let (two, one) = (multiples(&[1.0, 2.0]), multiples(&[1.0]));
    let good = Choose { ratios: &two, offsets: &[0.0, 0.0], range: (-1.0, 1.0), power: 0.5 };
    let many = vec![0.0; MOST_CANDIDATES + 1];
    // One that has two outputs and reads a column that is not there.
    let bad = [one[0].clone(), Echo::of(2).gradient.row.clone()];
    for bad in [
        Choose { ratios: &bad, ..good },
        Choose { ratios: &one, ..good },
        Choose { ratios: &[], offsets: &[], ..good },
        Choose { offsets: &[0.0, f64::NEG_INFINITY], ..good },
        Choose { ratios: &vec![one[0].clone(); many.len()], offsets: &many, ..good },
        Choose { range: (0.0, 0.0), ..good },
        Choose { power: 100.0, ..good },
    ] {
        assert!(matches!(gate.choose(&bad), Err(Refused::Question { .. })));
    }
    assert_eq!(gate.choose(&Choose { power: 0.6, ..good }), Err(Refused::Exhausted));
    assert!(gate.choose(&good).is_ok());
    assert_eq!(gate.choose(&good), Err(Refused::Exhausted));
}
