//! Checks every rule against high-precision tables, its own error bound, and the identities it must keep.

use super::*;

fn correction(components: &[(f64, f64, f64)]) -> Correction {
    Correction::new(components.iter().map(|&(weight, mean, sd)| Component { weight, mean, sd }).collect())
        .unwrap()
}

/// The mixtures of tests/tables/make_rules.py.
fn mixture(name: f64) -> Correction {
    if name == 1.0 {
        let (near, far) = ((0.0659, 2.951), (0.0011, 9.221));
        let pair = |(w, m): (f64, f64)| [(w, m, 0.0), (w, -m, 0.0)];
        correction(&[&[(0.866, 0.0, 0.0)][..], &pair(near), &pair(far)].concat())
    } else {
        correction(&[(0.5, 0.0, 0.75), (0.25, 1.5, 0.5), (0.25, -1.5, 0.5)])
    }
}

fn rule_of(name: &str, parameter: f64) -> Rule {
    match name {
        "barker" => Rule::Barker,
        "metropolis" => Rule::Metropolis,
        "penalty" => Rule::Penalty { sigma: parameter },
        "corrected" => Rule::Corrected { variance: 2.0, correction: mixture(parameter) },
        other => panic!("unknown rule {other}"),
    }
}

fn some_rules() -> Vec<Rule> {
    let mut rules = vec![Rule::Metropolis, Rule::Barker];
    rules.extend([1.0 / 1024.0, 0.1, 1.0, 2.0, 5.0, 20.0, 64.0].map(|sigma| Rule::Penalty { sigma }));
    rules.extend([1.0, 2.0].map(|name| rule_of("corrected", name)));
    let lazies: Vec<Rule> =
        rules.iter().map(|rule| Rule::Lazy { keep: 0.7, rule: Box::new(rule.clone()) }).collect();
    rules.extend(lazies);
    rules.push(Rule::Lazy { keep: 0.1, rule: Box::new(Rule::Barker) });
    rules.push(Rule::Lazy { keep: 1.0, rule: Box::new(Rule::Penalty { sigma: 1.0 }) });
    rules
}

#[test]
fn both_sides_stay_within_the_proved_error_of_the_table() {
    let table = include_str!("../../tests/tables/rules.csv");
    let (mut rows, mut rare) = (0, 0);
    let mut closest: f64 = 0.0;
    for line in table.lines() {
        let (name, numbers) = line.split_once(',').unwrap();
        let n: Vec<f64> = numbers.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [parameter, batch, log_ratio, accept, accept_low, reject, reject_low] = n[..] else {
            panic!("{line}")
        };
        let rule = rule_of(name, parameter);
        rule.validate().unwrap();
        let coin = rule.coin(log_ratio, batch);
        assert!(coin.smaller <= 0.5, "{line}");
        let accepts = coin.side == Side::Accept;
        let (high, low) = if accepts { (accept, accept_low) } else { (reject, reject_low) };
        // The difference to a truth of 106 bits; the other side is off by the same amount and is larger.
        let over = (coin.smaller - high) - low;
        let off = over.abs();
        let allowed = rule.coin_error() * high + rule.coin_absolute_error();
        assert!(off <= allowed, "{line}: {:e} is off by {off:e}, allowed {allowed:e}", coin.smaller);
        let far = rule.coin_far_error() * high + rule.coin_far_absolute_error();
        assert!(over <= far, "{line}: {:e} is over by {over:e}, allowed {far:e}", coin.smaller);
        if rule.coin_absolute_error() > 0.0 && high < 2_f64.powi(-61) {
            assert!(over >= 0.0, "{line}: {:e} is below the ideal", coin.smaller);
            rare += 1;
        }
        if allowed > 0.0 && high > 1e-17 {
            closest = closest.max(off / allowed);
        }
        if batch == 0.0 {
            assert!((rule.accept(log_ratio) - accept).abs() <= allowed.max(1.2e-16), "{line}");
            assert!((rule.reject(log_ratio) - reject).abs() <= allowed.max(1.2e-16), "{line}");
        }
        rows += 1;
    }
    assert!(rows > 1600 && rare > 300, "{rows} rows, {rare} of them rare");
    println!("largest error as a share of the proved one: {closest:.3}");
}

#[test]
fn proved_errors_are_small() {
    for rule in some_rules() {
        assert!(rule.coin_error() > 0.0 && rule.coin_error() < 1e-9, "{rule:?}");
        assert!(rule.coin_absolute_error() < 1e-27, "{rule:?}");
    }
    assert!(Rule::Penalty { sigma: 1.0 }.coin_error() < 1e-13);
}

/// A grid dense near zero, where chains live, and reaching the clamp.
fn log_ratios() -> impl Iterator<Item = f64> {
    (-400..=400).map(|i| f64::from(i) / 400.0).map(|x| 64.0 * x * x * x)
}

#[test]
fn detailed_balance_holds_to_rounding() {
    for rule in some_rules() {
        let inside = if let Rule::Lazy { rule, .. } = &rule { rule } else { &rule };
        if matches!(inside, Rule::Corrected { .. }) {
            continue;
        }
        for log_ratio in log_ratios() {
            let forward = rule.accept(log_ratio);
            let backward = rule.accept(-log_ratio) * libm::exp(log_ratio);
            let allowed = 2.0 * rule.coin_error() + 1e-15;
            if forward > 1e-17 {
                assert!((forward - backward).abs() <= allowed * forward, "{rule:?} {log_ratio}");
            }
        }
    }
}

#[test]
fn corrected_rules_are_odd_about_one_half() {
    for name in [1.0, 2.0] {
        let rule = rule_of("corrected", name);
        for log_ratio in log_ratios() {
            assert_eq!(rule.accept(log_ratio), rule.reject(-log_ratio));
            assert!((rule.accept(log_ratio) + rule.accept(-log_ratio) - 1.0).abs() <= f64::EPSILON);
        }
    }
}

#[test]
fn acceptance_grows_with_the_log_ratio() {
    for rule in some_rules() {
        let slack = 1.0 + 2.0 * rule.coin_error();
        let (mut accept, mut reject) = (0.0, 1.0);
        for log_ratio in log_ratios() {
            let (next_accept, next_reject) = (rule.accept(log_ratio), rule.reject(log_ratio));
            assert!(accept <= next_accept * slack + 1e-27, "{rule:?} {log_ratio}");
            assert!(next_reject <= reject * slack + 1e-27, "{rule:?} {log_ratio}");
            (accept, reject) = (next_accept, next_reject);
        }
    }
}

#[test]
fn any_f64_gives_a_coin() {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        5e-324,
        1e308,
        -1e308,
        64.0,
        3.0,
    ];
    let mut rules = some_rules();
    // Rules that do not validate must not panic either.
    rules.extend(odd.map(|sigma| Rule::Penalty { sigma }));
    rules.extend(odd.map(|variance| Rule::Corrected { variance, correction: mixture(1.0) }));
    rules.extend(odd.map(|keep| Rule::Lazy { keep, rule: Box::new(Rule::Barker) }));
    for rule in rules {
        for log_ratio in odd {
            for batch in odd {
                let coin = rule.coin(log_ratio, batch);
                assert!(
                    (0.0..=0.5).contains(&coin.smaller),
                    "{rule:?} {log_ratio} {batch}: {}",
                    coin.smaller
                );
            }
        }
    }
    assert!(Rule::Barker.coin(f64::NAN, 0.0) == Rule::Barker.coin(-64.0, 0.0));
    assert!(Rule::Barker.coin(1e300, 0.0) == Rule::Barker.coin(64.0, 0.0));
    assert_eq!(Rule::Barker.accept(f64::INFINITY), 1.0);
    assert_eq!(Rule::Penalty { sigma: 1.0 }.accept(f64::NEG_INFINITY), 0.0);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for sigma in [0.0, -1.0, 1e-4, 65.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Rule::Penalty { sigma }.validate(), Err(Error::Argument { name: "sigma", .. })));
    }
    for variance in [0.0, -1.0, 3.3, f64::NAN] {
        assert!(Rule::Corrected { variance, correction: mixture(1.0) }.validate().is_err());
    }
    for keep in [0.0, -0.5, 1.1, f64::NAN] {
        assert!(Rule::Lazy { keep, rule: Box::new(Rule::Barker) }.validate().is_err());
    }
    let lazy = Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Barker) };
    assert!(matches!(Rule::Lazy { keep: 0.5, rule: Box::new(lazy) }.validate(), Err(Error::Mismatch(_))));
    let component = |weight, mean, sd| Component { weight, mean, sd };
    for bad in [
        vec![],
        vec![component(0.5, 0.0, 0.0)],
        vec![component(0.5, 1.0, 0.0), component(0.5, -1.0, 0.1)],
        vec![component(0.6, 1.0, 0.0), component(0.4, -1.0, 0.0)],
        vec![component(1.0, 0.0, -1.0)],
        vec![component(1.0, 0.0, f64::NAN)],
        vec![component(2.0, 0.0, 0.0), component(-1.0, 0.0, 0.0)],
    ] {
        assert!(Correction::new(bad).is_err());
    }
    // Several components at the centre, or equal means with different spreads, are symmetric.
    let nested = vec![
        component(0.2, 0.0, 1.0),
        component(0.2, 0.0, 0.5),
        component(0.1, 1.0, 0.1),
        component(0.2, 1.0, 0.2),
        component(0.1, -1.0, 0.1),
        component(0.2, -1.0, 0.2),
    ];
    assert!(Correction::new(nested).is_ok());
}

/// Simpson's rule over the noise: an independent way to the closed form of the coin.
#[test]
fn coins_after_noise_average_to_the_coin() {
    let sizes = [0.05, 0.7, 2.0, 9.0];
    let mut rules: Vec<Rule> = sizes.map(|sigma| Rule::Penalty { sigma }).to_vec();
    rules.push(rule_of("corrected", 2.0));
    rules.push(Rule::Lazy { keep: 0.7, rule: Box::new(Rule::Penalty { sigma: 1.0 }) });
    let noise = |rule: &Rule| match rule {
        Rule::Penalty { sigma } => *sigma,
        Rule::Corrected { variance, .. } => variance.sqrt(),
        _ => 1.0,
    };
    for rule in &rules {
        for share in [1.0, 0.6, 0.01] {
            let drawn = share * noise(rule);
            for log_ratio in [-7.0, -1.3, 0.0, 0.4, 5.0] {
                let accept = |noisy: f64| rule.coin_after_noise(noisy, drawn).unwrap().accept();
                let cells = 40_000;
                let mut mean = 0.0;
                for i in 0..=cells {
                    let x = -10.0 + 20.0 * f64::from(i) / f64::from(cells);
                    let weight = if i == 0 || i == cells { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                    mean += weight * accept(log_ratio + drawn * x) * libm::exp(-0.5 * x * x);
                }
                mean *= 20.0 / f64::from(cells) / 3.0 / (2.0 * std::f64::consts::PI).sqrt();
                // Metropolis' rule has a corner, which costs Simpson's rule the square of a cell.
                assert!((mean - rule.accept(log_ratio)).abs() < 1e-7, "{rule:?} {share} {log_ratio}: {mean}");
            }
        }
    }
    assert!(Rule::Barker.coin_after_noise(0.0, 1.0).is_none());
    let atoms = Rule::Corrected { variance: 2.0, correction: mixture(1.0) };
    assert_eq!(atoms.coin_after_noise(f64::NAN, 2_f64.sqrt()).unwrap().accept(), 0.0);
    assert_eq!(atoms.coin_after_noise(0.0, 2_f64.sqrt()).unwrap().accept(), 0.5);
}
