//! Checks the second evaluator against the reference, and the lattice against the second evaluator where there is no reference.

use super::contour::{Contour, Pair};
use crate::pld::{Accuracy, Composition, DominatingPair};
use crate::{Delta, Epsilon, Neighbours, Rate, Ratio, Sampling, Steps};
use barkeep_num::{ln_normal_cdf, log_add_exp, log_sub_exp};

fn contour(pair: Pair, ratio: f64, rate: f64, steps: u64) -> Contour {
    Contour::new(pair, Ratio::new(ratio).unwrap(), Rate::new(rate).unwrap(), Steps(steps))
}

/// Rows of the reference file, computed in long double elsewhere.
#[test]
fn contour_agrees_with_the_reference() {
    for (pair, rate, ratio, steps, delta, truth) in [
        (Pair::Remove, 0.01, 1.0, 1000, 1e-6, 2.1245151711201213),
        (Pair::Remove, 0.001, 0.7, 10_000, 1e-6, 1.6369164195795398),
        (Pair::Remove, 0.1, 2.0, 1000, 1e-6, 9.181990958729047),
        (Pair::Remove, 0.01, 2.0, 1000, 1e-20, 1.6310218854866818),
        (Pair::Add, 0.001, 1.0, 100_000, 1e-6, 1.8041504051813486),
        (Pair::Substitute, 0.01, 1.0, 1000, 1e-6, 1.3744933734487805),
        (Pair::WithoutReplacement, 0.01, 1.0, 1000, 1e-6, 2.512844492213325),
    ] {
        let log_delta = contour(pair, ratio, rate, steps).log_delta(Epsilon::new(truth).unwrap()).unwrap();
        // ε is known to 1e-12, and ln δ falls with it 37 times as fast at most.
        assert!((log_delta - f64::ln(delta)).abs() < 1e-10, "{pair:?} {rate} {ratio} {steps}: {log_delta}");
    }
    let epsilon = contour(Pair::Remove, 1.0, 0.01, 1000).epsilon(Delta::new(1e-6).unwrap()).unwrap();
    assert!((epsilon - 2.1245151711201213).abs() < 1e-12);
}

/// Settings the reference does not have: large and small rates, few steps, δ near 1 and far below 1e-6, many steps.
#[test]
fn lattice_contains_the_contour() {
    for (rate, ratio, steps, epsilon) in [
        (0.5, 5.0, 40_u64, 1.0),
        (0.2, 3.0, 100, 6.0),
        (0.03, 0.9, 60, 0.5),
        (0.9, 8.0, 30, 0.05),
        (1e-3, 0.8, 20_000, 1.5),
        (1e-4, 1.5, 1_000_000, 0.4),
        (0.02, 1.5, 3000, 8.0),
        (0.3, 30.0, 20_000, 9.0),
    ] {
        let at = Epsilon::new(epsilon).unwrap();
        let poisson = Sampling::Poisson { rate: Rate::new(rate).unwrap() };
        let batch = Sampling::WithoutReplacement { batch: (rate * 1e6).round() as u64, records: 1_000_000 };
        let curve = |sampling, neighbours| {
            DominatingPair::subsampled_gaussian(Ratio::new(ratio).unwrap(), sampling, neighbours).unwrap()
        };
        for (pair, curve) in [
            (Pair::Remove, curve(poisson, Neighbours::AddRemove).forward()),
            (Pair::Add, curve(poisson, Neighbours::AddRemove).backward()),
            (Pair::Substitute, curve(poisson, Neighbours::Substitute)),
            (Pair::WithoutReplacement, curve(batch, Neighbours::Substitute)),
        ] {
            let truth = contour(pair, ratio, rate, steps).log_delta(at);
            let truth = truth.unwrap_or_else(|| panic!("{pair:?} {rate} {ratio} {steps} does not converge"));
            let bracket =
                Composition::new().and(&curve, Steps(steps)).delta(at, Accuracy::new(1e-4).unwrap()).unwrap();
            let (lower, upper) = (bracket.lower.unwrap().ln(), bracket.upper.ln());
            let own = 1e-10;
            assert!(
                lower - own <= truth && truth <= upper + own,
                "{pair:?} {rate} {ratio} {steps} {epsilon}: {lower} {truth} {upper}"
            );
        }
    }
}

/// ln of a lower bound on δ of `steps` steps at ε: the best of the attacks that wait for one output above a threshold.
fn waiting(rate: f64, ratio: f64, steps: u64, epsilon: f64) -> f64 {
    let shift = 1.0 / ratio;
    let at_least_once = |log: f64| {
        if log < -30.0 {
            log + (steps as f64).ln()
        } else {
            (-(steps as f64 * (-log.exp()).ln_1p()).exp_m1()).ln()
        }
    };
    // Where the loss of one step is ε, and around.
    let likely = 0.5 * shift + (epsilon - rate.ln()) / shift;
    let attack = |threshold: f64| {
        let (plain, moved) = (ln_normal_cdf(-threshold), ln_normal_cdf(shift - threshold));
        let mixed = log_add_exp((-rate).ln_1p() + plain, rate.ln() + moved);
        let (hit, alarm) = (at_least_once(mixed), at_least_once(plain) + epsilon);
        if alarm < hit { log_sub_exp(hit, alarm) } else { f64::NEG_INFINITY }
    };
    (-200..=200).map(|i| attack(likely + 0.05 * f64::from(i))).fold(f64::NEG_INFINITY, f64::max)
}

/// Rare large losses: nearly all losses of a step are next to nothing, and δ is made of the few that are not. On a lattice made for
/// the many, the few were lost from the lower end, and the upper end was that of Rényi divergences, or 1.
#[test]
fn rare_large_losses_are_bracketed_closely() {
    // How far above the attack δ may be at most, in ln: not at all where one large loss decides, far where many must meet.
    for (rate, ratio, steps, epsilon, more) in [
        (5.9e-7, 0.1525, 26_625_u64, 0.3662, 2e-3),
        (1e-6, 0.5, 1000, 20.0, 1.0),
        (1.25e-4, 0.72, 1000, 49.0, 500.0),
        (1e-4, 0.1, 1000, 100.0, 20.0),
    ] {
        let sampling = Sampling::Poisson { rate: Rate::new(rate).unwrap() };
        let curve =
            DominatingPair::subsampled_gaussian(Ratio::new(ratio).unwrap(), sampling, Neighbours::AddRemove)
                .unwrap();
        let at = Epsilon::new(epsilon).unwrap();
        let bracket = Composition::new().and(&curve, Steps(steps)).delta(at, Accuracy::AIMED).unwrap();
        let (lower, upper) = (bracket.lower.unwrap().ln(), bracket.upper.ln());
        let known = waiting(rate, ratio, steps, epsilon);
        assert!(upper - lower < 0.01 && known <= upper, "{rate} {ratio}: {known}, {lower} to {upper}");
        assert!(lower <= known + more, "{rate} {ratio}: {known}, {lower} to {upper}");
    }
}
