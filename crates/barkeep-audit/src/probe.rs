//! Stands between a sampler and its gate: steers every question to where it reveals most, and keeps the score.
//!
//! The score is the log-likelihood ratio of everything answered so far, the best statistic there is (Neyman and Pearson);
//! an attacker who knows both data sets can compute it from what a run publishes.

use crate::game::World;
use crate::pair::{Pair, Ratios};
use barkeep_accounting::Rule;
use barkeep_curator::{Ask, Choose, Decide, Refused, Sum};
use barkeep_num::normal_quantile;

/// What a steered question should reveal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    /// One of many: most information.
    Many,
    /// The only one: most ε at δ that the trials can prove.
    Once {
        /// δ.
        delta: f64,
        /// Trials in each world.
        trials: f64,
        /// The probability that the proof is wrong.
        alpha: f64,
    },
}

/// An asker that scores what it hears.
///
/// A decision's offset is public and free: where the sampler names one, the probe names the one that puts λ where the
/// rule is most sensitive, as a prior could. Its price does not depend on it.
pub(crate) struct Probe<'a> {
    gate: &'a mut dyn Ask,
    pair: &'a Pair,
    aim: Aim,
    pub(crate) score: f64,
    steered: &'a mut Steered,
}

/// Where to steer questions met before.
#[derive(Default)]
pub(crate) struct Steered(Vec<(Rule, f64, f64)>);

impl<'a> Probe<'a> {
    pub(crate) fn new(gate: &'a mut dyn Ask, pair: &'a Pair, aim: Aim, steered: &'a mut Steered) -> Self {
        Self { gate, pair, aim, score: 0.0, steered }
    }

    /// The offset that makes a question reveal most.
    fn steer(&mut self, asked: &Decide<'_>, ratios: Ratios) -> f64 {
        let (middle, apart) = self.pair.span(ratios, asked);
        let known =
            self.steered.0.iter().find(|(rule, span, _)| alike(rule, asked.rule) && near(*span, apart));
        if let Some((_, _, at)) = known {
            return at - middle;
        }
        let promise = |at: f64| {
            let [p, q] = World::BOTH.map(|world| self.pair.acceptance(world, ratios, asked, at - middle));
            self.aim.promise(p, q)
        };
        let grid = (-48..=48).map(|quarter| 0.25 * f64::from(quarter));
        let (at, _) = grid
            .map(|at| (at, promise(at)))
            .fold((0.0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
        if self.steered.0.len() < 64 {
            self.steered.0.push((asked.rule.clone(), apart, at));
        }
        at - middle
    }
}

impl Aim {
    /// How much a coin reveals that shows heads with probability p in one world and q in the other.
    fn promise(self, p: f64, q: f64) -> f64 {
        match self {
            Self::Many => (p - q) * (p - q) / (p * (1.0 - p) + q * (1.0 - q)),
            Self::Once { delta, trials, alpha } => {
                let z = normal_quantile(1.0 - alpha / 2.0);
                let margin = |x: f64| z * (x * (1.0 - x) / trials).sqrt() + z * z / (2.0 * trials);
                let bound = |p: f64, q: f64| (((p - margin(p)).max(0.0) - delta) / (q + margin(q))).ln();
                [bound(p, q), bound(q, p), bound(1.0 - p, 1.0 - q), bound(1.0 - q, 1.0 - p)]
                    .into_iter()
                    .fold(0.0, f64::max)
            }
        }
    }
}

/// Whether two rules are best attacked at the same place, or nearly so.
fn alike(one: &Rule, other: &Rule) -> bool {
    match (one, other) {
        (Rule::Penalty { sigma: a }, Rule::Penalty { sigma: b }) => near(*a, *b),
        (one, other) => one == other,
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.1 * a.abs()
}

impl Ask for Probe<'_> {
    fn decide(&mut self, question: &Decide<'_>) -> Result<bool, Refused> {
        let ratios = self.pair.ratios(question);
        let offset = self.steer(question, ratios);
        let accepted = self.gate.decide(&Decide { offset, ..*question })?;
        let [p, q] = World::BOTH.map(|world| {
            let yes = self.pair.acceptance(world, ratios, question, offset);
            if accepted { yes } else { 1.0 - yes }
        });
        self.score += (p / q).ln();
        Ok(accepted)
    }

    fn sum(&mut self, question: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused> {
        self.gate.sum(question, out)?;
        let terms = self.pair.terms(question);
        let [p, q] = World::BOTH.map(|world| terms.log_density(world, question, out));
        self.score += p - q;
        Ok(())
    }

    fn choose(&mut self, question: &Choose<'_>) -> Result<usize, Refused> {
        let chosen = self.gate.choose(question)?;
        let [p, q] = World::BOTH.map(|world| {
            let all = self.pair.choice(world, question);
            all.get(chosen).copied().unwrap_or(0.0)
        });
        self.score += p - q;
        Ok(chosen)
    }
}
