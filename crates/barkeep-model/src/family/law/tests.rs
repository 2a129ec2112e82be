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
