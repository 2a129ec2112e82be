use super::*;
use crate::{Bracket, Rule};

fn variance(c: f64) -> Variance {
    Variance::new(c).unwrap()
}

fn solve(fit: Fit, c: f64) -> Fitted {
    fit.solve(variance(c)).unwrap()
}

/// From the table where it has the answer, and however large the error.
fn stored(fit: Fit, c: f64) -> Fitted {
    fit.fitted(variance(c), Fit::look_up).unwrap()
}

/// The errors on a fine grid, by the rule that runs: never above the proved bound, and close below it.
fn on_a_grid(c: f64, correction: &Correction) -> (f64, f64, f64) {
    let rule = Rule::Corrected { variance: c, correction: correction.clone() };
    let (mut cdf, mut near, mut far) = (0.0_f64, 0.0_f64, 0.0_f64);
    for i in -1500..=6000 {
        let y = f64::from(i) / 250.0;
        let (accept, reject) = (rule.accept(y), rule.reject(y));
        cdf = cdf.max((reject - 1.0 / (1.0 + y.exp())).abs());
        let logit = ((accept / reject).ln() - y).abs();
        if y.abs() <= 3.0 {
            near = near.max(logit);
        }
        if y.abs() <= 6.0 {
            far = far.max(logit);
        }
    }
    (cdf, near, far)
}

fn holds(bracket: Bracket, seen: f64, slack: f64) {
    assert!(bracket.lower.unwrap() <= bracket.upper);
    assert!(seen <= bracket.upper, "{seen:e} above {bracket:?}");
    assert!(seen >= bracket.lower.unwrap() * (1.0 - slack) - 1e-12, "{seen:e} below {bracket:?}");
}

#[test]
fn the_proved_errors_hold_for_the_rule_that_runs() {
    for fit in Fit::ALL {
        for c in [0.3, 1.5, 2.0] {
            let fitted = stored(fit, c);
            let (cdf, near, far) = on_a_grid(c, &fitted.correction);
            holds(fitted.quality.cdf_error, cdf, 1e-3);
            holds(fitted.quality.logit_error_3, near, 1e-2);
            holds(fitted.quality.logit_error_6, far, 1e-2);
        }
    }
}

#[test]
fn minimax_reaches_the_optimum_found_by_a_general_solver() {
    // A general linear-programming code on refined grids, with its dual, gave these to seven digits.
    for (c, optimum) in
        [(1.5, 2.7252e-5), (1.75, 1.5842e-4), (2.0, 5.87299e-4), (2.5, 3.53298e-3), (3.0, 1.29625e-2)]
    {
        let fitted = solve(Fit::Minimax, c);
        let error = fitted.quality.cdf_error;
        assert!((error.upper / optimum - 1.0).abs() < 3e-5, "C = {c}: {error:?}");
        let least = fitted.least.unwrap();
        assert!(least <= error.upper && least >= error.upper * (1.0 - 1e-4), "C = {c}: least {least:e}");
    }
}

#[test]
fn no_fit_beats_the_proved_optimum() {
    for c in [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5] {
        let least = Fit::Minimax.correction(variance(c)).unwrap().least.unwrap();
        for fit in Fit::ALL {
            let fitted = stored(fit, c);
            assert!(fitted.quality.cdf_error.upper >= least, "{fit:?} at C = {c}");
        }
    }
}

#[test]
fn mixtures_are_no_worse_than_the_published_ones() {
    // Sup-CDF and logit errors (|y| ≤ 6) of the authors' loss after 20 000 iterations of their optimiser.
    for (c, cdf, logit) in
        [(1.0, 7.446e-5, 0.0025), (1.5, 3.182e-4, 0.0020), (1.75, 1.104e-3, 0.0053), (2.0, 2.376e-3, 0.0119)]
    {
        let quality = stored(Fit::Mixture, c).quality;
        assert!(quality.cdf_error.upper < cdf, "C = {c}: {quality:?}");
        assert!(quality.logit_error_6.upper < logit, "C = {c}: {quality:?}");
    }
    // The density loss of their text reached 7.487e-4 at C = 2.
    assert!(stored(Fit::MixtureDensity, 2.0).quality.cdf_error.upper < 7.487e-4);
}

#[test]
fn errors_are_as_documented() {
    let documented = [
        (Fit::Mixture, [1.7e-6, 1.3e-4, 6.3e-4, 2.0e-3], 0.010),
        (Fit::MixtureDensity, [9.1e-6, 3.6e-5, 2.1e-4, 7.5e-4], 0.050),
        (Fit::Ridge, [3.7e-4, 1.5e-2, 3.0e-2, 5.2e-2], 2.3),
        (Fit::Minimax, [5.2e-8, 2.7e-5, 1.6e-4, 5.9e-4], 0.16),
    ];
    for (fit, errors, logit) in documented {
        for (c, error) in [1.0, 1.5, 1.75, 2.0].into_iter().zip(errors) {
            let quality = stored(fit, c).quality;
            assert!((quality.cdf_error.upper / error - 1.0).abs() < 0.05, "{fit:?} at C = {c}: {quality:?}");
            assert!(
                c != 2.0 || (quality.logit_error_6.upper / logit - 1.0).abs() < 0.05,
                "{fit:?}: {quality:?}"
            );
        }
    }
}

#[test]
fn ridge_shows_the_published_errors() {
    for (c, error) in [(1.0, 3.717e-4), (1.5, 1.547e-2), (1.75, 3.055e-2), (2.0, 5.178e-2)] {
        let reached = solve(Fit::Ridge, c).quality.cdf_error.upper;
        assert!((reached / error - 1.0).abs() < 0.02, "C = {c}: {reached:e}");
    }
}

#[test]
fn below_one_minimax_reuses_the_correction_for_one() {
    for c in [1e-4, 1.0 / 64.0, 0.3, 0.999] {
        let fitted = Fit::Minimax.correction(variance(c)).unwrap();
        assert!(fitted.quality.cdf_error.upper < 6e-8, "C = {c}: {:?}", fitted.quality);
        let sd = fitted.correction.components()[0].sd;
        assert!((sd * sd + c - 1.0).abs() < 1e-15);
    }
}

#[test]
fn every_variance_is_fitted_or_refused_with_a_reason() {
    for c in [0.02, 1.25, 2.65, 3.28] {
        for fit in Fit::ALL {
            match fit.correction(variance(c)) {
                Ok(fitted) => assert!(fitted.quality.cdf_error.upper <= WORST_ERROR),
                Err(Error::Argument { value, requirement, .. }) => {
                    assert_eq!(value, c);
                    assert!(requirement.contains("within 0.01 of the logistic law"));
                    assert!(c > 1.3, "{fit:?} at C = {c}");
                }
                Err(other) => panic!("{fit:?} at C = {c}: {other}"),
            }
        }
    }
    assert!(Fit::Minimax.correction(variance(2.9)).is_ok());
    assert!(Fit::Minimax.correction(variance(2.93)).is_err());
    for fit in Fit::ALL {
        assert!(fit.correction(variance(3.29)).is_err());
        assert!(fit.solve(variance(std::f64::consts::PI.powi(2) / 3.0)).is_err());
    }
}

#[test]
fn the_table_is_what_the_code_computes() {
    for entry in tables::TABLE.iter().filter(|entry| entry.variance == 2.0) {
        let stored = entry.fit.look_up(entry.variance).unwrap();
        assert_eq!(
            stored,
            entry.fit.compute(entry.variance).unwrap(),
            "{:?} at C = {}",
            entry.fit,
            entry.variance
        );
    }
}

#[test]
#[ignore = "slow: cargo test --release -p barkeep-accounting --lib vcor -- --ignored"]
fn the_whole_table_is_what_the_code_computes() {
    for entry in tables::TABLE {
        let stored = entry.fit.look_up(entry.variance).unwrap();
        assert_eq!(
            stored,
            entry.fit.compute(entry.variance).unwrap(),
            "{:?} at C = {}",
            entry.fit,
            entry.variance
        );
    }
}
