//! Judges samples in tests: each test here fails a right sampler with probability about one in a million.

/// The significance level of one comparison, as −ln: a right sampler fails with probability at most e^−13.82 = 10⁻⁶,
/// as far as the statistic has its limiting law. Seeds are fixed, so a comparison that passes always passes.
const EVIDENCE: f64 = 13.815_510_557_964_274;

/// The two-sided 10⁻⁶ point of the standard normal law.
pub(crate) const NORMAL_LIMIT: f64 = 4.891_638;

/// Fails unless counts agree with probabilities by Pearson's chi-square.
///
/// P(χ²_k ≥ k + 2√(kx) + 2x) ≤ e^−x (Laurent and Massart 2000, lemma 1).
pub(crate) fn assert_fits(counts: &[u64], probabilities: &[f64], what: &str) {
    assert_eq!(counts.len(), probabilities.len(), "{what}");
    assert!(
        (probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12,
        "{what}: probabilities must add up to 1"
    );
    let total = counts.iter().sum::<u64>() as f64;
    let statistic: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&count, &probability)| {
            let expected = total * probability;
            assert!(expected >= 10.0, "{what}: a bin expects {expected}, too few for the limiting law");
            (count as f64 - expected).powi(2) / expected
        })
        .sum();
    let freedom = counts.len() as f64 - 1.0;
    let limit = freedom + 2.0 * (freedom * EVIDENCE).sqrt() + 2.0 * EVIDENCE;
    assert!(statistic < limit, "{what}: chi-square {statistic:.1} with {freedom} degrees of freedom");
}

/// Fails unless `successes` of `trials` agree with a probability; expects at least ten of each outcome.
pub(crate) fn assert_frequency(successes: u64, trials: u64, probability: f64, what: &str) {
    assert_fits(&[successes, trials - successes], &[probability, 1.0 - probability], what);
}
