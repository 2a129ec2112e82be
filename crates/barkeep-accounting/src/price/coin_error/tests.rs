//! Replaces an ideal coin by one as far from it as allowed, and looks for an event that moves by more than b.

use crate::mechanisms::Decision;
use crate::{Cost, Epsilon, Mechanism, Neighbours, Query, Rule, Sampling, Sensitivity, Steps};

/// At ε = 0 the coins leave no ε to take theirs from; δ there is still the total variation distance, not 1.
#[test]
fn delta_at_zero_is_the_distance_of_the_runs() {
    let bit = Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(0.05).unwrap() };
    let cost = Cost::new(Mechanism::Decision(bit), Sampling::Full, Neighbours::Substitute).unwrap();
    let query = Query::new(vec![(cost, Steps(1))]).unwrap();
    // One bit: a(Δ/2) − a(−Δ/2) = tanh(Δ/4).
    let one = query.delta(Steps(1), Epsilon::new(0.0).unwrap()).unwrap().bracket;
    let exact = 0.0125_f64.tanh();
    assert!(one.upper >= exact && one.upper < exact * 1.001, "{one:?} {exact}");
    // Many bits: between a strategy that can be carried out and a little more.
    let many = query.delta(Steps(89), Epsilon::new(0.0).unwrap()).unwrap().bracket;
    assert!(many.lower.unwrap() > 0.09 && many.upper < many.lower.unwrap() * 1.02, "{many:?}");
    // The curve does not rise.
    let later = query.delta(Steps(89), Epsilon::new(1e-6).unwrap()).unwrap().bracket;
    assert!(later.upper <= many.upper, "{later:?} {many:?}");
}

/// The worst coin allowed moves the likeliest event by e^r and b, never by 2b; and no smaller number than b will do.
#[test]
fn a_replaced_coin_costs_b_once() {
    let grid = |steps: u32| (0..=steps).map(move |i| f64::from(i) / f64::from(steps));
    for (r, b) in [(0.0_f64, 1e-3_f64), (1e-3, 1e-4), (0.1, 0.05)] {
        let mut most = f64::MIN;
        for p in grid(40) {
            // Both outcomes may be too likely by e^r and b, and no more.
            let lowest = (1.0 - (r.exp() * (1.0 - p) + b)).max(0.0);
            let highest = (r.exp() * p + b).min(1.0);
            for flipped in [lowest, highest] {
                for (x, y) in grid(20).flat_map(|x| grid(20).map(move |y| (x, y))) {
                    let ideal = p * x + (1.0 - p) * y;
                    let moved = flipped * x + (1.0 - flipped) * y - r.exp() * ideal;
                    assert!(moved <= b + 1e-15, "{p} {x} {y}: {moved}");
                    most = most.max(moved);
                }
            }
        }
        assert!(most > b * (1.0 - 1e-9), "{most}");
    }
}
