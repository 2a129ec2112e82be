//! Holds the theorems against the numbers published with them, and the bounds against brute force.

use barkeep_accounting::mechanisms::{Bernoulli, Laplace};
use barkeep_accounting::renyi::{
    Amplified, Curve, Linear, PoissonGaussian, Pure, RenyiComposition, WithoutReplacementGaussian,
};
use barkeep_accounting::theorems::barker::{BarkerTest, corollary_2, supremum};
use barkeep_accounting::theorems::thesis::{
    Hmc, VarianceSensitivity, batch_rate, minibatch_ratio, minibatch_sensitivity, penalty_ratio,
};
use barkeep_accounting::{
    BarkerBound, Delta, Epsilon, GaussianRun, Order, Probability, Query, Rate, Ratio, Steps,
};

fn order(alpha: f64) -> Order {
    Order::new(alpha).unwrap()
}

/// Table of iterations of the thesis: `reference/thesis_iterations.csv`, from the authors' code, checked with mpmath.
#[test]
fn iterations_of_the_thesis() {
    let table = include_str!("../reference/thesis_iterations.csv");
    let mut rows = 0;
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().unwrap();
        let (records, tau) = (number(2) as u64, number(3));
        let epsilon = Epsilon::new(number(6)).unwrap();
        let delta = Delta::new(0.1 / records as f64).unwrap();
        let exact = if cells[1] == "hmc" {
            let hmc = Hmc { tau, tau_gradient: number(4), leapfrog: number(5) as u64, records };
            hmc.largest_steps(epsilon, delta).unwrap()
        } else {
            let ratio = penalty_ratio(tau, records).unwrap();
            GaussianRun::largest_steps(ratio, epsilon, delta).unwrap()
        };
        assert_eq!(exact.0, number(7) as u64, "{line}");
        rows += 1;
    }
    assert_eq!(rows, 96);
}

fn barker(bound: BarkerBound) -> RenyiComposition {
    let step = corollary_2(1000, 1_000_000, bound).unwrap();
    RenyiComposition::new(vec![(Box::new(step), Steps(1))])
}

/// ε of the published runs (NeurIPS 2019, settings of its Figure 3; values of the authors' code).
#[test]
fn minibatch_barker_as_published_and_fixed() {
    let delta = Delta::new(1e-6).unwrap();
    let mut paper = barker(BarkerBound::Paper);
    let published = [
        (1000, 0.2258),
        (2000, 0.3173),
        (5000, 0.4994),
        (10_000, 0.7059),
        (20_000, 1.0004),
        (40_000, 1.4219),
    ];
    for (steps, epsilon) in published {
        let ours = paper.epsilon_classical(Steps(steps), delta).unwrap().upper;
        assert!((ours - epsilon).abs() < 6e-5, "{steps}: {ours}");
    }
    let run = Steps(20_000);
    let mut fixed = barker(BarkerBound::Fixed);
    let (classical, improved) =
        (fixed.epsilon_classical(run, delta).unwrap().upper, fixed.epsilon(run, delta).unwrap().upper);
    assert!(classical <= 0.2400 && classical > 0.235, "{classical}");
    assert!(improved <= 0.1765 && improved > 0.170, "{improved}");
    let mut tight = barker(BarkerBound::Tight);
    let (tight_classical, tight_improved) =
        (tight.epsilon_classical(run, delta).unwrap().upper, tight.epsilon(run, delta).unwrap().upper);
    // A maximum over a grid of batches, which bounds the supremum from below, rounds to 0.2231 and 0.1620.
    assert!(tight_classical < classical && tight_classical >= 0.22305, "{tight_classical}");
    assert!(tight_improved < improved && tight_improved >= 0.16195, "{tight_improved}");
    assert!(tight_classical < 0.2240 && tight_improved < 0.1630);
}

/// Lemma 1 of the paper at one batch, in the plain form.
fn gaussian_divergence(b: f64, alpha: f64, sum: f64, first: f64, second: f64) -> f64 {
    let variance = |u: f64| 2.0 - (b - 1.0 + u * u) / b + ((sum + u) / b).powi(2);
    let (one, two) = (variance(first), variance(second));
    let mixed = alpha * two + (1.0 - alpha) * one;
    0.5 * (two / one).ln()
        + (two / mixed).ln() / (2.0 * (alpha - 1.0))
        + alpha * (first - second).powi(2) / (2.0 * b * mixed)
}

#[test]
fn certified_supremum_lies_above_every_batch_and_close_to_the_worst() {
    for b in [20.0_f64, 100.0, 1000.0] {
        for alpha in [2.0, 3.0, 0.1 * b, 0.3 * b] {
            let bound = supremum(b, alpha);
            let mut worst = 0.0_f64;
            for i in -60..=60 {
                for j in -6..=6 {
                    for k in -6..=6 {
                        let (sum, first, second) =
                            (f64::from(i) / 60.0 * (b - 1.0), f64::from(j) / 6.0, f64::from(k) / 6.0);
                        worst = worst.max(gaussian_divergence(b, alpha, sum, first, second));
                    }
                }
            }
            assert!(worst <= bound && bound <= worst * 1.002, "{b} {alpha}: {worst} {bound}");
        }
    }
}

#[test]
fn three_bounds_of_the_barker_test_are_nested() {
    for batch in [50, 200, 1000, 20_000] {
        let [paper, fixed, tight] = [BarkerBound::Paper, BarkerBound::Fixed, BarkerBound::Tight]
            .map(|bound| BarkerTest::new(batch, bound));
        for alpha in [2.0, 3.0, 5.0, 9.0] {
            let [paper, fixed, tight] = [&paper, &fixed, &tight].map(|test| test.at(order(alpha)));
            assert!(tight <= fixed && fixed <= paper, "{batch} {alpha}: {tight} {fixed} {paper}");
        }
    }
}

/// The integral that defines the curve, E_Q[W^α + W^(1−α) − 1 − W; L > 1], by Simpson's rule on a fine grid.
fn two_branch_divergence(rate: f64, ratio: f64, alpha: f64) -> f64 {
    let density = |x: f64| (-0.5 * (x / ratio).powi(2)).exp() / (ratio * (2.0 * std::f64::consts::PI).sqrt());
    let integrand = |x: f64| {
        let w = rate * (((2.0 * x - 1.0) / (2.0 * ratio * ratio)).exp_m1());
        let surplus = (alpha * w.ln_1p()).exp_m1() + ((1.0 - alpha) * w.ln_1p()).exp_m1() - w;
        surplus * density(x)
    };
    let (low, high, cells) = (0.5, alpha + 40.0 * ratio, 400_000);
    let width = (high - low) / f64::from(cells);
    let sum: f64 = (0..=cells)
        .map(|i| {
            let weight = if i == 0 || i == cells {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            };
            weight * integrand(low + width * f64::from(i))
        })
        .sum();
    (sum * width / 3.0).ln_1p() / (alpha - 1.0)
}

#[test]
fn tight_curve_without_replacement_bounds_its_integral_closely() {
    for (rate, ratio) in [(0.01, 1.0), (0.001, 2.0), (0.1, 4.0), (0.3, 0.9)] {
        let (q, s) = (Rate::new(rate).unwrap(), Ratio::new(ratio).unwrap());
        let tight = WithoutReplacementGaussian { rate: q, ratio: s };
        let general = Amplified::new(q, Linear::gaussian(s));
        let poisson = PoissonGaussian { rate: q, ratio: s };
        for alpha in [2.0, 3.0, 5.0, 8.0] {
            let truth = two_branch_divergence(rate, ratio, alpha);
            let bound = tight.at(order(alpha));
            assert!(bound >= truth * (1.0 - 1e-9), "{rate} {ratio} {alpha}: {bound} below {truth}");
            let third_order = 1.0 + 2.0 * alpha * rate * (0.5_f64.max(1.0 / ratio / ratio)).exp();
            assert!(bound <= truth * third_order, "{rate} {ratio} {alpha}: {bound} far above {truth}");
            assert!(bound <= general.at(order(alpha)));
            assert!(bound >= poisson.at(order(alpha)) * (1.0 - 1e-12));
        }
    }
}

/// Whole moments of a Poisson-sampled Gaussian by Simpson's rule.
#[test]
fn poisson_curve_is_exact() {
    for (rate, ratio, alpha) in [(0.01, 1.0, 2.0), (0.01, 2.0, 7.0), (0.2, 1.5, 4.0), (1e-6, 3.0, 3.0)] {
        let step = 1e-4 * ratio;
        let sum: f64 = (-400_000..=1_200_000)
            .map(|i| {
                let x = f64::from(i) * step;
                let w: f64 = rate * ((2.0 * x - 1.0) / (2.0 * ratio * ratio)).exp_m1();
                // W^α − 1 − α(W−1) has the same mean as W^α − 1, and does not cancel.
                let surplus = (alpha * w.ln_1p()).exp_m1() - alpha * w;
                surplus * (-0.5 * (x / ratio).powi(2)).exp() * step
            })
            .sum();
        let truth = (sum / (ratio * (2.0 * std::f64::consts::PI).sqrt())).ln_1p() / (alpha - 1.0);
        let curve = PoissonGaussian { rate: Rate::new(rate).unwrap(), ratio: Ratio::new(ratio).unwrap() };
        let ours = curve.at(order(alpha));
        assert!((ours / truth - 1.0).abs() < 1e-8, "{rate} {ratio} {alpha}: {ours} {truth}");
    }
}

#[test]
fn pure_bounds_hold_for_laplace_and_bits() {
    for ratio in [0.1, 1.0, 7.0] {
        let epsilon = 1.0 / ratio;
        let pure = Pure(Epsilon::new(epsilon).unwrap());
        let laplace = Laplace { ratio: Ratio::new(ratio).unwrap() };
        let heads = epsilon.exp() / (1.0 + epsilon.exp());
        let response =
            Bernoulli { p: Probability::new(heads).unwrap(), q: Probability::new(1.0 - heads).unwrap() };
        for alpha in [1.01, 1.5, 2.0, 10.0, 1e3] {
            let bound = pure.at(order(alpha));
            assert!(laplace.at(order(alpha)) <= bound * (1.0 + 1e-12));
            // Randomised response attains it.
            assert!((response.at(order(alpha)) / bound - 1.0).abs() < 1e-9);
        }
        // Order 2 of Laplace by hand: ln[(2/3)e^(1/r) + (1/3)e^(−2/r)].
        let by_hand = (2.0 / 3.0 * epsilon.exp() + (-2.0 * epsilon).exp() / 3.0).ln();
        assert!((laplace.at(order(2.0)) / by_hand - 1.0).abs() < 1e-12);
    }
}

#[test]
fn minibatch_penalty_sensitivity_is_attained() {
    // nT/b·R = 3 with b = 4: others at +R, the changed record from −R to +R.
    let (scale, b) = (3.0, 4.0);
    let half_variance = |changed: f64| {
        let values = [1.0, 1.0, 1.0, changed];
        let mean: f64 = values.iter().sum::<f64>() / b;
        0.5 * scale * scale * values.iter().map(|u| (u - mean).powi(2)).sum::<f64>()
    };
    let log_ratio = |changed: f64| scale * (3.0 + changed);
    let moved = (log_ratio(1.0) - half_variance(1.0)) - (log_ratio(-1.0) - half_variance(-1.0));
    let tight = minibatch_sensitivity(3.0 * b, 4, 1.0, VarianceSensitivity::Tight);
    assert!((tight - moved).abs() < 1e-12, "{tight} {moved}");
    assert!(minibatch_sensitivity(3.0 * b, 4, 1.0, VarianceSensitivity::Thesis) > tight);
}

#[test]
fn minibatch_penalty_counts_the_last_term() {
    // The published code stops at j = α−1; with τ = 0.7 the last term is all that matters at large α.
    let base = Linear::gaussian(minibatch_ratio(0.7).unwrap());
    let curve = Amplified::new(batch_rate(1000, 100_000).unwrap(), base);
    let alpha = 32.0;
    let last = (alpha * 0.01_f64.ln() + 31.0 * alpha / 1.4 + 2_f64.ln()) / 31.0;
    assert!(curve.at(order(alpha)) >= last);
}

/// A larger budget never pays for fewer steps, whichever theorem counts them.
#[test]
fn largest_steps_grow_with_the_budget() {
    let barker = |bound| Query::barker_minibatch(1000, 100_000, bound).unwrap();
    let hmc = Hmc { tau: 0.1, tau_gradient: 0.3, leapfrog: 10, records: 100_000 };
    let queries = [
        ("barker paper", barker(BarkerBound::Paper)),
        ("barker fixed", barker(BarkerBound::Fixed)),
        ("barker tight", barker(BarkerBound::Tight)),
        ("penalty minibatch", Query::penalty_minibatch(4.0, 1000, 100_000).unwrap()),
        ("penalty", Query::penalty(0.1, 100_000).unwrap()),
        ("hmc", Query::hmc(hmc).unwrap()),
        ("langevin", Query::langevin(1.0, 1e-4, 1.0).unwrap()),
    ];
    for (name, query) in &queries {
        for delta in [1e-6, 1e-2] {
            let mut before = Steps(0);
            for epsilon in [0.05, 0.2, 1.0, 3.0, 10.0, 20.0, 50.0, 100.0, 300.0] {
                // Composed on a lattice, each look of which takes a while.
                if *name == "penalty minibatch" && !(0.2..=10.0).contains(&epsilon) {
                    continue;
                }
                let (at, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
                let most = query.largest_steps(at, delta).unwrap();
                assert!(most >= before, "{name}: {most:?} at {epsilon}, {before:?} before");
                before = most;
            }
            assert!(before > Steps(0), "{name}: never a step");
        }
    }
}
