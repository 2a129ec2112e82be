//! Breaks every question of noise-aware scores and shows that the audit catches it.

use super::*;
use crate::Source;
use crate::evidence::attack;

/// Far fewer trials than a row of `barkeep audit --all` has: enough to catch half of the noise.
fn effort() -> Effort {
    Effort { trials: 4_000, alpha: 1e-5, source: Source::new(Some(2026)).unwrap() }
}

type Question = fn(f64, Effort) -> Result<Case, Error>;

const QUESTIONS: [Question; 13] = [
    |ratio, effort| columns(ratio, 1, effort),
    |ratio, effort| columns(ratio, ROWS, effort),
    |ratio, effort| products(ratio, 0, 1, effort),
    |ratio, effort| products(ratio, 0, ROWS, effort),
    |ratio, effort| bounded_scores(ratio, 0, 1, effort),
    |ratio, effort| bounded_scores(ratio, 0, ROWS, effort),
    skewed_scores,
    |ratio, effort| nuisance_scores(ratio, 1, effort),
    |ratio, effort| nuisance_scores(ratio, ROWS, effort),
    |ratio, effort| tails(ratio, 1, effort),
    |ratio, effort| tails(ratio, ROWS, effort),
    shifted_gradients,
    expected_gradients,
];

/// Who took half the sensitivity would add half the noise, and sell the answer at the whole one's price.
#[test]
fn half_of_a_sensitivity_is_caught() {
    for question in QUESTIONS {
        let right = question(RATIO, effort()).unwrap();
        let certified = right.contract.epsilon(right.claim.delta).unwrap().upper;
        let broken = question(0.5 * RATIO, effort()).unwrap();
        let audited = attack(&*broken.game, broken.claim, broken.effort).unwrap();
        assert!(audited > certified, "{}: {audited} of {certified}", broken.name);
    }
}
