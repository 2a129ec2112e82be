//! Holds the bound to what batches of two kinds of record attain, summed over all of them.

use super::batch_error;
use barkeep_accounting::vcor::Fit;
use barkeep_accounting::{Rule, Variance};

/// ln C(n, k)·p^k·(1−p)^(n−k) for all k.
fn binomial(n: u64, p: f64) -> Vec<f64> {
    let mut log = n as f64 * (1.0 - p).ln();
    let mut masses = vec![log.exp()];
    for k in 0..n {
        log += ((n - k) as f64 / (k + 1) as f64 * p / (1.0 - p)).ln();
        masses.push(log.exp());
    }
    masses
}

/// The largest error over shares p of records at the upper end of the clip, and over log-ratios.
fn attained(rule: &Rule, tempered: f64, batch: u64, clip: f64) -> f64 {
    let b = batch as f64;
    let mut worst: f64 = 0.0;
    for p in [0.002, 0.01, 0.03, 0.08, 0.15, 0.25, 0.4, 0.5] {
        let masses = binomial(batch, p);
        let mean = tempered * clip * (2.0 * p - 1.0);
        let variance = (tempered * clip).powi(2) / b * 4.0 * p * (1.0 - p);
        for step in -12..=12 {
            let log_ratio = 0.5 * f64::from(step);
            // The full test at this log-ratio; what does not touch records makes up for the mean.
            let ideal = match rule {
                Rule::Penalty { sigma } => {
                    Rule::Penalty { sigma: (sigma * sigma + variance).sqrt() }.accept(log_ratio)
                }
                other => other.accept(log_ratio),
            };
            let on_batch = |k: usize| {
                let share = k as f64 / b;
                let sum = tempered * clip * (2.0 * share - 1.0) + log_ratio - mean;
                let estimate = (tempered * clip).powi(2) / b * 4.0 * share * (1.0 - share);
                match rule {
                    Rule::Corrected { variance, correction } => {
                        let rest = variance - estimate;
                        Rule::Corrected { variance: rest, correction: correction.clone() }.accept(sum)
                    }
                    other => other.accept(sum - 0.5 * estimate),
                }
            };
            let found: f64 = masses.iter().enumerate().map(|(k, mass)| mass * on_batch(k)).sum();
            worst = worst.max((found - ideal).abs());
        }
    }
    worst
}

#[test]
fn no_batch_of_two_kinds_of_record_exceeds_the_bound() {
    let correction = Fit::Mixture.correction(Variance::new(2.0).unwrap()).unwrap().correction;
    let corrected = Rule::Corrected { variance: 2.0, correction };
    for batch in [20_u64, 200, 1000] {
        let clip = (batch as f64).sqrt() / 100.0;
        let bound = batch_error(&corrected, 100.0, batch, clip).unwrap();
        let found = attained(&corrected, 100.0, batch, clip);
        assert!(found <= bound, "batch {batch}: {found} above {bound}");
        assert!(bound <= 25.0 * found, "batch {batch}: {bound} says nothing, attained {found}");
    }
    for (sigma, batch, clip) in [(0.3, 20, 0.02), (1.0, 20, 0.05), (1.0, 500, 0.05), (0.1, 500, 0.3)] {
        let rule = Rule::Penalty { sigma };
        let bound = batch_error(&rule, 100.0, batch, clip).unwrap();
        let found = attained(&rule, 100.0, batch, clip);
        assert!(found <= bound, "sigma {sigma}, batch {batch}: {found} above {bound}");
    }
}

/// The error of a batch falls like one over its root, and rules that ask no batch have none.
#[test]
fn larger_batches_err_less() {
    let correction = Fit::Minimax.correction(Variance::new(2.0).unwrap()).unwrap().correction;
    let rule = Rule::Corrected { variance: 2.0, correction };
    let at = |batch: u64| batch_error(&rule, 100.0, batch, (batch as f64).sqrt() / 100.0).unwrap();
    assert!(at(20) > super::LARGE && at(4000) < super::LARGE);
    assert!((3.0..12.0).contains(&(at(1_000) / at(100_000))));
    assert_eq!(batch_error(&Rule::Barker, 100.0, 20, 0.1), None);
}
