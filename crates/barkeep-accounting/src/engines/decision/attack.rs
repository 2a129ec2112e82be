//! Bounds many decisions from below by the simplest attack: ask at one log-ratio all along and count the answers.
//!
//! With the same pair of coins in k steps the number N of outcomes that speak for P is binomial under both, and the test "N ≥ c"
//! shows F_k(x) ≥ P(N ≥ c) − x·Q(N ≥ c) for every c. Best is the c from which on the likelihood ratio exceeds x.

use super::acceptance::Acceptance;
use super::envelope::{Envelope, Fineness};
use super::pair::Pair;
use crate::Error;
use crate::engines::binomial::tail;
use barkeep_num::{largest_real, ln_binomial};

/// Pairs tried.
const PAIRS: usize = 24;

/// The attacks with each of a few pairs, k steps long.
pub(crate) struct Attack {
    pairs: Vec<Pair>,
    steps: f64,
}

impl Attack {
    /// With the strongest pairs an adversary can reach.
    pub(super) fn new(rule: &dyn Acceptance, sensitivity: f64, steps: f64) -> Result<Self, Error> {
        let envelope = Envelope::new(rule, sensitivity, Fineness { excess: 1e-3, decay: 0.1, tail: 1e-9 })?;
        let mut pairs: Vec<Pair> =
            envelope.inner.into_iter().filter(|pair| pair.moments().1.is_finite()).collect();
        pairs.sort_by(|a, b| b.moments().1.total_cmp(&a.moments().1));
        pairs.truncate(PAIRS);
        Ok(Self { pairs, steps })
    }

    /// A lower bound on δ at ε.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        self.pairs.iter().map(|pair| count(*pair, self.steps, epsilon)).fold(0.0, f64::max)
    }

    /// An ε at which δ is still reached, up to `most`.
    pub(super) fn epsilon(&self, delta: f64, most: f64) -> f64 {
        let reached = |epsilon: f64| self.delta(epsilon) > delta;
        // Far below the mean loss the tails have too many terms to be summed, and δ is about 1.
        let mean = self.pairs.iter().map(|pair| self.steps * pair.moments().0).fold(0.0, f64::max);
        let from = [0.0, mean].into_iter().find(|epsilon| *epsilon <= most && reached(*epsilon));
        from.and_then(|from| largest_real(from, most, 1e-6, reached)).unwrap_or(0.0)
    }
}

/// P(N ≥ c) − e^ε·Q(N ≥ c) for the best c, from below.
fn count(pair: Pair, steps: f64, epsilon: f64) -> f64 {
    let Pair { toward, away } = pair;
    let (likely, rest) = pair.masses();
    let least = ((epsilon + steps * away) / (toward + away)).ceil().max(0.0);
    if !(least <= steps && likely > 0.0 && rest > 0.0) {
        return 0.0;
    }
    let others = steps - least;
    let log_mass = ln_binomial(steps, least) + least * libm::log(likely) + others * libm::log(rest);
    // Under Q each outcome is e^−toward or e^away times as likely.
    let log_alarm = log_mass - least * toward + others * away + epsilon;
    let size = steps * (1.0 + libm::log(likely).abs() + libm::log(rest).abs() + toward + away) + epsilon;
    let slack = 32.0 * f64::EPSILON * (size + ln_binomial(steps, least));
    let odds = likely / rest;
    let (hits, _) = tail(odds, steps, least);
    let (alarms, beyond) = tail(odds * libm::exp(-toward - away), steps, least);
    let hit = libm::exp(log_mass - slack) * hits * (1.0 - 1e-9);
    let alarm = libm::exp(log_alarm + slack) * (alarms + beyond) * (1.0 + 1e-9);
    let found = hit - alarm;
    if found.is_finite() { found } else { 0.0 }
}
