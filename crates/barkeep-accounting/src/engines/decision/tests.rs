//! Checks the pieces: the polygon encloses, the two programs bracket each other, blocks stay above the whole.

use super::envelope::{Envelope, Fineness};
use super::*;
use crate::mechanisms::Decision;
use crate::pld::Accuracy;
use crate::{Component, Correction, Cost, Mechanism, Neighbours, Ratio, Rule, Sampling};

fn correction() -> Correction {
    let atom = |weight, mean| Component { weight, mean, sd: 0.0 };
    Correction::new(vec![
        atom(0.866, 0.0),
        atom(0.0659, 2.951),
        atom(0.0659, -2.951),
        atom(0.0011, 9.221),
        atom(0.0011, -9.221),
    ])
    .unwrap()
}

fn rules() -> Vec<Rule> {
    let lazy = |keep, rule| Rule::Lazy { keep, rule: Box::new(rule) };
    let normal = Component { weight: 1.0, mean: 0.0, sd: 1.0 };
    vec![
        Rule::Barker,
        Rule::Penalty { sigma: 0.3 },
        Rule::Penalty { sigma: 1.0 },
        Rule::Penalty { sigma: 5.0 },
        Rule::Corrected { variance: 2.0, correction: correction() },
        Rule::Corrected { variance: 1.0, correction: Correction::new(vec![normal]).unwrap() },
        lazy(0.4, Rule::Barker),
        lazy(0.9, Rule::Penalty { sigma: 1.0 }),
        lazy(0.5, Rule::Metropolis),
        lazy(0.5, Rule::Corrected { variance: 2.0, correction: correction() }),
    ]
}

/// H_x of N(μ, 1) against N(0, 1): a convex F with a known formula, unrelated to decisions.
fn gaussian_curve(mu: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let shift = libm::log(x) / mu;
    barkeep_num::normal_cdf(0.5 * mu - shift) - x * barkeep_num::normal_cdf(-0.5 * mu - shift)
}

/// p·F(xq/p) + (1−p)·F(x(1−q)/(1−p)) for a pair given by its log-ratios.
fn bracket(pair: pair::Pair, mu: f64, x: f64) -> f64 {
    let (toward, away) = pair.masses();
    toward * gaussian_curve(mu, x * libm::exp(-pair.toward))
        + away * gaussian_curve(mu, x * libm::exp(pair.away))
}

#[test]
fn the_polygon_encloses_every_pair_and_not_much_more() {
    for rule in rules() {
        for sensitivity in [0.01, 0.1, 1.0] {
            let aim = Fineness { excess: 1e-4, decay: 0.2, tail: 1e-14 };
            let envelope = Envelope::new(&rule, sensitivity, aim).unwrap();
            let run = Kind::new(&rule, sensitivity).unwrap();
            let run = (run.run(2048.0, 1e-6), run);
            let peak = run.1.peak(run.0, (64.0, 512.0));
            let loose = Fineness { excess: 1e-3, decay: f64::INFINITY, tail: 1e-14 };
            let below = Envelope::below(&rule, sensitivity, loose, Some(&peak), None).unwrap();
            assert!(below.outer.len() < envelope.outer.len(), "{rule:?} {sensitivity}");
            for (mu, log_x) in [(0.5, 0.0), (0.5, 0.7), (1.5, 2.0), (0.2, 0.6), (3.0, -1.0)] {
                let x = libm::exp(log_x);
                let corners = envelope.outer.iter().map(|pair| bracket(*pair, mu, x)).fold(0.0, f64::max);
                let mut reached: f64 = gaussian_curve(mu, x);
                for i in -4_000..=4_000 {
                    let t = 5e-3 * f64::from(i);
                    let (p, not_p) = (rule.accept(t), rule.reject(t));
                    for s in [-sensitivity, 0.5 * sensitivity, sensitivity] {
                        let (q, not_q) = (rule.accept(t + s), rule.reject(t + s));
                        let term = |p: f64, q: f64| {
                            if p == 0.0 { 0.0 } else { p * gaussian_curve(mu, x * q / p) }
                        };
                        reached = reached.max(term(p, q) + term(not_p, not_q));
                    }
                }
                let loosely = below.outer.iter().map(|pair| bracket(*pair, mu, x)).fold(0.0, f64::max);
                for corners in [corners, loosely] {
                    assert!(
                        reached <= corners * (1.0 + 1e-12),
                        "{rule:?} {sensitivity} {log_x}: {reached} > {corners}"
                    );
                }
                let gain = corners - gaussian_curve(mu, x);
                let real = reached - gaussian_curve(mu, x);
                assert!(
                    gain <= real * 1.02 + 1e-9,
                    "{rule:?} {sensitivity} {log_x}: {gain:e} against {real:e}"
                );
            }
        }
    }
}

#[test]
fn a_prepared_mixture_is_the_rule_itself_and_its_slopes_enclose_quotients_of_differences() {
    let mut seen = 0;
    for rule in rules() {
        let Some(prepared) = rule.prepared() else { continue };
        seen += 1;
        for step in -600..=600 {
            let t = f64::from(step) / 15.0;
            // Coins are made by the one, prices by the other: each within half of the error that is stated of both.
            let near = |mine: f64, its: f64| (mine - its).abs() <= 0.5 * prepared.error(its) * its;
            assert!(near(prepared.probability(t), rule.probability(t)), "{rule:?} at {t}");
            assert!(near(prepared.complement(t), rule.complement(t)), "{rule:?} at {t}");
            for (width, sensitivity) in [(0.5, 0.3), (0.05, 0.01)] {
                let (left, right) = (t - width, t);
                let (least, most) = prepared.slopes(left, right, sensitivity, false);
                // Where the curve is above one half its complement is precise, and their slopes are the same.
                let rises = |t: f64| {
                    let apart = 1e-4;
                    if t < 0.0 {
                        prepared.probability(t + apart) - prepared.probability(t - apart)
                    } else {
                        prepared.complement(t - apart) - prepared.complement(t + apart)
                    }
                };
                for part in 0..=4 {
                    let place = left + 0.25 * f64::from(part) * width;
                    let (above, below) = (rises(place), rises(place - sensitivity));
                    let size = prepared.probability(place).min(prepared.complement(place));
                    if size > 1e-280 {
                        let slope = above / below;
                        assert!(
                            (1.0 - 1e-5) * least < slope && slope < (1.0 + 1e-5) * most,
                            "{rule:?} at {place}"
                        );
                    }
                }
            }
        }
    }
    assert_eq!(seen, 3);
}

#[test]
fn small_steps_approach_their_gaussian_limits() {
    // sup a'²/(a(1−a)), as given in the mathematics of the project.
    for (rule, limit) in
        [(Rule::Barker, 0.25), (Rule::Penalty { sigma: 1.0 }, 0.403), (Rule::Penalty { sigma: 2.0 }, 0.133)]
    {
        let found = Kind::new(&rule, 1e-3).unwrap().information() / 1e-6;
        assert!((found - limit).abs() < 1e-3, "{rule:?}: {found}");
    }
}

#[test]
fn the_two_programs_bracket_each_other() {
    for rule in rules() {
        for (sensitivity, steps) in [(0.02, 30), (0.3, 3), (1.0, 8)] {
            let smallest = 1e-7;
            let Composed::Whole(profile) =
                Composed::new(&rule, sensitivity, Steps(steps), smallest, Attacks::Run).unwrap()
            else {
                panic!("{rule:?} needed blocks");
            };
            for share in [0.0, 0.1, 0.3, 0.6] {
                let epsilon = Epsilon::new(share * sensitivity * steps as f64).unwrap();
                let Bracket { lower, upper } = profile.delta(epsilon);
                let lower = lower.unwrap();
                assert!(lower <= upper, "{rule:?} {sensitivity} {steps} {share}: {lower} > {upper}");
                if upper > 1e-5 {
                    assert!(
                        lower > 0.93 * upper,
                        "{rule:?} {sensitivity} {steps} {share}: {lower} << {upper}"
                    );
                }
            }
        }
    }
}

#[test]
fn blocks_stay_above_the_whole_and_near_it() {
    let (sensitivity, steps, smallest) = (0.1, Steps(200), 1e-6);
    let delta = Delta::new(smallest).unwrap();
    for rule in [Rule::Barker, Rule::Penalty { sigma: 1.5 }] {
        let whole =
            Composed::new(&rule, sensitivity, steps, smallest, Attacks::Run).unwrap().epsilon(delta).unwrap();
        let kind = Kind::new(&rule, sensitivity).unwrap();
        let blocks = Blocks::new(&kind, Stretch::of(200), smallest).unwrap().compose(steps).unwrap();
        let upper = blocks.epsilon(delta, Accuracy::default()).unwrap().upper;
        assert!(upper >= whole.lower.unwrap(), "{rule:?}");
        assert!(upper <= 1.03 * whole.upper, "{rule:?}: {upper} against {}", whole.upper);
        let attack = Attack::new(&rule, sensitivity, 200.0).unwrap().epsilon(smallest, 10.0);
        assert!(attack <= whole.upper && attack >= 0.95 * whole.upper, "{rule:?}: {attack}");
    }
}

#[test]
fn a_decision_mixed_with_a_release_costs_the_mean_over_the_release() {
    // One bit after one Gaussian release: δ = E over the release of F_1, by the trapezoidal rule.
    let (rule, sensitivity, mu) = (Rule::Barker, Sensitivity::new(0.5).unwrap(), 0.3);
    let epsilon = Epsilon::new(0.6).unwrap();
    let single = |x: f64| {
        let best = |x: f64| {
            (-4000..=4000)
                .map(|i| 2e-3 * f64::from(i))
                .map(|t| (rule.accept(t) - x * rule.accept(t - 0.5)).max(0.0))
                .fold(0.0, f64::max)
        };
        if x < 1.0 { 1.0 - x + x * best(1.0 / x) } else { best(x) }
    };
    let step = 0.02;
    let mean: f64 = (-400..=400)
        .map(|i| step * f64::from(i))
        .map(|z| {
            // Under P the release is N(μ, 1); its loss at z + μ is μz + μ²/2.
            let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * std::f64::consts::PI);
            step * density * single(libm::exp(epsilon.get() - mu * z - 0.5 * mu * mu))
        })
        .sum();
    let release = DominatingPair::gaussian(Ratio::new(1.0 / mu).unwrap()).unwrap();
    let both =
        composition(&rule, sensitivity, Steps(1), Delta::new(1e-8).unwrap()).unwrap().and(&release, Steps(1));
    let upper = both.delta(epsilon, Accuracy::default()).unwrap().upper;
    assert!(upper >= mean * (1.0 - 1e-4), "{upper} below {mean}");
    assert!(upper <= mean * 1.01, "{upper} far above {mean}");
}

#[test]
fn divergences_enclose_a_search_over_log_ratios() {
    for rule in rules() {
        for sensitivity in [0.05, 0.5] {
            let tightest = renyi::concentrated_supremum(&rule, sensitivity);
            for order in [1.5, 4.0, 20.0] {
                let bound = divergence(
                    &rule,
                    Sensitivity::new(sensitivity).unwrap(),
                    crate::Order::new(order).unwrap(),
                )
                .unwrap();
                let mut found: f64 = 0.0;
                for i in -6_000..=6_000 {
                    let t = 5e-3 * f64::from(i);
                    for s in [-sensitivity, sensitivity] {
                        let term = |p: f64, q: f64| {
                            if p < 1e-280 {
                                0.0
                            } else {
                                libm::exp(order * libm::log(p) + (1.0 - order) * libm::log(q))
                            }
                        };
                        let sum = term(rule.accept(t), rule.accept(t + s))
                            + term(rule.reject(t), rule.reject(t + s));
                        found = found.max(libm::log(sum) / (order - 1.0));
                    }
                }
                assert!(found <= bound * (1.0 + 1e-9), "{rule:?} {sensitivity} {order}: {found} > {bound}");
                // Where the worst log-ratio lies beyond what f64 can hold, the release behind the bit is the bound.
                let deviation = rule.smoothing().map_or(f64::INFINITY, f64::sqrt);
                if (order - 1.0) * sensitivity / deviation < 25.0 {
                    assert!(bound <= found * 1.001, "{rule:?} {sensitivity} {order}: {bound} >> {found}");
                }
                let rho = zcdp(&rule, Sensitivity::new(sensitivity).unwrap()).unwrap().get();
                assert!(found <= rho * order * (1.0 + 1e-9), "{rule:?} {sensitivity} {order}");
                assert!(found <= tightest * order * (1.0 + 1e-9), "{rule:?} {sensitivity} {order}");
            }
        }
    }
}

#[test]
fn bounded_range_is_never_below_barkers_divergence() {
    for sensitivity in [1e-3, 9e-3, 1.1e-2, 0.1, 1.0, 5.0] {
        for order in [1.001, 2.0, 8.0, 100.0] {
            let (step, order) = (Sensitivity::new(sensitivity).unwrap(), crate::Order::new(order).unwrap());
            let (closed, found) =
                (bounded_range(step, order), divergence(&Rule::Barker, step, order).unwrap());
            assert!(found <= closed * (1.0 + 1e-9));
            assert!(closed <= sensitivity * (1.0 + 1e-15));
        }
    }
    // At order 1 the quadratic bound is the largest divergence of two coins in range: at Δ = 1, by hand.
    let at_one = bounded_range(Sensitivity::new(1.0).unwrap(), crate::Order::new(1.0 + 1e-9).unwrap());
    let largest = (1..1000)
        .map(|i| f64::from(i) / 1000.0)
        .map(|r| {
            let p = -libm::expm1(r - 1.0) / -libm::expm1(-1.0);
            p * r - (1.0 - p) * (1.0 - r)
        })
        .fold(0.0, f64::max);
    assert!((at_one - largest).abs() < 1e-6, "{at_one} {largest}");
}

#[test]
fn metropolis_and_invalid_rules_are_refused() {
    let (step, delta) = (Sensitivity::new(0.1).unwrap(), Delta::new(1e-6).unwrap());
    assert!(matches!(epsilon(&Rule::Metropolis, step, Steps(3), delta), Err(Error::Mismatch(_))));
    assert!(matches!(
        epsilon(&Rule::Penalty { sigma: -1.0 }, step, Steps(3), delta),
        Err(Error::Argument { .. })
    ));
}

#[test]
fn no_attack_beats_the_bound_at_any_node() {
    // A fixed stream of numbers in [0, 1): xorshift, Marsaglia 2003.
    let mut state = 88_172_645_463_325_252_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for _ in 0..60 {
        let inside = match (4.0 * next()) as u32 {
            0 => Rule::Barker,
            1 => Rule::Corrected { variance: 0.5 + 2.5 * next(), correction: correction() },
            2 => Rule::Metropolis,
            _ => Rule::Penalty { sigma: libm::exp(8.0 * next() - 4.0) },
        };
        let lazy = next() < 0.4 || inside == Rule::Metropolis;
        let rule =
            if lazy { Rule::Lazy { keep: 0.02 + 0.97 * next(), rule: Box::new(inside) } } else { inside };
        let sensitivity = libm::exp(12.0 * next() - 10.0);
        let (steps, smallest) = (Steps(libm::exp(4.0 * next()) as u64), libm::exp(-2.0 - 20.0 * next()));
        let Composed::Whole(profile) =
            Composed::new(&rule, sensitivity, steps, smallest, Attacks::Run).unwrap()
        else {
            panic!("{rule:?} needed blocks");
        };
        for (place, (hit, alarm)) in profile.hits.iter().zip(&profile.alarms).enumerate() {
            let above = profile.upper.get(place).copied().unwrap_or(profile.flat);
            assert!(hit - alarm <= above, "{rule:?} Δ {sensitivity} {steps:?}: node {place}");
        }
    }
}

#[test]
fn the_upper_end_alone_is_that_of_the_bracket() {
    let delta = Delta::new(1e-6).unwrap();
    for (rule, sensitivity, steps) in [
        (Rule::Barker, 0.04, 139),
        (Rule::Barker, 0.5, 3),
        (Rule::Barker, 40.0, 2),
        (Rule::Penalty { sigma: 1.0 }, 0.3, 0),
        (Rule::Penalty { sigma: 2.0 }, 0.1, 40),
    ] {
        let (sensitivity, steps) = (Sensitivity::new(sensitivity).unwrap(), Steps(steps));
        let alone = Decisions::new(&rule, sensitivity, steps, delta, Attacks::Spared)
            .unwrap()
            .epsilon(delta)
            .unwrap();
        assert_eq!(alone.upper, epsilon(&rule, sensitivity, steps, delta).unwrap().upper, "{rule:?}");
    }
}

#[test]
fn a_search_finds_the_price_of_its_answer_to_the_bit() {
    let delta = Delta::new(1e-6).unwrap();
    for (rule, sensitivity, epsilon) in [
        (Rule::Barker, 0.05, 1.0),
        (Rule::Barker, 0.5, 4.0),
        (Rule::Penalty { sigma: 1.0 }, 0.05, 2.0),
        (Rule::Penalty { sigma: 0.34 }, 0.05, 4.0),
        (Rule::Lazy { keep: 0.3, rule: Box::new(Rule::Barker) }, 0.1, 0.5),
    ] {
        let (sensitivity, epsilon) = (Sensitivity::new(sensitivity).unwrap(), Epsilon::new(epsilon).unwrap());
        let found = longest(&rule, sensitivity, epsilon, delta, &|_, ideal| ideal(delta)).unwrap();
        let Longest { steps, spent, .. } = found.unwrap();
        assert!(spent <= epsilon.get());
        let price = |steps| {
            Decisions::new(&rule, sensitivity, steps, delta, Attacks::Spared)
                .unwrap()
                .epsilon(delta)
                .unwrap()
                .upper
        };
        assert_eq!(price(steps), spent, "{rule:?}");
        assert!(price(Steps(steps.0 + 1)) > epsilon.get(), "{rule:?}");
    }
}

#[test]
fn corners_below_a_peak_gain_no_more_than_coins_on_the_way_of_a_run() {
    // On the way F is nearly Gaussian noise's curve; there the few corners may not gain more than the curve's own coins.
    for (rule, sensitivity) in
        [(Rule::Barker, 0.02), (Rule::Penalty { sigma: 0.1 }, 2e-3), (Rule::Penalty { sigma: 1.0 }, 0.03)]
    {
        let kind = Kind::new(&rule, sensitivity).unwrap();
        let (run, to_go) = (kind.run(1000.0, 1e-6), 500.0);
        let aim = Fineness { excess: 1e-3, decay: f64::INFINITY, tail: 1e-16 };
        let few =
            Envelope::below(&rule, sensitivity, aim, Some(&kind.peak(run, (64.0, 512.0))), None).unwrap();
        let close = Fineness { excess: 1e-4, decay: 0.1, tail: 1e-16 };
        let many = Envelope::new(&rule, sensitivity, close).unwrap();
        assert!(3 * few.outer.len() < many.outer.len(), "{rule:?}: {}", few.outer.len());
        let mu = (to_go * run.information).sqrt();
        for aside in [-1.0, 0.0, 1.0] {
            let x = libm::exp(run.epsilon * to_go / run.steps + aside * mu);
            let gain = |pairs: &[pair::Pair]| {
                let best = pairs.iter().map(|pair| bracket(*pair, mu, x)).fold(0.0, f64::max);
                best - gaussian_curve(mu, x)
            };
            let (above, reached) = (gain(&few.outer), gain(&many.inner));
            assert!(above >= reached, "{rule:?} {aside}: {above:e} below {reached:e}");
            assert!(above <= 1.01 * reached, "{rule:?} {aside}: {above:e} far above {reached:e}");
        }
    }
}

#[test]
fn a_search_does_not_end_where_a_stretch_does() {
    // Coins of little noise reveal much and seldom: their steps grow faster than the loss allowed, at borders, too.
    let (rule, sensitivity) = (Rule::Penalty { sigma: 0.02 }, Sensitivity::new(2e-3).unwrap());
    let delta = Delta::new(1e-6).unwrap();
    let mut last = 0.0;
    for epsilon in [0.8, 1.0, 1.2, 1.3] {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let found = largest_steps(&rule, sensitivity, epsilon, delta).unwrap().0;
        let per_loss = found as f64 / GaussianRun::largest_within(epsilon, delta).rho().upper;
        assert!(per_loss > last, "{found} at {epsilon:?}");
        last = per_loss;
    }
}

#[test]
fn stretches_follow_one_another() {
    let mut end = 0;
    for steps in 1..5000 {
        let Stretch { after, last } = Stretch::of(steps);
        assert!(after < steps && steps <= last && (after == end || last == end), "{steps}");
        end = last;
    }
    assert_eq!(Stretch::of(0), Stretch { after: 0, last: 1 });
    assert_eq!(Stretch::of(u64::MAX).last, Stretch::LAST);
}

/// ρ from the definition: the largest D_α/α found for the two bits, over states, both signs and orders.
#[test]
fn a_decision_is_charged_what_its_divergences_show_and_not_much_more() {
    let cost = |rule: Rule, sensitivity: f64| {
        let mechanism =
            Mechanism::Decision(Decision { rule, sensitivity: Sensitivity::new(sensitivity).unwrap() });
        Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap()
    };
    let divergence = |p: f64, q: f64, order: f64| {
        let power = |p: f64, q: f64| (order * p.ln() + (1.0 - order) * q.ln()).exp();
        (power(p, q) + power(1.0 - p, 1.0 - q)).ln() / (order - 1.0)
    };
    let lazy = Rule::Lazy { keep: 0.4, rule: Box::new(Rule::Barker) };
    for rule in [Rule::Barker, lazy, Rule::Penalty { sigma: 1.5 }] {
        for sensitivity in [0.01, 0.3, 2.0] {
            let mut most: f64 = 0.0;
            for step in -120..=120 {
                let (t, s) = (f64::from(step) / 20.0, sensitivity);
                for (p, q) in [(t, t + s), (t + s, t)].map(|(t, u)| (rule.accept(t), rule.accept(u))) {
                    for order in [1.001, 1.5, 2.0, 4.0, 16.0] {
                        most = most.max(divergence(p, q, order) / order);
                    }
                }
            }
            let charged = cost(rule.clone(), sensitivity).rho().unwrap().get();
            assert!(most <= charged * (1.0 + 1e-9), "{rule:?} {sensitivity}: {most} {charged}");
            // Barker's is the limit of orders near 1 at the state of acceptance one half.
            assert!(rule != Rule::Barker || sensitivity > 1.0 || most > 0.99 * charged, "{most} {charged}");
        }
    }
    assert!(cost(Rule::Metropolis, 0.1).rho().is_err());
}

/// The formulas by which the curator's filter charged before the accountant did, to the bit.
#[test]
fn a_decision_is_charged_the_closed_form_of_its_rule() {
    let rho =
        |rule: Rule, sensitivity: f64| zcdp(&rule, Sensitivity::new(sensitivity).unwrap()).unwrap().get();
    let above = |value: f64| barkeep_num::up_by(value, 4);
    for sensitivity in [1e-6, 0.013, 0.7, 3.1] {
        let square = sensitivity * sensitivity;
        assert_eq!(rho(Rule::Barker, sensitivity), above(square / 8.0));
        for sigma in [0.3, 1.7, 40.0] {
            let penalty = Rule::Penalty { sigma };
            assert_eq!(rho(penalty.clone(), sensitivity), above(square / (2.0 * sigma * sigma)));
            assert_eq!(
                rho(Rule::Lazy { keep: 0.3, rule: Box::new(penalty.clone()) }, sensitivity),
                rho(penalty, sensitivity)
            );
        }
        let corrected = Rule::Corrected { variance: 1.9, correction: correction() };
        assert_eq!(rho(corrected, sensitivity), above(square / (2.0 * 1.9)));
    }
    // A square that underflows is not free.
    assert!(rho(Rule::Penalty { sigma: 1.0 / 1024.0 }, 1e-200) > 0.0);
}

#[test]
fn a_curve_that_is_followed_is_an_upper_bound_and_close() {
    for (rule, sensitivity, steps) in
        [(Rule::Barker, 0.04, 139), (Rule::Penalty { sigma: 2.0 }, 0.1, 400), (Rule::Barker, 0.01, 40_000)]
    {
        let (sensitivity, steps) = (Sensitivity::new(sensitivity).unwrap(), Steps(steps));
        let least = Delta::new(1e-5).unwrap();
        let composed = composed(&rule, sensitivity, steps, least);
        let curve = followed(&rule, sensitivity, steps, composed, Accuracy::FAIR, least).unwrap();
        for at in [0.0, 0.3, 1.0, 2.0] {
            let at = Epsilon::new(at).unwrap();
            let (found, careful) = (curve(at).unwrap(), delta(&rule, sensitivity, steps, at).unwrap());
            assert!(found >= careful.lower.unwrap(), "{rule:?}: {found} below {careful:?}");
            assert!(found <= 1.03 * careful.upper + 1e-6, "{rule:?}: {found} far above {careful:?}");
        }
    }
}
