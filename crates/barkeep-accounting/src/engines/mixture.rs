//! Composes different mechanisms by their privacy-loss distributions, decisions among them.
//!
//! Every mechanism but a decision is dominated, step by step and whatever happened before, by one fixed pair of distributions. Such
//! steps may be thought of as all taken at the start: who knows their outcomes earlier can only do better. So they compose with
//! anything, in any order.
//!
//! A decision's pair is chosen by the adversary. k decisions of one kind, between which fixed pairs may fall, cost no more than all
//! the fixed pairs and then the k decisions: their optimal adaptive composition F_k is a curve like any other and composes with
//! the rest. Two kinds of decision can each be steered by the other's outcomes, so only the most expensive kind enters as its F_k; a
//! step of every other kind is dominated by the fixed pair of its own F_1, which is looser and always valid.

use barkeep_num::try_largest_guessed;

use crate::decision::Memory;
use crate::mechanisms::Suits;
use crate::pld::{Accuracy, Composition, DominatingPair, whole_blocks};
use crate::{Bracket, Cost, Delta, Epsilon, Error, GaussianRun, Rho, Rule, Sensitivity, Steps, decision};

/// How far below a δ of interest parts are followed, as a part of it.
const BELOW: f64 = 1e-3;

/// One round of different mechanisms.
pub(crate) struct Mixture {
    /// Fixed pairs.
    fixed: Vec<(DominatingPair, Steps)>,
    /// The kind of decision that is composed optimally.
    decision: Option<Kind>,
    /// About what a round costs in ρ, where to begin a search.
    rho: f64,
    memory: Memory,
}

/// Decisions of one kind.
struct Kind {
    rule: Rule,
    sensitivity: Sensitivity,
    steps: Steps,
}

impl Mixture {
    /// Programs of decisions are looked up in `memory`, and left there.
    pub(crate) fn new(parts: &[&(Cost, Steps)], memory: Memory) -> Result<Self, Error> {
        // Sampled batches have no ρ of their own; the search finds its way without.
        let rho = |(cost, steps): &&(Cost, Steps)| cost.rho().map_or(0.0, Rho::get) * steps.0 as f64;
        let mut mixture =
            Self { fixed: Vec::new(), decision: None, rho: parts.iter().map(rho).sum(), memory };
        let mut kinds: Vec<Kind> = Vec::new();
        for (cost, steps) in parts {
            if let Suits::Decisions { rule, sensitivity } = cost.suits() {
                let known =
                    kinds.iter_mut().find(|kind| kind.rule == *rule && kind.sensitivity == sensitivity);
                match known {
                    Some(kind) => kind.steps = Steps(kind.steps.0.saturating_add(steps.0)),
                    None => kinds.push(Kind { rule: rule.clone(), sensitivity, steps: *steps }),
                }
            } else {
                mixture.fixed.push((cost.losses()?, *steps));
            }
        }
        // Optimal composition saves most on the most expensive kind.
        let price = |kind: &Kind| kind.sensitivity.get().powi(2) * kind.steps.0 as f64;
        let costliest = (0..kinds.len()).max_by(|&a, &b| price(&kinds[a]).total_cmp(&price(&kinds[b])));
        mixture.decision = costliest.map(|index| kinds.swap_remove(index));
        for kind in kinds {
            mixture.fixed.push((decision::single(&kind.rule, kind.sensitivity)?, kind.steps));
        }
        Ok(mixture)
    }

    pub(crate) fn has_decisions(&self) -> bool {
        self.decision.is_some()
    }

    pub(crate) fn method(&self) -> &'static str {
        match self.decision {
            None => "privacy-loss distributions",
            Some(_) => "privacy-loss distributions, decisions composed optimally",
        }
    }

    pub(crate) fn epsilon(&self, rounds: Steps, delta: Delta) -> Result<Bracket, Error> {
        self.with_floor(delta, |floor| {
            let run = self.composed(rounds, floor)?;
            or_wider(self.aim(rounds), |accuracy| run.epsilon(delta, accuracy))
        })
    }

    pub(crate) fn delta(&self, rounds: Steps, epsilon: Epsilon) -> Result<Bracket, Error> {
        // A decision's curve is followed down to some δ; go on until that is below the answer.
        let mut aim = Delta::trusted(1e-6);
        loop {
            let bracket = self.spent(rounds, epsilon, aim)?;
            if self.decision.is_none() || bracket.upper >= aim.get() || aim.get() <= 1e-240 {
                return Ok(bracket);
            }
            aim = Delta::trusted((0.1 * bracket.upper).clamp(1e-240, 0.1 * aim.get()));
        }
    }

    /// δ at ε, precise where it is at least `aim`.
    fn spent(&self, rounds: Steps, epsilon: Epsilon, aim: Delta) -> Result<Bracket, Error> {
        self.with_floor(aim, |floor| {
            let run = self.composed(rounds, floor)?;
            or_wider(self.aim(rounds), |accuracy| run.delta(epsilon, accuracy))
        })
    }

    /// Asks with decisions followed to well below a δ of interest, and again further down if that did not resolve.
    fn with_floor(
        &self,
        aim: Delta,
        mut ask: impl FnMut(Delta) -> Result<Bracket, Error>,
    ) -> Result<Bracket, Error> {
        match ask(floor(aim, BELOW)) {
            Err(Error::Unresolved { .. }) if self.decision.is_some() => ask(floor(aim, 1e-9)),
            found => found,
        }
    }

    /// The most rounds within (ε, δ). Of thousands some may be missed, a thousandth at most.
    pub(crate) fn largest(&self, epsilon: Epsilon, delta: Delta) -> Result<Steps, Error> {
        if self.decision.is_none() {
            let once = self.composed(Steps(1), delta)?;
            let Some((block, each)) = self.in_blocks(&once, epsilon, delta)? else {
                return once.largest_repetitions(epsilon, delta, Accuracy::CLOSE);
            };
            let blocks = Composition::new().and(&block, Steps(1));
            let most = blocks.largest_repetitions(epsilon, delta, Accuracy::CLOSE)?;
            // As a bill composes them: a few more or less may be in blocks of another size.
            return Ok(whole_blocks(each.times(most)?));
        }
        let loss = |delta: f64| gaussian_loss(epsilon, delta);
        // Each evaluation is expensive. The loss grows about like that of as many Gaussian mechanisms: that is where to look next.
        let aim = loss(delta.get());
        let found = try_largest_guessed(0, 1 << 40, aim / self.rho, |rounds| {
            let spent = self.spent(Steps(rounds), epsilon, delta)?.upper;
            Ok((spent <= delta.get(), rounds as f64 * aim / loss(spent)))
        })?;
        Ok(Steps(found))
    }

    /// How narrow a bracket is worth while: blocks of steps are themselves not closer than that.
    fn aim(&self, rounds: Steps) -> Accuracy {
        if self.is_in_blocks(rounds) { Accuracy::NARROW } else { Accuracy::AIMED }
    }

    /// Whether this many rounds are composed in blocks.
    pub(crate) fn is_in_blocks(&self, rounds: Steps) -> bool {
        let in_blocks = |(curve, steps): &(DominatingPair, Steps)| {
            steps.times(rounds).is_ok_and(|steps| curve.is_in_blocks(steps))
        };
        self.fixed.iter().any(in_blocks)
    }

    /// Blocks of rounds, where one kind of step makes a round and very many of them are within (ε, δ).
    fn in_blocks(
        &self,
        once: &Composition,
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<Option<(DominatingPair, Steps)>, Error> {
        let [(curve, Steps(1))] = &self.fixed[..] else { return Ok(None) };
        if !curve.is_from_above() {
            return Ok(None);
        }
        let about = once.roughly_repeated(epsilon, delta)?;
        Ok(about.and_then(|about| curve.in_blocks(about, floor(delta, BELOW))))
    }

    /// About the most rounds within (ε, δ), for showing and to begin a search; none where there is no telling.
    pub(crate) fn roughly(&self, epsilon: Epsilon, delta: Delta) -> Result<Option<Steps>, Error> {
        if self.decision.is_none() {
            return self.composed(Steps(1), delta)?.roughly_repeated(epsilon, delta);
        }
        let rounds = gaussian_loss(epsilon, delta.get()) / self.rho;
        // A cast saturates.
        Ok(rounds.is_finite().then_some(Steps(rounds as u64)))
    }

    /// `rounds` rounds, for δ from `smallest` on.
    pub(crate) fn composed_for(&self, rounds: Steps, smallest: Delta) -> Result<Composition, Error> {
        // The blocks of which ε was computed before serve again; decisions are followed no further than they must be.
        self.composed(rounds, if self.has_decisions() { smallest } else { floor(smallest, BELOW) })
    }

    /// `rounds` rounds, the decisions followed down to `floor`.
    fn composed(&self, rounds: Steps, floor: Delta) -> Result<Composition, Error> {
        let decisions = match &self.decision {
            Some(kind) => {
                let steps = kind.steps.times(rounds)?;
                self.memory.composition(&kind.rule, kind.sensitivity, steps, floor)?
            }
            None => Composition::new(),
        };
        let mut fixed = self.fixed.iter();
        fixed.try_fold(decisions, |sum, (curve, steps)| {
            let steps = steps.times(rounds)?;
            Ok(match curve.in_blocks(steps, floor) {
                Some((block, each)) => sum.and(&block, Steps(steps.0.div_ceil(each.0))),
                None => sum.and(curve, steps),
            })
        })
    }
}

/// A δ well below one of interest.
fn floor(aim: Delta, factor: f64) -> Delta {
    Delta::trusted((factor * aim.get()).max(1e-290))
}

/// ρ of the Gaussian noise that is (ε, δ)-private.
fn gaussian_loss(epsilon: Epsilon, delta: f64) -> f64 {
    Delta::new(delta).map_or(0.0, |delta| GaussianRun::largest_within(epsilon, delta).rho().upper)
}

/// As narrow a bracket as can be had; where even the first lattice would be too long, from a coarser one.
fn or_wider(aim: Accuracy, ask: impl Fn(Accuracy) -> Result<Bracket, Error>) -> Result<Bracket, Error> {
    match ask(aim) {
        Err(Error::Unresolved { .. }) => ask(Accuracy::WIDE),
        found => found,
    }
}
