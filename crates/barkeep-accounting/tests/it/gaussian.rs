//! Holds the closed form against numerical integration at 60 digits, and against itself where it must be consistent.

use barkeep_accounting::{Delta, Epsilon, GaussianRun, Mu, Ratio, Steps};
use proptest::prelude::*;

fn run(ratio: f64, steps: u64) -> GaussianRun {
    GaussianRun::new(Ratio::new(ratio).unwrap(), Steps(steps)).unwrap()
}

/// `tables/gaussian.csv`, made by `tables/make_gaussian.py`.
#[test]
fn delta_agrees_with_integration() {
    let mut worst = 0.0_f64;
    for line in include_str!("../tables/gaussian.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().unwrap();
        let (run, epsilon) = (run(number(0), number(1) as u64), Epsilon::new(number(2)).unwrap());
        let (truth, bracket) = (number(3), run.delta(epsilon));
        let lower = bracket.lower.unwrap();
        assert!(lower <= truth && truth <= bracket.upper, "{line}: {bracket:?}");
        let logarithm = run.ln_delta(epsilon);
        assert!(logarithm.contains(truth.ln()), "{line}: {logarithm:?}");
        // Below the normal numbers a bracket is as wide as their spacing.
        if truth > 1e-300 && truth < 1.0 {
            worst = worst.max(((0.5 * (lower + bracket.upper)) / truth - 1.0).abs());
            let back = run.epsilon(Delta::new(truth).unwrap());
            let width = back.upper - back.lower.unwrap();
            assert!(back.lower.unwrap() <= epsilon.get() * (1.0 + 1e-15), "{line}: {back:?}");
            assert!(back.upper >= epsilon.get() * (1.0 - 1e-15), "{line}: {back:?}");
            // Near δ = 1 the curve is flat, and ε ill determined.
            assert!(truth > 0.5 || width <= 1e-12 * epsilon.get().max(run.mu().upper), "{line}: {back:?}");
        }
    }
    println!("largest relative error {worst:e}");
    assert!(worst < 2_f64.powi(-49), "{worst:e}");
}

#[test]
fn far_tails_keep_their_logarithm() {
    // Against the leading behaviour with its first correction, whose next one is of relative size 1/x⁴.
    for (mu, epsilon) in [(1e-3, 1.0), (1e-6, 0.01), (0.1, 400.0)] {
        let ln_delta =
            GaussianRun::from_mu(Mu::new(mu).unwrap()).unwrap().ln_delta(Epsilon::new(epsilon).unwrap());
        let (x, y) = (epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0);
        // Mills' ratio: Φ(−t) ≈ φ(t)/t·(1 − 1/t²), and φ(x) = e^ε·φ(y).
        let mills = |t: f64| (1.0 - 1.0 / (t * t)) / t;
        let leading = -0.5 * x * x - 0.5 * (2.0 * std::f64::consts::PI).ln() + (mills(x) - mills(y)).ln();
        assert!((ln_delta.upper / leading - 1.0).abs() < 1e-8, "{mu} {epsilon}: {ln_delta:?} {leading}");
    }
}

#[test]
fn nothing_released_costs_nothing() {
    let nothing = run(1.0, 0);
    assert_eq!(nothing.delta(Epsilon::new(0.0).unwrap()).upper, 0.0);
    assert_eq!(nothing.epsilon(Delta::new(1e-300).unwrap()).upper, 0.0);
}

#[test]
fn smallest_ratio_and_largest_steps_meet() {
    let (epsilon, delta) = (Epsilon::new(0.7).unwrap(), Delta::new(1e-9).unwrap());
    for steps in [1, 17, 100_000] {
        let ratio = GaussianRun::smallest_ratio(Steps(steps), epsilon, delta).unwrap();
        assert_eq!(GaussianRun::largest_steps(ratio, epsilon, delta).unwrap(), Steps(steps));
        let less = Ratio::new(ratio.get() * (1.0 - 1e-12)).unwrap();
        assert!(GaussianRun::largest_steps(less, epsilon, delta).unwrap() < Steps(steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn monotone_in_every_argument(
        ratio in 0.01..1e4_f64, steps in 1_u64..1_000_000, epsilon in 0.0..50.0_f64, factor in 1.001..2.0_f64,
    ) {
        let at = |ratio: f64, steps: u64, epsilon: f64| run(ratio, steps).ln_delta(Epsilon::new(epsilon).unwrap());
        let here = at(ratio, steps, epsilon);
        for less in [at(ratio * factor, steps, epsilon), at(ratio, steps, epsilon * factor)] {
            prop_assert!(less.lower.unwrap() <= here.upper);
        }
        prop_assert!(at(ratio, steps + 1, epsilon).upper >= here.lower.unwrap());
        prop_assert!(here.lower.unwrap() <= here.upper);
    }

    #[test]
    fn splitting_a_run_changes_nothing(
        ratio in 0.1..1e3_f64, first in 1_u64..10_000, second in 1_u64..10_000, delta in 1e-12..0.1_f64,
    ) {
        let delta = Delta::new(delta).unwrap();
        let whole = run(ratio, first + second).epsilon(delta);
        let parts = run(ratio, first).and(run(ratio, second)).unwrap().epsilon(delta);
        prop_assert!(whole.lower.unwrap() <= parts.upper && parts.lower.unwrap() <= whole.upper);
        prop_assert!((whole.upper - parts.upper).abs() <= 1e-12 * whole.upper);
    }

    #[test]
    fn any_bits_give_an_answer_or_an_error(ratio: u64, steps: u64, epsilon: u64, delta: u64, mu: u64) {
        let ratio = Ratio::new(f64::from_bits(ratio));
        let epsilon = Epsilon::new(f64::from_bits(epsilon));
        let delta = Delta::new(f64::from_bits(delta));
        let check = |bracket: barkeep_accounting::Bracket| {
            !bracket.upper.is_nan() && bracket.lower.is_some_and(|lower| lower <= bracket.upper)
        };
        let runs = [
            ratio.and_then(|ratio| GaussianRun::new(ratio, Steps(steps))),
            Mu::new(f64::from_bits(mu)).and_then(GaussianRun::from_mu),
        ];
        for run in runs.into_iter().flatten() {
            if let Ok(epsilon) = epsilon {
                prop_assert!(check(run.delta(epsilon)));
                prop_assert!(check(run.ln_delta(epsilon)));
            }
            if let Ok(delta) = delta {
                prop_assert!(check(run.epsilon(delta)));
            }
        }
    }
}
