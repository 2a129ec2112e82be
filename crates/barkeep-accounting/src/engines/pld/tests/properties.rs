//! Properties of composed privacy-loss distributions: brackets agree with every monotonicity, with other ways to compute
//! the same, and any bits given as arguments are answered or refused.

use crate::pld::{Accuracy, Composition, DominatingPair};
use crate::{
    Bracket, Delta, Epsilon, Error, GaussianRun, Neighbours, Probability, Rate, Ratio, Sampling, Steps,
    Variance,
};
use proptest::prelude::*;

/// `cases` cases, or as many as the environment asks for: PROPTEST_CASES=3000 cargo test --release -p barkeep-accounting.
fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    ProptestConfig { failure_persistence: None, cases, ..ProptestConfig::default() }
}

fn ratio(value: f64) -> Ratio {
    Ratio::new(value).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn coin(p: f64, q: f64) -> DominatingPair {
    DominatingPair::bernoulli(Probability::new(p).unwrap(), Probability::new(q).unwrap())
}

fn coarse() -> Accuracy {
    Accuracy::new(1e-3).unwrap()
}

/// The three sampling schemes.
fn subsampled(scheme: usize, noise: f64, rate: f64) -> DominatingPair {
    let poisson = Sampling::Poisson { rate: Rate::new(rate).unwrap() };
    let batch = Sampling::WithoutReplacement { batch: (rate * 1e6).ceil() as u64, records: 1_000_000 };
    let (sampling, neighbours) = match scheme {
        0 => (poisson, Neighbours::AddRemove),
        1 => (poisson, Neighbours::Substitute),
        _ => (batch, Neighbours::Substitute),
    };
    DominatingPair::subsampled_gaussian(ratio(noise), sampling, neighbours).unwrap()
}

fn run(curve: &DominatingPair, steps: u64) -> Composition {
    Composition::new().and(curve, Steps(steps))
}

fn ends(bracket: Bracket) -> (f64, f64) {
    (bracket.lower.unwrap(), bracket.upper)
}

proptest! {
    #![proptest_config(config(6))]

    #[test]
    fn brackets_follow_every_argument(
        scheme in 0..3_usize,
        noise in 0.7_f64..6.0,
        rate in 1e-3_f64..0.5,
        steps in 10_u64..2000,
        log_delta in -30.0_f64..-3.0,
        more in 1.05_f64..2.0,
    ) {
        let curve = subsampled(scheme, noise, rate);
        let at = |curve: &DominatingPair, steps: u64, delta_: f64| {
            ends(run(curve, steps).epsilon(delta(delta_), coarse()).unwrap())
        };
        let (lower, upper) = at(&curve, steps, log_delta.exp());
        prop_assert!(lower <= upper);
        // Each change for the worse must not look better.
        let stepped = at(&curve, (steps as f64 * more).ceil() as u64, log_delta.exp());
        prop_assert!(lower <= stepped.1);
        let smaller_delta = at(&curve, steps, (log_delta * more).exp());
        prop_assert!(lower <= smaller_delta.1);
        let less_noise = at(&subsampled(scheme, noise / more, rate), steps, log_delta.exp());
        prop_assert!(lower <= less_noise.1);
        let larger_rate = at(&subsampled(scheme, noise, (rate * more).min(1.0)), steps, log_delta.exp());
        prop_assert!(lower <= larger_rate.1);
        // And back: δ at the ε found contains the δ asked for.
        let (low, _) = ends(run(&curve, steps).delta(epsilon(upper), coarse()).unwrap());
        let (_, high) = ends(run(&curve, steps).delta(epsilon(lower), coarse()).unwrap());
        prop_assert!(low <= log_delta.exp() * (1.0 + 1e-12));
        prop_assert!(log_delta.exp() <= high * (1.0 + 1e-12) || lower == 0.0);
    }

    /// Two kinds of steps that happen to be the same are composed as two kinds.
    #[test]
    fn some_steps_and_then_some_are_all_of_them(
        scheme in 0..3_usize, noise in 0.8_f64..4.0, rate in 1e-3_f64..0.3, first in 1_u64..500, second in 1_u64..500,
    ) {
        let (one, other) = (subsampled(scheme, noise, rate), subsampled(scheme, noise, rate));
        let together = ends(run(&one, first + second).epsilon(delta(1e-5), coarse()).unwrap());
        let apart = run(&one, first).and(&other, Steps(second));
        let apart = ends(apart.epsilon(delta(1e-5), coarse()).unwrap());
        prop_assert!(together.0 <= apart.1 && apart.0 <= together.1, "{together:?} {apart:?}");
    }

    /// The number of steps found fits, and a few more than one more are shown not to.
    #[test]
    fn largest_steps_fit_and_are_largest(
        scheme in 0..3_usize, noise in 0.8_f64..4.0, rate in 1e-2_f64..0.3, at in 0.3_f64..4.0,
    ) {
        let curve = subsampled(scheme, noise, rate);
        let most = run(&curve, 1).largest_repetitions(epsilon(at), delta(1e-6), Accuracy::default()).unwrap();
        if most.0 > 0 {
            let (low, _) = ends(run(&curve, most.0).delta(epsilon(at), coarse()).unwrap());
            prop_assert!(low <= 1e-6);
        }
        let next = (most.0 as f64 * (1.0 + 2e-5)) as u64 + 1;
        let (_, high) = ends(run(&curve, next).delta(epsilon(at), coarse()).unwrap());
        prop_assert!(high > 1e-6, "{most:?} {high}");
    }

    /// Gaussian mechanisms of two ratios have a closed form.
    #[test]
    fn gaussians_have_their_closed_form(
        a in 1.0_f64..30.0, b in 1.0_f64..30.0, k in 1_u64..50, l in 0_u64..50, at in 0.0_f64..8.0,
    ) {
        let pld = run(&DominatingPair::gaussian(ratio(a)).unwrap(), k).and(&DominatingPair::gaussian(ratio(b)).unwrap(), Steps(l));
        let exact = GaussianRun::new(ratio(a), Steps(k)).unwrap();
        let exact = exact.and(GaussianRun::new(ratio(b), Steps(l)).unwrap()).unwrap();
        let truth = exact.delta(epsilon(at)).upper;
        let (lower, upper) = ends(pld.delta(epsilon(at), coarse()).unwrap());
        prop_assert!(lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12), "{lower:e} {truth:e} {upper:e}");
    }
}

/// δ of one Gaussian mechanism at any ε, by H_a(P‖Q) = 1 − a + a·H_{1/a}(Q‖P) below 0.
fn gaussian_delta(run: GaussianRun, at: f64) -> f64 {
    if at >= 0.0 {
        run.delta(epsilon(at)).upper
    } else {
        -at.exp_m1() + at.exp() * run.delta(epsilon(-at)).upper
    }
}

/// CoinError and Gaussians together: δ is the mean of the Gaussian δ over the coins' outcomes.
#[test]
fn coins_mix_with_gaussians() {
    let flips = 12_u64;
    let noise = GaussianRun::new(ratio(2.0), Steps(5)).unwrap();
    for (p, q) in [(0.3_f64, 0.22_f64), (0.22, 0.3)] {
        let mixed =
            run(&coin(p, q).forward(), flips).and(&DominatingPair::gaussian(ratio(2.0)).unwrap(), Steps(5));
        for at in [0.0, 1.0, 3.0, 7.0] {
            let mut truth = 0.0;
            for ones in 0..=flips {
                let chance = barkeep_num::ln_binomial(flips as f64, ones as f64).exp()
                    * p.powi(ones as i32)
                    * (1.0 - p).powi((flips - ones) as i32);
                let loss = ones as f64 * (p / q).ln() + (flips - ones) as f64 * ((1.0 - p) / (1.0 - q)).ln();
                truth += chance * gaussian_delta(noise, at - loss);
            }
            let (lower, upper) = ends(mixed.delta(epsilon(at), Accuracy::default()).unwrap());
            assert!(
                lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12),
                "{at}: {lower} {truth} {upper}"
            );
            assert!(upper <= lower * (1.0 + 1.1e-5));
        }
    }
}

/// Laplace noise: closed form for one step; for more, the same curve given as a function.
#[test]
fn laplace_noise() {
    let scale = 1.5_f64;
    let largest = 1.0 / scale;
    let curve = DominatingPair::laplace(ratio(scale)).unwrap();
    // H at e^ε is 1 − e^((ε−λ)/2) for |ε| ≤ λ (Balle, Barthe, Gaboardi 2020).
    let exact = move |at: f64| {
        if at >= largest {
            0.0
        } else if at <= -largest {
            -at.exp_m1()
        } else {
            -(0.5 * (at - largest)).exp_m1()
        }
    };
    for at in [0.0, 0.1, 0.5, 0.66] {
        let (lower, upper) = ends(run(&curve, 1).delta(epsilon(at), Accuracy::default()).unwrap());
        let truth = exact(at);
        assert!(
            lower <= truth * (1.0 + 1e-12) && truth <= upper * (1.0 + 1e-12),
            "{at}: {lower} {truth} {upper}"
        );
    }
    assert_eq!(run(&curve, 1).delta(epsilon(0.67), Accuracy::default()).unwrap().upper, 0.0, "pure privacy");
    let function =
        DominatingPair::from_function(move |at| (exact(at) * (1.0 - 1e-14), exact(at) * (1.0 + 1e-14)));
    for (steps, at) in [(2, 0.5), (30, 4.0), (200, 20.0)] {
        let (lower, upper) = ends(run(&curve, steps).delta(epsilon(at), Accuracy::default()).unwrap());
        let (low, high) = ends(run(&function, steps).delta(epsilon(at), coarse()).unwrap());
        assert!(low <= upper && lower <= high, "{steps}: {lower} {upper} {low} {high}");
        assert!(high <= low * 1.0011 && upper <= lower * (1.0 + 1.1e-5));
    }
}

/// Atoms on lattice nodes stay there: the lower end keeps up with the upper over many steps, and pure privacy is counted exactly.
#[test]
fn laplace_noise_of_many_steps_is_narrow() {
    let run = run(&DominatingPair::laplace(ratio(155.827)).unwrap(), 150);
    let (lower, upper) = ends(run.delta(epsilon(0.1667), Accuracy::default()).unwrap());
    assert!(lower > 5e-4 && upper <= lower * (1.0 + 1.1e-5), "{lower} {upper}");
    let once = self::run(&DominatingPair::laplace(ratio(80.0)).unwrap(), 1);
    let most = once.largest_repetitions(epsilon(0.151), delta(1e-198), Accuracy::default()).unwrap();
    assert_eq!(most, Steps(12), "12/80 ≤ 0.151");
}

/// Each step loses at least 297.9 on average, so 34 of them exceed ε = 10075 half of the time. A lattice planned for one
/// step and asked about millions once overflowed to a yes.
#[test]
fn a_lattice_far_from_its_plan_does_not_say_yes() {
    let curve = DominatingPair::discrete_gaussian(Variance::new(0.167_843).unwrap(), 10).unwrap();
    let most = run(&curve, 1).largest_repetitions(epsilon(10_075.0), delta(1e-165), Accuracy::default());
    assert!(most.is_err() || most.unwrap() < Steps(34));
}

/// Single steps with rare large losses are hard to resolve at a small δ; the search must not stop there.
#[test]
fn rare_losses_do_not_hide_how_many_steps_fit() {
    let sampling = Sampling::WithoutReplacement { batch: 98, records: 171_467 };
    let curve =
        DominatingPair::subsampled_gaussian(ratio(2.017_150), sampling, Neighbours::Substitute).unwrap();
    let most = run(&curve, 1).largest_repetitions(epsilon(0.1196), delta(6.6e-23), coarse()).unwrap();
    let spent = |steps: u64| ends(run(&curve, steps).epsilon(delta(6.6e-23), Accuracy::WIDE).unwrap());
    assert!(spent(1000).1 <= 0.1196, "a thousand fit");
    assert!(most >= Steps(1000) && spent(most.0).0 <= 0.1196, "{most:?}");
}

/// The Gaussian curve as a function, subsampled as a function, against the closed forms.
#[test]
fn functions_are_subsampled_like_closed_forms() {
    let noise = 1.2;
    let base = move |at: f64| {
        let value = gaussian_delta(GaussianRun::new(ratio(noise), Steps(1)).unwrap(), at);
        (value * (1.0 - 1e-12), value * (1.0 + 1e-12))
    };
    let rate = Rate::new(0.05).unwrap();
    for (scheme, function) in
        [(0, DominatingPair::poisson(base, rate)), (2, DominatingPair::without_replacement(base, rate))]
    {
        let closed = run(&subsampled(scheme, noise, 0.05), 100).epsilon(delta(1e-5), Accuracy::default());
        let sampled = run(&function, 100).epsilon(delta(1e-5), coarse());
        let ((lower, upper), (low, high)) = (ends(closed.unwrap()), ends(sampled.unwrap()));
        assert!(low <= upper && lower <= high, "{lower} {upper} {low} {high}");
    }
}

/// A curve known only by dots above it has an upper end and no lower; dots far apart cost a little more than the truth.
#[test]
fn dots_bound_from_above() {
    let exact = GaussianRun::new(ratio(3.0), Steps(1)).unwrap();
    let dots: Vec<(f64, f64)> =
        (-100..=100).map(|index| f64::from(index) * 0.03).map(|at| (at, gaussian_delta(exact, at))).collect();
    let bracket = run(&DominatingPair::from_dots(&dots).unwrap(), 20).epsilon(delta(1e-4), coarse()).unwrap();
    let truth = GaussianRun::new(ratio(3.0), Steps(20)).unwrap().epsilon(delta(1e-4)).upper;
    assert_eq!(bracket.lower, None);
    assert!(truth <= bracket.upper && bracket.upper < 1.02 * truth, "{truth} {bracket:?}");
    let between: Vec<(f64, f64, f64)> =
        dots.iter().map(|(at, value)| (*at, value * (1.0 - 1e-12), value * (1.0 + 1e-12))).collect();
    let curve = DominatingPair::from_dots_between(&between).unwrap();
    // The dots are too far apart for 1e-5, whatever the lattice.
    let narrow = run(&curve, 20).epsilon(delta(1e-4), Accuracy::default());
    assert!(matches!(narrow, Err(Error::Unresolved { .. })), "{narrow:?}");
    let (lower, upper) = ends(run(&curve, 20).epsilon(delta(1e-4), Accuracy::new(0.1).unwrap()).unwrap());
    assert!(lower <= truth && truth <= upper);
}

#[test]
fn nothing_costs_nothing_and_certain_loss_has_no_epsilon() {
    let nothing = Composition::new();
    let free = nothing.epsilon(delta(0.1), Accuracy::default()).unwrap();
    assert_eq!(free, Bracket { lower: Some(0.0), upper: 0.0 });
    assert_eq!(ends(nothing.delta(epsilon(0.0), Accuracy::default()).unwrap()), (0.0, 0.0));
    assert!(nothing.largest_repetitions(epsilon(1.0), delta(0.1), Accuracy::default()).is_err());
    // A bit that is never 1 on the neighbour: infinite loss with chance 0.1 a step.
    let bit = coin(0.1, 0.0);
    assert!(matches!(run(&bit, 3).epsilon(delta(0.2), Accuracy::default()), Err(Error::Unbounded(_))));
    let (lower, upper) = ends(run(&bit, 3).delta(epsilon(5.0), Accuracy::default()).unwrap());
    assert!(lower <= 0.271 && 0.271 <= upper && upper - lower < 1e-10, "1 − 0.9³: {lower} {upper}");
    assert_eq!(run(&coin(0.4, 0.4), 9).epsilon(delta(1e-9), Accuracy::default()).unwrap().upper, 0.0);
}

/// Any answer is a bracket of numbers in range; any refusal is typed.
fn sound(answer: Result<Bracket, Error>) {
    if let Ok(Bracket { lower, upper }) = answer {
        assert!(upper >= 0.0, "{upper}");
        assert!(lower.is_none_or(|lower| (0.0..=upper).contains(&lower)), "{lower:?} {upper}");
    }
}

/// One of the seven kinds of curves from two numbers.
fn any_curve(kind: usize, a: f64, b: f64) -> Result<DominatingPair, Error> {
    let rate = Rate::new(b);
    match kind {
        0 => DominatingPair::gaussian(Ratio::new(a)?),
        1 | 2 => {
            let neighbours = if kind == 1 { Neighbours::AddRemove } else { Neighbours::Substitute };
            DominatingPair::subsampled_gaussian(Ratio::new(a)?, Sampling::Poisson { rate: rate? }, neighbours)
        }
        3 => {
            let sampling =
                Sampling::WithoutReplacement { batch: (b * 1e12) as u64, records: 1_000_000_000_000 };
            DominatingPair::subsampled_gaussian(Ratio::new(a)?, sampling, Neighbours::Substitute)
        }
        4 => DominatingPair::laplace(Ratio::new(a)?),
        5 => DominatingPair::discrete_gaussian(Variance::new(a)?, (b * 1e4) as u64),
        _ => Ok(DominatingPair::bernoulli(Probability::new(b)?, Probability::new(a.fract())?)),
    }
}

/// All three questions.
fn ask(curve: &DominatingPair, steps: u64, delta: Option<Delta>, epsilon: Option<Epsilon>, accuracy: f64) {
    let accuracy = Accuracy::new(accuracy).unwrap();
    if let Some(delta) = delta {
        sound(run(curve, steps).epsilon(delta, accuracy));
    }
    if let Some(epsilon) = epsilon {
        sound(run(curve, steps).delta(epsilon, accuracy));
    }
    if let (Some(delta), Some(epsilon)) = (delta, epsilon) {
        let _ = run(curve, 1).largest_repetitions(epsilon, delta, accuracy);
    }
}

/// Once an endless loop: losses so unlikely that their variance underflows.
#[test]
fn coins_almost_never_seen() {
    let curve = coin(1.693_086_024_682_252_3e-135, 1.627_615_278_675_718e-221);
    ask(&curve, 5_321_076_834, Delta::new(7.3e-66).ok(), Epsilon::new(2.24e213).ok(), 0.1);
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn any_bits_are_answered_or_refused(
        kind in 0..7_usize, a in any::<u64>(), b in any::<u64>(), steps in any::<u64>(), shift in 0..64_u32,
        c in any::<u64>(), d in any::<u64>(),
    ) {
        let [a, b, c, d] = [a, b, c, d].map(|bits| f64::from_bits(bits).abs());
        if let Ok(curve) = any_curve(kind, a, b.fract()) {
            ask(&curve, steps >> shift, Delta::new(c.fract()).ok(), Epsilon::new(d).ok(), 0.1);
        }
    }

    /// The same over ordinary orders of magnitude, where most are answered.
    #[test]
    fn any_magnitudes_are_answered_or_refused(
        kind in 0..7_usize, log_a in -2.0_f64..5.0, log_b in -6.0_f64..0.0, log_steps in 0.0_f64..6.0,
        log_delta in -30.0_f64..0.0, log_epsilon in -4.0_f64..3.0,
    ) {
        let [a, b, steps, delta, at] = [log_a, log_b, log_steps, log_delta, log_epsilon].map(|log| 10_f64.powf(log));
        if let Ok(curve) = any_curve(kind, a, b) {
            ask(&curve, steps as u64, Delta::new(delta).ok(), Epsilon::new(at).ok(), 0.05);
        }
    }
}

/// A lattice made for one ε bounds δ at all others, closely, whichever ε were asked before: lattices of their own find the same.
#[test]
fn delta_followed_along_epsilon_is_that_of_single_questions() {
    for scheme in 0..3 {
        let run = run(&subsampled(scheme, 1.3, 0.01), 500)
            .and(&DominatingPair::laplace(ratio(3.0)).unwrap(), Steps(2));
        let followed = run.followed(Accuracy::CLOSE, Delta::trusted(1e-10)).unwrap();
        for at in [700.0, 2.0, 0.0, 1.0, 0.25, 1.7, 3.5, 0.05] {
            let known = run.delta(epsilon(at), Accuracy::CLOSE).unwrap();
            let found = followed.delta(epsilon(at)).unwrap();
            assert!(found >= known.lower.unwrap(), "scheme {scheme}, ε = {at}: {found} below {known:?}");
            assert!(
                found <= 1.002 * known.upper + 1e-13,
                "scheme {scheme}, ε = {at}: {found} above {known:?}"
            );
        }
    }
}
