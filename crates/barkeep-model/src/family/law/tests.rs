//! Compares expectations over nodes with closed forms.

use super::*;

fn moments(law: Law, log_nuisance: f64, predictor: f64, trials: f64, top: f64) -> (f64, f64, f64) {
    let rule = NodeRule::new(law, log_nuisance, top);
    let (mut y, mut w) = (vec![f64::NAN; rule.len()], vec![f64::NAN; rule.len()]);
    rule.fill(predictor, trials, &mut y, &mut w);
    let total: f64 = w.iter().sum();
    let mean: f64 = y.iter().zip(&w).map(|(y, w)| y * w).sum();
    let square: f64 = y.iter().zip(&w).map(|(y, w)| (y - mean) * (y - mean) * w).sum();
    assert!(w.iter().all(|w| *w >= 0.0) && y.iter().all(|y| *y <= top), "{law:?}");
    (total, mean, square)
}

#[test]
fn nodes_have_the_moments_of_their_law() {
    let near = |found: f64, expected: f64, law: Law| {
        assert!((found - expected).abs() < 1e-3 * expected.abs().max(1e-3), "{law:?}: {found} {expected}");
    };
    let wide = f64::INFINITY;
    for predictor in [-2.0, 0.3, 2.5] {
        let mean = libm::exp(predictor);
        let share = 1.0 / (1.0 + libm::exp(-predictor));
        let cases = [
            (Law::Logit, 0.0, 1.0, share, share * (1.0 - share)),
            (Law::Probit, 0.0, 1.0, normal_cdf(predictor), normal_cdf(predictor) * normal_cdf(-predictor)),
            (Law::Binomial, 0.0, 7.0, 7.0 * share, 7.0 * share * (1.0 - share)),
            (Law::Binomial, 0.0, 5000.0, 5000.0 * share, 5000.0 * share * (1.0 - share)),
            (Law::Poisson, 0.0, 1.0, mean, mean),
            (Law::NegativeBinomial, 0.7, 1.0, mean, mean + mean * mean / libm::exp(0.7)),
            (Law::Normal, 0.5, 1.0, predictor, libm::exp(1.0)),
            (Law::StudentT { degrees: 8.0 }, 0.5, 1.0, predictor, libm::exp(1.0) * 8.0 / 6.0),
            (Law::Gamma, 1.0, 1.0, mean, mean * mean / libm::exp(1.0)),
            (Law::Gamma, -0.5, 1.0, mean, mean * mean / libm::exp(-0.5)),
        ];
        for (law, log_nuisance, trials, expected, variance) in cases {
            let (total, mean, square) = moments(law, log_nuisance, predictor, trials, wide);
            assert!((total - 1.0).abs() < 1e-12, "{law:?}");
            near(mean, expected, law);
            near(square, variance, law);
        }
    }
    // A large mean takes every k-th count.
    let (_, mean, square) = moments(Law::Poisson, 0.0, libm::log(40_000.0), 1.0, wide);
    assert!((mean / 40_000.0 - 1.0).abs() < 1e-6 && (square / 40_000.0 - 1.0).abs() < 1e-3);
}

#[test]
fn mass_beyond_the_top_is_counted_there() {
    // P(Y ≥ 3) of Poisson(2) is 1 − 5e⁻², and E min(Y, 3) = 0.2707 + 2·0.2707 + 3·0.3233.
    let beyond = 1.0 - 5.0 * libm::exp(-2.0);
    let (_, mean, _) = moments(Law::Poisson, 0.0, libm::log(2.0), 1.0, 3.0);
    let one = 2.0 * libm::exp(-2.0);
    assert!((mean - (one + 2.0 * one + 3.0 * beyond)).abs() < 1e-9, "{mean}");
    let (_, mean, square) = moments(Law::Poisson, 0.0, 12.0, 1.0, 3.0);
    assert!((mean - 3.0).abs() < 1e-12 && square < 1e-12);
    let (total, mean, _) = moments(Law::Binomial, 0.0, 0.4, 0.0, 9.0);
    assert!(total == 1.0 && mean == 0.0);
}

/// P(Y = 0), P(Y = 1), … of a count by the ratio of neighbours, which takes no logarithm of a factorial.
fn shares_by_ratios(first: f64, ratio: impl Fn(f64) -> f64, top: usize) -> Vec<f64> {
    let next = |share: &mut f64, y: usize| {
        let own = *share;
        *share *= ratio(y as f64);
        Some(own)
    };
    (0..top).scan(first, next).collect()
}

#[test]
fn shares_of_every_count_are_its_laws_at_every_cut() {
    for predictor in [-2.0, 0.3, 1.5, 2.5] {
        let (mean, odds) = (libm::exp(predictor), libm::exp(predictor));
        for top in [1, 2, 3, 5, 9, 20, 60, 100] {
            let mut cases: Vec<(Law, f64, f64, Vec<f64>)> = vec![
                (Law::Poisson, 0.0, 1.0, shares_by_ratios(libm::exp(-mean), |y| mean / (y + 1.0), top)),
                (Law::Logit, 0.0, 1.0, vec![1.0 / (1.0 + odds)]),
                (Law::Probit, 0.0, 1.0, vec![normal_cdf(-predictor)]),
            ];
            for size in [0.2, 0.9, 1.0, 1.46, 2.0, 3.7, 25.0] {
                let (fail, success) = (size / (size + mean), mean / (size + mean));
                let ratio = |y: f64| success * (y + size) / (y + 1.0);
                let shares = shares_by_ratios(libm::pow(fail, size), ratio, top);
                cases.push((Law::NegativeBinomial, libm::log(size), 1.0, shares));
            }
            for trials in [1_usize, 4, 30] {
                let size = trials as f64;
                let ratio = |y: f64| odds * (size - y) / (y + 1.0);
                let shares = shares_by_ratios(libm::pow(1.0 + odds, -size), ratio, top.min(trials));
                cases.push((Law::Binomial, 0.0, size, shares));
            }
            for (law, log_nuisance, trials, shares) in cases {
                let rule = NodeRule::new(law, log_nuisance, top as f64);
                let (mut y, mut w) = (vec![f64::NAN; rule.len()], vec![f64::NAN; rule.len()]);
                rule.fill(predictor, trials, &mut y, &mut w);
                let at = |k: f64| y.iter().zip(&w).filter(|(y, _)| **y == k).map(|(_, w)| w).sum::<f64>();
                // A law that is not cut leaves out what lies beyond nine standard deviations, at most 1e-5 of these laws.
                let near = |found: f64, expected: f64, k: usize| {
                    let what = format!("{law:?} {log_nuisance} {predictor}, {k} of {top}");
                    assert!((found - expected).abs() < 2e-5 + 1e-4 * expected, "{what}: {found} {expected}");
                };
                shares.iter().enumerate().for_each(|(k, share)| near(at(k as f64), *share, k));
                near(at(shares.len() as f64), 1.0 - shares.iter().sum::<f64>(), shares.len());
                assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{law:?}");
            }
        }
    }
}

/// Transforms that are elementary functions: E cos(tz) of a normal and of Student's t with 3 and 5 degrees of freedom, and
/// E e^(−tg) of a gamma.
#[test]
fn nodes_of_every_continuous_law_have_its_transform() {
    let t = 0.8;
    let student = |degrees: f64| {
        let x = t * degrees.sqrt();
        let tail = libm::exp(-x);
        tail * if degrees == 3.0 { 1.0 + x } else { 1.0 + x + x * x / 3.0 }
    };
    let gamma = |shape: f64| libm::pow(1.0 + t / shape, -shape);
    let mut cases = vec![(Law::Normal, 0.0, libm::exp(-0.5 * t * t))];
    cases.extend([3.0, 5.0].map(|degrees| (Law::StudentT { degrees }, 0.0, student(degrees))));
    cases.extend([0.4, 1.0, 1.46, 2.0, 12.0].map(|shape| (Law::Gamma, libm::log(shape), gamma(shape))));
    for (law, log_nuisance, expected) in cases {
        for top in [f64::INFINITY, 1.0] {
            let rule = NodeRule::new(law, log_nuisance, top);
            let (mut y, mut w) = (vec![f64::NAN; rule.len()], vec![f64::NAN; rule.len()]);
            rule.fill(0.0, 1.0, &mut y, &mut w);
            let seen = |y: &f64| if law == Law::Gamma { libm::exp(-t * y) } else { libm::cos(t * y) };
            let found: f64 = y.iter().zip(&w).map(|(y, w)| w * seen(y)).sum();
            assert!((found - expected).abs() < 1e-3, "{law:?} {log_nuisance}: {found} {expected}");
            assert!((w.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{law:?}");
        }
    }
}
