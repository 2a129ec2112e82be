//! Turns scores from two worlds into a statistically valid lower bound on ε.
//!
//! Whatever the mechanism is, (ε, δ)-privacy says P₁(E) ≤ e^ε·P₂(E) + δ for every event E, and the same with the worlds
//! exchanged. A first share of the trials chooses an event, "the score is at least t" or "at most t"; the rest, independent
//! of that choice, count it in both worlds. With p ≤ P₁(E) and q ≥ P₂(E) by Clopper and Pearson,
//! ε ≥ ln((p − δ)/q) with the stated confidence, however badly the event was chosen.

use crate::game::{Game, Source, World, play_all};
use crate::proportion::{at_least, at_most};
use barkeep::Error;
use barkeep_accounting::{Delta, GaussianRun, Mu};
use barkeep_num::normal_quantile;

/// How hard to attack.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Trials in each world.
    pub trials: u64,
    /// The probability that the bound is above the truth.
    pub alpha: f64,
    /// Where the randomness comes from.
    pub source: Source,
}

/// What is claimed of a mechanism.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// At which δ an ε is claimed.
    pub delta: Delta,
    /// Whether a whole trade-off curve is claimed, that of a Gaussian mechanism. One point above it then refutes the
    /// claim, wherever on the curve it lies: error rates are turned into the smallest μ that explains them, and that
    /// into ε at δ (Dong, Roth, Su 2022; Nasr et al. 2023).
    pub gaussian: bool,
}

/// Which scores count.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Event {
    threshold: f64,
    above: bool,
    /// The world in which it should be likelier.
    likelier: World,
}

impl Event {
    fn holds(&self, score: f64) -> bool {
        if self.above { score >= self.threshold } else { score <= self.threshold }
    }
}

/// Attacks a mechanism: a lower bound on its ε at the claimed δ, wrong with probability at most `effort.alpha`.
///
/// # Errors
/// Those of the game.
pub fn attack(game: &dyn Game, claim: Claim, effort: Effort) -> Result<f64, Error> {
    let pilot = (effort.trials / 5).max(1);
    let mut scores = [Vec::new(), Vec::new()];
    for world in World::BOTH {
        let played = play_all(game, world, 0..pilot, effort.source, |scores| scores)?;
        let mut all: Vec<f64> = played.into_iter().flatten().filter(|score| !score.is_nan()).collect();
        all.sort_unstable_by(f64::total_cmp);
        scores[world.index()] = all;
    }
    // An event for each way to judge, paid for by a share of alpha each.
    let mut ways: Vec<Way> = vec![Way::Events];
    if claim.gaussian {
        ways.push(Way::Gaussian);
    }
    let alpha = effort.alpha / ways.len() as f64;
    let rest = effort.trials.saturating_sub(pilot).max(1);
    let chosen: Vec<(Way, Event)> = ways
        .into_iter()
        .filter_map(|way| {
            let event = choose(&scores, pilot, |p, q| way.expected(p, q, (pilot, rest), claim.delta, alpha));
            event.map(|event| (way, event))
        })
        .collect();

    let mut counts = [vec![0_u64; chosen.len()], vec![0_u64; chosen.len()]];
    for world in World::BOTH {
        let counted = play_all(game, world, pilot..pilot + rest, effort.source, |scores| {
            chosen
                .iter()
                .map(|(_, event)| scores.iter().filter(|score| event.holds(**score)).count() as u64)
                .collect::<Vec<_>>()
        })?;
        for chunk in counted {
            counts[world.index()].iter_mut().zip(chunk).for_each(|(total, count)| *total += count);
        }
    }
    let bounds = chosen.iter().enumerate().map(|(index, (way, event))| {
        let (likelier, other) = match event.likelier {
            World::First => (counts[0][index], counts[1][index]),
            World::Second => (counts[1][index], counts[0][index]),
        };
        way.bound(at_least(likelier, rest, alpha / 2.0), at_most(other, rest, alpha / 2.0), claim.delta)
    });
    Ok(bounds.fold(0.0, f64::max))
}

/// How two error rates become an ε.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By the definition.
    Events,
    /// By the trade-off curve of a Gaussian mechanism.
    Gaussian,
}

impl Way {
    /// The ε at δ that P(E) ≥ p in one world and ≤ q in the other refutes.
    fn bound(self, p: f64, q: f64, delta: Delta) -> f64 {
        match self {
            Self::Events => {
                let ratio = ((p - delta.get()) / q).ln();
                if ratio > 0.0 { ratio } else { 0.0 }
            }
            Self::Gaussian => {
                let mu = normal_quantile(p) - normal_quantile(q);
                let gaussian = Mu::new(mu).and_then(GaussianRun::from_mu);
                gaussian.ok().and_then(|gaussian| gaussian.epsilon(delta).lower).unwrap_or(0.0)
            }
        }
    }

    /// The bound to expect from rates seen in a pilot, by normal limits: a guide to choosing, not a bound itself.
    ///
    /// The pilot's own uncertainty counts as well: among hundreds of events the one that looks best is else a rare one that
    /// was lucky.
    fn expected(self, p: f64, q: f64, (pilot, rest): (u64, u64), delta: Delta, alpha: f64) -> f64 {
        let margin = |x: f64, z: f64, n: f64| z * (x * (1.0 - x) / n).sqrt() + z * z / (2.0 * n);
        let z = normal_quantile(1.0 - alpha / 2.0);
        let both = |x: f64| margin(x, z, rest as f64) + margin(x, LUCK, pilot as f64);
        let bound = self.bound((p - both(p)).max(0.0), (q + both(q)).min(1.0), delta);
        // Where nothing promises a bound, the clearest difference is still the best guess.
        let clear = (p - q) / (p * (1.0 - p) + q * (1.0 - q)).sqrt().max(f64::MIN_POSITIVE);
        if bound > 0.0 { bound } else { -1.0 / (1.0 + clear.max(0.0)) }
    }
}

/// Standard deviations of the pilot that a rate must do without to be chosen.
const LUCK: f64 = 1.0;

/// The event that promises most among thresholds at the scores' quantiles, closer together in the tails.
fn choose(scores: &[Vec<f64>; 2], trials: u64, promise: impl Fn(f64, f64) -> f64) -> Option<Event> {
    let mut best: Option<(f64, Event)> = None;
    let share = |count: usize| count as f64 / trials as f64;
    // The rarer side is rounded up: an event never seen has not probability 0.
    let raised = |count: usize| (count as f64 + 1.0) / trials as f64;
    for world in World::BOTH {
        for &threshold in
            ranks(scores[world.index()].len()).iter().filter_map(|&i| scores[world.index()].get(i))
        {
            for above in [true, false] {
                let count = |world: World| {
                    let all = &scores[world.index()];
                    if above {
                        all.len() - all.partition_point(|score| *score < threshold)
                    } else {
                        all.partition_point(|score| *score <= threshold)
                    }
                };
                let (first, second) = (count(World::First), count(World::Second));
                for (likelier, p, q) in [(World::First, first, second), (World::Second, second, first)] {
                    let value = promise(share(p), raised(q).min(1.0));
                    if best.is_none_or(|(most, _)| value > most) {
                        best = Some((value, Event { threshold, above, likelier }));
                    }
                }
            }
        }
    }
    best.map(|(_, event)| event)
}

/// Positions in a sorted list: evenly spaced ones, and a geometric sequence from either end.
fn ranks(length: usize) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..200).map(|part| part * length / 200).collect();
    let mut distance = 1.0;
    while (distance as usize) < length / 4 {
        ranks.extend([distance as usize, length - distance as usize]);
        distance *= 1.15;
    }
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}
